"""`--param NAME=VALUE` to a learner's parameters; what is allowed stands in the learner's own `Params`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dpviz.errors import DpvizError, ParameterError, UnknownName
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Control, controls_of

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_parameters(spec: LearnerSpec, texts: Iterable[str]) -> dict[str, Any]:
    """Name -> value, of the kind the learner declares; raises UnknownName, ParameterError, DpvizError."""
    known = controls_of(spec.Params)
    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise DpvizError(f"{text!r} is no parameter.", where="--param", remedy="Write NAME=VALUE.")
        if name not in known:
            raise UnknownName(f"parameter of {spec.name!r}", name, known)
        if name in given:
            raise DpvizError(f"{name!r} is given twice.", where="--param", remedy="Give it once.")
        given[name] = _parsed(spec.name, name, value, known[name])
    return given


def _parsed(owner: str, name: str, text: str, about: Control) -> Any:
    try:
        value = _READERS[about.kind](text.strip())
    except (ValueError, KeyError):
        value = text
    if not about.accepts(value):
        raise ParameterError(owner, name, text, about.allowed)
    return value


def _shares(text: str) -> tuple[float, ...] | None:
    return None if text.lower() == "none" else tuple(float(part) for part in text.split(","))


_READERS: dict[str, Callable[[str], Any]] = {
    "number": float,
    "whole": int,
    "flag": lambda text: _FLAGS[text.lower()],
    "choice": str,
    "shares": _shares,
}
