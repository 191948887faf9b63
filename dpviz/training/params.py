"""Parameters of learners as data: each field carries label, help and range; checks, messages and widgets all come from it."""

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from dpviz.accounting.guarantee import epsilon_of_row
from dpviz.errors import ParameterError, UnknownName
from dpviz.results.verdict import DELTA
from dpviz.table.validation import is_number, is_whole

#: The largest part of the rows that may be kept for a test.
MOST_TESTED = 0.5


@dataclass(frozen=True, slots=True)
class Control:
    """How a parameter is presented and checked.

    `kind` is "number", "whole", "flag", "choice", "shares" (a tuple of non-negative weights, or None for the rule) or "classes"
    (a positive number per class, or None for equal ones). `low` and `high` bound numbers, `options` lists the choices, `parts`
    names the entries of shares (empty: one per level).
    """

    label: str
    help: str
    kind: Literal["number", "whole", "flag", "choice", "shares", "classes"]
    low: float = -math.inf
    high: float = math.inf
    options: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        count = f"{len(self.parts)} " if self.parts else ""
        return {
            "flag": "True or False",
            "choice": f"one of {', '.join(option if option.isdigit() else repr(option) for option in self.options)}",
            "shares": f"None or a sequence of {count}non-negative numbers, not all 0",
            "classes": "None or a sequence of positive numbers, one per class",
            "whole": f"a whole number in [{self.low:g}, {self.high:g}]",
            "number": f"a number in [{self.low:g}, {self.high:g}]",
        }[self.kind]

    def accepts(self, value: Any) -> bool:
        """True if `value` is allowed."""
        match self.kind:
            case "flag":
                return isinstance(value, bool)
            case "choice":
                return not isinstance(value, bool) and str(value) in self.options
            case "shares":
                return value is None or self._are_shares(value)
            case "classes":
                return value is None or (self._are_shares(value) and min(value) > 0)
            case "whole":
                return is_whole(value) and self.low <= int(value) <= self.high
            case _:
                return is_number(value) and self.low <= float(value) <= self.high

    def settled(self, value: Any) -> Any:
        """An accepted `value` in the one type in which it is kept: from NumPy's numbers, or 3.0 for a whole 3, for example."""
        if self.kind in ("shares", "classes"):
            return None if value is None else tuple(map(float, value))
        return {"whole": int, "number": float, "choice": str, "flag": bool}[self.kind](value)

    def _are_shares(self, value: Any) -> bool:
        if not isinstance(value, (tuple, list)) or (self.parts and len(value) != len(self.parts)):
            return False
        return all(is_number(x) and x >= 0 for x in value) and sum(value) > 0


def number(default: float, label: str, help: str, *, low: float, high: float) -> Any:
    """A dataclass field for a number in [low, high]."""
    return _field(default, Control(label, help, "number", low, high))


def whole(default: int, label: str, help: str, *, low: int, high: int) -> Any:
    """A dataclass field for a whole number in [low, high]."""
    return _field(default, Control(label, help, "whole", low, high))


def flag(default: bool, label: str, help: str) -> Any:
    """A dataclass field for True or False."""
    return _field(default, Control(label, help, "flag"))


def choice(options: tuple[str, ...], label: str, help: str) -> Any:
    """A dataclass field for one of `options`; the first is the default."""
    return _field(options[0], Control(label, help, "choice", options=options))


def share_weights(label: str, help: str, *, parts: tuple[str, ...] = ()) -> Any:
    """A dataclass field for non-negative weights, one per part (no parts: one per level); None, the default, is the rule."""
    return _field(None, Control(label, help, "shares", parts=parts))


def per_class(label: str, help: str) -> Any:
    """A dataclass field for a positive number per class, in the order of the schema; None, the default: equal ones."""
    return _field(None, Control(label, help, "classes"))


def _field(default: Any, about: Control) -> Any:
    return field(default=default, metadata={"control": about})


