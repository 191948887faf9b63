"""Options that several topics take."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path


def count(text: str) -> int:
    """A whole number from 1 to 1000, as an option gives it."""
    if text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    raise ArgumentTypeError(f"must be a whole number from 1 to 1000, got {text!r}")


def add_data(parser: ArgumentParser, *, required: bool = True) -> None:
    """`--data` and `--only`."""
    usual = "" if required else " (default: the loan sample)"
    parser.add_argument("--data", type=Path, metavar="DIR", required=required, help=f"folder with a MANIFEST.csv{usual}")
    parser.add_argument("--only", action="append", metavar="NAME", help="this data set; may be repeated")


def add_workers(parser: ArgumentParser) -> None:
    """`--workers`."""
    parser.add_argument("--workers", type=count, default=1, metavar="N", help="processes (default: 1)")


def add_repeats(parser: ArgumentParser, usual: int, what: str) -> None:
    """`--repeats`: how often, in the topic's words."""
    parser.add_argument("--repeats", type=count, default=usual, metavar="N", help=f"{what} (default: {usual})")
