"""What a command prints: results on stdout, everything else on stderr.

A command prints when its work is done, so that bad input leaves exactly one line; until then a terminal shows the current stage.
Texts from files are printed on one line and without control characters, so that a column name cannot control the terminal.
"""

import sys
from collections.abc import Sequence

from dpviz.progress import Progress

_ERASE = "\r\x1b[2K"


def doing(text: str) -> None:
    """Show the current stage, on a terminal only; the next message overwrites it."""
    if sys.stderr.isatty():
        print(f"{_ERASE}{printable(text)} ...", end="", file=sys.stderr, flush=True)


def telling(what: str) -> Progress:
    """Shows `what` as the current stage, with the share of it that is done."""
    return lambda share: doing(f"{what}, {share:.0%}")


def done(text: str) -> None:
    """Report a finished stage."""
    _to_stderr(text)


def warn(text: str) -> None:
    """Report something the user should know before trusting the result."""
    _to_stderr(f"Warning: {text}")


def complain(text: str) -> None:
    """Say in exactly one line why nothing was done."""
    _to_stderr(f"dpviz: {text}")


def show_title(text: str) -> None:
    """Print a line above a table."""
    _erase()
    print(f"\n{printable(text)}")


def show_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Print one name and value per line, with the values aligned."""
    _erase()
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        print(f"{name:<{width}}  {printable(value)}")


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns; the last one may have any width."""
    _erase()
    lines = [list(header), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    for line in lines:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())


def printable(text: str) -> str:
    """`text` on one line, without control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _to_stderr(text: str) -> None:
    _erase()
    print(printable(text), file=sys.stderr, flush=True)


def _erase() -> None:
    if sys.stderr.isatty():
        print(_ERASE, end="", file=sys.stderr, flush=True)
