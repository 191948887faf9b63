"""One curve of a robustness figure: a learner at an epsilon with its bounds, and how it must be drawn."""

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dpviz.accounting.risk import Risk
from dpviz.evaluation.robustness.certificates import Certificate, VoteCertificate
from dpviz.evaluation.robustness.poisoning import PoisoningTable
from dpviz.figures.theme import SERIES
from dpviz.learners import get_learner
from dpviz.results.wording import number_text

#: Proved by privacy; certified by a vote; published but refused; nothing published and nothing proved.
Kind = Literal["proved", "votes", "refused", "silent"]


@dataclass(frozen=True)
class Certified:
    """One learner at one epsilon (None where it spends none) with its curves, and the verdict on its privacy claim."""

    epsilon: float | None
    verdict: str
    table: PoisoningTable
    risk: Risk | None = None  #: Of one row, by what a fit does; None where no epsilon is spent

    @property
    def kind(self) -> Kind:
        """How it must be drawn."""
        if isinstance(self.table.bounds[0], VoteCertificate):
            return "votes"
        if not self.table.reason:
            return "proved"
        return "silent" if math.isnan(self.table.published(0)) else "refused"

    @property
    def title(self) -> str:
        """The learner's title."""
        return get_learner(self.table.learner).title

    @property
    def name(self) -> str:
        """Title and epsilon."""
        return self.title if self.epsilon is None else f"{self.title}, ε = {number_text(self.epsilon)}"

    def published_rows(self, above: float) -> int | None:
        """The most rows with which the published bound stays above an accuracy; None when none does."""
        published, every = self.table.published, range(1, self.table.n_train + 1)
        if not published(0) > above:
            return None
        return bisect_left(every, True, key=lambda rows: not published(rows) > above)  # the bound only falls

    def share(self, rows: int) -> float:
        """Rows as a share of the training rows."""
        return rows / max(1, self.table.n_train)


def epsilon_colours(epsilons: Iterable[float | None]) -> dict[float | None, str]:
    """One hue per epsilon, in their order; None stands first."""
    places = sorted(set(epsilons), key=lambda epsilon: epsilon or 0.0)
    return {epsilon: SERIES[place % len(SERIES)] for place, epsilon in enumerate(places)}


def is_noisy(item: Certified) -> bool:
    """True where the guarantee comes from draws, and so has a band."""
    return isinstance(item.table.bounds[0], Certificate)
