"""What the release register holds, as frozen records, and the exact arithmetic on them.

Releases of one data set use the same rows, so their costs add up (sequential composition, Dwork & Roth 2014, Theorem 3.16);
those of disjoint rows do not. A person with several rows loses more: group privacy, the same book, Theorem 2.2 and, with a
delta, its remark on approximate differential privacy.

What adds up is the account of a data set, chosen when it is declared: epsilons and deltas, or Renyi losses of one order, whose
cap is the budget that converts to the declared epsilon and delta (`dpviz.accounting.renyi`). Both hold however the next release
is chosen. No data set changes its account, so nothing that was spent is given back.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dpviz.accounting.events import Event
from dpviz.accounting.gaussian import ORDERS, renyi_offset
from dpviz.accounting.guarantee import PrivacyLoss, round_down, round_up
from dpviz.accounting.renyi import budget, pure_epsilon, renyi
from dpviz.accounting.risk import Risk
from dpviz.errors import OverCap, ParameterError
from dpviz.results.verdict import Unit, loss_text, unit_of
from dpviz.results.wording import number_text, signs_spelled
from dpviz.table.checked_numbers import checked_count, is_number
from dpviz.table.role import DataRole

#: An epsilon that exceeds what is left by less than this share counts as what is left: 0.1 is not exactly a tenth.
_ROUNDING = Fraction(1, 10**9)


#: What adds up under the caps of a data set: epsilons and deltas, or Renyi losses of one order.
ACCOUNTS = SUM, RENYI = ("sum", "renyi")


class State(StrEnum):
    """A release is started (its cost is spent, its file may never appear) or released."""

    STARTED = "started"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class DataSet:
    """Rows under a name their owner chose. The caps hold for all of them, whichever file they come in.

    `unit` is whom the guarantee protects, in the owner's words, such as "one patient", and `rows_per_unit` the most rows such
    a unit has. The caps, the most that all releases together may cost, and every guarantee are for one row. `declared` says
    when, ISO 8601 in UTC. `renyi_order` is that of the Renyi losses its account adds up; None: it adds up epsilons and deltas.
    """

    name: str
    role: DataRole
    unit: str
    rows_per_unit: int
    epsilon_cap: float
    delta_cap: float
    declared: str
    renyi_order: float | None = None

    @property
    def cap(self) -> PrivacyLoss:
        """The most that all releases together may cost one row."""
        return PrivacyLoss(self.epsilon_cap, self.delta_cap)

    @property
    def budget(self) -> float:
        """The most Renyi loss that all releases together may have; infinite where epsilons add up."""
        return math.inf if self.renyi_order is None else budget(self.renyi_order, self.epsilon_cap, self.delta_cap)

    def renyi_of(self, loss: PrivacyLoss, event: Event | None) -> float | None:
        """What a release costs where Renyi losses add up, from its steps, or as any algorithm of its loss; else None."""
        return None if self.renyi_order is None else renyi(event or Risk.of_any(loss).event, self.renyi_order)

    @property
    def protects(self) -> Unit:
        """Whom its guarantees protect; what bounds their rows is the owner's word."""
        return Unit(self.rows_per_unit, self.unit)


def protected(data_set: DataSet | None, rows_per_person: int | None) -> Unit:
    """Whom rows protect: in the register's words, and bounded where the encoder kept no more rows of a person."""
    if data_set is None:
        return unit_of(rows_per_person)
    return replace(data_set.protects, is_bounded=rows_per_person is not None)


@dataclass(frozen=True, slots=True)
class CapChange:
    """A cap that held from `at` on (ISO 8601 in UTC), with the reason and the name that were given; empty where none was."""

    data_set: str
    at: str
    epsilon_cap: float
    delta_cap: float
    reason: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One release, from the moment its cost is spent; `number` counts all releases of the register.

    `token` identifies the request: the same request is never released twice. Times are ISO 8601 in UTC; `finished` is empty until
    it is released. `learner` and `settings` are arguments of `fit`, `loss` what it cost, add/remove one row. `disclosures` is
    what was taken as public or learned outside the ledger: kind, what, source. `file` is an absolute path, `sha256` its hash,
    empty until it is written. `renyi` is its Renyi loss at the order of its data set, where that adds these up.
    """

    number: int
    token: str
    data_set: str
    state: State
    started: str
    finished: str
    learner: str
    settings: dict[str, Any]
    loss: PrivacyLoss
    disclosures: tuple[dict[str, str], ...]
    file: str
    sha256: str
    renyi: float | None = None

    @property
    def status(self) -> str:
        """The state in words."""
        return "released" if self.state is State.RELEASED else "interrupted, counted"


@dataclass(frozen=True, slots=True)
class Seal:
    """What a released file says about the register: `of` tells registers apart, `head` is the hash of the release's entry."""

    of: str
    head: str


