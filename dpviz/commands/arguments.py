"""Arguments that several commands share, and how their values are read."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dpviz.errors import DpvizError, ParameterError, UnknownName
from dpviz.learners import DEFAULT
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Control, controls_of

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def add_data_arguments(parser: ArgumentParser) -> None:
    """DATA and `--target`."""
    parser.add_argument("data", type=Path, metavar="DATA", help="table: .csv or .csv.gz with a header row")
    parser.add_argument("--target", metavar="COLUMN", help="column to predict, if no schema names it (default: the last one)")


def add_table_arguments(parser: ArgumentParser) -> None:
    """DATA, `--target` and `--schema`; `dpviz.commands.rows` reads what they name."""
    add_data_arguments(parser)
    parser.add_argument("--schema", type=Path, metavar="FILE", help="what is public about DATA (default: read from the data)")


def add_learner_arguments(parser: ArgumentParser) -> None:
    """`--learner`, `--epsilon`, `--max-depth` and `--param`."""
    parser.add_argument("--learner", default=DEFAULT, metavar="NAME", help=f"see `dpviz learners` (default: {DEFAULT})")
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="privacy loss, add/remove one row")
    parser.add_argument("--max-depth", type=int, default=4, metavar="D", help="largest number of levels (default: 4)")
    add_parameter_argument(parser)


def add_parameter_argument(parser: ArgumentParser) -> None:
    """`--param`; `parse_parameters` reads its values."""
    words = "a parameter of the learner; may be repeated"
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=words)


def add_workers_argument(parser: ArgumentParser) -> None:
    """`--workers`."""
    parser.add_argument("--workers", type=whole(1, 1000), default=1, metavar="N", help="processes (default: 1)")


def whole(least: int = 1, most: int | None = None) -> Callable[[str], int]:
    """Reads a whole number in a range."""
    allowed = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"

    def read(text: str) -> int:
        if text.isdecimal() and least <= int(text) and (most is None or int(text) <= most):
            return int(text)
        raise ArgumentTypeError(f"must be a whole number {allowed}, got {text!r}")

    return read


def number(text: str) -> float:
    """Reads a number."""
    try:
        return float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"must be a number, got {text!r}") from error


def listed(read: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """Reads values separated by commas, each with `read`."""
    return lambda text: tuple(read(part.strip()) for part in text.split(",") if part.strip())


def parse_parameters(spec: LearnerSpec, texts: Iterable[str]) -> dict[str, Any]:
    """The values of `--param`, by name, as the learner's `Params` declares them.

    Raises UnknownName, ParameterError, or DpvizError for a text that is not NAME=VALUE.
    """
    known = controls_of(spec.Params)
    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise DpvizError(f"{text!r} is not a parameter.", where="--param", remedy="Write NAME=VALUE.")
        if name not in known:
            raise UnknownName(f"parameter of {spec.name!r}", name, known)
        if name in given:
            raise DpvizError(f"{name!r} is given twice.", where="--param", remedy="Give it once.")
        given[name] = _parsed(spec.name, name, value, known[name])
    return given


def _parsed(owner: str, name: str, text: str, control: Control) -> Any:
    try:
        value = _READERS[control.kind](text.strip())
    except (ValueError, KeyError):
        value = text
    if not control.accepts(value):
        raise ParameterError(owner, name, text, control.allowed)
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
