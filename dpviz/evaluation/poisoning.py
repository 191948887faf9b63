"""Many draws of one learner on fixed training rows, and their accuracy on fixed test rows.

Every draw spends epsilon again: for simulated and public rows only.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.metrics import clopper_pearson
from dpviz.evaluation.repeat import Workers, checked_workers, fit_each, without_caches
from dpviz.learners import FitRequest, require_task
from dpviz.models.tree import Forest
from dpviz.progress import Progress, Stop, part_of
from dpviz.randomness import child_seeds
from dpviz.results.result import FitResult, score
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import require_classes
from dpviz.table.validation import validate_count, validate_delta, validate_fraction, validate_loss, validate_number

if TYPE_CHECKING:
    import pandas as pd

#: Draws between two checks of `stop`.
CHUNK = 50


@dataclass(frozen=True)
class Draws:
    """Accuracies over many draws."""

    accuracies: np.ndarray  #: Shape (n_draws,). On the test rows; one draw for a learner without noise
    first: FitResult  #: The first draw: its claim, plan and model
    composed: float  #: The largest epsilon that a draw's ledger composes to
    n_asked: int  #: Draws asked for; more than were done after a stop


def _lack_of_proof(draws: Draws) -> str:
    """Why privacy proves nothing about poisoned rows of this learner; empty when it does."""
    result = draws.first
    if result.claim.verdict == "violated":
        return f"Its privacy claim is violated. {result.claim.because}"
    if not np.isfinite(draws.composed):
        notes = [row.note for row in result.ledger.rows() if row.note]
        return f"Its privacy loss is infinite: {notes[0] if notes else 'something is published exactly'}."
    own = [item.what for item in result.disclosures if not item.code.startswith("schema-")]
    return f"It reveals something outside its ledger. {own[0]}" if own else ""


def draw(
    request: FitRequest,
    train: EncodedDataset,
    test: EncodedDataset,
    *,
    draws: int,
    seed: int,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Draws:
    """Fit `draws` times with independent noise and score every model on the test rows, of which there is one at least.

    `request`: whatever its seed. A learner that spends no epsilon is fitted once.
    `draws`, `seed`: the k-th draw does not depend on `draws`, nor on `workers`.
    `stop`: asked between chunks of draws. The draws done so far are returned, at least one chunk.
    """
    require_classes(train.schema, "A poisoning guarantee")
    require_task(request.spec, train.schema)
    checked_workers("draws", workers)
    draws, seed = validate_count("draws", "draws", draws), validate_count("draws", "seed", seed, 0)
    if not test.n_rows:
        raise DpvizError("There are no rows to score.", remedy="Give at least one test row.")
    count = draws if request.spec.spends_epsilon else 1
    seeds = child_seeds(seed, count)
    measure, how = partial(_accuracy_and_loss, without_caches(test)), {"workers": workers, "progress": progress, "stop": stop}
    pairs = fit_each([request], train, seeds, measure, CHUNK, at_least=1, **how)
    accuracies, losses = zip(*(pair for [pair] in pairs), strict=True)
    return Draws(np.array(accuracies), request.at(seed=seeds[0]).fit(train), max(losses), count)


def _accuracy_and_loss(test: EncodedDataset, result: FitResult, _: EncodedDataset) -> tuple[float, float]:
    """Accuracy on the test rows, and what the ledger composes to."""
    return score(result.model, test), result.spent.epsilon


# --- What privacy proves about poisoning: bounds on a mean after an attacker added or removed k persons.

# A person has one row, or up to as many as the schema says; epsilon and delta are a person's. Let M be (epsilon, delta)-private
# and A(M(D)) lie in [0, 1], for example accuracy on a fixed clean test set. An event of probability u has probability at most
# T(u) = min(e^eps u, 1 - e^-eps (1 - u)) after one person, and at most T applied k times after k of them. A row that is slipped
# into the rows of somebody who is there is no new person: it costs 2 epsilon / m where m rows of each are kept, for it may take
# the place of one of them. Over the events {A <= a} this bounds the mean of A from below, and an explicit chain of
# distributions attains the bound (this project). It is never below the published bound e^(-k eps) E[A] (PrivaTree, Corollaries 2
# and 3).
#
# That is all epsilon and delta tell. What a learner's steps tell is more (`dpviz.accounting.risk`): by their trade-off curve
# for k persons an event of probability u has at most the power of a test at level u. With a delta, or where losses have a bounded
# range, far more is kept.
#
# An upper bound on something bad, such as the success of a backdoor, is 1 minus the lower bound on its absence.

#: Order statistics of a band, fixed before anything is drawn.
BAND_POINTS = 12
#: Up to so many rows every group is composed; then each is larger than the one before by this factor.
ALL_GROUPS, GROUP_STEP = 10, 1.1

#: (values, increasing; probability of at most each of them)
Distribution = tuple[np.ndarray, np.ndarray]


def pure_dp_survival(below: np.ndarray, rows: int, epsilon: float) -> np.ndarray:
    """1 - T^k(u): the least probability that an event of probability 1 - u keeps.

    `below`: probabilities u in [0, 1].
    `rows`: k, persons added or removed, each with one row or more.
    `epsilon`: privacy loss of each; nothing survives an infinite one.

    Notes
    -----
    While u <= 1/(1 + e^eps) a row multiplies u by e^eps, from then on it multiplies 1 - u by e^-eps. Any split of the k rows
    into these two is an upper bound on T^k, so a rounding error of the turning point can only make the result smaller.
    """
    epsilon = validate_loss("pure_dp_survival", "epsilon", epsilon)
    u = np.asarray(below, dtype=np.float64)
    if rows == 0 or epsilon == 0:
        return 1 - u
    if math.isinf(epsilon):
        return np.zeros_like(u)
    with np.errstate(divide="ignore"):
        log_u = np.log(u)
    turning = np.ceil((-np.logaddexp(0.0, epsilon) - log_u) / epsilon)
    growing = np.clip(turning, 0, rows)
    left = np.maximum(0.0, -np.expm1(log_u + growing * epsilon))
    return np.where(growing > 0, left, 1 - u) * np.exp(-(rows - growing) * epsilon)


def group_delta(rows: int, epsilon: float, delta: float) -> float:
    """The delta of k rows together: delta (e^(k eps) - 1) / (e^eps - 1), at most 1."""
    PrivacyLoss(epsilon, delta)  # raises where it is none
    if delta == 0 or rows == 0:
        return 0.0
    if epsilon == 0:
        return min(1.0, rows * delta)
    if rows * epsilon > 700:  # beyond floating point, and far beyond 1
        return 1.0
    return min(1.0, delta * math.expm1(rows * epsilon) / math.expm1(epsilon))


def tight_bound(distribution: Distribution, rows: int, epsilon: float, delta: float = 0.0, risk: Risk | None = None) -> float:
    """Lower bound on the mean after `rows` additions and removals, given the distribution of A on the clean rows.

    `rows` are persons, each with one row or more; so is what `epsilon` and `delta` are of. With delta all are taken in one step
    (group privacy) and the group's delta is subtracted from every event. `risk` is what the steps of the learner let one person
    change: composed to a group of them it says of every event what it keeps, and the larger of the two counts. Decreasing in
    `rows`; the mean itself at 0 rows; the value itself for a constant.
    """
    values, at_most = distribution
    before = np.concatenate([[0.0], at_most[:-1]])
    return float(np.diff(values, prepend=0.0) @ _probability_after_poisoning(before, rows, PrivacyLoss(epsilon, delta), risk))


def _probability_after_poisoning(below: np.ndarray, rows: int, loss: PrivacyLoss, risk: Risk | None) -> np.ndarray:
    """The least probability that events keep, which had probability 1 - `below` (increasing), after so many rows."""
    epsilon = loss.epsilon
    if loss.delta:
        left = np.clip(pure_dp_survival(below, min(rows, 1), rows * epsilon) - group_delta(rows, epsilon, loss.delta), 0, 1)
    else:
        left = pure_dp_survival(below, rows, epsilon)
    if risk is not None and rows:
        left = np.maximum(left, risk.for_persons(_composed_rows(rows)).remains(below))
    return left


def _composed_rows(rows: int) -> int:
    """From `ALL_GROUPS` on groups are composed at some sizes only: the next of them."""
    if rows <= ALL_GROUPS:
        return rows
    return math.ceil(ALL_GROUPS * GROUP_STEP ** math.ceil(math.log(rows / ALL_GROUPS, GROUP_STEP) - 1e-9) - 1e-9)


def published_bound(mean: float, rows: int, epsilon: float, delta: float = 0.0) -> float:
    """e^(-k eps) E[A]: Corollary 2 (and 3 for 1 minus attack success); with delta, e^(-k eps) (E[A] - the group's delta)."""
    mean, epsilon = validate_delta("published_bound", "mean", mean), validate_loss("published_bound", "epsilon", epsilon)
    return math.exp(-rows * epsilon) * max(0.0, mean - group_delta(rows, epsilon, delta))


def most_rows(bound: Callable[[int], float], above: float, n_rows: int) -> int:
    """The most rows, up to `n_rows`, with which a bound that only falls stays above a value; 0 also when none do."""
    return bisect_left(range(1, n_rows + 1), True, key=lambda rows: not bound(rows) > above)


def distribution_of(draws: np.ndarray) -> Distribution:
    """The empirical distribution of the draws."""
    values, counts = np.unique(draws, return_counts=True)
    at_most = counts.cumsum() / len(draws)
    at_most[-1] = 1.0
    return values, at_most


def band_distribution(draws: np.ndarray, beta: float) -> Distribution:
    """A distribution below the true one everywhere, with confidence 1 - beta: its bounds hold for all k at once.

    The probability of falling below the i-th smallest of R draws is at most the (1 - beta/m) quantile of Beta(i, R - i + 1),
    at each of m order statistics (log-spaced, fixed before drawing) with confidence 1 - beta/m. Probability below the smallest
    one is moved to 0.
    """
    draws = np.sort(draws)
    places = np.unique(np.round(np.geomspace(1, len(draws), BAND_POINTS)).astype(np.int64))
    _, quantiles = clopper_pearson(places - 1, len(draws), beta / len(places))
    at_most = np.append(np.maximum.accumulate(quantiles), 1.0)
    return np.append(0.0, draws[places - 1]), at_most


def certified_rows(votes: np.ndarray) -> np.ndarray:
    """Additions and removals that cannot change each prediction of a vote in which a row reaches one voter only.

    `votes`: shape (n_rows, n_classes); the prediction is the class with the most votes, the lowest code among equals.

    Per row, int64 of shape (n_rows,): min over c' != c of floor((n_c - n_c' - [c' < c]) / 2). Source: Levine & Feizi 2021,
    Theorem 1. A voter without rows abstains; a row makes it vote, moving a gap by one instead of two: the bound covers it.
    """
    votes = votes.astype(np.int64)
    chosen = votes.argmax(axis=1)
    classes = np.arange(votes.shape[1])
    gap = votes.max(axis=1, keepdims=True) - votes - (classes[None, :] < chosen[:, None])
    gap[classes[None, :] == chosen[:, None]] = np.iinfo(np.int64).max
    return gap.min(axis=1) // 2


@dataclass(frozen=True)
class Certificate:
    """Lower bounds on a mean that privacy proves, from draws on one split."""

    #: Shape (n_draws,). One number in [0, 1] per draw on the clean training rows: accuracy, or 1 minus attack success.
    draws: np.ndarray
    #: epsilon, delta: proved privacy loss of a person.
    epsilon: float
    delta: float
    claimed: float  #: The paper's epsilon
    reason: str  #: Why nothing is proved; empty when something is
    beta: float  #: The band fails with at most this probability
    risk: Risk | None = None  #: What the steps let one person change; None where no more is known than epsilon and delta

    @classmethod
    def of(cls, draws: Draws, beta: float) -> Certificate:
        """The certificate of draws."""
        first, reason = draws.first, _lack_of_proof(draws)
        claim, is_sound = first.claim_of_person, first.claim.is_sound
        epsilon = claim.epsilon if claim.is_sound else draws.composed
        delta = max(claim.delta, first.spent.delta)
        risk = first.risk.for_rows(first.unit.rows) if is_sound and not reason else None
        return cls(draws.accuracies, epsilon, delta, claim.epsilon, reason, beta, risk)

    @property
    def accuracy(self) -> float:
        """Mean over the draws."""
        return float(self.draws.mean())

    def published(self, rows: int) -> float:
        """e^(-k eps) times the mean, with the claimed epsilon; NaN where none is claimed."""
        if not math.isfinite(self.claimed):
            return math.nan
        return published_bound(self.accuracy, rows, self.claimed, self.delta)

    def tight(self, rows: int) -> float:
        """The tight bound, taking the draws for the true distribution; NaN with a reason."""
        return self._bound("tight", rows)

    def low(self, rows: int) -> float:
        """The tight bound with confidence, for all numbers of rows at once; NaN with a reason."""
        return self._bound("low", rows)

    def _bound(self, name: str, rows: int) -> float:
        if self.reason:
            return math.nan
        if (name, rows) not in self._bounds:
            distribution = self._band if name == "low" else self._empirical
            self._bounds[name, rows] = tight_bound(distribution, rows, self.epsilon, self.delta, self.risk)
        return self._bounds[name, rows]

    @cached_property
    def _bounds(self) -> dict[tuple[str, int], float]:
        """Found so far: a picture and its words ask for the same ones many times, and each takes a millisecond."""
        return {}

    @cached_property
    def _empirical(self) -> Distribution:
        return distribution_of(self.draws)

    @cached_property
    def _band(self) -> Distribution:
        return band_distribution(self.draws, self.beta)


@dataclass(frozen=True)
class VoteCertificate:
    """The accuracy that a vote on disjoint rows keeps for certain, test row by test row; without noise."""

    #: Shape (n_rows,), int64. Poisoned rows, or persons, that cannot change the prediction; -1 where it is wrong already.
    withstands: np.ndarray
    reason: str = ""

    @classmethod
    def of(cls, forest: Forest, test: EncodedDataset, rows_per_person: int = 1) -> VoteCertificate:
        """From the votes on test rows; a person reaches as many voters as there are rows of one."""
        votes = forest.votes(test)
        return cls(np.where(votes.argmax(axis=1) == test.target, certified_rows(votes) // rows_per_person, -1))

    @property
    def accuracy(self) -> float:
        """Share of test rows predicted correctly."""
        return self.low(0)

    def low(self, rows: int) -> float:
        """Share of test rows predicted correctly whatever `rows` additions and removals do."""
        return float(np.mean(self.withstands >= rows))

    published = tight = low


Bounds = Certificate | VoteCertificate

# --- How many poisoned rows a learner provably withstands: the published guarantee, and a tight one with confidence.

# The training rows are held fixed while the learner's noise varies; the test rows are clean and fixed; schema and n_public do
# not change with the poison. k counts additions and removals, so a changed row counts as two. With several splits each is
# certified at its share of beta, and the curves are averaged.
#
# A curve is computed from exact rows and covered by no epsilon: it is for the owner of the rows.

#: The most points of a curve; up to here every number of poisoned rows is one.
MAX_POINTS = 501

Split = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True)
class PoisoningTable:
    """Curves of one learner over poisoned rows; where a person has several, over poisoned persons with all their rows."""

    learner: str
    bounds: tuple[Bounds, ...]  #: One per split
    #: Training rows of a split, or as many persons as have them at least. Private.
    n_train: int
    majority: float  #: Accuracy of always predicting the largest class of the training rows, mean over splits
    beta: float  #: The column `tight_low` is wrong anywhere with at most this probability
    rows: tuple[int, ...]  #: Numbers of poisoned rows on the curve
    #: n_asked, n_done: draws over all splits; fewer are done after a stop.
    n_asked: int
    n_done: int
    rows_per_person: int = 1

    @property
    def unit(self) -> str:
        """What is counted: "row", or "person" with all rows."""
        return "row" if self.rows_per_person == 1 else "person"

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
        level = self.majority if above is None else above
        if self.reason or not self.low(0) > level:
            return None
        return most_rows(self.low, level, self.n_train)


def certify(
    request: FitRequest,
    splits: Sequence[Split],
    *,
    max_poisoned: float = 0.01,
    draws: int = 1000,
    seed: int = 0,
    beta: float = 0.05,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> PoisoningTable:
    """Certify a learner on one or more splits.

    Raises ParameterError, SchemaError, UnsupportedError or DpvizError for invalid arguments.

    `splits`: sequence of (train, test); each is certified at beta / n_splits, then curves are averaged.
    `max_poisoned`: largest share of the training rows, or persons, that is added or removed, in [0, 1].
    `draws`: per split. The band is useful up to a k where e^(k eps) is well below it.
    `seed`, `workers`, `progress`, `stop`: as for `draw`.
    `beta`: the band may fail with this probability, in (0, 1).
    """
    if not splits:
        raise ParameterError("certify", "splits", splits, "at least one (train, test) pair")
    allowed = "a share in [0, 1]"
    max_poisoned = validate_number("certify", "max_poisoned", max_poisoned, low=0, high=1, allowed=allowed)
    seed, beta = validate_count("certify", "seed", seed, 0), validate_fraction("certify", "beta", beta)
    how: dict[str, Any] = {"draws": draws, "workers": workers, "stop": stop}
    bounds: list[Bounds] = []
    n_asked = n_done = 0
    for number, (train, test) in enumerate(splits):
        drawn = draw(request, train, test, seed=seed + number, progress=part_of(progress, number, len(splits)), **how)
        model = drawn.first.model
        if isinstance(model, Forest) and model.are_disjoint:
            bounds.append(VoteCertificate.of(model, test, drawn.first.unit.rows))
        else:
            bounds.append(Certificate.of(drawn, beta / len(splits)))
        n_asked, n_done = n_asked + drawn.n_asked, n_done + len(drawn.accuracies)
    rows_per_person = max(train.schema.rows_per_person for train, _ in splits)
    n_train = min(train.n_rows for train, _ in splits) // rows_per_person
    majority = float(np.mean([np.mean(test.target == train.class_counts().argmax()) for train, test in splits]))
    rows = curve_rows(n_train, max_poisoned)
    table = PoisoningTable(request.learner, tuple(bounds), n_train, majority, beta, rows, n_asked, n_done, rows_per_person)
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
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> pd.DataFrame:
    """Guaranteed accuracy of a learner while an attacker adds or removes training rows.

    Source: Ma, Zhu & Hsu 2019; Vos et al. 2023, Corollary 2; what is proved beyond them: `docs/explanation/poisoning.md`.

    Parameters
    ----------
    name, epsilon, **params
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
        Columns `poisoned_rows` (additions and removals; a changed row counts as two; of a schema with several rows per person
        these are persons, with all their rows), `poisoned_share` (of the training rows, or of as many persons as have them),
        `accuracy` (mean without poison), `published` (the paper's guarantee for its claim), `tight` (what is proved) and
        `tight_low` (what is proved with confidence 1 - beta, for all lines at once). `tight` is NaN for a learner whose
        privacy loss is infinite or whose claim is violated; `certify(...).reason` says why. The accuracies are measured on exact
        rows: private if they are.

    Raises
    ------
    UnknownName, ParameterError, UnsupportedError, DpvizError
        For an argument that is wrong, another kind of target, or no test rows.
    """
    request = FitRequest.of(name, epsilon=epsilon, **params)
    how: dict[str, Any] = {"draws": draws, "seed": seed, "workers": workers, "progress": progress, "stop": stop}
    return certify(request, [(train, test)], max_poisoned=max_poisoned, beta=beta, **how).frame()


def curve_rows(n_train: int, max_poisoned: float) -> tuple[int, ...]:
    """Numbers of rows from 0 up to this share, rounded down: all of them, or evenly spaced when there are many."""
    most = math.floor(n_train * max_poisoned + 1e-9)
    return tuple(np.unique(np.linspace(0, most, min(most + 1, MAX_POINTS)).astype(np.int64)).tolist())