@dataclass(frozen=True, slots=True)
class Exploration:
    """Fits on private rows that no guarantee covers: `times` of one kind with the same settings, the last one at `at`.

    `fingerprint` is keyed, as the register holds it.
    """

    fingerprint: str
    data_set: str
    at: str
    what: str
    learner: str
    settings: dict[str, Any]
    times: int

    status = "not covered: keep to yourself"


@dataclass(frozen=True, slots=True)
class Balance:
    """A data set, what its releases cost together, and what is left of its cap. Spent is rounded up, left down."""

    data_set: DataSet
    releases: tuple[Entry, ...]

    @property
    def spent(self) -> PrivacyLoss:
        """What all releases cost one row together, interrupted ones included, rounded up.

        Where Renyi losses add up, never more than the cap: that is what the filter promises, whatever is chosen next.
        """
        return self.with_one_more([])

    def with_one_more(self, asked: Sequence[PrivacyLoss]) -> PrivacyLoss:
        """The same beside a release that is asked for, where that has room."""
        by_sum, cap = total([*(entry.loss for entry in self.releases), *asked]), self.data_set.cap
        is_more = by_sum.epsilon > cap.epsilon or by_sum.delta > cap.delta
        return cap if is_more and self.renyi_spent <= self.data_set.budget < math.inf else by_sum

    @property
    def renyi_spent(self) -> float:
        """The Renyi losses of all releases, rounded up; infinite where one has none."""
        known = [math.inf if entry.renyi is None else entry.renyi for entry in self.releases]
        return math.inf if math.inf in known else round_up(sum(map(Fraction, known), Fraction(0)))

    @property
    def renyi_left(self) -> float:
        """What is left of the budget of Renyi losses, rounded down; infinite where epsilons add up."""
        whole, spent = self.data_set.budget, self.renyi_spent
        if math.isinf(whole):
            return whole
        return 0.0 if math.isinf(spent) else max(0.0, round_down(Fraction(whole) - Fraction(spent)))

    @property
    def left(self) -> PrivacyLoss:
        """What may still be spent, rounded down. Where Renyi losses add up: by any algorithm without a delta."""
        if self.data_set.renyi_order is not None:
            return PrivacyLoss(pure_epsilon(self.data_set.renyi_order, self.renyi_left))
        epsilon, delta = _sums(entry.loss for entry in self.releases)
        return PrivacyLoss(_rest(self.data_set.epsilon_cap, epsilon), _rest(self.data_set.delta_cap, delta))

    def has_room_for(self, loss: PrivacyLoss, renyi: float | None = None) -> bool:
        """True when another release of this cost stays within the cap, counted exactly. `renyi` is from `DataSet.renyi_of`."""
        if not loss.is_finite:
            return False
        if self.data_set.renyi_order is not None:
            return renyi is not None and renyi <= self.renyi_left
        epsilon, delta = _sums([*(entry.loss for entry in self.releases), loss])
        return epsilon <= Fraction(self.data_set.epsilon_cap) and delta <= Fraction(self.data_set.delta_cap)

    def fitting(self, epsilon: float) -> float:
        """`epsilon`, or what is left when the two differ by rounding only: ten times 0.1 fits into 1."""
        left = self.left.epsilon
        is_same = (
            self.data_set.renyi_order is None and epsilon > left > 0 and Fraction(epsilon) <= Fraction(left) * (1 + _ROUNDING)
        )
        return left if is_same else epsilon


