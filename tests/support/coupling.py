"""Two runs of a learner on neighbouring rows that see the same outcomes, and how far these outcomes tell the rows apart.

Both runs stop at every draw. The outcome is the one that tells their inputs apart best, by the mechanism's own law; both get it
and go on. Given the same outcomes they must ask the same questions, and the log ratios of the outcomes add up to the log ratio of
everything that was released. That sum is exact, so the ledger must cover it.

Random assignments of rows (which tree, which round, which part) are the same for the rows that both runs have: every row goes to
the first tree and grows it; the last rows, which only one of them has, go to the part that is asked for.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import combinations_with_replacement
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np

import dpviz
from dpviz.accounting.events import Event
from dpviz.privacy.gaussian import GaussianNoise
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.leaf_labels import LabelLeaves
from dpviz.privacy.objective_perturbation import ObjectivePerturbation
from dpviz.privacy.quantiles import JointQuantiles
from dpviz.privacy.random_assignment import PoissonSample, RandomAssignment
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.uniform import SecretKeys, UniformChoice, UniformPoint
from dpviz.table.dataset import EncodedDataset

#: Noisy numbers are taken this many standard deviations away, where counts are large and no tree stops early.
FAR = 30.0


@dataclass(frozen=True)
class ToldApart:
    """How far one transcript tells two data sets apart.

    Attributes
    ----------
    log_ratio : float
        ln of the odds for the larger data set (of the smaller one where the search was for it), without Gaussian noise.
    squares : float
        Sum over all Gaussian noise of the squared distance of the inputs, in standard deviations.
    shares : dict
        By title (and sensitivity) of the mechanism: the largest log ratio of one draw, as a share of its epsilon.
    event : Event
        What the learner says it did.
    """

    log_ratio: float
    squares: float
    shares: dict[str, float]
    event: Event


def told_apart(
    name: str,
    smaller: EncodedDataset,
    larger: EncodedDataset,
    *,
    adding: bool,
    strength: float = 1.0,
    part: int = 0,
    **asked: Any,
) -> ToldApart:
    """The transcript that speaks for the larger data set (`adding`) or the smaller one.

    `strength` 2 reads every outcome as if its noise had been half as large, whatever the ledger says. `part` is where a coin
    sends the last rows.
    """
    pair = _Pair(1.0 if adding else -1.0, strength, part)

    def run(side: int, data: EncodedDataset) -> Event:
        try:
            return dpviz.fit(name, data, source=_Side(pair, side), **asked).ledger.event
        except BaseException:
            pair.barrier.abort()
            raise
        finally:
            pair.finished(side)

    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(run, side, data) for side, data in enumerate((smaller, larger))]
        events = [found.result() for found in sorted(runs, key=lambda found: isinstance(found.exception(), BrokenBarrierError))]
    assert events[0] == events[1], "the ledgers differ though the outcomes are the same"
    return ToldApart(pair.log_ratio, pair.squares, pair.shares, events[0])


class _Side:
    """The source of one of the two runs."""

    name, seed = "coupled", None

    def __init__(self, pair: _Pair, side: int) -> None:
        self._pair, self._side = pair, side

    def enter(self, place: int) -> None:
        pass

    def draw(self, mechanism: Any, values: Any) -> Any:
        return self._pair.draw(self._side, mechanism, values)


class _Pair:
    """Where both runs meet at every draw."""

    def __init__(self, sign: float, strength: float, part: int) -> None:
        self.barrier = Barrier(2, self._decide)
        self.log_ratio = self.squares = 0.0
        self.shares: dict[str, float] = {}
        self._sign, self._strength, self._part = sign, strength, part
        self._asked: list[Any] = [None, None]
        self._given: tuple[Any, Any] = (None, None)
        self._places: tuple[float, float] | None = None
        self._public = np.random.default_rng(11)
        self._open = 2

    def finished(self, side: int) -> None:
        """A run that ends leaves nobody waiting: the other one must end as well."""
        self._open -= 1
        if self._open == 1 and self.barrier.n_waiting:
            self.barrier.abort()

    def draw(self, side: int, mechanism: Any, values: Any) -> Any:
        if self._open < 2:
            raise AssertionError("one run asks more than the other though the outcomes are the same")
        self._asked[side] = (mechanism, values)
        self.barrier.wait(timeout=60)
        return self._given[side]

    def _decide(self) -> None:
        (mechanism, first), (other, second) = self._asked
        assert _public_part(mechanism) == _public_part(other), "the questions differ though the outcomes are the same"
        match mechanism:
            case UniformChoice() | SecretKeys() | PoissonSample() | RandomAssignment():
                self._given = self._free(mechanism, first, second)
            case UniformPoint():
                self._given = self._point(mechanism, first, second)
            case GaussianNoise():
                self.squares += float(np.square((second - first) / mechanism.scale).sum()) * self._strength**2
                self._given = np.zeros_like(first), np.zeros_like(first)
            case ExponentialMechanism() if mechanism.log_weights is not None:
                self._given, self._places = self._interval(mechanism, other, first, second)
            case _:
                outcome, ratio = _best(_stronger(mechanism, self._strength), first, second, self._sign)
                self._note(mechanism, ratio)
                self._given = outcome, outcome

    def _note(self, mechanism: Any, ratio: float) -> None:
        self.log_ratio += ratio
        rule = getattr(mechanism, "rule", mechanism)
        sensitivity = getattr(rule, "sensitivity", None)
        title = rule.title if sensitivity is None else f"{rule.title}, {sensitivity.value:g}"
        title += ", either way" if isinstance(rule, PermuteAndFlip) and not rule.sensitivity.monotone else ""
        self.shares[title] = max(self.shares.get(title, 0.0), ratio / rule.epsilon)

    def _free(self, mechanism: Any, first: Any, second: Any) -> tuple[Any, Any]:
        """What looks at no row is drawn once; a coin per row sends every row to the first place."""
        if isinstance(mechanism, PoissonSample):
            return np.ones(first, dtype=bool), np.ones(second, dtype=bool)
        if isinstance(mechanism, RandomAssignment):
            added = np.full(second - first, self._part, dtype=np.uint8)
            return np.zeros(first, dtype=np.uint8), np.append(np.zeros(first, dtype=np.uint8), added)
        if np.shape(first) != np.shape(second):
            return np.zeros(np.shape(first), dtype=np.int64), np.zeros(np.shape(second), dtype=np.int64)
        assert np.array_equal(first, second), "a draw that costs nothing depends on the rows"
        drawn = mechanism.sample(first, self._public)
        return drawn, drawn

    def _point(self, mechanism: UniformPoint, first: Any, second: Any) -> tuple[Any, Any]:
        if self._places is None or np.ndim(first[0]):
            assert np.array_equal(first, second), "a draw that costs nothing depends on the rows"
            drawn = mechanism.sample(first, self._public)
            return drawn, drawn
        points = [low + share * (high - low) for (low, high), share in zip((first, second), self._places, strict=True)]
        self._places = None
        assert math.isclose(*points, rel_tol=1e-9, abs_tol=1e-9)
        return points[0], points[0]

    def _interval(self, mechanism: Any, other: Any, first: Any, second: Any) -> tuple[tuple[int, int], tuple[float, float]]:
        """The same point of the range on either side: its interval, and its place inside. Neighbours have different intervals."""
        sides = [_stronger(mechanism, self._strength), _stronger(other, self._strength)]
        ends = [np.cumsum(np.exp(side.log_weights)) for side in sides]
        marks = np.unique(np.concatenate([[0.0], *ends]))
        points = ((marks[1:] + marks[:-1]) / 2)[np.diff(marks) > 1e-9]
        cells = [np.minimum(np.searchsorted(end, points), len(end) - 1) for end in ends]
        chances = (np.log(side.probabilities(v)) - side.log_weights for side, v in zip(sides, (first, second), strict=True))
        low, high = (chance[cell] for chance, cell in zip(chances, cells, strict=True))
        ratios = self._sign * (high - low)
        best = int(ratios.argmax())
        self._note(mechanism, float(ratios[best]))
        chosen = [int(cell[best]) for cell in cells]
        places = [
            float((points[best] - end[cell]) / np.exp(side.log_weights[cell]) + 1)
            for side, end, cell in zip(sides, ends, chosen, strict=True)
        ]
        return (chosen[0], chosen[1]), (places[0], places[1])


def _public_part(mechanism: Any) -> tuple[Any, ...]:
    """Everything that must be the same on both sides; widths of intervals between rows may differ."""
    public = (getattr(mechanism, field.name) for field in fields(mechanism) if field.name != "log_weights")
    return (type(mechanism), *public)


def _stronger(mechanism: Any, strength: float) -> Any:
    if strength == 1:
        return mechanism
    if isinstance(mechanism, LabelLeaves):
        return replace(mechanism, rule=_stronger(mechanism.rule, strength))
    return replace(mechanism, epsilon=strength * mechanism.epsilon)


def _best(mechanism: Any, first: Any, second: Any, sign: float) -> tuple[Any, float]:
    """(outcome, its log ratio times `sign`)."""
    match mechanism:
        case GeometricNoise():
            return _far(first, second, -math.log(mechanism.decay), sign)
        case LaplaceNoise():
            return _far(first, second, 1 / mechanism.scale, sign)
        case LabelLeaves():
            ratios = sign * _log_ratio(mechanism.rule, first.dense(), second.dense())
            return ratios.argmax(axis=1), float(ratios.max(axis=1).sum())
        case JointQuantiles():
            return _best_quantiles(mechanism, first, second, sign)
        case ObjectivePerturbation():
            return _best_weights(mechanism, first, second, sign)
        case _:
            ratios = sign * _log_ratio(mechanism, first, second)
            return int(ratios.argmax()), float(ratios.max())


def _log_ratio(mechanism: Any, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.log(mechanism.probabilities(second)) - np.log(mechanism.probabilities(first))


def _far(first: np.ndarray, second: np.ndarray, rate: float, sign: float) -> tuple[np.ndarray, float]:
    """Noisy numbers beyond the likelier side's: there the ratio is as large as it gets."""
    moved = second - first
    upwards = sign * moved >= 0
    away = np.rint(FAR / rate) if np.issubdtype(first.dtype, np.integer) else FAR / rate
    outcome = np.where(upwards, np.maximum(first, second) + away, np.minimum(first, second) - away).astype(first.dtype)
    return outcome, float(np.abs(moved).sum() * rate)


