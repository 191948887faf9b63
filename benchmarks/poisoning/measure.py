"""The papers' poisoning tables (III and VIII) measured again with both bounds, and Figure 3 as data.

PrivaTree is measured as published: mean accuracy over 50 random splits, one tree each, times e^(-k eps) for k poisoned rows.
The default learner is certified beside it: on each of a few splits from many draws, at its part of the confidence. Figure 3
is guaranteed accuracy from 0 to 1% poisoned rows, of PrivaTree, the default learner and the vote on disjoint rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import DpvizError
from dpviz.evaluation.robustness.poisoning import PoisoningTable, certify
from dpviz.evaluation.workers import spread
from dpviz.io.csv import read_csv
from dpviz.learners import DEFAULT, FitRequest, fit
from dpviz.results.result import score
from dpviz.table.dataset import EncodedDataset

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.01, 0.1)
SHARES = (0.001, 0.005, 0.01)
DEPTH = 4
TEST_SHARE = 0.2
#: Random splits of the papers' experiments.
PUBLISHED_SPLITS = 50
#: The learner of the papers, by its name in their tables.
SAME_LEARNER = {"PrivaTree": "privatree"}
#: The linear model of the papers, and ours of the same kind: it reads neither scale nor norm from the rows, as theirs does.
OTHER, OTHER_LEARNER = "DiffPrivLib LR", "logistic"
VOTES = "dpa"

#: Guarantees at SHARES; None where nothing is printed.
Guarantees = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A line of the papers' tables. `digits` after the point are printed."""

    table: str
    data: str
    method: str
    epsilon: float
    accuracy: float
    guarantees: Guarantees
    digits: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """The papers' experiment again: mean accuracy over splits, its standard error, and Corollary 2 at SHARES."""

    accuracy: float
    error: float
    rows: tuple[int, ...]
    guarantees: tuple[float, ...]

    def agrees(self, published: PublishedRow) -> bool:
        """Every printed guarantee is within two standard errors of the difference, and rounding.

        The papers print no errors; theirs are taken as large as ours, for as many splits.
        """
        rounding = 0.5 * 10**-published.digits
        both = zip(self.guarantees, published.guarantees, self.rows, strict=True)
        slack = 2 * math.sqrt(2) * self.error
        return all(
            theirs is None or abs(ours - theirs) <= slack * math.exp(-rows * published.epsilon) + rounding
            for ours, theirs, rows in both
        )


def read_published(path: Path) -> list[PublishedRow]:
    """Lines of the arXiv tables of poisoning guarantees from a CSV; "-" is nothing. Raises DpvizError when there are none."""
    table = read_csv(path)
    names = ("table", "dataset", "method", "epsilon", "accuracy")
    guarantees = ("guarantee_0_1pct", "guarantee_0_5pct", "guarantee_1pct")
    columns = [table.column(name) for name in (*names, *guarantees)]
    found = []
    for row in range(table.n_rows):
        place, data, method, epsilon, mean, *rest = (c.texts[c.codes[row]] if c.codes[row] >= 0 else "" for c in columns)
        digits = len(mean.partition(".")[2])
        found.append(PublishedRow(place, data, method, float(epsilon), float(mean), tuple(map(_number, rest)), digits))
    if not found:
        raise DpvizError("There is no published guarantee in it.", where=str(path), remedy="Give the papers' tables as CSV.")
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def lines_by_data(published: Sequence[PublishedRow], names: Sequence[str]) -> dict[str, list[PublishedRow]]:
    """Data set of the manifest -> the lines about it. Table VIII is about the version with categories where there is one."""
    found: dict[str, list[PublishedRow]] = {}
    for row in published:
        with_categories = f"{row.data}_cat"
        name = with_categories if row.table.startswith("VIII") and with_categories in names else row.data
        if name in names:
            found.setdefault(name, []).append(row)
    return found


def repeat_experiment(
    name: str, data: EncodedDataset, *, epsilon: float, workers: int, splits: int = PUBLISHED_SPLITS
) -> Repeated:
    """The papers' experiment with the learner `name`."""
    one = partial(_one_split, name, data, epsilon)
    accuracies = np.array(list(spread(one, range(splits), workers)))
    n_train = data.n_rows - round(data.n_rows * TEST_SHARE)
    rows = tuple(rows_at(share, n_train) for share in SHARES)
    mean = float(accuracies.mean())
    error = float(accuracies.std(ddof=1) / math.sqrt(splits)) if splits > 1 else math.nan
    return Repeated(mean, error, rows, tuple(mean * math.exp(-k * epsilon) for k in rows))


def _one_split(name: str, data: EncodedDataset, epsilon: float, seed: int) -> float:
    train, test = data.split(TEST_SHARE, seed=seed)
    return score(fit(name, train, epsilon=epsilon, max_depth=DEPTH, seed=seed).model, test)


def rows_at(share: float, n_train: int) -> int:
    """Poisoned rows at a share, rounded down as in the papers."""
    return math.floor(share * n_train + 1e-9)


def certified_curves(name: str, data: EncodedDataset, *, epsilon: float, splits: int, draws: int, workers: int) -> PoisoningTable:
    """Curves of a learner up to 1% poisoned rows, 95% confidence over all splits."""
    pairs = [data.split(TEST_SHARE, seed=seed) for seed in range(splits)]
    request = FitRequest.of(name, epsilon=epsilon, max_depth=DEPTH, **asked_of(name))
    return certify(request, pairs, max_poisoned=SHARES[-1], draws=draws, workers=workers)


def asked_of(name: str) -> dict[str, Any]:
    """Labels alone are certified here, so every row grows the default learner's tree, as it does with the other learners."""
    return {"leaves": "labels"} if name == DEFAULT else {}


def figure_3(
    tables: Mapping[tuple[str, float, str], PoisoningTable], again: Mapping[tuple[str, float], Repeated]
) -> pd.DataFrame:
    """Guaranteed accuracy from 0 to 1% in steps of .05%: columns data, epsilon, learner, then those of the curve.

    `again` are the measurements of the paper's learner, which has Corollary 2 (`published`) and nothing tight.
    """
    import pandas as pd

    lines = []
    for (data, epsilon, learner), table in tables.items():
        for rows in dict.fromkeys(rows_at(step / 2000, table.n_train) for step in range(21)):
            place = {"data": data, "epsilon": epsilon}
            where = {"poisoned_rows": rows, "poisoned_share": round(rows / table.n_train, 6)}
            curve = {"accuracy": table.accuracy, "published": table.published(rows)}
            lines.append(
                place | {"learner": learner} | where | curve | {"tight": table.tight(rows), "tight_low": table.low(rows)}
            )
            if learner == DEFAULT:
                mean = again[data, epsilon].accuracy
                curve = {"accuracy": mean, "published": mean * math.exp(-rows * epsilon)}
                lines.append(place | {"learner": SAME_LEARNER["PrivaTree"]} | where | curve)
    return pd.DataFrame(lines).sort_values(["data", "epsilon", "learner"], kind="stable", key=_in_turn).round(4)


def _in_turn(column: pd.Series[Any]) -> pd.Series[Any]:
    """Places in order of first appearance."""
    return column.map({value: place for place, value in enumerate(dict.fromkeys(column))})
