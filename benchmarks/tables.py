"""The papers' accuracy tables, measured again: 5-fold stratified cross-validation, depth 4, epsilon .01, .1 and 1.

Each cell stands beside the published one, with the standard error over folds (draws averaged first): a cell of the papers
is one run per fold. A cell is off when it differs by more than two standard errors of both and by more than .015.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from dpviz.errors import DpvizError
from dpviz.evaluation.compare.sweep import sweep
from dpviz.io.csv import read_csv
from dpviz.learners import DEFAULT, fit, get_learner, learner_names
from dpviz.table.dataset import EncodedDataset

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.01, 0.1, 1.0)
DEPTH = 4
FOLDS = 5
#: A cell within this of the published one is as published.
CLOSE = 0.015

#: Data sets with the rows of another one: other selections of rows or columns, or another target. Counted once, as the other.
REPEATS = {
    "adult_all": "adult",
    "adult_train": "adult",
    "mushroom_all": "mushroom",
    "nursery_multiclass": "nursery",
    "magic": "MagicTelescope",
    "electricity_cat": "electricity",
    "default-of-credit-card-clients_cat": "default-of-credit-card-clients",
    "mnist01_test": "mnist01_train",
}

#: (version, epsilon, data set, method) -> (mean, standard error)
Published = Mapping[tuple[str, float, str, str], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean accuracy and its standard error, ours and as published (None where nothing was published)."""

    data: str
    epsilon: float
    learner: str
    mean: float
    error: float
    published: tuple[float, float] | None

    @property
    def is_off(self) -> bool:
        """True when it differs from the published cell by more than chance and more than .015."""
        if self.published is None:
            return False
        mean, error = self.published
        return abs(self.mean - mean) > max(2 * math.hypot(self.error, error), CLOSE)


def read_published(path: Path) -> Published:
    """The papers' tables from a CSV with the columns version, epsilon, group, dataset, method, mean, stderr; no runtimes.

    Data that stand there twice, with and without their categories (group "mixed"), are told apart by the suffix `_cat`.
    """
    table = read_csv(path)
    names = ("group", "version", "epsilon", "dataset", "method", "mean", "stderr")
    columns = [table.column(name) for name in names]
    rows = [[c.texts[c.codes[row]] if c.codes[row] >= 0 else "" for c in columns] for row in range(table.n_rows)]
    numerical = {row[3] for row in rows if row[0] == "numerical"}
    found = {}
    for group, version, epsilon, data, method, mean, error in rows:
        name = f"{data}_cat" if group == "mixed" and data in numerical else data
        if _is_number(epsilon) and _is_number(mean):
            found[version, float(epsilon), name, method] = float(mean), float(error or 0)
    if not found:
        raise DpvizError("There is no published accuracy in it.", where=str(path), remedy="Give the papers' tables as CSV.")
    return found


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def measure(
    name: str,
    data: EncodedDataset,
    names: Sequence[str],
    published: Published,
    *,
    repeats: int,
    workers: int,
    stop: Callable[[], bool] | None = None,
) -> list[Cell]:
    """Every learner at every epsilon on one data set. Learners that refuse the data (no category, say) are left out."""
    able = [learner for learner in names if _accepts(learner, data)]
    frame = sweep(able, data, epsilon=EPSILONS, max_depth=(DEPTH,), folds=FOLDS, repeats=repeats, workers=workers, stop=stop)
    return [
        _cell(name, learner, epsilon, group, published)
        for learner in able
        for epsilon in EPSILONS
        for group in [_rows_of(frame, learner, epsilon)]
        if len(group)
    ]


def _accepts(learner: str, data: EncodedDataset) -> bool:
    spec = get_learner(learner)
    try:
        fit(spec.name, data.take(np.arange(min(200, data.n_rows)), share=1.0), epsilon=1.0, max_depth=1, seed=0)
    except DpvizError:
        return False
    return True


def _rows_of(frame: pd.DataFrame, learner: str, epsilon: float) -> pd.DataFrame:
    epsilon = epsilon if get_learner(learner).spends_epsilon else math.inf
    return frame[(frame.learner == learner) & (frame.epsilon == epsilon)]


def _cell(name: str, learner: str, epsilon: float, rows: pd.DataFrame, published: Published) -> Cell:
    by_fold = rows.groupby("fold").accuracy.mean()
    spec = get_learner(learner)
    version, method = spec.published or ("", "")
    known = published.get((version, epsilon, name, method))
    error = float(by_fold.std(ddof=1) / math.sqrt(len(by_fold))) if len(by_fold) > 1 else math.nan
    return Cell(name, epsilon, learner, float(by_fold.mean()), error, known)


def seconds_per_fit(name: str, data: EncodedDataset, rounds: int = 5) -> tuple[float, float]:
    """Mean processor time of one fit at epsilon .1 and depth 4, bins remembered, and its standard error."""
    times = []
    for seed in range(rounds + 1):
        started = process_time()
        fit(name, data, epsilon=0.1, max_depth=DEPTH, seed=seed)
        times.append(process_time() - started)
    after_first = times[1:]  # the first makes the bins
    return float(np.mean(after_first)), float(np.std(after_first, ddof=1) / math.sqrt(rounds))


def lead(cells: Iterable[Cell], name: str = DEFAULT) -> Iterator[tuple[str, float, Cell, Cell]]:
    """(data, epsilon, ours, better) where a private learner beats `name` by more than one standard error of the difference."""
    table = {(cell.data, cell.epsilon, cell.learner): cell for cell in cells}
    for (data, epsilon, learner), cell in table.items():
        ours = table.get((data, epsilon, name))
        if ours is None or learner == name or not get_learner(learner).spends_epsilon:
            continue
        if cell.mean - ours.mean > math.hypot(cell.error, ours.error):
            yield data, epsilon, ours, cell


def without_repeats(cells: Iterable[Cell]) -> list[Cell]:
    """The cells of data sets that do not repeat another one of these."""
    kept = list(cells)
    names = {cell.data for cell in kept}
    return [cell for cell in kept if REPEATS.get(cell.data) not in names]


def tabled_learners() -> list[str]:
    """The default learner, every learner with a column in the papers' tables, and the private baselines."""
    specs = (get_learner(name) for name in learner_names())
    return [spec.name for spec in specs if spec.name == DEFAULT or spec.published or (spec.is_baseline and spec.spends_epsilon)]
