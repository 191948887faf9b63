"""One private choice of two levels of a tree: a root, what stands left below it and what stands right.

**Law.** Every tree (root r, left a, right b) has the utility u(r, a, b) = uL(r, a) + uR(r, b): rows that go left at r meet a, the
others meet b. The exponential mechanism over all trees, P(r, a, b) ~ exp(c u) with c = epsilon / width, factorises:

    P(r) ~ (sum over a of exp(c uL(r, a))) (sum over b of exp(c uR(r, b))),   P(a, b | r) ~ exp(c uL(r, a)) exp(c uR(r, b)),

so a root is drawn first, by the product of both sums, then either side by itself. The product of the three probabilities is
exp(c u) over the sum of all: exactly the law over n_roots * n_below^2 trees, from 2 * n_roots * n_below utilities.

**Privacy.** Let one row more change every u(r, a, b) by some d in [low, low + width] (`BoundedRangeSensitivity`). Then
ln P'/P = c d - ln(sum of P exp(c d)), and both terms lie in [c low, c low + epsilon]: the loss of every output is between
-epsilon and epsilon, and the losses of any two outputs differ by at most epsilon. That is epsilon-DP, and
epsilon-*bounded-range*, which composes and compares better (epsilon^2 / 8-zCDP); permute-and-flip does not have it.

Source: this project; the exponential mechanism, McSherry & Talwar 2007; bounded range, Durfee & Rogers 2019, Dong, Durfee &
Rogers 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from dpviz.accounting.events import BoundedRange, Step
from dpviz.privacy.exact_weights import ExactWeights, exact_weights, sample_index_exactly
from dpviz.privacy.sensitivity import BoundedRangeSensitivity, check_epsilon
from dpviz.privacy.source import NoiseSource, Output, record_sampler

#: Utilities of either side that are made at once.
_CHUNK_SIZE = 1 << 17
#: In a simulation, roots whose odds are below exp(-40) are not looked at.
_HOPELESS = 40.0


class DepthTwoTree(NamedTuple):
    """A root, and what stands below on either side: numbers of candidates."""

    root: int
    left: int
    right: int


#: (uL, uR) of some roots: two arrays of whole numbers, int64 of shape (roots, n_below).
Sides = tuple[np.ndarray, np.ndarray]
#: Of one side, log weights as floats: arrays of shape (roots, m), and how many candidates each of m columns stands for.
Parts = list[tuple[np.ndarray, np.ndarray]]
#: The log weights of all trees, nearly, but for a number that is the same for all: the left and the right sides of some roots
#: at a time, those that are alike once, and which of these stands for each root, shape (n_roots,).
LogWeights = tuple[Iterator[tuple[Parts, Parts]], np.ndarray]


@dataclass(frozen=True, eq=False)
class TwoLevelUtilities:
    """uL(r, a) and uR(r, b) for all roots r and all a, b below. Private."""

    n_roots: int
    n_below: int
    of_roots: Callable[[slice], Sides]  #: In whole numbers
    log_weights: Callable[[float], LogWeights]  #: For simulations: the same times a rate

    def blocks(self) -> Iterator[Sides]:
        """(uL, uR) of some roots at a time, in order."""
        step = max(1, _CHUNK_SIZE // self.n_below)
        for start in range(0, self.n_roots, step):
            yield self.of_roots(slice(start, min(start + step, self.n_roots)))

    def of_root(self, root: int) -> tuple[np.ndarray, np.ndarray]:
        """(uL, uR) of one root, of shape (n_below,)."""
        left, right = self.of_roots(slice(root, root + 1))
        return left[0], right[0]

    def number(self, chosen: DepthTwoTree) -> int:
        """Of all trees, numbered through."""
        return (chosen.root * self.n_below + chosen.left) * self.n_below + chosen.right

    def tree(self, number: int) -> DepthTwoTree:
        """The inverse of `number`."""
        rest, right = divmod(number, self.n_below)
        return DepthTwoTree(*divmod(rest, self.n_below), right)


@dataclass(frozen=True, slots=True)
class TwoLevelChoice:
    """The exponential mechanism over all trees of two levels."""

    epsilon: float
    width: BoundedRangeSensitivity
    title: ClassVar[str] = "exponential mechanism over two levels"

    def __post_init__(self) -> None:
        check_epsilon(type(self).__name__, self.epsilon)

    def release(self, utilities: TwoLevelUtilities, *, source: NoiseSource, part: str, level: int) -> Output[DepthTwoTree]:
        """Choose a tree. `level` is that of its root."""
        number = int(source.draw(self, utilities))  # type: ignore[arg-type]
        event = record_sampler(source, Step(BoundedRange(self.epsilon), part, level, self.title))
        return Output(utilities.tree(number), event)

    def sample(self, utilities: TwoLevelUtilities, rng: np.random.Generator) -> int:
        """The number of a tree, by Gumbel noise: for every root, and for everything that may stand left or right below.

        Noise on what is below is the same for all roots. It is independent of the root that is chosen, so the law is the one
        above; and where a setting changes the root a little, what stands below changes little.
        """
        noise = [rng.gumbel(size=size) for size in (utilities.n_roots, utilities.n_below, utilities.n_below)]
        rate = float(self.width.rate(self.epsilon))
        root = int((self._log_sums(*utilities.log_weights(rate), utilities.n_below) + noise[0]).argmax())
        left, right = (int((rate * here + side).argmax()) for here, side in zip(utilities.of_root(root), noise[1:], strict=True))
        return utilities.number(DepthTwoTree(root, left, right))

    def _log_sums(self, blocks: Iterator[tuple[Parts, Parts]], stands: np.ndarray, n_below: int) -> np.ndarray:
        """ln of the weight of every root, nearly and but for the same number; -inf for the hopeless ones."""
        sums, best, room = [], -np.inf, 2 * np.log(n_below) + _HOPELESS
        for sides in blocks:
            tops = [np.max([part.max(axis=1) for part, _ in side], axis=0) for side in sides]
            least = tops[0].astype(np.float64) + tops[1]  # no sum is below its largest term, or above n_below times it
            best = max(best, least.max())
            here = np.full(len(least), -np.inf)
            near = np.flatnonzero(least > best - room)
            here[near] = least[near]
            for side, top in zip(sides, tops, strict=True):
                here[near] += np.log(sum(_sums_behind(part[near], top[near], times) for part, times in side))
            sums.append(here)
        return np.concatenate(sums)[stands]

    def sample_exactly(self, utilities: TwoLevelUtilities) -> int:
        """The number of a tree, with exactly the probability above (`dpviz/privacy/exact_weights.py`)."""
        weights = exact_weights(self.width.rate(self.epsilon))
        root = sample_index_exactly(*_root_weights(utilities, weights), partial(_root_decimals, utilities, weights))
        left, right = (_choose_below(here, weights) for here in utilities.of_root(root))
        return utilities.number(DepthTwoTree(root, left, right))

    def probabilities(self, utilities: TwoLevelUtilities) -> np.ndarray:
        """Of every tree, shape (n_roots * n_below^2,); for small ones."""
        sides = utilities.of_roots(slice(0, utilities.n_roots))
        logits = (sides[0][:, :, None] + sides[1][:, None, :]).ravel()
        weights = np.exp((logits - logits.max()) * float(self.width.rate(self.epsilon)))
        return weights / weights.sum()


def _sums_behind(logs: np.ndarray, tops: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Of every row, the sum of times * exp(log - top); in float32 1e-6 of a weight is lost, which the noise hides."""
    behind = (logs - tops[:, None]).astype(np.float32, copy=False)
    # Not `@`: on some processors BLAS flags an invalid number in a small product of float32 where there is none.
    return np.einsum("ij,j->i", np.exp(behind, out=behind), times.astype(np.float32))


