"""What one cell must be: the test at a split of an exported tree, and what a whole path asks of a column.

In words a condition is exact: numbers in full, names in quotes where they are not simple. Names come from untrusted files: they
are spelled so that they stay on one line and cannot be taken for anything else.
"""

from __future__ import annotations

import json
import keyword
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from dpviz.table.cells import parse_numbers
from dpviz.table.schema import Feature

#: Words used in conditions around names.
_WORDS = frozenset(("is", "not", "one", "of", "or", "and", "missing", "given", "if", "then"))
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")


def one_line(text: str) -> str:
    """`text` on one line: control characters, line separators and what turns the reading direction become spaces."""
    return "".join(" " if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


def spelled(name: str) -> str:
    """The name itself where it is simple: letters, digits and a few signs, and none of the words around it. Else a JSON text in
    quotes: unseen characters are escaped, letters of all alphabets stay.
    """
    looks_simple = re.fullmatch(r"[^\W\d_](?:[\w /%.\-]*\w)?", name) is not None
    if looks_simple and _WORDS.isdisjoint(name.casefold().split()) and one_line(name) == name:
        return name
    text = json.dumps(name, ensure_ascii=False)
    return "".join(json.dumps(letter)[1:-1] if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


def number(value: float) -> str:
    """The shortest text that is read back as the same number: "37.5", "40"."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def identifiers(names: Iterable[str], taken: Collection[str] = ()) -> list[str]:
    """A Python identifier for each name, all different, none a keyword or in `taken`; ASCII, so that any editor shows it."""
    used, found = {*taken, *keyword.kwlist, *keyword.softkwlist}, []
    for name in names:
        letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        stem = re.sub(r"\W+", "_", letters).strip("_").lower()[:40] or "column"
        stem = f"column_{stem}" if stem[0].isdigit() else stem
        free = next(word for word in chain([stem], map(f"{stem}_{{}}".format, count(2))) if word not in used)
        used.add(free)
        found.append(free)
    return found


#: A cell is a number or missing (numeric column), a text or missing (categories).
Cell = float | str | None
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """What a cell of one column must be."""

    #: feature, name: the column.
    feature: int
    name: str
    #: low, high: numbers between them; `with_low`, `with_high` say whether the ends belong to it.
    low: float = -math.inf
    high: float = math.inf
    with_low: bool = True
    with_high: bool = False
    #: The texts that meet it; None for a number, and for a column where `but` says which do not.
    among: tuple[str, ...] | None = None
    but: tuple[str, ...] | None = None
    missing: bool = True  #: True when a missing cell meets it

    @property
    def is_number(self) -> bool:
        """True for a numeric column."""
        return self.among is None and self.but is None

    def __invert__(self) -> Condition:
        """What every other cell meets; of numbers, for conditions without a lower end."""
        if not self.is_number:
            return replace(self, among=self.but, but=self.among, missing=not self.missing)
        return Condition(self.feature, self.name, low=self.high, with_low=not self.with_high, missing=not self.missing)

    def __and__(self, other: Condition) -> Condition:
        """What a cell meets that meets both."""
        missing = self.missing and other.missing
        if self.is_number:
            high, with_high = min((self.high, self.with_high), (other.high, other.with_high))
            low, without_low = max((self.low, not self.with_low), (other.low, not other.with_low))
            return replace(self, low=low, high=high, with_low=not without_low, with_high=with_high, missing=missing)
        but = dict.fromkeys((*(self.but or ()), *(other.but or ())))
        lists = [item.among for item in (self, other) if item.among is not None]
        if not lists:
            return replace(self, but=tuple(but), missing=missing)
        first, *more = lists
        both = set(first).intersection(*more).difference(but)
        return replace(self, among=tuple(name for name in first if name in both), but=None, missing=missing)

    @property
    def excludes_nothing(self) -> bool:
        """True when every cell meets it."""
        return self.missing and self.among is None and not self.but and math.isinf(self.low) and math.isinf(self.high)

    @property
    def is_impossible(self) -> bool:
        """True when no cell meets it: a private tree may ask for that."""
        empty = self.low > self.high or (self.low == self.high and not (self.with_low and self.with_high))
        return not self.missing and (empty if self.among is None else not self.among)


def code_numbers(feature: Feature) -> list[float]:
    """The declared codes of missing cells that are numbers."""
    return [code for code in parse_numbers(feature.missing_codes).tolist() if not math.isnan(code)]


# --- in words


def condition_words(asked: Condition) -> str:
    """On one line: "20 < age <= 37.5", "housing is one of rent, own or missing"."""
    name, tail = spelled(asked.name), " or missing" if asked.missing else ""
    if asked.is_number:
        return _number_words(asked, name, tail)
    if asked.among is not None:
        return f"{name} is {_list(asked.among)}{tail}" if asked.among else f"{name} is missing"
    return f"{name} is {f'not {_list(asked.but)}' if asked.but else 'given'}{tail}"


def _list(names: Sequence[str]) -> str:
    return f"{'one of ' if len(names) > 1 else ''}{', '.join(map(spelled, names))}"


def _number_words(asked: Condition, name: str, tail: str) -> str:
    less, more = ("<=" if asked.with_high else "<"), (">=" if asked.with_low else ">")
    if math.isinf(asked.low) and math.isinf(asked.high):
        return f"{name} is given"
    if math.isinf(asked.low):
        return f"{name} {less} {number(asked.high)}{tail}"
    if math.isinf(asked.high):
        return f"{name} {more} {number(asked.low)}{tail}"
    if asked.low > asked.high:
        return f"{name} is missing"
    return f"{number(asked.low)} {'<=' if asked.with_low else '<'} {name} {less} {number(asked.high)}{tail}"
