"""Bare mechanisms on counts: the largest log ratio of an output when one count grows by one.

For flaws of a rule inside a learner too large to list. A mechanism that chooses is listed through its `.probabilities`. One
that outputs a noisy number has unbounded output; it is read through a stated post-processing, the number clipped to a box,
whose distribution is exact (`.pmf` and `.tail`), so that the ratio is a valid lower bound.
"""

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.evaluation.audit.findings import AuditResult, Separation, WorstPair, judge
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.smooth import SmoothMajority

#: Noisy numbers are clipped this many steps beyond the exact ones.
BOX = 40

Counts = tuple[int, ...]


@dataclass(frozen=True)
class ClippedCount:
    """Post-processing of geometric noise on one count: the noisy count, moved into 0 .. `most`."""

    noise: GeometricNoise
    most: int
    title: str = "geometric noise, read clipped to a box"

    @property
    def epsilon(self) -> float:
        """Of the noise."""
        return self.noise.epsilon

    def probabilities(self, utilities: np.ndarray) -> np.ndarray:
        """Distribution of the clipped noisy count, shape (most + 1,). `utilities` holds the one exact count, in 0 .. most."""
        (count,) = np.asarray(utilities, dtype=np.int64).tolist()
        distribution = self.noise.pmf(np.arange(self.most + 1) - count)
        distribution[0], distribution[-1] = self.noise.tail(count), self.noise.tail(self.most - count)
        return distribution


#: A mechanism that chooses one of several.
Choice = ExponentialMechanism | PermuteAndFlip | SmoothMajority | ClippedCount


def count_pairs(n_counts: int, most: int) -> Iterator[tuple[Counts, Counts]]:
    """All vectors of counts with sum below `most`, each with every way to raise one count by one."""
    for counts in np.ndindex(*(most,) * n_counts):
        if sum(counts) < most:
            yield from ((counts, tuple(c + (i == k) for i, c in enumerate(counts))) for k in range(n_counts))


def verify_mechanism(
    mechanism: Choice,
    pairs: Iterable[tuple[Counts, Counts]],
    *,
    claimed: float,
    composed: float | None = None,
    because: str = "",
) -> AuditResult:
    """The pair of counts and the output with the largest log ratio.

    `pairs`: iterable of (counts, counts); neighbours: the second has one count one higher.
    `claimed`: epsilon its source claims.
    `composed`: what our ledger charges for it; by default `claimed`. Infinity for a rule that is charged as non-private.
    `because`: the reason for the verdict, one sentence.
    """
    started = time.perf_counter()
    listed = list(pairs)
    found = max((_separation(mechanism, *pair) for pair in listed), key=lambda item: item.log_ratio)
    loss = PrivacyLoss(claimed if composed is None else composed)
    return AuditResult(
        learner=mechanism.title,
        epsilon=mechanism.epsilon,
        params={},
        log_ratio=found.log_ratio,
        claimed=claimed,
        composed=loss.epsilon,
        verdict=judge(found.log_ratio, Claim(claimed, "", "holds", because), loss),
        because=because,
        worst_pair=found.pair,
        output=found.output,
        searched=f"{len(listed):,} pairs of counts",
        n_sets=len({counts for pair in listed for counts in pair}),
        n_pairs=len(listed),
        seconds=time.perf_counter() - started,
    )


def _separation(mechanism: Choice, first: Counts, second: Counts) -> Separation:
    distributions = [np.asarray(mechanism.probabilities(np.array(counts))) for counts in (first, second)]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log(distributions[1]) - np.log(distributions[0]))
    ratios[np.isnan(ratios)] = -math.inf  # impossible on both
    chosen = int(ratios.argmax())
    columns = tuple(f"count {k}" for k in range(len(first)))
    words = [(tuple(map(str, counts)),) for counts in (first, second)]
    pair = WorstPair(columns, words[0], words[1], (float(distributions[0][chosen]), float(distributions[1][chosen])))
    return Separation(float(ratios[chosen]), {"output": chosen}, pair)
