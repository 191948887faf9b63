"""PF-tree with two levels chosen together beside one at a time, scikit-learn's tree and PrivaTree: accuracy and AUC.

On every table with two classes of a folder, 5 splits and 3 draws. The constants of two levels at once were chosen on some of them
(`CHOSEN_ON`); what counts are the others.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.arguments import add_data, add_out
from benchmarks.data import bench_data, manifest
from benchmarks.page import made_by, markdown_table, show_page
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.evaluation.compare.metrics import metrics
from dpviz.learners import fit
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset

EPSILONS, SPLITS, DRAWS = (0.01, 0.1, 1.0), 5, 3
#: The depth that is usual, and the one up to which the learner's rule may go where it is asked to.
MAX_DEPTH, DEEPEST = 4, 8
#: Tables on which constants were chosen: every second group of related tables, in the order of the manifest.
CHOSEN_ON = frozenset(
    (
        "adult",
        "diabetes",
        "nursery",
        "magic",
        "MagicTelescope",
        "electricity",
        "electricity_cat",
        "credit",
        "compas-two-years",
        "Diabetes130US",
    )
)
#: Parts of other tables, and pictures.
_LEFT_OUT = frozenset(("adult_all", "adult_train", "mnist01_train", "mnist01_test"))
AUTO, ONE, ORDINARY, PRIVATREE = "two levels", "one level", "ordinary", "PrivaTree"
DEEP, AS_DEEP = f"two levels, depth at most {DEEPEST}", "ordinary, as deep"
PRIVATE: dict[str, tuple[str, dict[str, Any]]] = {
    AUTO: ("pf-tree", {"max_depth": MAX_DEPTH}),
    ONE: ("pf-tree", {"max_depth": MAX_DEPTH, "lookahead": 1}),
    PRIVATREE: ("privatree", {"max_depth": MAX_DEPTH}),
    DEEP: ("pf-tree", {"max_depth": DEEPEST}),
}
#: In a table's columns.
LEARNERS = (AUTO, ONE, ORDINARY, PRIVATREE)


@dataclass(frozen=True, slots=True)
class Measured:
    """One fit on one split."""

    data: str
    n_rows: int
    epsilon: float
    split: int
    draw: int
    learner: str
    accuracy: float
    auc: float


def measure(name: str, data: EncodedDataset) -> Iterator[Measured]:
    """All learners on the same splits and seeds; the trees without privacy once per split and depth."""
    for split in range(SPLITS):
        train, test = (part.with_cached_counts() for part in data.split(0.2, seed=split))
        ordinary = cache(partial(_ordinary, train, test))
        for epsilon in EPSILONS:
            for draw, seed in enumerate(child_seeds(split, DRAWS)):
                found = {ORDINARY: ordinary(MAX_DEPTH)}
                for title, (learner, params) in PRIVATE.items():
                    result = fit(learner, train, epsilon=epsilon, seed=seed, **params)
                    found[title] = metrics(result.model, train, test)
                found[AS_DEEP] = ordinary(result.plan.depth)
                for title, one in found.items():
                    yield Measured(name, data.n_rows, epsilon, split, draw, title, one["accuracy"], one["auc"])


def _ordinary(train: EncodedDataset, test: EncodedDataset, depth: int) -> dict[str, float]:
    return metrics(fit("cart", train, epsilon=1, depth=depth, seed=0).model, train, test)


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `python -m benchmarks lookahead`."""
    add_data(parser)
    add_out(parser, _run)


def _run(args: Namespace) -> int:
    found: list[Measured] = []
    for name in args.only or [entry.name for entry in manifest(args.data, None) if entry.name not in _LEFT_OUT]:
        for _, data in bench_data(args.data, [name]):
            if data.n_classes == 2:
                console.doing(f"Measuring on {name}")
                found += measure(name, data)
    return show_page(lookahead_page(found, made_by()), args.out)


def lookahead_page(found: Sequence[Measured], made: str) -> str:
    """The whole page; `made` says when."""
    head = (
        "# Two levels of PF-tree chosen together\n\n"
        f"{SPLITS} splits, {DRAWS} draws each, depth at most {MAX_DEPTH}; means, and of the gain over one level at a time its "
        f"standard error over splits. Epsilon: {NEIGHBOURS}. Ranges were read from the data. PF-tree has honest leaves: it grows "
        f"from 80 to 85% of the rows. {ORDINARY.capitalize()}: scikit-learn's tree of depth {MAX_DEPTH}, without privacy. "
        f"{PRIVATREE}: as first published; its claim does not hold, and its leaves have no probabilities. Tables with a star "
        f"chose the constants of two levels at once; what counts are the others.\n\n{made} Rerun: `python -m benchmarks "
        "lookahead --data DIR`."
    )
    tables = (_tables(found, epsilon) for epsilon in EPSILONS)
    return "\n\n".join([head, _summary(found), _deeper(found), *tables]) + "\n"


