"""What released noisy counts say: a private test of a model on rows it never saw, and the probabilities of its leaves.

The table says how many rows of each class got each answer of the model; an answer is a label with probabilities (a leaf of a
tree, a band of scores). Everything else is computed from it: post-processing, at no further cost.

**Intervals** are about rows like these: what the model would reach on endlessly many rows of the same source, so they hold the
noise and the luck of which rows were held out. Accuracy, log loss and the like are ratios A / B of sums over cells. For the true
value t, W = A - t B has mean 0 and variance sum_c (n_c + s^2) (a_c - t b_c)^2: each count is about Poisson and carries noise of
variance s^2. The interval holds every t with W^2 <= z^2 Var W, a quadratic inequality (Fieller 1954), and is the whole range
where noise hides B. AUC is bilinear in the counts of the two classes, W = sum_ij pos_i neg_j (psi_ij - t), treated alike.
z is that of Laplace noise, which has longer tails than the normal distribution. More is needed to cover:
*Shares near 0 or 1.* What has not been met in a few rows may still happen. So the interval of a share also holds the exact one of
the counts without noise (Clopper & Pearson 1934), and every t which the variance at t itself allows (Wilson 1927).
*Means over classes.* Shares are averaged as they come out, below 0 or above 1 where noise makes them so: cut off first, their
mean would be too small where all are large. A class that noise hides may have any share.
*Bands.* A model of many probabilities is counted by bands of them. Its AUC and its log loss may be any that the bands allow.
*Groups.* The test can count the categories of one declared feature apart: every cell is divided by category, a row is still in
one cell and changes one count by one, so the same noise on each count costs the same epsilon. There are more cells, each with
that noise: intervals are wider.
*Persons.* The rows of one person may be equal: k rows of one vary up to k times as much as k rows of k persons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from msgspec import UNSET

from dpviz.accounting.events import Event
from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.errors import ParameterError, UnknownName
from dpviz.models.document import write_leaf
from dpviz.models.tree import Branch, Leaf, Node, child_per_category
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.results.document import Band, Estimate, GroupEntry, TestEntry
from dpviz.results.result import TestReport
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericTarget, Schema

#: The part of the plan and of the ledger.
TEST = "test"
CONFIDENCE = 0.95
#: Two-sided 95% of a Laplace distribution, in standard deviations: ln 20 / sqrt 2. More than the 1.96 of a normal one.
Z = math.log(20) / math.sqrt(2)
#: Of so many events a normal interval may be believed.
_FEW = 5.0
#: Bands of predicted probability for which calibration is told.
BANDS = 10


@dataclass(frozen=True)
class ClassReport(TestReport):
    """Of a model of classes; `epsilon` buys the table."""

    #: Every answer of the model with the released noisy counts of the rows that got it, per actual class.
    table: tuple[Leaf, ...]
    #: Such counts of other rows, in the order of `table`, that made the probabilities but not the labels (honest leaves, as many
    #: answers as leaves): they tell of labels too, at the same noise.
    counted: tuple[tuple[int, ...], ...] | None = None
    #: A feature whose categories are counted apart, as `table` has every answer once per category; empty for none.
    groups: str = ""

    @cached_property
    def counts(self) -> np.ndarray:
        """Released noisy counts, int64 of shape (n_answers, n_classes)."""
        return np.array([answer.counts for answer in self.table], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        """The sum of all counts."""
        return int(self.counts.sum())

    @property
    def n_rows_of_labels(self) -> int:
        """The rows by which labels are judged, those that made the probabilities among them."""
        return int(self._of_labels[0].sum())

    @property
    def estimates(self) -> dict[str, Estimate | None]:
        """Accuracy, balanced accuracy, AUC and log loss."""
        alike = {"accuracy": self.accuracy, "balanced_accuracy": self.balanced_accuracy}
        return {**alike, "auc": self.auc, "log_loss": self.log_loss}

    @property
    def _n_groups(self) -> int:
        return len(names_of(self.schema, self.groups))

    @cached_property
    def _of_labels(self) -> tuple[np.ndarray, float]:
        """All counts that know nothing of how the labels were chosen, and the variance of their noise."""
        n_groups = self._n_groups
        counts = self.counts.reshape(-1, n_groups, self.counts.shape[1]).sum(axis=1)
        if self.counted is None:
            return counts, n_groups * self.noise_variance
        return counts + np.array(self.counted, dtype=np.int64), (n_groups + 1) * self.noise_variance

    @property
    def _labels(self) -> np.ndarray:
        """Of every answer, whatever the group."""
        return np.array([answer.label for answer in self.table[:: self._n_groups]])

    @property
    def noise_variance(self) -> float:
        """Of the noise on each count."""
        return GeometricNoise(self.epsilon).variance

    @cached_property
    def _is_right(self) -> np.ndarray:
        """1 where the class of the column is the answer's label: float64 of shape (n_answers, n_classes)."""
        return (self._labels[:, None] == np.arange(self.counts.shape[1])).astype(np.float64)

    @cached_property
    def accuracy(self) -> Estimate:
        """Share of the rows whose label is right."""
        return self._label_share(self._is_right, np.ones_like(self._is_right))

    @cached_property
    def confusion(self) -> tuple[tuple[Estimate, ...], ...]:
        """Share of all rows per actual class (rows) and predicted class (columns)."""
        classes, every = np.arange(self.counts.shape[1]), np.ones_like(self._is_right)

        def share(actual: np.integer, predicted: np.integer) -> Estimate:
            return self._label_share(np.outer(self._labels == predicted, classes == actual).astype(np.float64), every)

        return tuple(tuple(share(actual, predicted) for predicted in classes) for actual in classes)

    @cached_property
    def recalls(self) -> tuple[Estimate, ...]:
        """Per class: share of its rows whose label is right."""
        return tuple(map(_clip, self._recalls))

    @cached_property
    def _recalls(self) -> tuple[Estimate, ...]:
        return tuple(self._share(*self._of_labels, self._is_right * column, column) for column in self._columns)

    @property
    def _columns(self) -> np.ndarray:
        """Per class: 1 in its column, of the shape of `_is_right`."""
        return np.eye(self.counts.shape[1])[:, None, :] * np.ones((1, len(self._labels), 1))

    @cached_property
    def by_group(self) -> tuple[GroupEntry, ...]:
        """Error and found share per category of `groups`, by the rows of the test alone; none without groups.

        Small groups have wide intervals: a group that noise hides has [0, 1].
        """
        if not self.groups:
            return ()
        counts = self.counts.reshape(-1, self._n_groups, self.counts.shape[1])

        def share(group: int, top: np.ndarray, bottom: np.ndarray) -> Estimate:
            return _clip(self._share(counts[:, group], self.noise_variance, top, bottom))

        def entry(group: int, name: str) -> GroupEntry:
            recalls = tuple(share(group, self._is_right * column, column) for column in self._columns)
            return GroupEntry(name, share(group, 1 - self._is_right, np.ones_like(self._is_right)), recalls)

        return tuple(entry(group, name) for group, name in enumerate(names_of(self.schema, self.groups)))

    @cached_property
    def balanced_accuracy(self) -> Estimate:
        """Mean of `recalls`: every class counts alike.

        Recalls come from different counts, so the squares of their distances to the ends add up (Zou & Donner 2008).
        """
        number = len(self._recalls)
        known = [share for share in self._recalls if math.isfinite(share.low)]
        value, hidden = sum(share.value for share in known), number - len(known)
        below, above = (math.hypot(*(getattr(share, end) - share.value for share in known)) for end in ("low", "high"))
        ends = (value + hidden / 2, value - below, value + above + hidden)
        return Estimate(*(min(max(end / number, 0.0), 1.0) for end in ends))

    @cached_property
    def largest_share(self) -> Estimate:
        """Share of the rows that are of the most frequent class: the accuracy of always saying it."""
        return max((self._label_share(column, np.ones_like(column)) for column in self._columns), key=lambda share: share.value)

    @property
    def most_frequent(self) -> str:
        """The class with that share."""
        return self.schema.classes[int(self._of_labels[0].sum(axis=0).argmax())]

    @cached_property
    def gain(self) -> Estimate:
        """By how much the labels are right more often than always saying the most frequent class, from the same counts."""
        always = np.zeros_like(self._is_right)
        always[:, self.schema.classes.index(self.most_frequent)] = 1
        counts, noise_variance = self._of_labels
        better = self._is_right - always
        # two rows more where the labels win, and two where they lose: what was not met may happen
        cells = [np.count_nonzero(better == sign) for sign in (1, -1)]
        unmet = sum((better == sign) * 2 / max(number, 1) for sign, number in zip((1, -1), cells, strict=True))
        plausible = np.maximum(counts, 0) + unmet
        return _ratio(counts, noise_variance, better, np.ones_like(always), -1.0, 1.0, self.rows_per_person * plausible)

    @cached_property
    def has_probabilities(self) -> bool:
        """False where the model gives labels only."""
        return all(answer.shares is not None for answer in self.table)

    @cached_property
    def _shares(self) -> np.ndarray:
        return np.array([answer.shares for answer in self.table], dtype=np.float64)

    @cached_property
    def log_loss(self) -> Estimate | None:
        """Mean of -ln(probability of the actual class); None without probabilities."""
        if not self.has_probabilities:
            return None
        return self._within_bands(self._loss_of, 0.0, (self._half_band, -self._half_band))

    def _loss_of(self, moved: float) -> Estimate:
        """The same where all probabilities are so much larger."""
        shares = np.minimum(self._shares + moved, 1.0)
        losses = -np.log(np.maximum(shares, 1e-9))
        met = np.maximum(self.counts, 0)
        # what was not met is as likely as the model says
        plausible = self.rows_per_person * np.maximum(met, met.sum(axis=1, keepdims=True) * shares)
        ends = float(losses.min()), float(losses.max())
        return _ratio(self.counts, self.noise_variance, losses, np.ones_like(losses), *ends, plausible)

    @cached_property
    def _half_band(self) -> float:
        """Half the width of the bands in which probabilities are counted; 0 where answers have their own, as leaves do."""
        answers = self._shares[:: self._n_groups, 1]
        middles = np.tile((np.arange(BANDS) + 0.5) / BANDS, 2)
        return 0.5 / BANDS if len(answers) == 2 * BANDS and np.allclose(answers, middles) else 0.0

    def _within_bands(self, estimate: Callable[[float], Estimate], middle: float, ends: tuple[float, float]) -> Estimate:
        """In the middle of the bands, with an interval for wherever in its band a probability is."""
        centre = estimate(middle)
        if not self._half_band:
            return centre
        least, most = map(estimate, ends)
        return Estimate(centre.value, min(least.low, centre.low), max(most.high, centre.high))

    @cached_property
    def auc(self) -> Estimate | None:
        """Chance that a row of the second class is ranked above one of the first (ties: half); None for more than two classes."""
        if not self.has_probabilities or self.counts.shape[1] != 2:
            return None
        return self._within_bands(self._auc_where, 0.5, (0.0, 1.0))  # how a model ranks within a band is not counted

    def _auc_where(self, tie: float) -> Estimate:
        """The same where a pair with one score counts as `tie`."""
        negative, positive = self.counts.T.astype(np.float64)
        order = np.sign(self._shares[:, 1][:, None] - self._shares[:, 1][None, :])  # (positive's answer, negative's answer)
        wins = np.where(order == 0, tie, (order + 1) / 2)
        of_positive, of_negative = (
            self.rows_per_person * np.maximum(column, 0) + self.noise_variance for column in (positive, negative)
        )
        value, whole = positive @ wins @ negative, positive.sum() * negative.sum()
        spread = (
            _quadratic(of_positive, wins @ negative, negative.sum())
            + _quadratic(of_negative, positive @ wins, positive.sum())
            - _quadratic(np.outer(of_positive, of_negative), wins, 1.0)  # counted twice: the sums above are noisy themselves
        )
        area = fieller(value, whole, spread, 0.0, 1.0)
        if area.low <= 0.0 and area.high >= 1.0:
            return area
        # no less sure than so many pairs of rows that share none; of few such pairs the spread above may have met none
        pairs = float(min(positive.sum(), negative.sum())) / self.rows_per_person
        if min(area.value, 1 - area.value) * pairs >= _FEW:
            return area
        low, high = _exactly(area.value * pairs, (1 - area.value) * pairs)
        return Estimate(area.value, min(area.low, low), max(area.high, high))

    @cached_property
    def calibration(self) -> tuple[Band, ...]:
        """By bands of the predicted probability: of the second of two classes, of the predicted label among more."""
        if not self.has_probabilities:
            return ()
        binary = self.counts.shape[1] == 2
        predicted = self._shares[:, 1] if binary else self._shares.max(axis=1)
        came_true = np.zeros_like(self._shares)
        came_true[np.arange(len(self.table)), 1 if binary else self._shares.argmax(axis=1)] = 1
        band_of = np.minimum((predicted * BANDS).astype(np.int64), BANDS - 1)
        return tuple(self._band(predicted, came_true, band_of == band) for band in np.unique(band_of))

    def _band(self, predicted: np.ndarray, came_true: np.ndarray, inside: np.ndarray) -> Band:
        weights = np.maximum(self.counts[inside].sum(axis=1), 1)
        rows = np.repeat(inside[:, None], self.counts.shape[1], axis=1).astype(np.float64)
        observed = _clip(self._share(self.counts, self.noise_variance, came_true * rows, rows))
        return Band(float(np.average(predicted[inside], weights=weights)), observed)

    def _label_share(self, top: np.ndarray, bottom: np.ndarray) -> Estimate:
        """A share that depends on labels alone."""
        return _clip(self._share(*self._of_labels, top, bottom))

    def _share(self, counts: np.ndarray, noise_variance: float, top: np.ndarray, bottom: np.ndarray) -> Estimate:
        """Of the rows in cells where `bottom` is 1, those where `top` is 1 too."""
        inside, outside = top, bottom - top
        here, there = ((float((counts * side).sum()), noise_variance * float(side.sum())) for side in (inside, outside))
        plausible = self.rows_per_person * np.maximum(counts, 0)
        estimate = _ratio(counts, noise_variance, top, bottom, -math.inf, math.inf, plausible)
        return share_of(here, there, estimate, self.rows_per_person)

    @property
    def entry(self) -> TestEntry:
        """The table, and all that follows from it."""
        return TestEntry(
            share=self.share,
            epsilon=self.epsilon,
            confidence=CONFIDENCE,
            table=tuple(write_leaf(self.schema, answer) for answer in self.table),
            counted=self.counted or UNSET,
            groups=self.groups or UNSET,
            by_group=self.by_group or UNSET,
            accuracy=self.accuracy,
            confusion=self.confusion,
            auc=self.auc,
            log_loss=self.log_loss,
            calibration=self.calibration,
        )


