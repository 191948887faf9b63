"""What a command prints: results on stdout, everything else on stderr. With `--json` the results are one JSON object.

A command prints when its work is done, so that bad input leaves exactly one line; until then a terminal shows the current stage.
Texts from files are printed on one line and without control characters, so that a column name cannot control the terminal.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from dpviz.errors import DpvizError, ReadingWarning
from dpviz.progress import Progress

#: What `--out` is for stdout. A command then prints its results on stderr.
STDOUT = Path("-")
_ERASE = "\r\x1b[2K"
#: Seconds that need no estimate.
_SOON = 3


@dataclass
class _Results:
    """Where results go: a stream, or a JSON object that is printed at the end."""

    to_stderr: bool = False  #: stdout takes the file itself
    as_json: bool = False
    values: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  #: Of a reader, until something else is printed


_results = _Results()


@contextmanager
def results(*, to_stderr: bool, as_json: bool) -> Iterator[None]:
    """Say where the results of one command go; what is collected as JSON is printed when it has succeeded."""
    global _results
    before, _results = _results, _Results(to_stderr, as_json)
    try:
        with note_doubts():
            yield
        _print_notes()
        if as_json:
            _erase()
            _print(json.dumps(_results.values, indent=2, ensure_ascii=False))
    except DpvizError:  # what is wrong is one line, beside what may be the reason of it
        _print_notes(doubts_alone=True)
        raise
    finally:
        _results = before


@contextmanager
def note_doubts(in_words: Callable[[str], str] = lambda doubt: doubt) -> Iterator[None]:
    """What a reader warns of is a note, `in_words`; other warnings are shown as Python shows them."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ReadingWarning)
        usual = warnings.showwarning

        def show(message: Any, *args: Any, **more: Any) -> None:
            if isinstance(message, ReadingWarning):
                note(in_words(message.doubt))
            else:
                usual(message, *args, **more)

        warnings.showwarning = show
        yield


def note(*texts: str) -> None:
    """Keep what a reader noticed until the work is done; each note is said once, and of rows in pieces once for all of them."""
    from dpviz.table.notes import Unread  # with NumPy, which help does not need

    notes = _results.notes
    for text in texts:
        same = [place for place, other in enumerate(notes) if isinstance(other, Unread) and other.is_of_same_column(text)]
        if same and isinstance(text, Unread):
            notes[same[0]] = text.with_more(notes[same[0]])  # type: ignore[arg-type]
        elif text not in notes:
            notes.append(text)


def _print_notes(*, doubts_alone: bool = False) -> None:
    notes, _results.notes = _results.notes, []
    if not notes:
        return
    from dpviz.table.notes import Doubt, Interface, note_text

    for text in sorted(notes, key=lambda note: isinstance(note, Doubt)):
        if isinstance(text, Doubt):
            _to_stderr(f"Warning: {note_text(text, Interface.COMMAND_LINE)}")
        elif not doubts_alone:
            _to_stderr(text)


def status(text: str) -> None:
    """Show the current stage, on a terminal only; the next message overwrites it."""
    if sys.stderr.isatty():
        print(f"{_ERASE}{printable(text)} ...", end="", file=sys.stderr, flush=True)


def progress(stage: str) -> Progress:
    """Shows the current stage, with the share of it that is done and an estimate of the time that is left."""
    start = time.monotonic()

    def show(share: float) -> None:
        status(f"{stage}, {share:.0%}{time_left(time.monotonic() - start, share)}")

    return show


def time_left(elapsed: float, share: float) -> str:
    """As in ", about 2 min left"; empty where it is early or soon over."""
    left = elapsed * (1 - share) / share if share > 0 else 0.0
    if elapsed < _SOON or left < _SOON:
        return ""
    return f", about {left:.0f} s left" if left < 90 else f", about {left / 60:.0f} min left"


def report(text: str) -> None:
    """Report a finished stage."""
    _print_notes()
    _to_stderr(text)


def warn(text: str) -> None:
    """Report something the user should know before trusting the result."""
    _print_notes()
    _to_stderr(f"Warning: {text}")


def error(text: str) -> None:
    """Say in exactly one line why nothing was done."""
    _to_stderr(f"dpviz: {text}")


def show_title(text: str) -> None:
    """Print a line above a table."""
    if not _results.as_json:
        _erase()
        _print(f"\n{printable(text)}")


def is_json() -> bool:
    """Whether results are collected, not printed for people."""
    return _results.as_json


def show_values(values: Mapping[str, Any]) -> None:
    """Add numbers to the JSON object, beside or instead of the texts that people read."""
    if _results.as_json:
        _results.values |= values


def show_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Print one name and value per line, with the values aligned."""
    _print_notes()
    if _results.as_json:
        _results.values |= {_key(name): value for name, value in pairs}
        return
    _erase()
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        _print(f"{name:<{width}}  {printable(value)}")


def show_table(name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns; the last one may have any width. As JSON a list called `name`, one object per row."""
    _print_notes()
    if _results.as_json:
        keys = _keys(header)
        _results.values[name] = [dict(zip(keys, row, strict=True)) for row in rows]
        return
    _erase()
    lines = [list(header), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    for line in lines:
        _print("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())


def printable(text: str) -> str:
    """`text` on one line, without control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _key(name: str) -> str:
    """The name of a value or column as JSON has it: "OLD, BEFORE" is old_before."""
    return "_".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())


def _keys(names: Sequence[str]) -> list[str]:
    """A key for every name, all different: names of classes and columns come from tables."""
    keys = list[str]()
    for key in map(_key, names):
        candidates = chain([key], (f"{key}_{number}" for number in count(2)))
        keys.append(next(candidate for candidate in candidates if candidate not in keys))
    return keys


def _print(text: str) -> None:
    print(text, file=sys.stderr if _results.to_stderr else sys.stdout)


def _to_stderr(text: str) -> None:
    _erase()
    print(printable(text), file=sys.stderr, flush=True)


def _erase() -> None:
    if sys.stderr.isatty():
        print(_ERASE, end="", file=sys.stderr, flush=True)
