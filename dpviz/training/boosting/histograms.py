"""Where rows lie along every number: one noisy histogram per feature, paid for like a few rounds of boosting.

Before the first tree every row has the same curvature, so counts are the Hessian-weighted histogram. Each row is in one bin of
each of n features, which moves all counts together by sqrt(n). So Gaussian noise of z sqrt(n / k) rows on every count costs as
much as k rounds of noise multiplier z.

Source: Maddock, Cormode, Wang, Maple & Jha 2022 (candidates that follow a private Hessian histogram); the projection is that of
Duchi, Shalev-Shwartz, Singer & Chandra 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.privacy.gaussian import CONTRIBUTION_BITS, NoiseGrid
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, Schema

#: Where bins end, as shares of the declared range: eighths, and as near to both ends, where long tails crowd, as PF-tree's grid.
_ENDS = 2.0 ** -np.arange(4, 17)
EDGES = np.unique([*(np.arange(9) / 8), *_ENDS, *(1 - _ENDS)])
#: The shares assumed before any row is counted: half alike for all bins, half by their width.
_PRIOR = (np.diff(EDGES) + 1 / (len(EDGES) - 1)) / 2


@dataclass(frozen=True, eq=False)
class FeatureHistograms:
    """By the place of each number among the features: the released share of rows up to each of EDGES, same shape."""

    below: dict[int, np.ndarray]

    def quantiles(self, feature: int, shares: np.ndarray | list[float]) -> np.ndarray:
        """Places in the declared range, from 0 to 1, that these shares of the rows lie below."""
        return np.interp(shares, self.below[feature], EDGES)


def numbers_of(schema: Schema) -> dict[int, NumericFeature]:
    """The features that have a histogram, by their places."""
    return {place: feature for place, feature in enumerate(schema.features) if isinstance(feature, NumericFeature)}


def release_histograms(data: EncodedDataset, noise_multiplier: float, rounds: int, *, source: NoiseSource) -> FeatureHistograms:
    """Noisy histograms that cost as much as `rounds` rounds of `noise_multiplier`; needs a number and a declared row count."""
    numbers = numbers_of(data.schema)
    noise = noise_multiplier * math.sqrt(len(numbers) / rounds)
    counts = np.array([_counts(feature, data.columns[place]) for place, feature in numbers.items()])
    noisy = NoiseGrid((noise,)).noisy(counts * 2.0**CONTRIBUTION_BITS, 0, source=source)
    n_public = data.schema.n_public or 1
    return FeatureHistograms({place: _cumulative(of_one, noise, n_public) for place, of_one in zip(numbers, noisy, strict=True)})


def _counts(feature: NumericFeature, column: np.ndarray) -> np.ndarray:
    inner = feature.low + EDGES[1:-1] * (feature.high - feature.low)
    above = [np.count_nonzero(column > edge) for edge in inner]  # sooner than a search for the bin of every row
    return -np.diff([len(column), *above, 0])


def _cumulative(noisy: np.ndarray, noise: float, n_public: int) -> np.ndarray:
    """Shares up to every edge: noisy counts projected onto what adds up to the declared count, then mixed with _PRIOR."""
    falling = np.sort(noisy)[::-1]
    over = (np.cumsum(falling) - n_public) / np.arange(1, len(noisy) + 1)
    threshold = over[np.flatnonzero(falling > over)[-1]]
    doubt = min(1.0, noise * math.sqrt(len(noisy)) / n_public)
    shares = (1 - doubt) * np.maximum(noisy - threshold, 0.0) / n_public + doubt * _PRIOR
    return np.concatenate([[0.0], np.cumsum(shares) / shares.sum()])
