"""What a ledger's steps let one row, or a group of rows, tell: privacy profiles, composed tightly and never from below.

A profile says for every loss a how far the outputs with the rows may lie above e^a times the outputs without them,
delta(a) = sup over sets S of P(S) - e^a Q(S), and the same with the two exchanged. Add and remove are composed each for itself.

**Steps.** A *pure* step of k rows is at most discrete Laplace noise at distance k (randomised response for k = 1): the iterated
bound T(u) = min(e^eps u, 1 - e^-eps (1 - u)). A step of *bounded range* eps has a range of k eps, and

    delta(a) = (1 - e^((a - k eps)/2))^2 / (1 - e^(-k eps))    for abs(a) <= k eps,

the largest over all offsets of its range. Each a has an offset of its own that reaches it, so no one mechanism of bounded range
reaches it at every a, and a pair at a fixed offset would be too little. But it is convex in e^a and never below 1 - e^a, so it
is the profile of a pair of distributions, and that pair dominates the step whatever offset earlier outputs lead to: composed
pairs bound what is composed adaptively. *Gaussian rounds* move by k times what one row moves them; where rows are sampled,
each for itself, by a binomial number of times. Rounds with an *individual filter* have what its theorem gives: a Renyi divergence
of one order, both ways.

**Together.** Steps on the same rows compose by the convolution of privacy loss distributions (`dp_accounting`, connecting the
dots of a profile: never too little, and exact at the points of the grid). On disjoint rows the largest profile counts, at every
a. Of *randomly assigned* parts it is the mean: hockey-stick divergences are jointly convex, and the row is in one part only.

**Groups.** k rows are composed step by step where the step has a law for k rows; otherwise k profiles of one row are chained:
delta(a) <= delta_1(b) + e^b delta_2(a - b) for every b. Rows on disjoint sets: in each step their losses add up to no more than
when they are all in one set. Where every row is assigned by itself, a group is spread over the parts in every way, with its
probability; where all rows of a person are assigned together, only persons are spread.

Source: Dong, Roth & Su 2022, Theorems 3.2 and 2.14 (composition, groups); Zhu, Dong & Wang 2022 (dominating pairs, composed
adaptively); Doroshenko et al. 2022 (connecting dots); Dong, Durfee & Rogers 2020 (bounded range); Choquette-Choo et al. 2024
(mixtures of Gaussians); Feldman & Zrnic 2021 (filter).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np

from dpviz.accounting.costs import FREE, Composition, Cost, MixedComposition, ParallelComposition, partitions_of
from dpviz.accounting.events import ApproximateDP, BoundedRange, GaussianRounds, PureDP, Unbounded
from dpviz.accounting.gaussian import GRID_SLACK, gaussian_delta, renyi_loss

if TYPE_CHECKING:
    from dp_accounting.pld.pld_pmf import PLDPmf

#: Losses beyond are counted as infinite.
MAX_LOSS = 60.0
#: Points of the grid from 0 to the largest loss, and points per loss of the smallest step.
_POINTS, _PER_STEP, _MAX_POINTS = 500, 16, 5000
#: What rounding may add up to.
_ROUNDING = 1e-12
#: Losses at which two profiles of a chain are joined.
_LINKS = 801
#: Rows of a group whose number in a sample is counted; larger groups are chained.
_MAX_SAMPLE_ROWS = 64
#: Ways to spread a group over the parts of a random assignment that are composed one by one.
_MAX_WAYS = 300


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that come or go together: `rows` rows of each of `persons` persons."""

    persons: int = 1
    rows: int = 1

    @property
    def total(self) -> int:
        """All rows."""
        return self.persons * self.rows