def release_counts(
    schema: Schema,
    held_out: HeldOutPart,
    answers: Sequence[Leaf],
    exact: np.ndarray,
    source: NoiseSource,
    counted: tuple[tuple[int, ...], ...] | None = None,
) -> tuple[ClassReport, Event]:
    """The test by the rows held out for it, with its event.

    `exact` (private): such rows per answer, group and class, int64 of shape (n_answers * n_groups, n_classes). A row is in one
    cell: sensitivity 1.
    """
    noisy = GeometricNoise(held_out.epsilon).release(exact, source=source, part=held_out.part)
    each = (answer for answer in answers for _ in names_of(schema, held_out.groups))
    table = tuple(replace(answer, counts=tuple(row)) for answer, row in zip(each, noisy.value.tolist(), strict=True))
    return ClassReport(schema, held_out.share, held_out.epsilon, table, counted, held_out.groups), noisy.event


def _ratio(
    counts: np.ndarray,
    noise_variance: float,
    top: np.ndarray,
    bottom: np.ndarray,
    low: float,
    high: float,
    plausible: np.ndarray,
) -> Estimate:
    """sum(counts * top) / sum(counts * bottom); `plausible` is the variance of each count without noise."""
    value, whole = float((counts * top).sum()), float((counts * bottom).sum())
    return fieller(value, whole, _quadratic(plausible + noise_variance, top, bottom), low, high)


