"""The tree of numbers beside boosted and ordinary trees: R2, and how often intervals of leaves and of the private test hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.boosting.measure import Mean, boosting_data, mean_of
from dpviz.io.csv import read_csv
from dpviz.io.samples import load_sample
from dpviz.learners import fit
from dpviz.learners.native.pf_tree import SUM_SHARE, TEST_SHARE
from dpviz.models.tree import NumberLeaf, Tree
from dpviz.randomness import child_seeds
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema
from dpviz.training.estimate.number_report import NumberReport
from dpviz.training.estimate.window import Window

EPSILONS = (0.1, 0.5, 1.0, 3.0)
SPLITS, DRAWS, COVERED = 5, 3, 100
#: The rule chooses the depth; this is only the most it may.
MAX_DEPTH = 10
SAMPLE, ABALONE = "rents", "Abalone"
#: Columns of other tables as targets: (file, column, columns left out). Two of them are skewed: most rows are at one end.
TARGETS = {
    "California, income": ("california", "MedInc", ()),
    "default, limit": ("default-full", "LIMIT_BAL", ()),
    "adult, age": ("adult", "age", ()),
    "electricity, price": ("electricity", "nswprice", ("class",)),
    "heloc, never late (skewed)": ("heloc", "PercentTradesNeverDelq", ()),
    "bank, days since contact (skewed)": ("bank-full", "pdays", ()),
}
#: The most levels of these.
MOST_LEVELS = 8


@dataclass(frozen=True, slots=True)
class NumberLine:
    """Means over splits, of draws. `covered`: R2, RMSE, absolute error of the private test, and means of leaves, as shares."""

    name: str
    epsilon: float
    depth: int
    r2: Mean
    boosted: Mean
    ordinary: Mean
    private_error: Mean
    covered: tuple[float, float, float, float]


def number_data(folder: Path | None, only: Sequence[str] | None) -> Iterator[tuple[str, EncodedDataset]]:
    """Nothing if `only` names tables of classes; else the rents sample, and abalone with declared ranges if there is a folder."""
    if only:
        return
    yield SAMPLE, encode(*load_sample(SAMPLE))
    if folder is not None:
        yield from boosting_data(folder, [ABALONE])


def measure_numbers(name: str, data: EncodedDataset, epsilon: float) -> NumberLine:
    """All learners on the same splits and seeds."""
    found, depths = [], []
    for split in range(SPLITS):
        train, test = (part.with_cached_counts() for part in data.split(0.2, seed=split))
        for seed in child_seeds(split, DRAWS):
            result = _fit(train, epsilon, seed)
            depths.append(result.plan.depth)
            rivals = (
                fit("s-gbdt", train, epsilon=epsilon, seed=seed),
                fit("cart-regression", train, epsilon=1.0, depth=result.plan.depth, seed=0),
            )
            scores = [fitted.score(test) for fitted in (result, *rivals)]
            found.append((split, (*scores, abs(_report(result).r_squared.value - scores[0]))))
    covered = tuple(np.mean(list(_coverage(data, epsilon)), axis=0).tolist())
    r2, boosted, ordinary, error = means_of(found)
    return NumberLine(name, epsilon, max(depths), r2, boosted, ordinary, error, covered)


@dataclass(frozen=True, slots=True)
class TargetLine:
    """Means over splits, of draws."""

    name: str
    epsilon: float
    depth: int
    r2: Mean
    ordinary: Mean


def target_data(folder: Path) -> Iterator[tuple[str, EncodedDataset]]:
    """`number_data`, and the columns in `TARGETS`, with ranges read from the data."""
    yield from number_data(folder, None)
    for name, (file, target, left_out) in TARGETS.items():
        table = read_csv(folder / f"{file}.csv.gz")
        schema = propose_schema(table, target)
        features = tuple(feature for feature in schema.features if feature.name not in left_out)
        yield name, encode(table, replace(schema, features=features))


def measure_targets(name: str, data: EncodedDataset) -> Iterator[TargetLine]:
    """The tree beside the ordinary one of the same depth, on the same splits, at every epsilon."""
    parts = [tuple(part.with_cached_counts() for part in data.split(0.2, seed=split)) for split in range(SPLITS)]
    for epsilon in EPSILONS:
        found = []
        for split, (train, test) in enumerate(parts):
            results = [
                fit("pf-tree", train, epsilon=epsilon, max_depth=MOST_LEVELS, seed=seed) for seed in child_seeds(split, DRAWS)
            ]
            depth = results[0].plan.depth
            ordinary = fit("cart-regression", train, epsilon=1.0, depth=depth, max_depth=depth, seed=0).score(test)
            found += [(split, (result.score(test), ordinary)) for result in results]
        yield TargetLine(name, epsilon, depth, *means_of(found))


def targets_section(folder: Path) -> str:
    """Measure, and write the part of the Markdown page."""
    lines = [line for named in target_data(folder) for line in measure_targets(*named)]
    rows = "\n".join(
        f"| {line.name} | {line.epsilon:g} | {line.depth} | {with_error(line.r2)} | {with_error(line.ordinary)} |"
        for line in lines
    )
    return (
        "\n### Eight targets\n\n"
        f"Depth by the public rule, at most {MOST_LEVELS}; {SPLITS} splits, {DRAWS} draws each. R2 beside the ordinary\n"
        "tree of the same depth. The last six are columns of other tables, with ranges read from the data, for measuring\n"
        "alone.\n\n"
        f"| target | ε | depth | R2 | R2, ordinary |\n|---|---|---|---|---|\n{rows}\n"
    )


def means_of(found: Sequence[tuple[int, Sequence[float]]]) -> list[Mean]:
    """A mean and its standard error over splits for every figure of (split, figures)."""
    return [mean_of([(split, figures[place]) for split, figures in found]) for place in range(len(found[0][1]))]


def with_error(value: Mean) -> str:
    """As in "0.835 ± 0.002"."""
    return value.text(3)


def _fit(train: EncodedDataset, epsilon: float, seed: int) -> FitResult:
    return fit("pf-tree", train, epsilon=epsilon, max_depth=MAX_DEPTH, seed=seed)


def _report(result: FitResult) -> NumberReport:
    assert isinstance(result.test_report, NumberReport)
    return result.test_report


def _coverage(data: EncodedDataset, epsilon: float) -> Iterator[tuple[float, ...]]:
    for seed in child_seeds(1, COVERED):
        train, test = data.split(0.5, seed=seed)
        result = _fit(train, epsilon, seed)
        report = _report(result)
        found = report.r_squared, report.rmse, report.absolute_error
        truth = _within(report.window, test.target, result.model.predict(test))
        held = [one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
        yield *held, _leaves_held(result, test, report.window)


def _within(window: Window, actual: np.ndarray, predicted: np.ndarray) -> tuple[float, float, float]:
    """R2, RMSE and absolute error as the private test measures them."""
    missed = np.minimum(np.abs(actual - predicted), window.width)
    inside = window.centre + window.width * window.place(actual)
    mean_square = float(np.square(missed).mean())
    return 1 - mean_square / float(inside.var()), mean_square**0.5, float(missed.mean())


def _leaves_held(result: FitResult, test: EncodedDataset, window: Window) -> float:
    """Share of the leaves whose interval holds the mean of the other half."""
    assert isinstance(result.model, Tree)
    leaf_of, inside, held = result.model.leaf_of_rows(test), window.width * window.place(test.target) + window.centre, []
    for number, leaf in enumerate(result.model.leaves):
        here = inside[leaf_of == number]
        if len(here) >= 30:
            assert isinstance(leaf, NumberLeaf)
            assert leaf.interval is not None
            held.append(leaf.interval[0] <= here.mean() <= leaf.interval[1])
    return float(np.mean(held))


def numbers_section(folder: Path | None, only: Sequence[str] | None) -> str:
    """Measure, and write the part of the Markdown page; empty if tables of classes alone were asked for."""
    rows = "\n".join(_row(measure_numbers(*named, epsilon)) for named in number_data(folder, only) for epsilon in EPSILONS)
    if not rows:
        return ""
    return (
        "\n## Numbers\n\n"
        f"Depth by the public rule, at most {MAX_DEPTH}. {SUM_SHARE:.0%} of the rows make the values of the leaves, "
        f"{TEST_SHARE:.0%} test. R2 on\n"
        "held-out rows ± standard error over splits, beside S-GBDT (with its delta of 5e-8) and the ordinary tree of the\n"
        "same depth.\n\n"
        "- *Private error*: mean distance of the private R2 from that on the rows held out of the split.\n"
        f"- *Covered*: of {COVERED} fits on halves, how many 95% intervals hold what the other half says exactly: R2, RMSE\n"
        "  and absolute error within the window of the test, and means of leaves (with at least 30 rows there). The other\n"
        "  half's own chance lowers this.\n\n"
        "| data | ε | depth | R2 | R2, S-GBDT | R2, ordinary | private error | covered |\n"
        f"|---|---|---|---|---|---|---|---|\n{rows}\n"
    ) + (targets_section(folder) if folder else "")


def _row(line: NumberLine) -> str:
    figures = map(with_error, (line.r2, line.boosted, line.ordinary, line.private_error))
    covered = " / ".join(f"{100 * value:.0f}" for value in line.covered)
    return f"| {' | '.join((line.name, f'{line.epsilon:g}', str(line.depth), *figures, covered))} |"
