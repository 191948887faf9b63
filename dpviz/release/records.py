"""What the release register holds, as frozen records, and the exact arithmetic on them.

Releases of one data set use the same rows, so their costs add up (sequential composition, Dwork & Roth 2014, Theorem 3.16);
those of disjoint rows do not. Every cap and every cost is that of one unit of privacy, such as a person, with all its rows.
Epsilons and deltas add up under a cap: that holds however the next release is chosen. What the steps of all releases tell
together is less (`dpviz.release.check.compose_releases`); no cap counts it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dpviz.accounting.guarantee import PrivacyLoss, round_down, round_up
from dpviz.errors import ParameterError, RefusedRelease
from dpviz.results.verdict import Unit, loss_text
from dpviz.results.wording import number_text, signs_spelled
from dpviz.table.role import DataRole
from dpviz.table.schema import MAX_ROWS_PER_PERSON
from dpviz.table.validation import is_number, validate_count
from dpviz.training.counted_rows import Rows

#: An epsilon that exceeds what is left by less than this share counts as what is left: 0.1 is not exactly a tenth.
_ROUNDING = Fraction(1, 10**9)
#: Uses of private rows: an inspection of how they fit the schema, and a warning about it. That there is a warning follows from
#: the rows, so only their owner may know of it.
INSPECTION, INSPECTION_WARNING = "how the rows fit the schema", "a warning about how the rows fit the schema"


class State(StrEnum):
    """A release is started (its cost is spent, its file may never appear) or released."""

    STARTED = "started"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class DataSet:
    """Rows under a name their owner chose. The caps hold for all of them, whichever file they come in.

    `unit` is whom the guarantee protects, in the owner's words, such as "one patient", and `rows_per_unit` the most rows such
    a unit has. The caps, the most that all releases together may cost, and every guarantee are for one unit. `declared` says
    when, ISO 8601 in UTC.
    """

    name: str
    role: DataRole
    unit: str
    rows_per_unit: int
    epsilon_cap: float
    delta_cap: float
    declared: str

    @property
    def cap(self) -> PrivacyLoss:
        """The most that all releases together may cost one unit."""
        return PrivacyLoss(self.epsilon_cap, self.delta_cap)

    @property
    def protects(self) -> Unit:
        """Whom its guarantees protect; what bounds their rows is the owner's word."""
        return Unit(self.rows_per_unit, self.unit)


def protected_unit(data_set: DataSet | None, rows: Rows) -> Unit:
    """Whom rows protect: in the register's words, and bounded where the encoder kept no more rows of a person."""
    unit = Unit(rows.schema.rows_per_person, is_bounded=rows.rows_per_person is not None)
    return unit if data_set is None else replace(unit, name=data_set.unit)


