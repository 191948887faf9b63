"""Rank tests between the forests, over data sets.

The paper tests every data set apart (Wilcoxon's signed ranks over its repetitions). Five folds of one table cannot show less than
p = .06 that way and are not independent, so the mean accuracies are tested here, one pair per data set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scipy.stats import wilcoxon

from benchmarks.page import markdown_table

#: (one, another).
PAIRS = (
    ("smooth forest", "JPW"),
    ("smooth forest", "FS"),
    ("smooth forest", "RGV (weaker)"),
    ("PF-forest", "JPW"),
    ("PF-forest", "FS"),
    ("PF-forest", "smooth forest"),
)
#: With fewer pairs no p-value is below .05.
LEAST = 6


def ranks_part(accuracy: Sequence[Mapping[str, float]]) -> str:
    """A part of the page; `accuracy` maps titles to mean accuracies, one mapping per data set. Empty for too few data sets."""
    if len(accuracy) < LEAST:
        return ""
    rows = [[f"{one} against {other}", *_tested([(of[one], of[other]) for of in accuracy])] for one, other in PAIRS]
    words = (
        "Wilcoxon's signed ranks of the mean accuracies above, one pair per data set, two-sided. The paper tests its "
        "repetitions on each data set separately. It finds every difference from JPW, FS and RGV significant (p at most .00006), "
        "which five folds of one table cannot show."
    )
    return f"## Rank tests over data sets\n\n{words}\n\n" + markdown_table(["pair", "ahead", "behind", "p"], rows)


def _tested(pairs: Sequence[tuple[float, float]]) -> tuple[str, str, str]:
    """How often the first is ahead, behind, and the p-value."""
    gaps = [one - other for one, other in pairs]
    p = float(wilcoxon(gaps).pvalue) if any(gaps) else 1.0
    return str(sum(gap > 0 for gap in gaps)), str(sum(gap < 0 for gap in gaps)), f"{p:.4f}".removeprefix("0")
