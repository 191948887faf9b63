"""Arguments that several commands share, and how their values are read."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.errors import DpvizError, ParameterError, UnknownName
from dpviz.learners import DEFAULT
from dpviz.rows.address import is_address
from dpviz.table.checked_numbers import is_number
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Control, controls_of

TABLE_FILES = "table: CSV, TSV, Excel (.xlsx), Parquet, Feather, Stata (.dta), SPSS (.sav); also as .gz, .zst or .zip"
#: What `dpviz train` takes as well.
_MORE = (
    "with --schema also larger than memory (Parquet, Feather, CSV, a folder of these, a DuckDB file), or "
    "ENGINE://PLACE?table=NAME (postgresql, duckdb or spark)"
)
#: Largest whole number of any argument; a register and a table hold 64 bits.
MOST = 10**18
_MOST_DIGITS = 40
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.ASCII | re.IGNORECASE)
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def file(text: str) -> Path:
    """Reads the name of a file."""
    if is_address(text):
        raise ArgumentTypeError("must be a file: only `dpviz train`, `evaluate` and `predict` work with a table in an engine")
    return Path(text)


def file_or_address(text: str) -> Path | str:
    """Reads the name of a file; an address stays as it is, and nobody says what it holds before it has been taken apart."""
    return text if is_address(text) else Path(text)


def add_data_arguments(parser: ArgumentParser, *, read: Callable[[str], Path | str] = file) -> None:
    """DATA, how it is read, and `--target`; `dpviz.commands.rows` reads it."""
    words = TABLE_FILES if read is file else f"{TABLE_FILES}; {_MORE}"
    parser.add_argument("data", type=read, metavar="DATA", help=words)
    add_reading_arguments(parser)
    parser.add_argument("--target", metavar="COLUMN", help="column to predict, if no schema names it (default: the last one)")


def add_model_arguments(parser: ArgumentParser, rows: str) -> None:
    """MODEL, DATA (a file or an address) and how it is read."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model written by `dpviz train`")
    parser.add_argument("data", type=file_or_address, metavar="DATA", help=rows)
    add_reading_arguments(parser)


def add_reading_arguments(parser: ArgumentParser) -> None:
    """`--names`, `--delimiter`, `--encoding` and `--sheet`."""
    names = "column names of DATA, separated by commas, when its first line is a row (default: the first line holds them)"
    parser.add_argument("--names", type=listed(str), metavar="A,B,...", help=names)
    mark = "what separates cells: , ; | or tab (default: read from the first line)"
    parser.add_argument("--delimiter", type=lambda text: "\t" if text == "tab" else text, metavar="MARK", help=mark)
    parser.add_argument("--encoding", metavar="NAME", help="default: UTF-8, or Windows-1252 if the first line is no UTF-8")
    parser.add_argument(
        "--sheet",
        metavar="NAME",
        help="of a workbook: name or place of the sheet; of a database: the table (default: the only one)",
    )


def add_table_arguments(parser: ArgumentParser, *, read: Callable[[str], Path | str] = file) -> None:
    """DATA, `--target`, `--schema`, `--person` and `--rows-per-person`; `dpviz.commands.rows` reads what they name."""
    add_data_arguments(parser, read=read)
    parser.add_argument(
        "--schema", type=Path, metavar="FILE", help="public facts about DATA: JSON, or a codebook (default: read from it)"
    )
    add_person_arguments(parser)


def add_person_arguments(parser: ArgumentParser) -> None:
    """`--person` and `--rows-per-person`."""
    whose = "column that says whose row it is (default: that of the schema); no feature. Then --rows-per-person is needed"
    parser.add_argument("--person", metavar="COLUMN", help=whose)
    kept = "of each person keep at most K rows, chosen at random; epsilon for a person is K times that for a row"
    parser.add_argument("--rows-per-person", type=whole(), metavar="K", help=kept)


def add_learner_arguments(parser: ArgumentParser) -> None:
    """`--learner`, `--epsilon`, `--max-depth` and `--param`."""
    parser.add_argument("--learner", default=DEFAULT, metavar="NAME", help=f"see `dpviz learners` (default: {DEFAULT})")
    parser.add_argument("--epsilon", required=True, type=number, metavar="E", help=f"privacy loss, {NEIGHBOURS}")
    levels = "largest number of levels (default: the learner's own)"
    parser.add_argument("--max-depth", type=int, metavar="D", help=levels)
    add_parameter_argument(parser)


def add_parameter_argument(parser: ArgumentParser) -> None:
    """`--param`; `parse_parameters` reads its values."""
    words = "a parameter of the learner; may be repeated"
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=words)


def add_workers_argument(parser: ArgumentParser) -> None:
    """`--workers`."""
    parser.add_argument("--workers", type=whole(1, 1000), default=1, metavar="N", help="processes (default: 1)")


def whole(least: int = 1, most: int = MOST) -> Callable[[str], int]:
    """Reads a whole number in a range."""

    def read(text: str) -> int:
        is_number = text.isascii() and text.isdecimal()
        if is_number and len(text) < _MOST_DIGITS and least <= int(text) <= most:
            return int(text)
        allowed = (
            f"of at least {least:,}" if most == MOST and (not is_number or len(text) < 18) else f"from {least:,} to {most:,}"
        )
        raise ArgumentTypeError(f"must be a whole number {allowed}, got {text!r:.80}")

    return read


def number(text: str) -> float:
    """Reads a number in plain digits; Python itself would also take 1_0, and digits of other alphabets."""
    if not _NUMBER.fullmatch(text) or not is_number(float(text)):
        raise ArgumentTypeError(f"must be a number, got {text!r:.80}")
    return float(text)


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
    except (ArgumentTypeError, ValueError, KeyError):
        value = text
    if not control.accepts(value):
        raise ParameterError(owner, name, text, control.allowed)
    return value


def _shares(text: str) -> tuple[float, ...] | None:
    return None if text.lower() == "none" else tuple(number(part.strip()) for part in text.split(","))


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS or not text.isascii() or "_" in text:
        raise ValueError(text)
    return int(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "number": number,
    "whole": _whole,
    "flag": lambda text: _FLAGS[text.lower()],
    "choice": str,
    "shares": _shares,
    "classes": _shares,
}
