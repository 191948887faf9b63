"""Options that several topics take."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path


def count(text: str) -> int:
    """A whole number from 1 to 1000, as an option gives it."""
    if text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    raise ArgumentTypeError(f"must be a whole number from 1 to 1000, got {text!r}")


def add_data(parser: ArgumentParser, *, required: bool = True, only: str = "of the manifest") -> None:
    """`--data`, and `--only` where it has words."""
    usual = "" if required else " (default: the loan sample)"
    parser.add_argument("--data", type=Path, metavar="DIR", required=required, help=f"folder with a MANIFEST.csv{usual}")
    if only:
        parser.add_argument("--only", action="append", metavar="NAME", help=f"this data set {only}; may be repeated")


def add_workers(parser: ArgumentParser) -> None:
    """`--workers`."""
    parser.add_argument("--workers", type=count, default=1, metavar="N", help="processes (default: 1)")


def add_out(parser: ArgumentParser, run: Callable[[Namespace], int], beside: str = "") -> None:
    """`--out`, and what is run; `beside` is written with the page."""
    parser.add_argument("--out", type=Path, metavar="MD", help=f"also write the page as Markdown{beside and ', and '}{beside}")
    parser.set_defaults(run=run)
