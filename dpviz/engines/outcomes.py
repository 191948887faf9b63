"""What the encoder makes of the cells of a typed column, found out by asking the encoder itself.

An outcome is a bin, or `DROPPED`: the row is not used. Nothing here knows the rules of encoding, so no rule can differ from those
of rows in memory: cells are put to `dpviz.table.encode`, and where numbers change their bin is found by halving.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from unicodedata import normalize

import numpy as np

from dpviz.engines.kinds import ColumnKind, last_places
from dpviz.errors import SchemaError
from dpviz.table.candidates import FeatureCandidates, bin_column, thresholds_candidates
from dpviz.table.cells import BLANKS, clean, number_of, parse_numbers, spelled
from dpviz.table.columns import Column
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode_new
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema

#: The outcome of a cell that takes its row out.
DROPPED = -1
#: Decimals of so many digits become the nearest double in every engine.
_MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What becomes of the cells of one column; tests are made in this order."""

    kind: ColumnKind
    missing: int  #: Of a missing cell: null, not-a-number, a text that marks one
    infinite: tuple[int, int] = (DROPPED, DROPPED)  #: Of minus infinity and of infinity
    #: Numbers or dates from the first literal to the second, both included.
    between: tuple[tuple[str, str, int], ...] = ()
    texts: tuple[tuple[str, int], ...] = ()  #: Cells of text, without blanks around them; for "boolean" true and false
    steps: tuple[tuple[str, int], ...] = ()  #: Numbers or dates up to this literal, increasing
    otherwise: int = DROPPED  #: Of every other cell
    part: str = ""  #: The part of a date that `texts` are about: "month" or "weekday"; empty otherwise


def feature_outcomes(feature: Feature, candidates: FeatureCandidates, kind: ColumnKind) -> Outcomes:
    """Outcomes of a feature's column: bins as `CandidateGrid.bin` makes them.

    Raises SchemaError where a column of this type cannot be read as the schema says.
    """
    asked = _Encoder(feature, candidates)
    if isinstance(feature, DateFeature):
        return _of_dates(feature, asked, kind)
    if isinstance(feature, CategoricalFeature):
        return _of_categories(feature, asked, kind)
    if not kind.is_number:
        raise _unreadable(feature.name, kind, "a number")
    return _of_numbers(asked, kind, feature.missing_codes)


def class_outcomes(target: ClassTarget, kind: ColumnKind) -> Outcomes:
    """Outcomes of the target's column: codes of classes. Raises SchemaError."""
    feature = CategoricalFeature(target.name, target.classes, groups=target.groups)
    return feature_outcomes(feature, FeatureCandidates(len(target.classes)), kind)


def band_outcomes(target: NumericTarget, cuts: np.ndarray, kind: ColumnKind) -> Outcomes:
    """Outcomes of a target that is a number: its band; band b holds (cuts[b-1], cuts[b]]. Raises SchemaError."""
    if kind.kind == "single" or kind.digits > _MOST_DIGITS:
        what = f"32-bit floats and decimals of more than {_MOST_DIGITS} digits are not the same numbers here and in the engine."
        raise SchemaError(what, field=target.name, remedy="Read the table through a view that casts the target to double.")
    feature = NumericFeature(target.name, target.low, target.high, missing_codes=target.missing_codes)
    return feature_outcomes(feature, thresholds_candidates(cuts), kind)


@dataclass(frozen=True)
class _Encoder:
    feature: Feature
    candidates: FeatureCandidates

    def of(self, column: Column) -> np.ndarray:
        """The outcome of every cell, int64 of shape (n_cells,)."""
        schema = Schema((self.feature,), ClassTarget(f"{self.feature.name}'", ("0", "1")))
        new = encode_new(RawTable((column,)), schema)
        found = np.full(len(new.usable), DROPPED)
        found[new.usable] = bin_column(self.candidates, new.data.columns[0])
        return found

    def of_numbers(self, values: np.ndarray) -> np.ndarray:
        return self.of(Column(self.feature.name, numbers=np.asarray(values, dtype=np.float64)))

    def of_texts(self, texts: Iterable[str]) -> list[int]:
        cells = tuple(texts)
        return self.of(Column.from_places(self.feature.name, cells, np.arange(len(cells)))).tolist()

    @property
    def of_missing(self) -> int:
        return int(self.of(Column(self.feature.name, (), np.array([-1])))[0])

    def steps(self, kind: ColumnKind, outcome: Callable[[np.ndarray], np.ndarray]) -> tuple[tuple[tuple[str, int], ...], int]:
        """(steps, the outcome above the last) of outcomes that increase with the number."""
        bins = np.arange(self.candidates.n_bins - 1)
        last = last_places(kind, lambda values: outcome(values) <= bins, len(bins))
        lowest, highest = kind.ends
        found, before = [], lowest - 1
        for number, place in zip(bins.tolist(), last, strict=True):
            if place is not None and before < place < highest:
                found.append((kind.literal(place), number))
                before = place
        return tuple(found), int(outcome(kind.values([highest] * max(len(bins), 1)))[0])


