"""Parameters of learners as data: each field carries label, help and range; checks, messages and widgets all come from it."""

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from dpviz.accounting.guarantee import epsilon_of_row
from dpviz.errors import ParameterError, UnknownName
from dpviz.results.verdict import DELTA
from dpviz.table.validation import is_number, is_whole

#: The largest part of the rows that may be kept for a test.
MAX_TEST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Control:
    """How a parameter is presented and checked.

    `kind` is "number", "whole", "flag", "choice", "shares" (a tuple of non-negative weights, or None for the rule) or "classes"
    (a positive number per class, or None for equal ones), or "name" (a text). `low` and `high` bound numbers, `options` lists the
    choices, `parts` names the entries of shares (empty: one per level). `beside`: what is allowed beside all these.
    """

    label: str
    help: str
    kind: Literal["number", "whole", "flag", "choice", "shares", "classes", "name"]
    low: float = -math.inf
    high: float = math.inf
    options: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    beside: tuple[str | None, ...] = ()

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        count = f"{len(self.parts)} " if self.parts else ""
        words = {
            "flag": "True or False",
            "choice": f"one of {', '.join(option if option.isdigit() else repr(option) for option in self.options)}",
            "shares": f"a sequence of {count}non-negative numbers, not all 0",
            "classes": "a sequence of positive numbers, one per class",
            "whole": f"a whole number in [{self.low:g}, {self.high:g}]",
            "number": f"a number in [{self.low:g}, {self.high:g}]",
            "name": "the name of a categorical feature",
        }[self.kind]
        return " or ".join((*map(repr, self.beside), words))

    def accepts(self, value: Any) -> bool:
        """True if `value` is allowed."""
        if self._is_beside(value):
            return True
        match self.kind:
            case "flag":
                return isinstance(value, bool)
            case "choice":
                return not isinstance(value, bool) and str(value) in self.options
            case "shares":
                return self._are_shares(value)
            case "classes":
                return self._are_shares(value) and min(value) > 0
            case "name":
                return isinstance(value, str) and value != ""
            case "whole":
                return is_whole(value) and self.low <= int(value) <= self.high
            case _:
                return is_number(value) and self.low <= float(value) <= self.high

    def normalize(self, value: Any) -> Any:
        """An accepted `value` in the one type in which it is kept: from NumPy's numbers, or 3.0 for a whole 3, for example."""
        if self._is_beside(value):
            return value
        if self.kind in ("shares", "classes"):
            return tuple(map(float, value))
        return {"whole": int, "number": float, "choice": str, "flag": bool, "name": str}[self.kind](value)

    def _is_beside(self, value: Any) -> bool:
        return any(isinstance(value, type(one)) and value == one for one in self.beside)

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
    return _field(None, Control(label, help, "shares", parts=parts, beside=(None,)))


def per_class(label: str, help: str) -> Any:
    """A dataclass field for a positive number per class, in the order of the schema; None, the default: equal ones."""
    return _field(None, Control(label, help, "classes", beside=(None,)))


def _field(default: Any, about: Control) -> Any:
    return field(default=default, metadata={"control": about})


def controls_of(params_type: type) -> dict[str, Control]:
    """Field name -> Control, in the order of declaration."""
    return {item.name: item.metadata["control"] for item in fields(params_type)}


def make_params(params_type: type, owner: str, given: dict[str, Any]) -> Any:
    """A checked instance; raises UnknownName for a parameter the learner does not have and ParameterError for a bad value."""
    return params_type(**_parse_values(params_type, owner, given))


def _parse_values(params_type: type, owner: str, given: dict[str, Any]) -> dict[str, Any]:
    known = controls_of(params_type)
    for name, value in given.items():
        if name not in known:
            raise UnknownName(f"parameter of {owner!r}", name, known)
        if not known[name].accepts(value):
            raise ParameterError(owner, name, value, known[name].allowed)
    return {name: known[name].normalize(value) for name, value in given.items()}


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
    depth: int | Literal["auto"] = _field("auto", Control("Depth", "Levels of rules.", "whole", 1, 12, beside=("auto",)))
    delta: float | None = _field(None, Control("Delta", DELTA, "number", 0.0, 0.5, beside=(None,)))
    test_share: float | None = _field(
        None, Control("Test share", "Part of the rows kept for a test result.", "number", 0.0, MAX_TEST_SHARE, beside=(None,))
    )
    groups: str | None = _field(None, Control("Groups", "What the test counts apart.", "name", beside=(None,)))

    def __post_init__(self) -> None:
        for name, value in _parse_values(Settings, "fit", {one.name: getattr(self, one.name) for one in fields(self)}).items():
            object.__setattr__(self, name, value)

    def of_row(self, rows: int) -> "Settings":
        """The settings for each of the `rows` of a person: an equal part of epsilon. Raises ParameterError for too little."""
        if rows == 1:
            return self
        limit = controls_of(Settings)["epsilon"]
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
