"""How many poisoned rows a learner provably withstands: the published guarantee, and a tight one with confidence.

The training rows are held fixed while the learner's noise varies; the test rows are clean and fixed; schema and n_public do not
change with the poison. k counts additions and removals, so a changed row counts as two. With several splits each is certified at
its share of beta, and the curves are averaged. Mathematics: `certificates.py`.

A curve is computed from exact rows and covered by no epsilon: it is for the owner of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.errors import ParameterError
from dpviz.evaluation.robustness.certificates import Bounds, Certificate, VoteCertificate, most_rows
from dpviz.evaluation.robustness.draws import Draws, draw
from dpviz.learners import FitRequest
from dpviz.models.tree import Forest
from dpviz.progress import Progress, Stop, part_of
from dpviz.table.checked_numbers import checked_count, checked_number, checked_share
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import LearnerSpec

if TYPE_CHECKING:
    import pandas as pd

#: The most points of a curve; up to here every number of poisoned rows is one.
MOST_POINTS = 501

Split = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True)
class PoisoningTable:
    """Curves of one learner over poisoned rows."""

    learner: str
    bounds: tuple[Bounds, ...]  #: One per split
    #: Training rows of a split. Private.
    n_train: int
    majority: float  #: Accuracy of always predicting the largest class of the training rows, mean over splits
    beta: float  #: The column `tight_low` is wrong anywhere with at most this probability
    rows: tuple[int, ...]  #: Numbers of poisoned rows on the curve
    #: n_asked, n_done: draws over all splits; fewer are done after a stop.
    n_asked: int
    n_done: int

    @property
    def reason(self) -> str:
        """Why there is no tight bound; empty where there is one."""
        return next((bound.reason for bound in self.bounds if bound.reason), "")

    @property
    def accuracy(self) -> float:
        """Mean accuracy without poison."""
        return fmean(bound.accuracy for bound in self.bounds)

    def published(self, rows: int) -> float:
        """The published guarantee at `rows` additions and removals; NaN where nothing is claimed."""
        return fmean(bound.published(rows) for bound in self.bounds)

    def tight(self, rows: int) -> float:
        """The tight guarantee; NaN with a reason."""
        return fmean(bound.tight(rows) for bound in self.bounds)

    def low(self, rows: int) -> float:
        """The tight guarantee with confidence 1 - beta; NaN with a reason."""
        return fmean(bound.low(rows) for bound in self.bounds)

    def frame(self) -> pd.DataFrame:
        """Columns poisoned_rows, poisoned_share, accuracy, published, tight, tight_low; one line per number of rows."""
        import pandas as pd

        return pd.DataFrame(
            {
                "poisoned_rows": self.rows,
                "poisoned_share": np.array(self.rows) / max(1, self.n_train),
                "accuracy": self.accuracy,
                "published": [self.published(rows) for rows in self.rows],
                "tight": [self.tight(rows) for rows in self.rows],
                "tight_low": [self.low(rows) for rows in self.rows],
            }
        )

    def protected_rows(self, above: float | None = None) -> int | None:
        """The most rows with which `low` stays above an accuracy (default: the majority class); None when even 0 is too many."""
        wanted = self.majority if above is None else above
        if self.reason or not self.low(0) > wanted:
            return None
        return most_rows(self.low, wanted, self.n_train)

    def verdict(self, above: float | None = None) -> str:
        """The result in words."""
        if self.reason:
            return f"No guarantee. {self.reason}"
        wanted, what = (self.majority, "the majority class") if above is None else (above, "what you asked for")
        rows = self.protected_rows(above)
        sure = f", with {1 - self.beta:.0%} confidence" if isinstance(self.bounds[0], Certificate) else ""
        if rows is None:
            return f"No protection shown: even without poison its accuracy is not above {wanted:.1%} ({what}){sure}."
        return (
            f"Withstands up to {rows:,} poisoned rows ({rows / max(1, self.n_train):.2%}): its mean accuracy stays above "
            f"{wanted:.1%} ({what}){sure}. Counted: {NEIGHBOURS}; a changed row counts as two."
        )


def certify(
    request: FitRequest,
    splits: Sequence[Split],
    *,
    max_poisoned: float = 0.01,
    draws: int = 1000,
    seed: int = 0,
    beta: float = 0.05,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> PoisoningTable:
    """Certify a learner on one or more splits.

    Raises ParameterError, SchemaError, WrongTask or DpvizError for invalid arguments.

    `splits`: sequence of (train, test); each is certified at beta / n_splits, then curves are averaged.
    `max_poisoned`: largest share of the training rows that is added or removed, in [0, 1].
    `draws`: per split. The band is useful up to a k where e^(k eps) is well below it.
    `seed`, `workers`, `progress`, `stop`: as for `dpviz.evaluation.robustness.draws.draw`.
    `beta`: the band may fail with this probability, in (0, 1).
    """
    if not splits:
        raise ParameterError("certify", "splits", splits, "at least one (train, test) pair")
    checked_number("certify", "max_poisoned", max_poisoned, least=0, most=1, allowed="a share in [0, 1]")
    checked_count("certify", "seed", seed, 0)
    checked_share("certify", "beta", beta)
    how: dict[str, Any] = {"draws": draws, "workers": workers, "stop": stop}
    bounds: list[Bounds] = []
    n_asked = n_done = 0
    for number, (train, test) in enumerate(splits):
        found = draw(request, train, [test], seed=seed + number, progress=part_of(progress, number, len(splits)), **how)
        bounds.append(_bounds(request.spec, found, test, beta / len(splits)))
        n_asked, n_done = n_asked + found.n_asked, n_done + found.n_done
    n_train = min(train.n_rows for train, _ in splits)
    majority = float(np.mean([np.mean(test.target == train.class_counts().argmax()) for train, test in splits]))
    rows = curve_rows(n_train, max_poisoned)
    table = PoisoningTable(request.learner, tuple(bounds), n_train, majority, beta, rows, n_asked, n_done)
    for poisoned in rows:  # here, in the background: what groups of rows risk takes a while and is remembered
        table.low(poisoned)
    return table


def poisoning_curve(
    name: str,
    train: EncodedDataset,
    test: EncodedDataset,
    *,
    epsilon: float,
    max_poisoned: float = 0.01,
    draws: int = 1000,
    seed: int = 0,
    beta: float = 0.05,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **asked: Any,
) -> pd.DataFrame:
    """Guaranteed accuracy of a learner while an attacker adds or removes training rows.

    Parameters
    ----------
    name, epsilon, **asked
        As for `dpviz.fit`, without a seed or source.
    train, test : EncodedDataset
        Such as from `data.split(seed=0)`. The curve is as private as they are.
    max_poisoned : float
        Largest share of poisoned training rows.
    draws : int
        Fits without poison, from which accuracy and what is proved with confidence are estimated.
    seed : int
        Of these fits.
    beta : float
        The column `tight_low` is wrong anywhere with at most this probability.
    workers, progress, stop
        As for `sweep`.

    Returns
    -------
    DataFrame
        Columns `poisoned_rows` (additions and removals; a changed row counts as two), `poisoned_share` (of the training rows),
        `accuracy` (mean without poison), `published` (the paper's guarantee for its claim), `tight` (what is proved) and
        `tight_low` (what is proved with confidence 1 - beta, for all lines at once). `tight` is NaN for a learner whose
        privacy loss is infinite or whose claim is violated; `certify(...).reason` says why. The accuracies are measured on exact
        rows: private if they are.
    """
    request = FitRequest.of(name, epsilon=epsilon, **asked)
    how: dict[str, Any] = {"draws": draws, "seed": seed, "workers": workers, "progress": progress, "stop": stop}
    return certify(request, [(train, test)], max_poisoned=max_poisoned, beta=beta, **how).frame()


def curve_rows(n_train: int, max_poisoned: float) -> tuple[int, ...]:
    """Numbers of rows from 0 up to this share, rounded down: all of them, or evenly spaced when there are many."""
    most = math.floor(n_train * max_poisoned + 1e-9)
    return tuple(np.unique(np.linspace(0, most, min(most + 1, MOST_POINTS)).astype(np.int64)).tolist())


def _bounds(spec: LearnerSpec, found: Draws, test: EncodedDataset, beta: float) -> Bounds:
    model = found.first.model
    if spec.disjoint_voters and isinstance(model, Forest):
        return VoteCertificate.of(model, test)
    return Certificate.of(found, beta)