def _best_quantiles(mechanism: JointQuantiles, first: Any, second: Any, sign: float) -> tuple[np.ndarray, float]:
    marks = mechanism.low + (mechanism.high - mechanism.low) * (np.arange(12) + 0.5) / 12
    points = np.array(list(combinations_with_replacement(marks, mechanism.n_quantiles)))
    ratios = sign * (mechanism.log_density(second, points) - mechanism.log_density(first, points))
    return points[ratios.argmax()], float(ratios.max())


def _best_weights(mechanism: ObjectivePerturbation, first: Any, second: Any, sign: float) -> tuple[np.ndarray, float]:
    """Weights along the rows, short and long."""
    x, y = second
    weights = [size * direction for direction in np.unique(x * y[:, None], axis=0) for size in (-300, -30, -3, 3, 30, 300)]
    ratios = [sign * (_log_density(mechanism, second, f) - _log_density(mechanism, first, f)) for f in weights]
    best = int(np.argmax(ratios))
    return weights[best], float(ratios[best])


def _log_density(mechanism: ObjectivePerturbation, rows: Any, f: np.ndarray) -> float:
    """Of the weights, up to a constant: that of the noise whose minimiser they are, times the Jacobian."""
    x, y = rows
    chance = 1 / (1 + np.exp(np.clip(y * (x @ f), -500, 500)))
    noise = (x * (y * chance)[:, None]).sum(axis=0) - mechanism.penalty_used * f
    curvature = (x.T * (chance * (1 - chance))) @ x + mechanism.penalty_used * np.eye(x.shape[1])
    return float(-mechanism.beta * np.linalg.norm(noise) + np.linalg.slogdet(curvature)[1])
