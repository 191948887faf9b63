"""Rivals on their own terms: packages as they are shipped beside S-GBDT and PF-tree, on tables with two classes.

The forest and the tree are those of `diffprivlib`, with their defaults except the declared ranges, classes and epsilon (delta 0
there). All claim add or remove one row. Without the package this topic does not run.

Small tables are here too: where boosting begins to be ahead of one tree can be read from this page.
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np

from benchmarks.arguments import add_data, add_out
from benchmarks.data import bench_data
from benchmarks.page import made_by, markdown_table, show_page
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.errors import DpvizError
from dpviz.evaluation.compare.metrics import metrics
from dpviz.learners import fit
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature

TABLES = (
    "bank-full",
    "default-full",
    "adult_train",
    "bank-marketing",
    "default-of-credit-card-clients",
    "compas-two-years",
    "heloc",
)
SMALL = ("breast-w", "diabetes", "vote")
EPSILONS, SPLITS = (0.1, 0.5, 1.0), 3
DELTA = 5e-8
#: Of PF-tree, whose own cap is higher.
MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """One fit on one split; AUC of a model of labels is that of its labels."""

    data: str
    n_rows: int
    epsilon: float
    split: int
    learner: str
    auc: float
    accuracy: float
    seconds: float


Fit = Callable[[EncodedDataset, EncodedDataset, float, int], dict[str, float]]


def _ours(learner: str, **given: Any) -> Fit:
    def run(train: EncodedDataset, test: EncodedDataset, epsilon: float, seed: int) -> dict[str, float]:
        return metrics(fit(learner, train, epsilon=epsilon, seed=seed, **given).model, train, test)

    return run


def _theirs(kind: str) -> Fit:
    """A model of diffprivlib on category codes and numbers, as its documentation does it."""

    def run(train: EncodedDataset, test: EncodedDataset, epsilon: float, seed: int) -> dict[str, float]:
        from diffprivlib import models  # type: ignore[import-not-found]
        from sklearn.metrics import roc_auc_score

        features = train.schema.features
        low = [f.low if isinstance(f, NumericFeature) else 0 for f in features]
        high = [f.high if isinstance(f, NumericFeature) else len(f.categories) - 1 for f in features]
        given = {"epsilon": epsilon, "bounds": (np.array(low), np.array(high)), "classes": [0, 1], "random_state": seed % 2**32}
        model = getattr(models, kind)(**given)
        rows, new = (np.column_stack(part.columns).astype(float) for part in (train, test))
        model.fit(rows, train.target)
        shares = np.asarray(model.predict_proba(new))[:, 1]
        return {"auc": float(roc_auc_score(test.target, shares)), "accuracy": float((model.predict(new) == test.target).mean())}

    return run


LEARNERS: dict[str, Fit] = {
    "S-GBDT": _ours("s-gbdt"),
    "PF-tree": _ours("pf-tree", max_depth=MAX_DEPTH),
    "diffprivlib forest": _theirs("RandomForestClassifier"),
    "diffprivlib tree": _theirs("DecisionTreeClassifier"),
}


def measure(name: str, data: EncodedDataset) -> Iterator[Measured]:
    """Every learner on the same splits."""
    for split in range(SPLITS):
        train, test = data.split(0.2, seed=split)
        for epsilon in EPSILONS:
            for title, run in LEARNERS.items():
                start = process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = run(train, test, epsilon, child_seeds(split, 1)[0])
                spent = process_time() - start
                yield Measured(name, data.n_rows, epsilon, split, title, found["auc"], found["accuracy"], spent)


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `python -m benchmarks rivals`."""
    add_data(parser)
    add_out(parser, _run)


def _run(args: Namespace) -> int:
    if find_spec("diffprivlib") is None:
        raise DpvizError("A package of a rival is missing.", where="diffprivlib", remedy="Install it beside dpviz.")
    found: list[Measured] = []
    for name, data in bench_data(args.data, args.only or [*TABLES, *SMALL]):
        console.doing(f"Measuring on {name}")
        found += measure(name, data)
    return show_page(rivals_page(found, made_by()), args.out)