def total(losses: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """What releases of the same rows cost together, rounded up."""
    epsilon, delta = _sums(losses)
    return PrivacyLoss(round_up(epsilon), min(1.0, round_up(delta)))


def _rest(cap: float, spent: Fraction) -> float:
    """What is left of a cap, rounded down; what only rounding has left is nothing: 0.9 is a little more than three times 0.3."""
    rest = Fraction(cap) - spent
    return max(0.0, round_down(rest)) if rest > Fraction(cap) * _ROUNDING else 0.0


def _sums(losses: Iterable[PrivacyLoss]) -> tuple[Fraction, Fraction]:
    known = list(losses)
    zero = Fraction(0)
    return sum((Fraction(loss.epsilon) for loss in known), zero), sum((Fraction(loss.delta) for loss in known), zero)


def check_caps(epsilon_cap: float, delta_cap: float, rows_per_unit: int, order: float | None = None) -> None:
    """Raise ParameterError for a cap, a number of rows or a Renyi order that none can have."""
    if not is_number(epsilon_cap) or epsilon_cap <= 0:
        raise ParameterError("the register", "epsilon_cap", epsilon_cap, "a finite number above 0")
    if not is_number(delta_cap) or not 0 <= delta_cap < 1:
        raise ParameterError("the register", "delta_cap", delta_cap, "a number of at least 0 and below 1")
    checked_count("the register", "rows_per_unit", rows_per_unit)
    if order is None:
        return
    if not is_number(order) or not 1 < order <= ORDERS[-1]:
        raise ParameterError("the register", "order", order, f"a number above 1 and at most {ORDERS[-1]:g}")
    if not delta_cap:
        raise ParameterError(
            "the register", "delta_cap", delta_cap, "above 0 where Renyi losses add up: they convert at this delta"
        )
    if budget(order, epsilon_cap, delta_cap) <= 0:
        least = f"above {renyi_offset(order, delta_cap):.3g}, which no loss at all costs at this order and delta"
        raise ParameterError("the register", "epsilon_cap", epsilon_cap, least)


def require_room(balance: Balance, loss: PrivacyLoss, renyi: float | None = None) -> None:
    """Raise OverCap, which says what is left, unless the loss fits under the cap. `renyi`: as `DataSet.renyi_of` gives it."""
    if balance.has_room_for(loss, renyi):
        return
    if balance.data_set.renyi_order is not None:
        raise _over_budget(balance, math.inf if renyi is None else renyi)
    left, cap = balance.left, balance.data_set
    rest, most = (cap.protects.loss_of(it) for it in (left, PrivacyLoss(cap.epsilon_cap, cap.delta_cap)))
    has_delta = loss.delta or cap.delta_cap
    kept = f"ε = {number_text(rest.epsilon)}" + (f", δ = {number_text(rest.delta)}" if has_delta else "")
    of = number_text(most.epsilon) + (f" and {number_text(most.delta)}" if has_delta else "")
    raise OverCap(
        signs_spelled(f"This release would cost {loss_text(loss, cap.protects)}; {kept} is left of the cap of {of}."),
        left=left.epsilon,
        left_delta=left.delta,
        where=cap.name,
        remedy="Ask for less, or change the cap.",
    )


def _over_budget(balance: Balance, asked: float) -> OverCap:
    order, left = balance.data_set.renyi_order, balance.left
    rest, whole = number_text(balance.renyi_left), number_text(balance.data_set.budget)
    if math.isinf(asked):
        said = f"This release has no Renyi loss at order {order:g}, and those add up here."
        remedy = "Release by a learner whose steps have one, or by one without a delta."
    else:
        said = f"This release would cost a Renyi loss of {number_text(asked)} at order {order:g}; {rest} is left of {whole}."
        remedy = f"Ask for less (any release of {number_text(left.epsilon)} without a delta fits), or change the cap."
    return OverCap(said, left=left.epsilon, left_delta=left.delta, where=balance.data_set.name, remedy=remedy)


#: What the register calls it when somebody asked how private rows fit, and when somebody had to be told: that there is a warning
#: follows from the rows, so only their owner may know of it.
SCHEMA_AT_LOOK = "the schema at the first look"
LOOK, WARNED = "how the rows fit the schema", "a warning about how the rows fit the schema"


def for_others(looks: Iterable[Exploration]) -> tuple[Exploration, ...]:
    """The looks that people without the rows may know of."""
    return tuple(look for look in looks if look.what != WARNED)


def n_looks(looks: Iterable[Exploration]) -> int:
    """How often rows were looked at, as every page counts it: a warning to the owner, which others may not know of, is none."""
    return sum(look.times for look in for_others(looks))
