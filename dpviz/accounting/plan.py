"""What may be spent: a learner's event before it sees a row, computed from public values alone."""

import math
from dataclasses import dataclass
from fractions import Fraction

from dpviz.accounting.events import (
    NO_STEP,
    Cost,
    Event,
    GaussianRounds,
    PureDP,
    RandomPartition,
    Step,
    sequence,
)
from dpviz.accounting.gaussian import price_rounds
from dpviz.accounting.guarantee import PrivacyLoss, of_person, round_up
from dpviz.errors import deprecated_name


@dataclass(frozen=True, slots=True)
class Share:
    """One line of a plan: mechanisms that a row meets, what each is asked to cost, and what it costs."""

    part: str  #: What it pays for: "quantile", "node", "leaf", "tree", "count"
    level: int | None  #: Depth (root = 0) at which it is spent; None where it belongs to no level
    epsilon: float  #: What is asked of one mechanism
    n_compositions: int = 1  #: How many such mechanisms see the same row, one after another
    set_by: str = ""  #: Who chose it: a rule in words, or "you"
    #: "numeric" or "categorical" where a claim counts the two kinds of features in parallel; else empty.
    group: str = ""
    levels: int = 1  #: How many levels of the tree it pays for, from `level` down
    costs: tuple[Cost, ...] = ()  #: Of one mechanism, or of several in its place; none: pure epsilon
    #: Rounds of Gaussian noise that are priced by (sampling, number of rounds, whether rows have a filter).
    gaussian: tuple[float, int, bool] | None = None
    exact: bool = True  #: Whether its mechanism has an exact sampler
    at_once: bool = False  #: Whether all compositions are one release, booked as one pure step

    @property
    def composed(self) -> float:
        """What is asked of one row: epsilon times n_compositions, rounded up."""
        if not (self.n_compositions and math.isfinite(self.epsilon)):
            return self.epsilon if self.n_compositions else 0.0
        return round_up(Fraction(self.epsilon) * self.n_compositions)

    def steps(self, delta: float, rows: int = 1) -> tuple[Step, ...]:
        """What a row meets, so that `rows` of a person keep `delta`. Raises DpvizError where no Gaussian noise does that."""
        if self.at_once:
            return (Step(PureDP(self.epsilon * self.n_compositions), self.part, self.level, note=self.set_by),)
        if self.gaussian:
            return (self.rounds(delta, rows),)
        costs = self.costs or (PureDP(self.epsilon),)
        return tuple(Step(cost, self.part, self.level, note=self.set_by) for cost in costs) * self.n_compositions

    def rounds(self, delta: float, rows: int = 1) -> Step:
        """The rounds of Gaussian noise, all together, with noise for `rows` of a person."""
        assert self.gaussian is not None
        sampling, rounds, filtered = self.gaussian
        cost = price_rounds(self.epsilon, delta, sampling=sampling, rounds=rounds, filtered=filtered, rows=rows)
        return Step(cost, self.part, self.level, "Gaussian")


@dataclass(frozen=True, slots=True)
class HeldOutPart:
    """Rows held out at random from growing: what for ("leaf counts", "test"), each row's probability, and what it then pays.

    `groups`: a categorical feature whose categories a test counts apart; empty for none. `parts`: what several mechanisms in turn
    pay of `epsilon`.
    """

    part: str
    share: float
    epsilon: float
    groups: str = ""
    parts: tuple[float, ...] = ()

    @property
    def event(self) -> Event:
        """What is done to such a row."""
        return sequence(*(Step(PureDP(epsilon), self.part) for epsilon in self.parts or (self.epsilon,)))


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """How a learner will spend `epsilon` of every row (and `delta`, 0 for a pure guarantee) on a tree of `depth`.

    Epsilons are those of a row, of which a person has up to `rows_per_person`: all of them together keep `asked`, with the same
    delta. `shares` are what a row that the tree grows from pays. A row of a part in `held_out` pays for that part instead, at
    most `epsilon` too. `unbounded` are steps that no epsilon covers. `notes` explain the public rules that were applied, with
    their numbers; `replaced` are those of them that say which value a rule has put in the place of one that was asked for.
    """

    epsilon: float
    depth: int
    shares: tuple[Share, ...]
    notes: tuple[str, ...] = ()
    delta: float = 0.0
    held_out: tuple[HeldOutPart, ...] = ()
    replaced: tuple[str, ...] = ()
    unbounded: tuple[Step, ...] = ()
    rows_per_person: int = 1

    aside = deprecated_name("aside", "held_out")
    set_aside = deprecated_name("set_aside", "held_out_part")

    @property
    def asked(self) -> PrivacyLoss:
        """What a person may pay: the epsilon of all rows, rounded up, and delta."""
        return of_person(PrivacyLoss(self.epsilon, self.delta), self.rows_per_person)

    def event(self, *, shared: bool = False) -> Event:
        """All that may be done to a row, whatever the rows: no ledger of a fit costs more where the claim holds.

        The path of one row: a ledger has every node instead, side by side, and its steps name mechanisms where these say who set
        the shares. So they are compared by what they cost, never as objects.

        `shared`: the rows of a person are held out together, as a fit does where a column names persons. Raises DpvizError where
        no Gaussian noise has the epsilon and delta.
        """
        steps = [*self.unbounded, *(step for share in self.shares for step in share.steps(self.delta, self.rows_per_person))]
        grown = sequence(*steps) if steps else NO_STEP
        if not self.held_out:
            return grown
        return RandomPartition((grown, *(held_out.event for held_out in self.held_out)), self.probabilities, shared)

    def rounds(self, part: str) -> tuple[Step, GaussianRounds]:
        """The rounds of Gaussian noise for this part, all together, and their cost. Raises as `event`."""
        step = next(share for share in self.shares if share.part == part).rounds(self.delta, self.rows_per_person)
        assert isinstance(step.cost, GaussianRounds)
        return step, step.cost

    @property
    def is_exact(self) -> bool:
        """True if every mechanism has an exact sampler."""
        return all(share.exact for share in self.shares)

    def held_out_part(self, part: str) -> HeldOutPart | None:
        """The rows set aside for this part; None where the plan has none."""
        return next((held_out for held_out in self.held_out if held_out.part == part), None)

    def of(self, part: str, level: int | None = None, group: str = "") -> float:
        """Epsilon of one mechanism for this part, level and group; 0 where the plan has none."""
        wanted = part, level, group
        return next((share.epsilon for share in self.shares if (share.part, share.level, share.group) == wanted), 0.0)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """How likely a row is to grow the tree, and to be set aside for each part."""
        shares = [held_out.share for held_out in self.held_out]
        return 1 - sum(shares), *shares

    @property
    def is_private(self) -> bool:
        """False where the learner publishes something exact."""
        return math.isfinite(self.epsilon)
