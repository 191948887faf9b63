"""Lists in one cell, as codebooks and the grid of the Data page hold them: values, codes with labels, further spellings.

Entries stand one per line, or between semicolons, bars or commas. What belongs to an entry itself, such as a comma or an equals
sign, is written in quotes: "a, b"; c. In <=50K no quotes are needed, for <= is no equals sign.
"""

import re
from collections.abc import Iterable, Sequence

from dpviz.errors import SchemaError

#: A part in quotes, between marks; a quote inside is doubled.
_QUOTED = re.compile(r"""(?<![^\s;|,=])(["'])((?:(?!\1).|\1\1)*)\1(?=\s*(?:[;|,=]|$))""", re.DOTALL | re.MULTILINE)
#: Stands for a part in quotes while the rest is taken apart.
_HELD = re.compile("\0([0-9]+)\0")
_EQUALS = re.compile(r"(?<![<>!=])=(?!=)")
_CODE = re.compile(r"[\w.+-]+")
#: How REDCap writes choices: 1, Male | 2, Female.
_CHOICE = re.compile(r"([+-]?[0-9]+|[A-Za-z0-9]{1,2})\s*,\s*\S.*", re.DOTALL)


class _Cell:
    """A text whose parts in quotes are held."""

    def __init__(self, text: str) -> None:
        self._held: list[str] = []
        text = _QUOTED.sub(self._hold, text.replace("\0", ""))
        self.mark = next((mark for mark in ("\n", ";", "|") if mark in text), ",")
        self.entries = [part.strip() for part in text.split(self.mark) if part.strip()]

    def _hold(self, found: re.Match[str]) -> str:
        self._held.append(found[2].replace(found[1] * 2, found[1]))
        return f"\0{len(self._held) - 1}\0"

    def whole(self, part: str) -> str:
        """The part as it is meant."""
        return _HELD.sub(lambda found: self._held[int(found[1])], part.strip())


def listed_in(text: str) -> tuple[str, ...]:
    """The entries, each once."""
    cell = _Cell(text)
    return tuple(dict.fromkeys(filter(None, map(cell.whole, cell.entries))))


def codes_in(text: str, *, field: str = "") -> tuple[str, ...]:
    """The entries, each once; of "1 = male" and REDCap's "1, Male | 2, Female" the code.

    Raises SchemaError at `field` for an equals sign with something else than a code before it, or nothing behind.
    """
    cell = _Cell(text)
    choices = [_CHOICE.fullmatch(entry) for entry in cell.entries] if cell.mark == "|" else [None]
    if all(choices):
        return tuple(dict.fromkeys(choice[1] for choice in choices if choice))
    return tuple(dict.fromkeys(filter(None, (_code(cell, entry, field) for entry in cell.entries))))


def _code(cell: _Cell, entry: str, field: str) -> str:
    equals = _EQUALS.search(entry)
    if equals is None:
        return cell.whole(entry)
    code, label = entry[: equals.start()].strip(), entry[equals.end() :].strip()
    if label and (_CODE.fullmatch(code) or _HELD.fullmatch(code)):
        return cell.whole(code)
    what = f"{cell.whole(entry)!r:.60} is neither a value nor a code with its label."
    remedy = "Write the code, =, and the label, such as 1 = male; or the value in quotes if = belongs to it."
    raise SchemaError(what, field=field, remedy=remedy)


def groups_in(text: str, *, field: str = "") -> tuple[tuple[str, str], ...]:
    """The pairs of "M = m; male = m": a text, and the category it counts as. Raises SchemaError for an entry that is none."""
    cell = _Cell(text)
    pairs = dict.fromkeys(_pair(cell, entry, field) for entry in cell.entries)
    return tuple(pairs)


def _pair(cell: _Cell, entry: str, field: str) -> tuple[str, str]:
    found = entry.split(" = ")
    if len(found) != 2:
        found = _EQUALS.split(entry)
    written, label = (cell.whole(found[0]), cell.whole(found[-1])) if len(found) == 2 else ("", "")
    if written and label:
        return written, label
    what = f"{cell.whole(entry)!r:.60} does not say which category it counts as."
    raise SchemaError(what, field=field, remedy="Write the text, =, and a category, such as: M = m; male = m.")


def list_text(values: Iterable[str]) -> str:
    """The values as `codes_in` and `listed_in` read them."""
    values = tuple(values)
    return "; ".join(_entry(value, len(values)) for value in values)


def groups_text(groups: Iterable[Sequence[str]]) -> str:
    """The pairs as `groups_in` reads them."""
    groups = tuple(groups)
    return "; ".join(f"{_entry(text, len(groups))} = {_entry(label, len(groups))}" for text, label in groups)


def _entry(value: str, n_entries: int) -> str:
    """The value, in quotes where it would be taken apart: by a comma or a bar only where no semicolon stands between entries."""
    marks = ";\n\"'" if n_entries > 1 else ";|,\n\"'"
    is_plain = value == value.strip() and not set(value) & set(marks) and not _EQUALS.search(value)
    return value if is_plain else '"{}"'.format(value.replace('"', '""'))