def controls_of(params_type: type) -> dict[str, Control]:
    """Field name -> Control, in the order of declaration."""
    return {item.name: item.metadata["control"] for item in fields(params_type)}


def make_params(params_type: type, owner: str, given: dict[str, Any]) -> Any:
    """A checked instance; raises UnknownName for a parameter the learner does not have and ParameterError for a bad value."""
    known = controls_of(params_type)
    for name, value in given.items():
        if name not in known:
            raise UnknownName(f"parameter of {owner!r}", name, known)
        if not known[name].accepts(value):
            raise ParameterError(owner, name, value, known[name].allowed)
    return params_type(**{name: known[name].settled(value) for name, value in given.items()})


@dataclass(frozen=True, slots=True)
class NoParams:
    """A learner without parameters of its own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that every learner has. Epsilon and delta are those of a person; see `Schema.rows_per_person`.

    `max_depth` caps the depth; `depth` is "auto" (the learner's public depth rule if it has one, else max_depth) or a fixed
    number of levels. `test_share` is the part of the rows held out at random for a private test result; None: the learner's rule.
    `groups` names the categorical feature by which the test counts; None: all rows together.
    """

    epsilon: float = number(1.0, "Epsilon", "Privacy loss of a person, all rows of whom come or go together.", low=1e-6, high=1e6)
    max_depth: int = whole(4, "Largest depth", "The tree has at most this many levels of rules.", low=1, high=12)
    depth: int | Literal["auto"] = field(default="auto", metadata={"control": None})
    delta: float | None = field(default=None, metadata={"control": None})
    test_share: float | None = field(default=None, metadata={"control": None})
    groups: str | None = field(default=None, metadata={"control": None})

    def __post_init__(self) -> None:
        for name, about in controls_of(Settings).items():
            if about is not None:
                self._settle(name, about, about.allowed)
        if not (isinstance(self.depth, str) and self.depth == "auto"):
            limit = controls_of(Settings)["max_depth"]
            self._settle("depth", limit, f"'auto' or {limit.allowed}")
        if self.delta is not None:
            about = Control("Delta", DELTA, "number", 0.0, 0.5)
            self._settle("delta", about, f"None or {about.allowed}")
        if self.test_share is not None:
            about = Control("Test share", "Part of the rows kept for a test result.", "number", 0.0, MOST_TESTED)
            self._settle("test_share", about, f"None or {about.allowed}")
        if self.groups is not None and not (isinstance(self.groups, str) and self.groups):
            raise ParameterError("fit", "groups", self.groups, "None or the name of a categorical feature")

    def _settle(self, name: str, about: Control, allowed: str) -> None:
        value = getattr(self, name)
        if not about.accepts(value):
            raise ParameterError("fit", name, value, allowed)
        object.__setattr__(self, name, about.settled(value))

    def of_row(self, rows: int) -> "Settings":
        """The settings for each of the `rows` of a person: an equal part of epsilon. Raises ParameterError for too little."""
        if rows == 1:
            return self
        limit = controls_of(Settings)["epsilon"]
        assert limit is not None
        part = epsilon_of_row(self.epsilon, rows)
        if not limit.accepts(part):
            allowed = f"at least {limit.low:g} for every row, of which a person has {rows:,}"
            raise ParameterError("fit", "epsilon", self.epsilon, allowed)
        return replace(self, epsilon=part)

    def needed_delta(self, learner: str, usual: float) -> float:
        """The delta of a learner that needs one: `usual` unless another is asked for. Raises ParameterError for 0."""
        if self.delta == 0:
            allowed = f"above 0, or None for {usual:g}: without one its noise guarantees nothing"
            raise ParameterError(learner, "delta", self.delta, allowed)
        return usual if self.delta is None else self.delta

    @property
    def fixed_or_max_depth(self) -> int:
        """The depth of a learner without a depth rule."""
        return int(self.max_depth if self.depth == "auto" else self.depth)