def _clip(share: Estimate) -> Estimate:
    return Estimate(*(min(max(end, 0.0), 1.0) for end in (share.value, share.low, share.high)))


def share_of(inside: tuple[float, float], outside: tuple[float, float], estimate: Estimate | None = None, k: int = 1) -> Estimate:
    """The share of the first of two counts, each with the variance of its noise; see the top of this file.

    As it comes out, perhaps below 0 or above 1; without ends where noise hides the rows. `estimate`: its interval by the counts
    alone, where they are sums of others. `k`: the most rows of one person.
    """
    (here, noise), (there, other) = inside, outside
    rows = here + there
    if estimate is None:
        sides = k * max(here, 0.0) + noise, k * max(there, 0.0) + other
        estimate = fieller(here, rows, np.array([sides[0], -2 * sides[0], sum(sides)]), -math.inf, math.inf)
    if not math.isfinite(estimate.low):
        return Estimate(here / rows if rows > 0 else 0.5, -math.inf, math.inf)
    at_most = k * (rows + Z * math.sqrt(noise + other))
    at_t = fieller(here, rows, np.array([noise, at_most - 2 * noise, noise + other - at_most]), -math.inf, math.inf)
    at_t = at_t if math.isfinite(at_t.low) else estimate
    low, high = _exactly(max(here, 0.0) / k, max(there, 0.0) / k)
    return Estimate(estimate.value, min(estimate.low, at_t.low, low), max(estimate.high, at_t.high, high))