@dataclass(frozen=True, slots=True)
class CapChange:
    """A cap that held from `at` on (ISO 8601 in UTC), with the reason and the name that were given; empty where none was."""

    data_set: str
    at: str
    epsilon_cap: float
    delta_cap: float
    reason: str = ""
    made_by: str = ""

    @property
    def cap(self) -> PrivacyLoss:
        """The most that all releases together may cost one unit."""
        return PrivacyLoss(self.epsilon_cap, self.delta_cap)


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """One release, from the moment its cost is spent; `number` counts all releases of the register.

    `token` identifies the request: the same request is never released twice. Times are ISO 8601 in UTC; `finished` is empty until
    it is released. `learner` and `settings` are arguments of `fit`, `loss` what it cost one unit. `disclosures` is
    what was taken as public or learned outside the ledger: kind, what, source. `file` is an absolute path, `sha256` its hash,
    empty until it is written; `seal` is the digest of the release that the file prints.
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
    seal: str = ""

    @property
    def status(self) -> str:
        """The state in words."""
        return "released" if self.state is State.RELEASED else "interrupted, counted"


@dataclass(frozen=True, slots=True)
class UncoveredUse:
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


def visible_to_others(uses: Iterable[UncoveredUse]) -> tuple[UncoveredUse, ...]:
    """The uses that people without the rows may know of."""
    return tuple(use for use in uses if use.what != INSPECTION_WARNING)


def n_uses(uses: Iterable[UncoveredUse]) -> int:
    """How often rows were looked at, as every page counts it: a warning to the owner is none."""
    return sum(use.times for use in visible_to_others(uses))


@dataclass(frozen=True, slots=True)
class Balance:
    """A data set, what its releases cost together, and what is left of its cap. Spent is rounded up, left down."""

    data_set: DataSet
    releases: tuple[ReleaseRecord, ...]

    @property
    def spent(self) -> PrivacyLoss:
        """What all releases cost one unit together, interrupted ones included, rounded up."""
        return self.with_one_more([])

    def with_one_more(self, more: Sequence[PrivacyLoss]) -> PrivacyLoss:
        """The same beside a release that is asked for."""
        return total([*(record.loss for record in self.releases), *more])

    @property
    def left(self) -> PrivacyLoss:
        """What may still be spent, rounded down."""
        epsilon, delta = _sums(record.loss for record in self.releases)
        return PrivacyLoss(_remainder(self.data_set.epsilon_cap, epsilon), _remainder(self.data_set.delta_cap, delta))

    def has_room_for(self, loss: PrivacyLoss) -> bool:
        """True when another release of this cost stays within the cap, counted exactly."""
        if not loss.is_finite:
            return False
        epsilon, delta = _sums([*(record.loss for record in self.releases), loss])
        return epsilon <= Fraction(self.data_set.epsilon_cap) and delta <= Fraction(self.data_set.delta_cap)

    def require_room(self, loss: PrivacyLoss, *, on_screen: bool = False) -> None:
        """Raise RefusedRelease, which says what is left, `on_screen` with signs, unless the loss fits under the cap."""
        if self.has_room_for(loss):
            return
        left, cap, unit = self.left, self.data_set.cap, self.data_set.protects
        has_delta = loss.delta or cap.delta
        rest = f"ε = {number_text(left.epsilon)}" + (f", δ = {number_text(left.delta)}" if has_delta else "")
        of = number_text(cap.epsilon) + (f" and {number_text(cap.delta)}" if has_delta else "")
        what = f"This release would cost {loss_text(loss, unit)}; {rest} is left of the cap of {of}."
        remedy = "Ask for less, or change the cap."
        raise RefusedRelease(what if on_screen else signs_spelled(what), where=self.data_set.name, remedy=remedy)

    def fitting(self, epsilon: float) -> float:
        """`epsilon`, or what is left when the two differ by rounding only: ten times 0.1 fits into 1."""
        left = self.left.epsilon
        is_same = epsilon > left > 0 and Fraction(epsilon) <= Fraction(left) * (1 + _ROUNDING)
        return left if is_same else epsilon


def total(losses: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """What releases of the same rows cost together, rounded up."""
    epsilon, delta = _sums(losses)
    return PrivacyLoss(round_up(epsilon), min(1.0, round_up(delta)))


def _remainder(cap: float, spent: Fraction) -> float:
    """What is left of a cap, rounded down; what only rounding has left is nothing: 0.9 is a little more than three times 0.3."""
    rest = Fraction(cap) - spent
    return max(0.0, round_down(rest)) if rest > Fraction(cap) * _ROUNDING else 0.0


def _sums(losses: Iterable[PrivacyLoss]) -> tuple[Fraction, Fraction]:
    pairs = [(Fraction(loss.epsilon), Fraction(loss.delta)) for loss in losses]
    return sum((epsilon for epsilon, _ in pairs), Fraction(0)), sum((delta for _, delta in pairs), Fraction(0))


def check_caps(epsilon_cap: float, delta_cap: float, rows_per_unit: int) -> None:
    """Raise ParameterError for a cap or a number of rows that none can have."""
    if not is_number(epsilon_cap) or epsilon_cap <= 0:
        raise ParameterError("the register", "epsilon_cap", epsilon_cap, "a finite number above 0")
    if not is_number(delta_cap) or not 0 <= delta_cap < 1:
        raise ParameterError("the register", "delta_cap", delta_cap, "a number of at least 0 and below 1")
    validate_count("the register", "rows_per_unit", rows_per_unit, 1, MAX_ROWS_PER_PERSON)