def _deeper(found: Sequence[Measured]) -> str:
    """Where the learner's rule may choose more than four levels, and does."""
    rows = []
    for name in dict.fromkeys(one.data for one in found):
        for epsilon in EPSILONS:
            gains = [_gains(found, name, epsilon, measure, DEEP, AUTO) for measure in ("accuracy", "auc")]
            if any(gain.any() for gain in gains):
                cells = [_mean(found, name, epsilon, title, what) for what in ("accuracy", "auc") for title in (DEEP, AS_DEEP)]
                rows.append([name + "*" * (name in CHOSEN_ON), f"{epsilon:g}", *cells, *map(_with_error, gains)])
    head = ["data", "epsilon", DEEP, AS_DEEP, f"AUC, {DEEP}", f"AUC, {AS_DEEP}", f"gain over depth {MAX_DEPTH}", "gain in AUC"]
    ahead = [row[0] for row in rows if row[1] == f"{EPSILONS[-1]:g}" and row[2] >= row[3]]
    beside = [row[0] for row in rows if row[1] == f"{EPSILONS[-1]:g}"]
    said = (
        f"With `max_depth={DEEPEST}`, the default, the rule goes beyond {MAX_DEPTH} levels here. Ordinary: scikit-learn's "
        "tree of the depth that the rule chose. "
        f"At {EPSILONS[-1]:g} the private tree is not behind it on {len(ahead)} of {len(beside)} tables."
    )
    return f"## Deeper trees\n\n{said}\n\n{markdown_table(head, rows)}"


def _summary(found: Sequence[Measured]) -> str:
    rows = []
    for epsilon in EPSILONS:
        for title, chosen in (("others", False), ("starred", True)):
            names = sorted({one.data for one in found if (one.data in CHOSEN_ON) == chosen})
            if names:
                gains = [
                    [_gains(found, name, epsilon, measure, learner).mean() for name in names]
                    for learner in (AUTO, DEEP)
                    for measure in ("accuracy", "auc")
                ]
                rows.append([f"{epsilon:g}", f"{len(names)} {title}", *(_with_error(np.array(gain)) for gain in gains)])
    last, names = EPSILONS[-1], list(dict.fromkeys(one.data for one in found))
    ahead = sum(_mean(found, name, last, AUTO, "accuracy") >= _mean(found, name, last, ORDINARY, "accuracy") for name in names)
    behind = ", ".join(f"{name} at {epsilon:g}" for name, epsilon in behind_after_holm(found)) or "none"
    deep = f"depth at most {DEEPEST}"
    head = ["epsilon", "tables", "gain in accuracy", "gain in AUC", f"accuracy, {deep}", f"AUC, {deep}"]
    table = markdown_table(head, rows)
    return (
        f"## Gain over one level at a time, mean over tables\n\n{table}\n\nBehind in accuracy after Holm's correction: {behind}. "
        f"At {last:g}, not behind scikit-learn's tree of depth {MAX_DEPTH} on {ahead} of {len(names)} tables."
    )


def _tables(found: Sequence[Measured], epsilon: float) -> str:
    rows = []
    for name in dict.fromkeys(one.data for one in found):
        cells = [_mean(found, name, epsilon, title, "accuracy") for title in LEARNERS]
        aucs = [_mean(found, name, epsilon, title, "auc") for title in (AUTO, ONE, ORDINARY)]
        gain = _with_error(_gains(found, name, epsilon, "accuracy"))
        rows.append([name + "*" * (name in CHOSEN_ON), *cells, gain, *aucs])
    head = ["data", *LEARNERS, "gain", *(f"AUC, {title}" for title in (AUTO, ONE, ORDINARY))]
    return f"## Epsilon {epsilon:g} ({NEIGHBOURS})\n\n{markdown_table(head, rows)}"


def _mean(found: Sequence[Measured], name: str, epsilon: float, learner: str, measure: str) -> str:
    here = [getattr(one, measure) for one in found if (one.data, one.epsilon, one.learner) == (name, epsilon, learner)]
    return f"{np.mean(here):.3f}"


def _gains(
    found: Sequence[Measured], name: str, epsilon: float, measure: str, learner: str = AUTO, than: str = ONE
) -> np.ndarray:
    """Of a learner over another, per split, mean over draws."""
    here = [one for one in found if (one.data, one.epsilon) == (name, epsilon)]
    sums = np.zeros((2, SPLITS))
    for one in here:
        if one.learner in (learner, than):
            sums[int(one.learner == than), one.split] += getattr(one, measure) / DRAWS
    return np.asarray(sums[0] - sums[1])


def _with_error(values: np.ndarray) -> str:
    error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}" if len(values) > 1 else ""
    return f"{values.mean():+.4f}{error}"


def behind_after_holm(found: Sequence[Measured], level: float = 0.05) -> list[tuple[str, float]]:
    """(table, epsilon) where two levels are behind one: one-sided paired t-tests over splits, corrected by Holm 1979."""
    pairs = sorted({(one.data, one.epsilon) for one in found})
    chances = [_chance(-_gains(found, name, epsilon, "accuracy")) for name, epsilon in pairs]
    behind = []
    for rank, place in enumerate(np.argsort(chances)):
        if chances[place] > level / (len(pairs) - rank):
            break
        behind.append(pairs[place])
    return behind


def _chance(values: np.ndarray) -> float:
    """P of such a mean or a larger one, were the true one 0."""
    return 1.0 if np.ptp(values) == 0 and values[0] <= 0 else float(stats.ttest_1samp(values, 0, alternative="greater").pvalue)