def _exactly(hits: float, misses: float) -> tuple[float, float]:
    """The exact 95% interval of a share of rows counted without noise, which need not be whole."""
    from scipy.special import betaincinv

    failure = (1 - CONFIDENCE) / 2
    low = float(betaincinv(hits, misses + 1, failure)) if hits > 0 else 0.0
    return low, float(betaincinv(hits + 1, misses, 1 - failure)) if misses > 0 else 1.0


def _quadratic(weights: np.ndarray, top: np.ndarray, bottom: np.ndarray | float) -> np.ndarray:
    """Coefficients (1, t, t^2) of sum weights * (top - t bottom)^2."""
    bottom = np.broadcast_to(bottom, top.shape)
    return np.array([(weights * top * top).sum(), -2 * (weights * top * bottom).sum(), (weights * bottom * bottom).sum()])


def fieller(value: float, whole: float, spread: np.ndarray, low: float, high: float, z: float = Z) -> Estimate:
    """value / whole, and every t in [low, high] with (value - t whole)^2 <= z^2 (spread at t)."""
    constant = value * value - z * z * spread[0]
    linear = -2 * value * whole - z * z * spread[1]
    square = whole * whole - z * z * spread[2]
    inside = linear * linear - 4 * square * constant
    if whole <= 0 or square <= 0 or inside < 0:  # noise hides how many rows there are
        middle = 0.0 if math.isinf(low) else (low + high) / 2
        return Estimate(float(min(max(value / whole, low), high)) if whole > 0 else middle, low, high)
    middle, width = -linear / (2 * square), math.sqrt(inside) / (2 * square)
    ends = (min(max(end, low), high) for end in (value / whole, middle - width, middle + width))
    return Estimate(*map(float, ends))