def _of_numbers(asked: _Encoder, kind: ColumnKind, missing_codes: tuple[str, ...]) -> Outcomes:
    low, high = asked.of_numbers(np.array([-np.inf, np.inf])).tolist()
    missing = asked.of_missing
    codes = [(*ends, missing) for value in _finite(missing_codes) if (ends := _ends_of(kind, value)) is not None]
    between = tuple((kind.literal(first), kind.literal(last), outcome) for first, last, outcome in codes)
    plain = _Encoder(replace(asked.feature, missing_codes=()), asked.candidates)
    steps, above = plain.steps(kind, plain.of_numbers)
    return Outcomes(kind, missing, (low, high), between, steps=steps, otherwise=above)


def _of_categories(feature: CategoricalFeature, asked: _Encoder, kind: ColumnKind) -> Outcomes:
    named = (*feature.missing_codes, *feature.categories, *(text for text, _ in feature.groups))
    other = asked.of_texts(["x" * (1 + max(map(len, named)))])[0]
    if kind.kind == "boolean":
        pairs = tuple(zip(("true", "false"), asked.of_texts(("true", "false")), strict=True))
        return Outcomes(kind, asked.of_missing, texts=pairs, otherwise=other)
    if kind.kind == "text":
        _require_words(feature.name, named)
        cleaned = tuple(map(clean, named))
        texts = [*dict.fromkeys(chain.from_iterable(map(_spellings, (*cleaned, *map(spelled, cleaned)))))]
        pairs = tuple(zip(texts, asked.of_texts(map(clean, texts)), strict=True))
        return Outcomes(kind, asked.of_missing, texts=pairs, otherwise=other)
    if not kind.is_number:
        raise _unreadable(feature.name, kind, "a category")
    low, high = asked.of_texts(("-inf", "inf"))
    return Outcomes(kind, asked.of_missing, (low, high), tuple(_of_labels(named, asked, kind)), otherwise=other)


def _spellings(text: str) -> Iterable[str]:
    """The cells that are this text: true in every mixture of capitals, other letters with all accents composed or all decomposed,
    and blanks of one kind. Mixtures of these are found in memory only.
    """
    if text.lower() in ("true", "false"):
        return map("".join, product(*((letter.lower(), letter.upper()) for letter in text)))
    return (normalize(form, text).replace(" ", blank) for form in ("NFC", "NFD") for blank in BLANKS)


def _of_labels(named: tuple[str, ...], asked: _Encoder, kind: ColumnKind) -> Iterable[tuple[str, str, int]]:
    """Categories that are numbers, in a column of numbers."""
    for value in _finite(named):
        ends = _ends_of(kind, value)
        if ends is None:
            continue
        if ends[0] != ends[1]:
            what = f"Several numbers of this column's type count as {value:g}, and one text must not represent all of them."
            raise SchemaError(what, field=asked.feature.name, remedy="Read the table through a view that casts it to text.")
        literal = kind.literal(ends[0])
        yield literal, literal, asked.of_texts([kind.cell(ends[0])])[0]


def _of_dates(feature: DateFeature, asked: _Encoder, kind: ColumnKind) -> Outcomes:
    if kind.kind != "date":
        raise _unreadable(feature.name, kind, "a date")
    if feature.order != "ymd":
        what = f"A column of dates has no order of days and months, but the schema says {feature.order!r}."
        raise SchemaError(what, field=feature.name, remedy="Declare the order 'ymd'.")
    missing = asked.of_missing
    codes = tuple((code, code, missing) for code in feature.missing_codes if _is_day(code))
    plain = _Encoder(replace(feature, missing_codes=()), asked.candidates)
    if feature.part in ("month", "weekday"):
        numbers = range(1, 13 if feature.part == "month" else 8)
        days = [str(feature.date_for(number)) for number in numbers]
        pairs = tuple(zip(map(str, numbers), plain.of_texts(days), strict=True))
        return Outcomes(kind, missing, between=codes, texts=pairs, part=feature.part)
    steps, above = plain.steps(kind, partial(_of_days, plain))
    return Outcomes(kind, missing, between=codes, steps=steps, otherwise=above)


def _of_days(asked: _Encoder, ordinals: np.ndarray) -> np.ndarray:
    return np.array(asked.of_texts(dt.date.fromordinal(int(day)).isoformat() for day in ordinals))


def _is_day(text: str) -> bool:
    try:
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _finite(texts: Iterable[str]) -> list[float]:
    """The different numbers among these texts, in order of appearance."""
    return [value for value in dict.fromkeys(parse_numbers(tuple(texts)).tolist()) if not np.isnan(value)]


def _ends_of(kind: ColumnKind, value: float) -> tuple[int, int] | None:
    """First and last place of the numbers that count as `value`; None where no number of this type does."""
    before, last = last_places(kind, lambda values: np.array([values[0] < value, values[1] <= value]), 2)
    first = kind.ends[0] if before is None else before + 1
    return None if last is None or first > last else (first, last)


def _require_words(name: str, texts: tuple[str, ...]) -> None:
    """In a column of text "1" and "1.0" are one category; no engine reads numbers from text as dpviz does."""
    number = next((text for text in texts if not np.isnan(number_of(text))), None)
    if number is not None:
        what = f"The column holds text, but {number!r:.40} in the schema is a number."
        raise SchemaError(what, field=name, remedy="Read the table through a view that casts the column to a number.")


def _unreadable(name: str, kind: ColumnKind, wanted: str) -> SchemaError:
    holds = {"text": "text", "boolean": "true and false", "date": "dates"}.get(kind.kind, "numbers")
    what = f"The column holds {holds}, but the schema declares {wanted}."
    return SchemaError(what, field=name, remedy="Read the table through a view that casts the column, or correct the schema.")