def _root_weights(utilities: TwoLevelUtilities, weights: ExactWeights) -> tuple[np.ndarray, float]:
    """(a weight per root, its largest relative error): both sums, times how far its best tree is behind the best of all."""
    tops, sums = [], []
    for sides in utilities.blocks():
        best = [side.max(axis=1) for side in sides]
        each = [weights.floats(top[:, None] - side).sum(axis=1) for side, top in zip(sides, best, strict=True)]
        tops.append(best[0] + best[1])
        sums.append(each[0] * each[1])
    top = np.concatenate(tops)
    error = 3 * weights.error + (utilities.n_below + 2) * 2.0**-52  # three factors, two sums, two products
    return weights.floats(top.max() - top) * np.concatenate(sums), error


def _root_decimals(utilities: TwoLevelUtilities, weights: ExactWeights, digits: int) -> list[Decimal]:
    """The same weights as decimal numbers, within 10^-digits, relatively."""
    roots = [root for sides in utilities.blocks() for root in zip(*sides, strict=True)]
    best = max(left.max() + right.max() for left, right in roots)
    return [
        weights.total(np.array([best - left.max() - right.max()]), digits + 1)
        * weights.total(left.max() - left, digits + 1)
        * weights.total(right.max() - right, digits + 1)
        for left, right in roots
    ]


def _choose_below(utilities: np.ndarray, weights: ExactWeights) -> int:
    behind = utilities.max() - utilities
    return sample_index_exactly(
        weights.floats(behind), weights.error, lambda digits: [weights.total(k[None], digits) for k in behind]
    )