def widen(spread: np.ndarray, about: float, added: float) -> np.ndarray:
    """The spread with a deviation on top: (a + b)^2 <= (1 + c) a^2 + (1 + 1/c) b^2 for every c, here the best for `about`."""
    if not added:
        return spread
    balance = added / math.sqrt(max(spread @ np.array([1.0, about, about**2]), 1.0))
    return (1 + balance) * spread + np.array([(1 + 1 / balance) * added**2, 0.0, 0.0])


# --- the probabilities of leaves

ROWS_OF_THE_PARENT, PER_NOISE = 3.0, 1.5
#: Part of the rows that come with a leaf's parent which are of the leaf's label.
OF_THE_LABEL = 0.3
#: Shares are written with this many decimals; none is smaller than one unit of the last.
DECIMALS = 6


def estimate_leaf_probabilities(root: Node, counts: np.ndarray, noise_variance: float) -> Node:
    """The same tree whose leaves hold these released counts (int64, shape (n_leaves, n_classes)) and shares made of them.

    Post-processing of the counts alone. A count is noisy twice: few rows, and the noise that was added. So the shares are
    estimated from the root down. Each node mixes its own noisy counts with its parent's shares, as if `m` rows more had come with
    these: m = 3 + 1.5 s sqrt(L), where s is the standard deviation of the noise on a count and L the number of leaves below,
    whose noise adds up. Of these rows, 30% have the label of the leaf, which was chosen from other rows and is released too.
    Where counts drown in noise, a leaf so says what its parent and its label say. The constants were chosen on public data.

    Source: shrinkage towards the parent, as in m-estimates (Cestnik 1990); with counts of leaves alone, the least squares of Hay
    et al. 2010 leave them as they are.
    """
    n_classes = counts.shape[1]
    return _with_shares(sum_leaves(root, iter(counts)), [1 / n_classes] * n_classes, noise_variance)


