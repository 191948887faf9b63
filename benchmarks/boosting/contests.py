"""Who is ahead of whom in `boosting`, fold by fold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchmarks.boosting import entrants as by
from benchmarks.boosting.figures import AUC
from benchmarks.boosting.measure import Mean, Scored, mean_of

#: What is compared in words: (question, one title, the other).
CONTESTS = (
    ("S-GBDT as published against DPBoost, the best of each", by.PUBLISHED_BEST, by.RIVAL_BEST),
    ("the redesign against S-GBDT as published, best at each epsilon", by.OURS, by.PUBLISHED_BEST),
    ("the redesign against DPBoost, best at each epsilon", by.OURS, by.RIVAL_BEST),
    ("the redesign against random splits in the style of Maddock et al.", by.OURS, by.DRAWN),
    ("the redesign against splits by noisy histograms in the style of Maddock et al.", by.OURS, by.HIST),
    ("the redesign against a constant", by.OURS, by.CONSTANT),
    ("as published, noise by what a leaf holds against static noise (Figure 5)", by.PUBLISHED, by.STATIC),
    ("as published, the individual filter and its extra rounds against none (Figure 6)", by.PUBLISHED, by.NO_FILTER),
    ("DPBoost with gradients cut against filtered (Figure 8)", by.RIVAL, by.RIVAL_FILTERED),
)


def contests_part(found: Sequence[Scored]) -> str:
    """The part of the page with every contest."""
    lines = [line for contest in CONTESTS for line in _contest(found, *contest)]
    words = (
        "By more than two standard errors of the difference over folds. The filter needs more noise in every round, because its "
        "accounts are kept at one Renyi order."
    )
    return f"## Who is ahead\n\n{words}\n\n" + "\n".join(lines)


def _contest(found: Sequence[Scored], words: str, one: str, other: str) -> Iterator[str]:
    for data in dict.fromkeys(row.data for row in found):
        won: list[str] = []
        lost: list[str] = []
        total = 0
        for epsilon in epsilons_of(found):
            gap = paired_difference(found, data, epsilon, one, other)
            if gap is None:
                continue
            total += 1
            doubt = 0.0 if math.isnan(gap.error) else 2 * gap.error
            (won if gap.mean > doubt else lost if gap.mean < -doubt else []).append(f"{epsilon:g}")
        if total:
            yield f"- {data}, {words}: ahead at {_list(won)}, behind at {_list(lost)}, of {total} epsilons."


def _list(epsilons: Sequence[str]) -> str:
    return f"{len(epsilons)} ({', '.join(epsilons)})" if epsilons else "none"


def paired_difference(
    found: Sequence[Scored], data: str, epsilon: float, one: str, other: str, metric: str | None = None
) -> Mean | None:
    """By how much the AUC, if that is the metric, else the R² or accuracy of one title exceeds another's, fold by fold.

    None where one is missing.
    """
    rows = [
        (row.title, row.fold, row.auc if metric == AUC else row.score)
        for row in found
        if (row.data, row.epsilon) == (data, epsilon)
    ]
    ours, theirs = ([(fold, value) for name, fold, value in rows if name == title] for title in (one, other))
    if not ours or not theirs:
        return None
    folds = sorted({fold for fold, _ in ours})
    gaps = [(f, mean_of([v for v in ours if v[0] == f]).mean - mean_of([v for v in theirs if v[0] == f]).mean) for f in folds]
    return mean_of(gaps)


def epsilons_of(found: Sequence[Scored]) -> list[float]:
    """The finite ones, increasing."""
    return sorted({row.epsilon for row in found if math.isfinite(row.epsilon)})