@dataclass(frozen=True, eq=False)
class Profile:
    """Bounds of both divergences at the losses -n, ..., n times `step`; arrays of shape (2 n + 1,)."""

    step: float
    present: np.ndarray  #: How far outputs with the rows lie above e^a times those without
    absent: np.ndarray  #: How far outputs without them lie above e^a times those with

    @cached_property
    def losses(self) -> np.ndarray:
        """Every a."""
        return _losses(len(self.present) // 2, self.step)

    @property
    def of_absence(self) -> Profile:
        """The same with the two exchanged."""
        return Profile(self.step, self.absent, self.present)

    def at(self, loss: float) -> float:
        """How far the presence of the rows may show, at any loss: convex in e^a, so at most the line between two points."""
        if loss > self.losses[-1]:
            return float(self.present[-1])
        if loss < self.losses[0]:
            return float(1 - math.exp(loss) * (1 - self.absent[-1]))
        return float(np.interp(math.exp(loss), np.exp(self.losses), self.present))

    def tighten(self, deltas: np.ndarray) -> Profile:
        """The smallest of this profile, another bound of both divergences, and what each divergence says of the other.

        sup P - e^a Q = 1 - e^a (1 - sup Q - e^-a P)
        """
        present, absent = np.minimum(self.present, deltas), np.minimum(self.absent, deltas)
        # far from 0 the factor enlarges what rounding leaves of 1 - 1e-17
        other_way = [np.clip(1 - np.exp(self.losses) * (1 - side[::-1] - _ROUNDING), 0.0, 1.0) for side in (absent, present)]
        return Profile(self.step, np.minimum(present, other_way[0]), np.minimum(absent, other_way[1]))


@lru_cache(maxsize=256)
def profile(cost: Cost, group: Group) -> Profile:
    """The profile of a group. Its arrays are read-only."""
    reach, finest = _reach(cost, group.total)
    reach = min(max(reach, 1e-6), MAX_LOSS)
    step = max(min(reach / _POINTS, finest / _PER_STEP), reach / _MAX_POINTS)
    result = _profile(cost, group, step, math.ceil(reach / step) + 1)
    for side in (result.present, result.absent):
        side.flags.writeable = False
    return result


def _losses(n: int, step: float) -> np.ndarray:
    return np.arange(-n, n + 1) * step


def _reach(cost: Cost, rows: int) -> tuple[float, float]:
    """(the largest loss worth a point of the grid, the smallest scale of the losses of one step)."""
    match cost:
        case PureDP(epsilon) | BoundedRange(epsilon) | ApproximateDP(epsilon):
            return rows * epsilon, epsilon
        case GaussianRounds(_, _, noise, 1.0, rounds, None):
            mu = rows * math.sqrt(rounds) / noise
            return mu**2 / 2 + 9 * mu, mu
        case GaussianRounds(_, _, noise, sampling, rounds):
            spread = sampling * math.sqrt(rounds * math.expm1(min(noise**-2, 50.0)))
            return 2 * rows * cost.epsilon, min(cost.epsilon, spread)
        case Composition(costs):
            reaches = [(times, *_reach(part, rows)) for part, times in costs]
            return sum(times * reach for times, reach, _ in reaches), min((finest for *_, finest in reaches), default=1.0)
        case ParallelComposition(costs) | MixedComposition(costs):
            within = [_reach(part, rows) for part in costs]
            return max(reach for reach, _ in within), min(finest for _, finest in within)
        case _:
            return 1.0, 1.0


def _profile(cost: Cost, group: Group, step: float, n: int) -> Profile:
    """A profile at n steps to either side."""
    losses, rows = _losses(n, step), group.total
    match cost:
        case Unbounded():
            return _symmetric_profile(step, np.ones(2 * n + 1))
        case PureDP(epsilon):
            return _symmetric_profile(step, pure_deltas(losses, epsilon, rows))
        case BoundedRange(epsilon):
            return _symmetric_profile(step, _range(losses, rows * epsilon))
        case GaussianRounds(_, _, noise, 1.0, rounds, None):
            return _symmetric_profile(step, _gaussian(losses, rows * math.sqrt(rounds) / noise))
        case GaussianRounds(order=None) if rows > _MAX_SAMPLE_ROWS:
            return _chain_profiles(_profile(cost, Group(), step, n), rows)
        case Composition() | GaussianRounds(order=None):
            return _from_losses(cost, group, step, losses)
        case MixedComposition():
            if _is_spread(cost, group):
                return _from_losses(cost, group, step, losses)
            units, rows_of_unit = _units(cost, group)
            return _chain_profiles(_profile(cost, Group(1, rows_of_unit), step, n), units)
    return _chain_profiles(_row_profile(cost, step, n), rows)


def _row_profile(cost: Cost, step: float, n: int) -> Profile:
    losses = _losses(n, step)
    match cost:
        case ApproximateDP(epsilon, delta):
            return _symmetric_profile(step, delta + (1 - delta) * pure_deltas(losses, epsilon, 1))
        case GaussianRounds():
            return _symmetric_profile(step, _renyi_deltas(losses, cost))
    assert isinstance(cost, ParallelComposition)
    profiles = [_profile(part, Group(), step, n) for part in cost.costs]
    return Profile(step, *(np.max([getattr(part, side) for part in profiles], axis=0) for side in ("present", "absent")))


def _symmetric_profile(step: float, deltas: np.ndarray) -> Profile:
    return Profile(step, deltas, deltas)


def pure_deltas(losses: np.ndarray, epsilon: float, rows: int = 1) -> np.ndarray:
    """Discrete Laplace noise at 0 against the same at `rows`; each loss has its probability, the largest loss first."""
    places = np.arange(rows + 1)
    probabilities = np.exp(-epsilon * places) / (1 + math.exp(-epsilon))
    probabilities[1:-1] *= -math.expm1(-epsilon)
    losses_of_noise = (rows - 2 * places) * epsilon
    n_larger = np.searchsorted(-losses_of_noise, -losses, side="left")
    upper, lower = (np.concatenate([[0.0], np.cumsum(mass)]) for mass in (probabilities, probabilities[::-1]))
    return np.clip(upper[n_larger] - np.exp(losses) * lower[n_larger], 0.0, 1.0)


def _range(losses: np.ndarray, length: float) -> np.ndarray:
    """The largest profile of all laws whose losses lie within a range of this length."""
    within = np.square(np.expm1((np.minimum(losses, length) - length) / 2)) / -math.expm1(-length)
    return np.where(losses < -length, -np.expm1(losses), within)


def _gaussian(losses: np.ndarray, mu: float) -> np.ndarray:
    """A Gaussian that moves by `mu` standard deviations (Balle & Wang 2018, Theorem 8), its grid included."""
    deltas = gaussian_delta(losses - 2 * GRID_SLACK, mu)
    return _convex(losses, np.clip(deltas, -np.expm1(np.minimum(0.0, losses)), 1.0))


def _renyi_deltas(losses: np.ndarray, cost: GaussianRounds) -> np.ndarray:
    """All tests that a Renyi divergence of at most this, at this order and both ways, leaves possible."""
    assert cost.order is not None
    order, most = cost.order, cost.rounds * renyi_loss(cost.noise_multiplier, cost.sampling, cost.order)
    tail, middle = np.arange(12, 100, 0.02), np.arange(-12, 12, 0.002)
    level = np.unique(np.concatenate([-tail, middle, tail]))  # logits of the rate of false positives
    low, high = level, np.full_like(level, 200.0)  # of true ones
    for _ in range(44):
        between = (low + high) / 2
        allowed = np.maximum(_renyi(between, level, order), _renyi(level, between, order)) <= most
        low, high = np.where(allowed, between, low), np.where(allowed, high, between)
    falses, rights = (1 / (1 + np.exp(-logit)) for logit in (level, high))
    falses, rights = np.concatenate([[0.0], falses, [1.0]]), np.concatenate([[0.0], rights, [1.0]])
    slopes = np.minimum.accumulate(np.diff(rights) / np.maximum(np.diff(falses), 1e-300))  # power is concave in the level
    best = np.searchsorted(-slopes, -np.exp(losses))[:, None] + np.arange(-3, 4)
    best = np.clip(best, 0, len(falses) - 2)
    # between two points of the grid there are at least the false positives of the first and at most the true ones of the second
    bound = np.max(rights[best + 1] - np.exp(losses)[:, None] * falses[best], axis=1) + _ROUNDING
    return _convex(losses, np.clip(bound, 0.0, 1.0))


def _renyi(logits: np.ndarray, other_logits: np.ndarray, order: float) -> np.ndarray:
    """Divergence of two Bernoulli variables, given by the logits of their probabilities."""
    sides = ((-np.logaddexp(0, sign * logits), -np.logaddexp(0, sign * other_logits)) for sign in (-1, 1))
    return np.logaddexp(*(order * first - (order - 1) * second for first, second in sides)) / (order - 1)


def _chain_profiles(base: Profile, times: int) -> Profile:
    """So many profiles, one after another."""
    return Profile(base.step, *(_power(side, base.losses, times) for side in (base.present, base.absent)))


def _power(deltas: np.ndarray, losses: np.ndarray, times: int) -> np.ndarray:
    if times == 1:
        return deltas
    half = _power(deltas, losses, times // 2)
    twice = _chain(half, half, losses)
    return _chain(twice, deltas, losses) if times % 2 else twice


def _chain(first: np.ndarray, second: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """min over b of first(b) + e^b second(a - b) at every a; above the grid a profile is at most what it is at its end."""
    n = len(losses) // 2
    chain = np.ones_like(first)
    extended = np.concatenate([second, np.full(n, second[-1])])
    for b in np.unique(np.linspace(-n, n, _LINKS).astype(int)).tolist():
        linked = extended[max(-b, 0) : 2 * n + 1 - b] * math.exp(losses[b + n])
        linked += first[b + n]
        reached = chain[max(b, 0) :]
        np.minimum(reached, linked, out=reached)
    return _convex(losses, chain)


def _convex(losses: np.ndarray, deltas: np.ndarray) -> np.ndarray:
    """The largest convex function of e^a below a bound: profiles are convex, so it is a bound too."""
    places = np.exp(losses)
    hull: list[tuple[float, float]] = []
    for x, y in zip(places.tolist(), deltas.tolist(), strict=True):
        while len(hull) > 1:
            (first, high), (middle, between) = hull[-2:]
            if (middle - first) * (y - high) > (x - first) * (between - high):
                break
            hull.pop()
        hull.append((x, y))
    corners = np.array(hull)
    return np.interp(places, corners[:, 0], corners[:, 1])


def _from_losses(cost: Cost, group: Group, step: float, losses: np.ndarray) -> Profile:
    present, absent = _distributions(cost, group, step)
    of_present = _deltas(present, losses)
    return Profile(step, of_present, of_present if absent is present else _deltas(absent, losses))


def _deltas(distribution: PLDPmf, losses: np.ndarray) -> np.ndarray:
    deltas = np.asarray(distribution.get_delta_for_epsilon(losses)) + _ROUNDING
    return np.clip(np.maximum.accumulate(deltas[::-1])[::-1], 0.0, 1.0)


def _distributions(cost: Cost, group: Group, step: float) -> tuple[PLDPmf, PLDPmf]:
    """Privacy loss distributions on the grid: of the rows' presence, and of their absence (the same where the two are alike)."""
    match cost:
        case Composition(costs):
            return _compose([(_distributions(part, group, step), times) for part, times in costs], step)
        case MixedComposition() if _is_spread(cost, group):
            return _mix_parts(cost, group, step)
        case GaussianRounds(order=None) if cost.sampling < 1 and group.total <= _MAX_SAMPLE_ROWS:
            return _compose([(_sampled_round(cost, group.total, step), cost.rounds)], step)
    n = math.ceil(min(_reach(cost, group.total)[0], MAX_LOSS) / step) + 1
    result = _profile(cost, group, step, n)
    present = _dots(result.present, step)
    return present, present if result.absent is result.present else _dots(result.absent, step)


def _dots(deltas: np.ndarray, step: float) -> PLDPmf:
    """The distribution on the grid that has this profile at its points, and never a smaller one between them."""
    from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots

    n = len(deltas) // 2
    falling = np.maximum.accumulate(deltas[::-1])[::-1]
    return create_pmf_pessimistic_connect_dots(step, np.arange(-n, n + 1), falling).to_dense_pmf()


Sides = tuple["PLDPmf", "PLDPmf"]


def _compose(steps: list[tuple[Sides, int]], step: float) -> Sides:
    """Unbounded in turn, so many times each."""
    if not steps:
        nothing = _dots(-np.expm1(np.minimum(_losses(1, step), 0.0)), step)
        return nothing, nothing

    def one_way(side: int) -> PLDPmf:
        repeated = [_self_composition(sides[side], times) for sides, times in steps]
        return reduce(lambda first, second: first.compose(second), repeated)

    present = one_way(0)
    return present, present if all(sides[0] is sides[1] for sides, _ in steps) else one_way(1)


def _self_composition(distribution: PLDPmf, times: int) -> PLDPmf:
    """So many times the same; what already tells everything tells no more."""
    tells_all = distribution.get_delta_for_epsilon(MAX_LOSS) >= 1 - _ROUNDING
    return distribution if times == 1 or tells_all else distribution.self_compose(times)


def _mix_parts(cost: MixedComposition, group: Group, step: float) -> Sides:
    """A group spread over the parts in every way; with the remaining probability it is in none."""
    units, rows = _units(cost, group)
    rest_probability = 1 - sum(cost.probabilities)
    has_rest = rest_probability > _ROUNDING
    parts, probabilities = (*cost.costs, FREE)[: len(cost.costs) + has_rest], (*cost.probabilities, rest_probability)

    @cache
    def of_part(part: int, count: int) -> Sides:
        return _distributions(parts[part], Group(count, rows), step)

    mixture: Sides | None = None
    total = 0.0
    for counts in _spread(units, len(parts)):
        probability = math.factorial(units) * math.prod(probabilities[k] ** n / math.factorial(n) for k, n in enumerate(counts))
        if not probability:
            continue
        composed = _compose([(of_part(part, count), 1) for part, count in enumerate(counts) if count], step)
        total += probability
        if mixture is None:
            mixture = composed
        else:
            is_symmetric = mixture[0] is mixture[1] and composed[0] is composed[1]
            present = composed[0].compute_mixture(mixture[0], min(1.0, probability / total))
            mixture = present, present if is_symmetric else composed[1].compute_mixture(mixture[1], min(1.0, probability / total))
    assert mixture is not None
    return mixture


def _spread(units: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to spread units that are alike over parts."""
    if parts == 1:
        yield (units,)
        return
    for first in range(units + 1):
        yield from ((first, *others) for others in _spread(units - first, parts - 1))


def _units(cost: MixedComposition, group: Group) -> tuple[int, int]:
    """(how many are assigned by themselves, the rows of each)."""
    return (group.persons, group.rows) if cost.shared else (group.total, 1)


def _is_spread(cost: MixedComposition, group: Group) -> bool:
    """Whether a group is spread over the parts; else it is chained.

    It is chained where there are too many ways; and where persons whose rows are assigned one by one go together inside
    a part: rows that meet there go together, which their number does not tell.
    """
    units, _ = _units(cost, group)
    if units > 1 and not cost.shared and any(partition.shared for part in cost.costs for partition in partitions_of(part)):
        return False
    return math.comb(units + len(cost.costs), units) <= _MAX_WAYS


def _sampled_round(cost: GaussianRounds, rows: int, step: float) -> Sides:
    """One round, in which a binomial number of the rows takes part."""
    from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, MixtureGaussianPrivacyLoss

    row_counts = np.arange(rows + 1)
    probabilities = [math.comb(rows, k) * cost.sampling**k * (1 - cost.sampling) ** (rows - k) for k in row_counts.tolist()]
    mu, far = 1 / cost.noise_multiplier, 9.0
    logs = np.log(probabilities) + row_counts * mu * (far + rows * mu) - np.square(row_counts * mu) / 2
    n = math.ceil(min(float(np.logaddexp.reduce(logs)), MAX_LOSS) / step) + 1
    losses = _losses(n, step)

    def one_way(way: AdjacencyType) -> PLDPmf:
        law = MixtureGaussianPrivacyLoss(cost.noise_multiplier, row_counts.tolist(), probabilities, adjacency_type=way)
        exact = np.asarray(law.get_delta_for_epsilon(losses - 2 * GRID_SLACK / cost.rounds))
        return _dots(_convex(losses, np.clip(exact, -np.expm1(np.minimum(losses, 0.0)), 1.0)), step)

    return one_way(AdjacencyType.REMOVE), one_way(AdjacencyType.ADD)