@dataclass(frozen=True, slots=True)
class LeafSums:
    """A node with the sums of what was released of the leaves below it."""

    node: Node
    sums: np.ndarray
    n_leaves: int = 1
    children: tuple[LeafSums, ...] = ()


def sum_leaves(node: Node, of_leaves: Iterator[np.ndarray]) -> LeafSums:
    """The tree with sums at every node, given what was released of its leaves from left to right."""
    if not isinstance(node, Branch):
        return LeafSums(node, next(of_leaves))
    left, right = sum_leaves(node.left, of_leaves), sum_leaves(node.right, of_leaves)
    return LeafSums(node, left.sums + right.sums, left.n_leaves + right.n_leaves, (left, right))


def _with_shares(given: LeafSums, parent: list[float], noise_variance: float) -> Node:
    node, counts = given.node, given.sums.tolist()
    more = ROWS_OF_THE_PARENT + PER_NOISE * math.sqrt(noise_variance * given.n_leaves)
    if isinstance(node, Leaf):
        parent = [(1 - OF_THE_LABEL) * share + OF_THE_LABEL * (code == node.label) for code, share in enumerate(parent)]
    held = [max(count, 0) for count in counts]
    rows = sum(held) + more
    least = 0.5 / (rows + len(parent))  # none is 0
    mixed = [max((count + more * share) / rows, least) for count, share in zip(held, parent, strict=True)]
    total = sum(mixed)
    shares = [share / total for share in mixed]
    if isinstance(node, Branch):
        left, right = (_with_shares(child, shares, noise_variance) for child in given.children)
        return Branch(node.rule, left, right)
    assert isinstance(node, Leaf)
    return Leaf(node.label, tuple(counts), _round_shares(shares))


def _round_shares(shares: list[float]) -> tuple[float, ...]:
    """Shares of `DECIMALS` decimals that add up to 1: the largest takes what rounding leaves."""
    units = [max(round(share * 10**DECIMALS), 1) for share in shares]
    units[shares.index(max(shares))] += 10**DECIMALS - sum(units)
    return tuple(unit / 10**DECIMALS for unit in units)


#: More categories than this leave next to no rows in each.
MAX_GROUPS = 20


def with_groups(plan: BudgetPlan, schema: Schema, groups: str, test: str) -> BudgetPlan:
    """The plan whose part `test` counts `groups` apart; raises ParameterError, and UnknownName for no categorical feature."""
    if isinstance(schema.target, NumericTarget):
        raise ParameterError("fit", "groups", groups, "None for a target that is a number")
    if groups not in groups_of(schema):
        raise UnknownName(f"categorical feature of at most {MAX_GROUPS} categories", groups, groups_of(schema))
    if plan.held_out_part(test) is None:
        raise ParameterError("fit", "groups", groups, "None without a test; test_share says how many rows it gets")
    return replace(plan, held_out=tuple(replace(held, groups=groups * (held.part == test)) for held in plan.held_out))


def groups_of(schema: Schema) -> tuple[str, ...]:
    """The features whose categories can be counted apart."""
    able = (feature for feature in schema.features if isinstance(feature, CategoricalFeature))
    return tuple(feature.name for feature in able if 1 < len(feature.categories) <= MAX_GROUPS)


def names_of(schema: Schema, groups: str) -> tuple[str, ...]:
    """The categories of this feature; one without a name where there are no groups."""
    return schema.features[_place(schema, groups)].categories if groups else ("",)  # type: ignore[union-attr]


def divide_by_groups(root: Node, schema: Schema, groups: str) -> Node:
    """The tree whose every leaf asks for the category, in their order; the same without groups."""
    if not groups:
        return root
    if isinstance(root, Branch):
        return Branch(root.rule, divide_by_groups(root.left, schema, groups), divide_by_groups(root.right, schema, groups))
    return child_per_category(_place(schema, groups), [root] * len(names_of(schema, groups)))


def codes_of(data: EncodedDataset, groups: str) -> np.ndarray:
    """The group of each row, private: int64 of shape (n_rows,)."""
    return data.columns[_place(data.schema, groups)].astype(np.int64) if groups else np.zeros(data.n_rows, dtype=np.int64)


def _place(schema: Schema, groups: str) -> int:
    return schema.feature_names.index(groups)
