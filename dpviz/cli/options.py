"""Options of commands: those that several share in one table, and how values of all are read."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dpviz.errors import DpvizError, UnknownName
from dpviz.learners import DEFAULT
from dpviz.rows.address import is_address
from dpviz.table.validation import is_number
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import controls_of

#: Name -> arguments of `ArgumentParser.add_argument`.
Options = Mapping[str, dict[str, Any]]
#: Largest whole number of any argument; a register and a table hold 64 bits.
MAX_NUMBER = 10**18
_MAX_DIGITS = 40
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.ASCII | re.IGNORECASE)
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}
#: What completes the name of a file in a shell, in the words of shtab.
_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files"}


def option(read: Callable[[str], Any], metavar: str, help: str, **more: Any) -> dict[str, Any]:
    """An option or an argument with a value."""
    return {"type": read, "metavar": metavar, "help": help, **more}


def flag(help: str) -> dict[str, Any]:
    """An option without a value."""
    return {"action": "store_true", "help": help}


# --- how values are read


def file(text: str) -> Path:
    """Reads the name of a file."""
    if is_address(text):
        raise ArgumentTypeError("must be a file: only `dpviz train`, `evaluate` and `predict` work with a table in an engine")
    return Path(text)


def _file_or_address(text: str) -> Path | str:
    """Reads the name of a file; an address stays as it is, and nobody says what it holds before it has been taken apart."""
    return text if is_address(text) else Path(text)


def column(text: str) -> str:
    """Reads the name of a column."""
    if not text:
        raise ArgumentTypeError("must be the name of a column, got ''")
    return text


def whole(low: int = 1, high: int = MAX_NUMBER) -> Callable[[str], int]:
    """Reads a whole number in a range."""

    def read(text: str) -> int:
        if text.isascii() and text.isdecimal() and len(text) < _MAX_DIGITS and low <= int(text) <= high:
            return int(text)
        raise ArgumentTypeError(f"must be a whole number from {low:,} to {high:,}, got {text!r:.80}")

    return read


def number(text: str) -> float:
    """Reads a number in plain digits; Python itself would also take 1_0, and digits of other alphabets."""
    if not _NUMBER.fullmatch(text) or not is_number(float(text)):
        raise ArgumentTypeError(f"must be a number, got {text!r:.80}")
    return float(text)


def list_of(read: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """Reads values separated by commas, each with `read`."""
    return lambda text: tuple(read(part.strip()) for part in text.split(",") if part.strip())


# --- options that several commands share

_TABLE_FILES = "table: CSV, TSV, Excel (.xlsx), Parquet, Feather, Stata (.dta), SPSS (.sav); also as .gz, .zst or .zip"
#: What `dpviz train` takes as well.
_OTHER_SOURCES = (
    "with --schema also larger than memory (Parquet, Feather, CSV, a folder of these), or "
    "ENGINE://PLACE?table=NAME (postgresql, duckdb or spark)"
)
_NAMES = "column names of DATA, separated by commas, when its first line is a row (default: the first line holds them)"
_SHARED: Options = {
    "data": option(file, "DATA", _TABLE_FILES),
    "model": option(Path, "MODEL", "a model written by `dpviz train`"),
    "--names": option(list_of(str), "A,B,...", _NAMES),
    "--delimiter": option(
        lambda text: "\t" if text == "tab" else text,
        "MARK",
        "what separates cells: , ; | or tab (default: read from the first line)",
    ),
    "--encoding": option(str, "NAME", "default: UTF-8, or Windows-1252 if the first line is no UTF-8"),
    "--sheet": option(str, "NAME", "of a workbook: name or place of the sheet (default: the only one)"),
    "--target": option(column, "COLUMN", "column to predict, if no schema names it (default: the last one)"),
    "--schema": option(Path, "FILE", "public facts about DATA: JSON, or a codebook (default: read from it)"),
    "--person": option(column, "COLUMN", "column that says whose row it is (default: that of the schema); no feature"),
    "--rows-per-person": option(
        whole(), "K", "of each person keep at most K rows, chosen at random (default: as the schema says, else 1)"
    ),
    "--learner": option(str, "NAME", f"see `dpviz learners` (default: {DEFAULT})", default=DEFAULT),
    "--epsilon": option(
        number, "E", "privacy loss of a person, who has one row unless the schema or --rows-per-person says more", required=True
    ),
    "--max-depth": option(int, "D", "largest number of levels (default: the learner's own)"),
    "--param": option(str, "NAME=VALUE", "a parameter of the learner; may be repeated", action="append", default=[]),
    "--workers": option(whole(1, 1000), "N", "processes (default: 1)", default=1),
    "--register": option(Path, "FILE", "the register (default: $DPVIZ_REGISTER, else the user's)"),
    "--no-browser": flag("print the address instead of opening a browser"),
    "--force": flag("overwrite FILE if it exists"),
    "--json": flag("print the results as one JSON object"),
}
READING = ("--names", "--delimiter", "--encoding", "--sheet")
PERSON = ("--person", "--rows-per-person")
TABLE = ("data", *READING, "--target", "--schema", *PERSON)
LEARNER = ("--learner", "--epsilon", "--max-depth", "--param")


def shared(*names: str) -> dict[str, dict[str, Any]]:
    """Options of these names."""
    return {name: _SHARED[name] for name in names}


def table_or_address(help: str = f"{_TABLE_FILES}; {_OTHER_SOURCES}") -> dict[str, dict[str, Any]]:
    """DATA, a file or an address."""
    return {"data": option(_file_or_address, "DATA", help)}


def output(content: str, *, required: bool = True) -> dict[str, dict[str, Any]]:
    """`--out` and `--force`."""
    out = option(Path, "FILE", f"where to write {content}; - for stdout", required=required)
    return {"--out": out, **shared("--force")}


def declare(parser: ArgumentParser, options: Options) -> None:
    """Give a parser these options."""
    for name, settings in options.items():
        action = parser.add_argument(name, **settings)
        if settings.get("type") in (Path, file, _file_or_address):
            action.complete = _FILES  # type: ignore[attr-defined]


# --- parameters of a learner


def parse_parameters(spec: LearnerSpec, texts: Iterable[str], *settings: str) -> dict[str, Any]:
    """The values of `--param`, by name, for the learner's parameters and `settings`; whoever takes them says what they must be.

    Raises DpvizError for a text that is not NAME=VALUE, UnknownName for another name, such as that of another option.
    """
    controls, values = controls_of(spec.Params), dict[str, Any]()
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise DpvizError(f"{text!r} is not a parameter.", where="--param", remedy="Write NAME=VALUE.")
        if name not in (*controls, *settings):
            raise UnknownName(f"parameter of {spec.name!r}", name, controls)
        if name in values:
            raise DpvizError(f"{name!r} is given twice.", where="--param", remedy="Give it once.")
        is_list = name in controls and controls[name].kind in ("shares", "classes") and value.strip().lower() != "none"
        values[name] = tuple(map(_value, value.split(","))) if is_list else _value(value)
    return values


def _value(text: str) -> Any:
    """What a text says: true, false, nothing, a number; else the text."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return int(text) if text.isascii() and text.lstrip("-").isdecimal() and len(text) < _MAX_DIGITS else number(text)
    except (ArgumentTypeError, ValueError):
        return text