def rivals_page(found: Sequence[Measured], made: str) -> str:
    """The whole page; `made` says when."""
    head = f"""# Rivals on their own terms

{ahead_sentence(found)}

AUC on held-out rows, mean ± standard error over {SPLITS} splits (a fifth of the rows), one draw each; every epsilon is for
{NEIGHBOURS}. Ranges, categories and row counts were read from the data, for all alike. S-GBDT has a delta of {DELTA:g};
diffprivlib's models are pure. At equal epsilon
a Gaussian mechanism risks less than a pure one: [what one row risks](risk.md). bank-full and default-full are the imbalanced
originals. Settings of S-GBDT were chosen on adult, its histograms with a look at compas-two-years, bank-marketing and default.
PF-tree has at most {MAX_DEPTH} levels here; by itself it takes up to 8.

{made} Rerun: `python -m benchmarks rivals --data DIR`, with diffprivlib installed. [DP-EBM in the same run](dp_ebm.md)"""
    return "\n\n".join([head, _table(found, "auc", "AUC"), _table(found, "accuracy", "Accuracy"), _times(found)]) + "\n"


def ahead_sentence(found: Sequence[Measured]) -> str:
    """In how many cells a rival is ahead of the better of our two, and by more than two standard errors of the difference."""
    cells = dict.fromkeys((one.data, one.epsilon) for one in found)
    behind, clearly = [], []
    for cell in cells:
        by = {title: _values(found, *cell, title, "auc") for title in LEARNERS}
        best = max(("S-GBDT", "PF-tree"), key=lambda title: float(by[title].mean()))
        rival = max(
            (title for title in LEARNERS if title not in ("S-GBDT", "PF-tree")), key=lambda title: float(by[title].mean())
        )
        gap = by[rival] - by[best]
        if gap.mean() > 0:
            behind.append(f"{cell[0]} at {cell[1]:g} ({rival} {by[rival].mean():.3f}, {best} {by[best].mean():.3f})")
            if len(gap) > 1 and gap.mean() > 2 * gap.std(ddof=1) / np.sqrt(len(gap)):
                clearly.append(cell)
    where = f": {', '.join(behind)}" if behind else ""
    return (
        f"A rival's AUC is ahead of the better of S-GBDT and PF-tree in {len(behind)} of {len(cells)} cells, in {len(clearly)} "
        f"by more than two standard errors of the difference{where}."
    )


def _values(found: Sequence[Measured], data: str, epsilon: float, learner: str, what: str) -> np.ndarray:
    return np.array([getattr(one, what) for one in found if (one.data, one.epsilon, one.learner) == (data, epsilon, learner)])


def _table(found: Sequence[Measured], what: str, title: str) -> str:
    rows = []
    for data, n_rows, epsilon in dict.fromkeys((one.data, one.n_rows, one.epsilon) for one in found):
        values = [_values(found, data, epsilon, learner, what) for learner in LEARNERS]
        best = max(float(value.mean()) for value in values)
        cells = [_cell(value, is_best=float(value.mean()) == best) for value in values]
        rows.append([data, f"{n_rows:,}", f"{epsilon:g}", *cells])
    return f"## {title}\n\nBold: the largest.\n\n" + markdown_table(["data", "rows", "epsilon", *LEARNERS], rows)


def _cell(values: np.ndarray, *, is_best: bool) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    text = f"{values.mean():.3f} ± {error:.3f}"
    return f"**{text}**" if is_best else text


def _times(found: Sequence[Measured]) -> str:
    rows = [[title, f"{np.mean([one.seconds for one in found if one.learner == title]):.2f}"] for title in LEARNERS]
    return "## Time\n\nProcessor seconds of a fit and its test, mean over all.\n\n" + markdown_table(["learner", "seconds"], rows)
