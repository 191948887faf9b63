"""What a reader noticed in a table, and the words in which each interface says so.

A note is a sentence without a cell. What calls the reading into question is a `Doubt`: a warning in Python, on the command line
and on screen, in the same words, and after them what helps in that interface.
"""

import warnings
from collections.abc import Iterable
from enum import IntEnum
from typing import Self

from dpviz.errors import ReadingWarning


class Interface(IntEnum):
    """Where a note is read."""

    PYTHON = 0
    COMMAND_LINE = 1
    SCREEN = 2


_LINES = "Delete lines above the names of the columns and delimiters at the end of lines"
#: What helps, by interface.
_HELP = {
    "": ("", "", ""),
    "encoding": (
        "Name the encoding of the file, such as encoding='cp1252'.",
        "Name the encoding of the file, such as --encoding cp1252.",
        "Save the file in UTF-8 and choose it again.",
    ),
    "decimal": (
        "Say which mark stands before decimals: Schema(..., decimal=',') or decimal='.'.",
        'Say which mark stands before decimals: "decimal": "," or "decimal": "." in the schema file.',
        'Say which mark stands before decimals: "decimal": "," or "decimal": "." in a schema file.',
    ),
    "delimiter": (
        f"{_LINES}, or say what separates cells, such as delimiter=';'.",
        f"{_LINES}, or say what separates cells, such as --delimiter ';'.",
        f"{_LINES}.",
    ),
    "names": (
        "Give the names of the columns: names=[...].",
        "Give the names of the columns: --names A,B,...",
        "Say that the first line is a row, and give the names.",
    ),
}


class Note(str):
    """What a reader noticed. `help` is what kind of help there is; `example` may quote cells."""

    help: str
    example: str

    def __new__(cls, text: str, help: str = "", example: str = "") -> Self:
        """`text` is one sentence or more."""
        made = super().__new__(cls, text)
        made.help, made.example = help, example
        return made

    def about(self, column: str) -> Self:
        """The same of a column."""
        return type(self)(f"{column}: {self}", self.help, self.example)

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        return str(self), self.help, self.example


class Doubt(Note):
    """A note that calls the reading into question."""


def said(note: str, interface: Interface, *, with_example: bool = False) -> str:
    """The note in the words of an interface."""
    if not isinstance(note, Note):
        return note
    return " ".join(filter(None, (str(note), note.example if with_example else "", _HELP[note.help][interface])))


def warn_of(notes: Iterable[str], *, stacklevel: int = 3) -> None:
    """A ReadingWarning for each doubt among the notes."""
    for note in notes:
        if isinstance(note, Doubt):
            warnings.warn(ReadingWarning(said(note, Interface.PYTHON), note), stacklevel=stacklevel)
