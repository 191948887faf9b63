"""What may be spent: a learner's budget before it sees a row, computed from public values alone."""

import math
from dataclasses import dataclass
from fractions import Fraction

from dpviz.accounting.guarantee import round_up
from dpviz.errors import renamed


@dataclass(frozen=True, slots=True)
class Share:
    """One line of a plan."""

    part: str  #: What it pays for: "quantile", "node", "leaf", "tree", "count"
    level: int | None  #: Depth (root = 0) at which it is spent; None where it belongs to no level
    epsilon: float  #: Cost of one mechanism
    n_compositions: int = 1  #: How many such mechanisms see the same row, one after another
    set_by: str = ""  #: Who chose it: a rule in words, or "you"
    #: "numeric" or "categorical" where a claim counts the two kinds of features in parallel; else empty.
    group: str = ""
    levels: int = 1  #: How many levels of the tree it pays for, from `level` down

    @property
    def composed(self) -> float:
        """What the share costs one row: epsilon times n_compositions, rounded up."""
        if not (self.n_compositions and math.isfinite(self.epsilon)):
            return self.epsilon if self.n_compositions else 0.0
        return round_up(Fraction(self.epsilon) * self.n_compositions)


@dataclass(frozen=True, slots=True)
class HeldOutPart:
    """Rows held out at random from growing: what for ("leaf counts", "test"), each row's probability, and what it then pays.

    `groups`: a categorical feature whose categories a test counts apart; empty for none.
    """

    part: str
    share: float
    epsilon: float
    groups: str = ""


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """How a learner will spend `epsilon` (and `delta`, 0 for a pure guarantee) on a tree of `depth`.

    `shares` are what a row that the tree grows from pays. A row of a part in `held_out` pays for that part instead, at most
    `epsilon` too. `notes` explain the public rules that were applied, with their numbers; `replaced` are those of them that say
    which value a rule has put in the place of one that was asked for.
    """

    epsilon: float
    depth: int
    shares: tuple[Share, ...]
    notes: tuple[str, ...] = ()
    delta: float = 0.0
    held_out: tuple[HeldOutPart, ...] = ()
    replaced: tuple[str, ...] = ()

    aside = renamed("aside", "held_out")
    set_aside = renamed("set_aside", "held_out_part")

    def held_out_part(self, part: str) -> HeldOutPart | None:
        """The rows set aside for this part; None where the plan has none."""
        return next((held_out for held_out in self.held_out if held_out.part == part), None)

    def of(self, part: str, level: int | None = None, group: str = "") -> float:
        """Epsilon of one mechanism for this part, level and group; 0 where the plan has none."""
        wanted = part, level, group
        return next((share.epsilon for share in self.shares if (share.part, share.level, share.group) == wanted), 0.0)

    @property
    def chances(self) -> tuple[float, ...]:
        """How likely a row is to grow the tree, and to be set aside for each part."""
        shares = [held_out.share for held_out in self.held_out]
        return 1 - sum(shares), *shares

    @property
    def is_private(self) -> bool:
        """False where the learner publishes something exact."""
        return math.isfinite(self.epsilon)
