"""How well draws fit a distribution. A test that uses this says both what must fit and what must not."""

from __future__ import annotations

import numpy as np
from scipy import stats

#: Fits: p-value above; a correct sampler with fresh entropy misses it once in a million runs.
FITS = 1e-6


def p_value(draws: np.ndarray, distribution: np.ndarray) -> float:
    """Chi-square test of integer draws against their `distribution`; outcomes expected fewer than 5 times are merged."""
    observed = np.bincount(draws, minlength=len(distribution)).astype(float)
    expected = np.asarray(distribution) / np.sum(distribution) * len(draws)
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return float(stats.chisquare(observed, expected).pvalue)
