"""The one type of column: cells as a file of text or a typed table has them, with numbers, texts and codes made on request.

`Column.from_texts` takes cells of text, `Column.from_values` whatever has a type: series of pandas, arrays of NumPy and Arrow,
lists. What a cell is follows from its value and the type of its column alone (`dpviz.table.cells`), so the same rows in another
form are the same column: numbers stay numbers, everything else becomes texts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from decimal import Decimal
from functools import cache, cached_property, partial
from itertools import chain, compress
from typing import Any

import numpy as np

from dpviz.errors import deprecated_name
from dpviz.table.cells import (
    MARKS,
    MISSING_MARKS,
    UNREADABLE,
    Marks,
    canonical_number,
    clean,
    is_exact,
    is_plain,
    number_of,
    order_of_dates,
    parse_numbers,
    text_of,
)

_CODE_OF_MARK = {mark: -1 - place for place, mark in enumerate(MARKS)}
_NARROW = (np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.uint8), np.dtype(np.uint16))
_NEGATIVE_ZERO = np.iinfo(np.int64).min
_INFINITIES = frozenset(("inf", "-inf"))
#: Types of Polars that Arrow does not have: whole numbers of 128 bits, and objects of Python.
_NOT_OF_ARROW = frozenset(("Int128", "UInt128", "Object"))
#: Bytes that a text of Python takes, and its place in a list.
_TEXT = 64
#: Where a field of Arrow names a type that is not Arrow's own.
EXTENSION = b"ARROW:extension:name"
NumbersAndMissing = tuple[np.ndarray, np.ndarray]  # two arrays of shape (n_rows,)


class Column:
    """One column. Made of one of three forms, which all say the same of the same cells:

    - `numbers`: shape (n_rows,), NaN for a missing cell, infinity for one that holds no number; whole numbers up to 2^53 are kept
      in as few bits as hold them all;
    - `packs`: cells as they are written, joined by NUL, which wait until their numbers or their texts are asked for, so that a
      column that is declared a number costs no dictionary of its texts;
    - `texts` and `codes`: distinct clean texts, and the place of each cell's; below 0 for one of `MARKS`, -1 for no cell.

    Values may have `labels` (one per distinct value, clean, empty for none): a cell is then its value and its label. Where most
    of the values have one, `texts` are the labels; otherwise they are the values, such as ages up to "85 or older".
    """

    def __init__(
        self,
        name: str,
        texts: tuple[str, ...] = (),
        codes: np.ndarray | None = None,
        *,
        numbers: np.ndarray | None = None,
        packs: list[str] | None = None,
        labels: tuple[str, ...] = (),
        marks: Marks = Marks.UNKNOWN,
        is_own: bool = False,
    ) -> None:
        """`marks`: what points and commas in texts mean. `is_own`: nobody else changes `numbers`, which need not be copied."""
        self.name, self.packs, self.labels, self.marks = name, packs, labels, marks
        #: Of texts that came from values, those that came as floats or decimals: their points are decimal, whatever `marks`.
        self.fractions: np.ndarray | None = None
        #: The numbers of a typed column as they came: where they are no whole numbers, zeros may be negative ones.
        self.typed = None
        if numbers is not None:
            is_whole = numbers.dtype.kind in "iu"
            self.typed = _read_only(_narrow(numbers) if is_whole else numbers.astype(np.float64, copy=not is_own))
        if codes is not None:
            self.__dict__["_coding"] = texts, _read_only(codes)

    @classmethod
    def from_texts(cls, name: str, cells: Iterable[str]) -> Column:
        """Cells of text, as they are written; those of `MARKS` are missing."""
        code_of = Codes()
        codes = np.fromiter(map(code_of.__getitem__, cells), np.int32)
        return cls(name, tuple(code_of.texts), codes.astype(narrowest(len(code_of.texts)), copy=False))

    @classmethod
    def from_places(cls, name: str, texts: Iterable[str], places: np.ndarray) -> Column:
        """Cells of text by their places among `texts`, missing where it is negative; texts that no row holds are left out."""
        cleaned = [*map(clean, texts)]
        distinct = dict.fromkeys(cleaned)
        for mark in MARKS:
            distinct.pop(mark, None)
        kind, code_of = narrowest(len(distinct)), np.arange(len(cleaned) + 1)
        if len(distinct) < len(cleaned):  # some are missing, or there twice; else a million of them need no look each
            codes = dict(zip(distinct, range(len(distinct)), strict=True)) | _CODE_OF_MARK
            code_of[:-1] = [codes[text] for text in cleaned]
        code_of[-1] = -1
        return cls(name, *_in_order_of_appearance(list(distinct), code_of.astype(kind)[np.maximum(places, -1)]))

    @classmethod
    def from_values(cls, name: str, values: Any, charge: Callable[[int], None] | None = None, *, is_own: bool = False) -> Column:
        """Typed cells: a series of pandas, an array of NumPy or Arrow, or a list.

        `charge` is told the bytes of texts before they are made. `is_own`: nobody else changes the memory of `values`.
        """
        if hasattr(getattr(values, "dtype", None), "pyarrow_dtype"):
            values = values.array.__arrow_array__()
        if hasattr(values, "to_arrow"):  # a series of Polars
            values = values.to_list() if str(values.dtype) in _NOT_OF_ARROW else values.to_arrow()
        if isinstance(values, (np.ndarray, list, tuple)):
            cells = _of_array(values)
        else:
            cells = _of_series(values) if hasattr(values, "factorize") else _of_arrow(values, charge)
        if isinstance(cells, np.ndarray):
            return cls(name, numbers=cells, is_own=is_own)
        texts, places, fractions = cells
        if places is None:
            column = cls.from_texts(name, texts)
        else:
            column = cls.from_places(name, texts, places)
            fractions = None if fractions is None else per_cell(fractions, places, np.nan)
        column.fractions = fractions
        return column

    def with_labels(self, label_of: Callable[[str], str]) -> Column:
        """The column whose values have labels: `label_of` the text of a value is its label, empty for none."""
        return self._replace(labels=tuple(clean(label_of(text)) for text in self._coding[0]))

    def _replace(self, **values: Any) -> Column:
        column = copy(self)
        for computed in ("text_numbers", "_text_coding", "dates"):
            column.__dict__.pop(computed, None)
        column.__dict__.update(values)
        return column

    def rename(self, name: str) -> Column:
        """The column by another name."""
        return self._replace(name=name)

    def with_marks(self, marks: Marks) -> Column:
        """The column in which points and commas mean this; numbers that came as such have none, and labels are no numbers."""
        is_known = marks == self.marks or self.marks is Marks.PROGRAM
        return self if is_known or self.typed is not None or self.labels else self._replace(marks=marks)

    def rows(self, chosen: np.ndarray) -> Column:
        """The column with these rows (bool) alone."""
        if self.typed is None:
            texts, codes = self._coding[0], self._coding[1][chosen]
            if not self.labels:
                texts, codes = _in_order_of_appearance(list(texts), codes)
            column = Column(self.name, texts, codes, labels=self.labels, marks=self.marks)
            column.fractions = None if self.fractions is None else self.fractions[chosen]
            return column
        column = Column(self.name, numbers=self._values[chosen])
        if not self.labels:
            return column
        return column.with_labels(dict(zip(self._coding[0], self.labels, strict=True)).__getitem__)

    def with_missing(self, codes: Sequence[str]) -> Column:
        """The column in which cells that are one of these texts, or a number of the same value, are missing."""
        missing = self.numbers_and_missing(codes)[1]
        if not codes or not missing.any():
            return self
        if self.typed is not None and not self.labels:
            return Column(self.name, numbers=np.where(missing, np.nan, self._values), is_own=True)
        column = Column.from_places(self.name, self.distinct_texts, np.where(missing, -1, self.codes)).with_marks(self.marks)
        column.fractions = None if self.fractions is None else np.where(missing, np.nan, self.fractions)
        return column

    def __repr__(self) -> str:
        """Its name; no cell, and no number of rows."""
        return f"Column({self.name!r:.80})"

    @cached_property
    def n_rows(self) -> int:
        """Number of cells. Private."""
        if self.packs is not None:
            return sum(pack.count("\0") + 1 for pack in self.packs)
        return len(self._coding[1] if self.typed is None else self.typed)

    # --- texts

    @cached_property
    def _coding(self) -> tuple[tuple[str, ...], np.ndarray]:
        """(distinct texts of the values, code of each cell); values that came as numbers in increasing order."""
        if self.typed is not None:
            return _distinct_numbers(self._values)
        return Column.from_texts(self.name, self._cells())._coding

    @cached_property
    def _text_coding(self) -> tuple[tuple[str, ...], np.ndarray]:
        texts, codes = self._coding
        if not self.labels or 2 * sum(map(bool, self.labels)) < len(self.labels):
            return texts, codes
        names = [label or text for label, text in zip(self.labels, texts, strict=True)]
        return Column.from_places(self.name, names, codes)._coding

    @property
    def distinct_texts(self) -> tuple[str, ...]:
        """Distinct texts, as `clean` makes them: in order of first appearance, numbers that came as such increasing. No marks."""
        return self._text_coding[0]

    texts = deprecated_name("texts", "distinct_texts")

    @property
    def codes(self) -> np.ndarray:
        """Shape (n_rows,), signed integers, read-only. Places among `distinct_texts`; below 0 one of `MARKS`, -1 no cell."""
        return self._text_coding[1]

    @property
    def value_codes(self) -> np.ndarray:
        """As `codes`, of values without their labels; cells have one code where they are equal, whatever they are called."""
        return self._coding[1]

    @property
    def value_texts(self) -> tuple[str, ...]:
        """As `texts`, of values without their labels."""
        return self._coding[0]

    def meanings(self, find: Callable[[Sequence[str]], np.ndarray]) -> NumbersAndMissing:
        """(what `find` makes of each distinct cell, of those of `MARKS` at the end, backwards; per row, the place in it).

        Of a labelled cell the label counts, else the value.
        """
        texts, places = self._coding
        meanings = np.concatenate([find(texts), find(MARKS[::-1])])
        if self.labels:
            of_labels = find(self.labels)
            meanings[: len(texts)] = np.where(of_labels == -1, meanings[: len(texts)], of_labels)
            is_mark = [meanings[at] == -1 and bool(label) and label in MISSING_MARKS for at, label in enumerate(self.labels)]
            if any(is_mark):
                places = np.where(per_cell(is_mark, places, False), -1, places)
        return meanings, places

    def cells(self) -> list[Any]:
        """Every cell as near as can be to what was given: a number, a text as it is written; None where it is empty. Private."""
        if self.packs is not None:
            return [cell or None for cell in self._cells()]
        if self.typed is not None:
            return [None if cell != cell else cell for cell in self.typed.tolist()]
        texts = [*self.distinct_texts, *MARKS[:0:-1], None]
        return [texts[code] for code in self.codes.tolist()]

    def texts_with(self, mark: str = "") -> Iterator[str]:
        """Texts that hold a mark, as they are written, in order; some more than once."""
        if self.packs is None:
            return (text for text in self.distinct_texts if mark in text)
        return (cell.strip() for pack in self.packs if mark in pack for cell in pack.split("\0") if mark in cell)

    def counts_of(self, rows: np.ndarray) -> Counter[str]:
        """How often each text stands in these rows (bool). Private."""
        if self.packs is not None and "_coding" not in self.__dict__:
            return Counter(map(clean, compress(self._cells(), rows.tolist())))
        codes, counts = np.unique(self.codes[rows], return_counts=True)
        of_codes = zip(codes, counts.tolist(), strict=True)
        return Counter({self.distinct_texts[code]: count for code, count in of_codes if code >= 0})

    def _cells(self) -> Iterator[str]:
        return chain.from_iterable(pack.split("\0") for pack in self.packs or ())

    @cached_property
    def dates(self) -> tuple[str, tuple[str, ...]] | None:
        """How most of its texts are written if they are days, and the others; None where they are none."""
        return None if self.is_numeric else order_of_dates(self.distinct_texts)

    # --- numbers

    @cached_property
    def _values(self) -> np.ndarray:
        """Numbers of a typed column, read-only. Without a negative zero: it equals 0 but has another text."""
        assert self.typed is not None
        if self.typed.dtype.kind in "iu" or _NEGATIVE_ZERO not in self.typed.view(np.int64):
            return self.typed
        return _read_only(self.typed + 0.0)

    @cached_property
    def text_numbers(self) -> np.ndarray:
        """`texts` as numbers, float64, NaN where a text is no number."""
        numbers = parse_numbers(self.distinct_texts, self.marks)
        if self.fractions is not None:
            is_known = (self.codes >= 0) & ~np.isnan(self.fractions)
            numbers[self.codes[is_known]] = self.fractions[is_known]
        return numbers

    @property
    def is_numeric(self) -> bool:
        """True when there is at least one value and every value is a number."""
        return len(self.text_numbers) > 0 and not np.isnan(self.text_numbers).any()

    @property
    def is_missing(self) -> np.ndarray:
        """Which cells are missing, bool of shape (n_rows,); of labelled ones also those with a label that says so. Private."""
        if self.labels:
            return self.numbers_and_missing()[1]
        return self.codes < 0 if self.typed is None else np.isnan(self.typed)

    @property
    def is_empty(self) -> np.ndarray:
        """Which cells hold nothing, not even a mark, bool of shape (n_rows,). Private."""
        return self._coding[1] == -1 if self.typed is None else np.isnan(self.typed)

    @property
    def n_missing(self) -> int:
        """Number of missing cells. Private: owner's eyes only."""
        return int(self.is_missing.sum())

    def numbers(self) -> np.ndarray:
        """Cells as float64 of shape (n_rows,); NaN where missing or no number."""
        return self.numbers_and_missing()[0]

    def numbers_and_missing(self, missing_codes: Sequence[str] = ()) -> NumbersAndMissing:
        """(cells as float64, NaN where there is no number; bool: which of them are missing), each of shape (n_rows,).

        `missing_codes` are cells that count as missing, found by their text or label, else by their numeric value.
        """
        values, missing = self._numbers_and_missing(missing_codes)
        if not self.labels:
            return values, missing
        marks = MISSING_MARKS.difference(("",)).union(map(clean, missing_codes))
        is_mark = per_cell([label in marks for label in self.labels], self._coding[1], False)
        return np.where(is_mark, np.nan, values), missing | is_mark

    def _numbers_and_missing(self, missing_codes: Sequence[str]) -> NumbersAndMissing:
        """Of values; read-only where nothing had to be replaced."""
        if self.typed is not None:
            values, missing = _finite(self._values.astype(np.float64, copy=False), missing_codes)
            return _without_codes(values.copy(), missing, missing_codes) if missing_codes else (values, missing)
        if self.packs is not None:
            one = cache(partial(_number_or_missing, MISSING_MARKS.union(missing_codes), self.marks))
            read = [_numbers_of(pack, one, self.marks) for pack in self.packs]
            values = np.concatenate([np.empty(0), *(values for values, _ in read)])
            missing = np.concatenate([np.empty(0, dtype=bool), *(missing for _, missing in read)])
            return _without_codes(values, missing, missing_codes)
        texts, codes = self._coding
        known = frozenset(map(clean, missing_codes))
        missing = per_cell([text in known for text in texts], codes, True)
        values = per_cell(parse_numbers(texts, self.marks), codes, np.nan)
        if self.fractions is not None:
            values = np.where(np.isnan(self.fractions), values, self.fractions)
        return _without_codes(values, missing, missing_codes)


def per_cell(of_texts: Sequence[Any] | np.ndarray, codes: np.ndarray, missing: bool | float) -> np.ndarray:
    """What is known of each distinct text, for every cell by its code; `missing` where that is below 0."""
    return np.append(np.asarray(of_texts, type(missing)), missing)[np.maximum(codes, -1)]


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _without_codes(values: np.ndarray, missing: np.ndarray, missing_codes: Sequence[str]) -> NumbersAndMissing:
    """Values and missing cells once numbers that equal a missing code are missing too; changes both in place."""
    values += 0.0  # no negative zero: it equals 0 but would change the fingerprint
    for code in parse_numbers(missing_codes).tolist():
        if not np.isnan(code):
            missing |= values == code
    values[missing] = np.nan
    return values, missing


# --- texts to codes


def narrowest(count: int) -> type:
    """Of codes below `count`, and of -1 and `count` itself."""
    return next(kind for kind in (np.int8, np.int16, np.int32) if count <= np.iinfo(kind).max)


class Codes(dict[str, int]):
    """Cell as written -> code, found on first sight. `texts` are the distinct clean cells; missing marks are below 0."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, cell: str) -> int:
        text = clean(cell)
        if text in _CODE_OF_MARK:
            code = _CODE_OF_MARK[text]
        elif text != cell:
            code = self[text]
        else:
            code = len(self.texts)
            self.texts.append(text)
        self[cell] = code
        return code


def _in_order_of_appearance(texts: list[str], codes: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    first = np.full(len(texts) + len(MARKS), len(codes))
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several places the last one written stays
    order = np.argsort(first[: len(texts)], kind="stable")
    order = order[first[order] < len(codes)]
    new_code = np.empty(len(texts) + len(MARKS), dtype=codes.dtype)
    new_code[len(texts) :] = np.arange(-len(MARKS), 0)
    new_code[order] = np.arange(len(order))
    return tuple(texts[place] for place in order.tolist()), new_code[codes]


# --- typed cells: numbers, or distinct texts and the place of each cell's, or a text per cell

#: Numbers; or texts, of each cell or of those at the places that follow, and their `Column.fractions`.
TypedCells = np.ndarray | tuple[Iterable[str], np.ndarray | None, np.ndarray | None]


def _of_series(values: Any) -> TypedCells:
    """Of a series of pandas."""
    if hasattr(values, "sparse"):
        values = values.sparse.to_dense()
    if hasattr(values, "cat"):
        known = values.cat.categories.tolist()
        return map(text_of, known), values.cat.codes.to_numpy(), _fractions(known)
    kind = values.dtype.kind
    if kind == "f":
        return values.to_numpy(getattr(values.dtype, "numpy_dtype", values.dtype), na_value=np.nan)
    if kind in "iu":
        known = values.dropna() if (has_gaps := values.hasnans) else values
        if not len(known):
            return np.full(len(values), np.nan)
        if values.dtype.itemsize <= 4 or is_exact(int(known.min()), int(known.max())):
            plain = np.float64 if has_gaps else getattr(values.dtype, "numpy_dtype", values.dtype)
            return values.to_numpy(plain, **({"na_value": np.nan} if has_gaps else {}))
    if values.dtype == object:  # 1 and True are equal: which came first must not decide for the others
        return _each_text(values.to_numpy().tolist())
    if kind == "M":  # as their clocks show them, in microseconds
        values = values if getattr(values.dt, "tz", None) is None else values.dt.tz_localize(None)
        values = values.dt.floor("us") if "ns" in str(values.dtype) else values
    codes, distinct = values.factorize()
    return map(text_of, distinct), codes, None


def _of_array(values: Any) -> TypedCells:
    """Of an array of NumPy, or a list."""
    if not isinstance(values, np.ndarray):
        return _each_text(values)
    kind = values.dtype.kind
    if kind == "f" or (kind in "iu" and (not len(values) or is_exact(int(values.min()), int(values.max())))):
        return values
    return _each_text(list(values) if kind in "mM" else values.tolist())


def _each_text(cells: Sequence[Any]) -> TypedCells:
    return [cell if type(cell) is str else text_of(cell) for cell in cells], None, _fractions(cells)


def _fractions(values: Sequence[Any]) -> np.ndarray | None:
    kinds = {kind for kind in set(map(type, values)) if issubclass(kind, (float, np.floating, Decimal))}
    if not kinds:
        return None
    return np.fromiter((_float_of(value) if type(value) in kinds else np.nan for value in values), np.float64, len(values))


def _float_of(value: Any) -> float:
    try:
        return float(value) if math.isfinite(value) else math.nan
    except Exception:  # a decimal that only signals, or one beyond all floats; it spoils its own cell
        return math.nan


def is_text(kind: Any) -> bool:
    """Whether cells of this type of Arrow are texts, or bytes that may be texts."""
    import pyarrow.types as types

    checks = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(check(kind) for check in checks) or is_view(kind)


def is_view(kind: Any) -> bool:
    """Whether cells of this type of Arrow share their letters: in a file they may take far more than the file does."""
    return str(kind) in ("string_view", "binary_view")


def has_texts(kind: Any) -> bool:
    """Whether cells of this type of Arrow are texts by what the type is called: UUIDs, and values as JSON."""
    return getattr(kind, "extension_name", "") in ("arrow.uuid", "arrow.json")


def without_extension(values: Any) -> Any:
    """Cells that are texts by the name of their type, as texts; others as they are."""
    import pyarrow as pa

    kind = values.type
    if not has_texts(kind):
        return values
    if kind.extension_name == "arrow.json":  # kept as texts, which may be none
        return values.cast(kind.storage_type)
    values.validate(full=True)
    return pa.array([None if cell is None else str(cell) for cell in values.to_pylist()], pa.large_string())


def is_flat(kind: Any) -> bool:
    """Whether cells of this type of Arrow are neither lists nor records."""
    import pyarrow.types as types

    if has_texts(kind):
        return True
    if types.is_dictionary(kind):
        return is_flat(kind.value_type)
    others = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_temporal)
    return is_text(kind) or types.is_fixed_size_binary(kind) or any(check(kind) for check in others)


def has_cells(field: Any) -> bool:
    """Whether cells of this field of Arrow are read: it has no type of a library that may not be loaded, and none of lists."""
    name = (field.metadata or {}).get(EXTENSION)
    return is_flat(field.type) and name in (None, b"arrow.json")  # a text in a version of Arrow that does not know JSON


def utc_offset(zone: str | None) -> str:
    """The offset of a zone that is one, without its colon: "+0530"; empty for a zone with a name."""
    offset = re.fullmatch(r"([+-]\d\d):?(\d\d)", zone or "")
    return "".join(offset.groups()) if offset else ""


def local_moments(values: Any) -> Any:
    """Moments of Arrow as the clock in their zone shows them, without a zone; Arrow 18 knows zones by name only."""
    import pyarrow as pa
    import pyarrow.compute as pc

    unit, offset = values.type.unit, utc_offset(values.type.tz)
    if not offset:
        return pc.local_timestamp(values)
    minutes = int(f"{offset[0]}1") * (60 * int(offset[1:3]) + int(offset[3:]))
    ahead = pa.scalar(60 * minutes * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit], pa.duration(unit))
    return pc.add(values.cast(pa.int64()).cast(pa.timestamp(unit)), ahead)


def _of_arrow(values: Any, charge: Callable[[int], None] | None) -> TypedCells:
    """Of an array of Arrow."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    values = without_extension(values)
    values = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if types.is_dictionary(values.type) and (
        not is_text(values.type.value_type) or any(chunk.dictionary.null_count for chunk in values.chunks)  # not unified
    ):
        values = values.cast(values.type.value_type)
    kind = values.type
    if types.is_decimal(kind) and kind.bit_width < 128:  # for which Arrow has few functions
        kind = pa.decimal128(kind.precision, kind.scale)
        values = values.cast(kind)
    if types.is_null(kind):
        return (), np.full(len(values), -1), None
    if types.is_integer(kind):
        ends: Any = pc.min_max(values).as_py() if kind.bit_width > 32 else {"min": None}
        if ends["min"] is None or is_exact(ends["min"], ends["max"]):
            return _plain_numbers(values.cast(pa.float64(), safe=False) if values.null_count else values)
    if types.is_floating(kind):
        return _plain_numbers(values)
    if types.is_timestamp(kind):
        if kind.tz is not None:
            values = local_moments(values)
        if kind.unit == "ns":  # what Python's own moments know; a cast would round towards 1970
            values = pc.floor_temporal(values, unit="microsecond").cast(pa.timestamp("us"), safe=False)
    encoded = values if types.is_dictionary(kind) else as_bytes(values).dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks if encoded.num_chunks else []
    places = _concatenate((_plain(chunk.indices.cast(pa.int64()).fill_null(-1)) for chunk in chunks), np.int64)
    distinct: Any = as_bytes(chunks[0].dictionary) if chunks else ()
    if charge is not None:
        charge(_TEXT * len(distinct) + (distinct.nbytes if chunks else 0))
    texts = list(map(_scalar_text, distinct))
    return texts, places, parse_numbers(texts, Marks.PROGRAM) if types.is_decimal(kind) else None


def _plain_numbers(values: Any) -> np.ndarray:
    """Floating-point, not-a-number where missing, or whole numbers where none is."""
    values = values.fill_null(np.nan) if values.null_count else values
    return _concatenate(map(_plain, values.chunks), values.type.to_pandas_dtype())


def _plain(part: Any) -> np.ndarray:
    """Numbers of which none is missing, where they lie: Arrow's own way to them would import pandas."""
    kind = np.dtype(part.type.to_pandas_dtype())
    return np.frombuffer(part.buffers()[1], kind, len(part), part.offset * kind.itemsize) if len(part) else np.empty(0, kind)


def _concatenate(parts: Iterable[np.ndarray], kind: type) -> np.ndarray:
    """One after another; a single one is not copied."""
    every = list(parts)
    return every[0] if len(every) == 1 else np.concatenate([np.empty(0, kind), *every])


def as_bytes(values: Any) -> Any:
    """Texts as their bytes, for they may be no texts at all; those that share their letters with letters of their own."""
    import pyarrow as pa

    values = values.cast(pa.large_string()) if str(values.type) == "string_view" else values
    return values.cast(pa.large_binary()) if is_text(values.type) else values


def _scalar_text(scalar: Any) -> str:
    try:
        return text_of(scalar.as_py())
    except Exception:  # a date that no calendar of ours has; it spoils its own cell
        return UNREADABLE


# --- numbers that came as such


def _narrow(numbers: np.ndarray) -> np.ndarray:
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    return numbers.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def _finite(values: np.ndarray, missing_codes: Sequence[str]) -> NumbersAndMissing:
    """(finite numbers, NaN for others; which of them are missing)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one look at each; nothing else adds up to a finite number
            return values, np.zeros(len(values), dtype=bool)
    missing, infinite = np.isnan(values), np.isinf(values)
    for text in _INFINITIES.intersection(missing_codes):
        missing |= values == float(text)
    return np.where(infinite, np.nan, values) if infinite.any() else values, missing


def _distinct_numbers(values: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """(texts of the distinct numbers, increasing; index of each cell among them, -1 where missing)."""
    if values.dtype in _NARROW and len(values):  # counted, not sorted; none is missing
        low = int(values.min())
        above = np.subtract(values, low, dtype=np.int64)
        is_held = np.bincount(above) > 0
        distinct, codes = np.flatnonzero(is_held) + low, (np.cumsum(is_held, dtype=np.int32) - 1)[above]
    else:
        is_number = ~np.isnan(values)
        distinct, places = np.unique(values[is_number], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int32)
        codes[is_number] = places
    return tuple(map(canonical_number, distinct.astype(np.float64).tolist())), _read_only(codes)


# --- numbers of cells that wait

#: Cells that are missing, as numbers that `float` reads.
_NOT_A_NUMBER = dict.fromkeys(MISSING_MARKS, "nan")


def _numbers_of(pack: str, read: Callable[[str], tuple[float, bool]], marks: Marks) -> NumbersAndMissing:
    """(numbers, which of them are missing). What `float` cannot read, or reads as no finite number, is read cell by cell.

    Both read the same number, so what becomes of a cell does not depend on the others.
    """
    if is_plain(pack, marks):
        plain, n_empty = f"\0{pack}\0".replace(",", "."), 0
        while n_found := plain.count("\0\0"):  # of empty neighbours one in two
            plain, n_empty = plain.replace("\0\0", "\0nan\0"), n_empty + n_found
        written = plain[1:-1].split("\0")
        for quick in (written, map(_NOT_A_NUMBER.get, written, written)):
            try:
                values = np.fromiter(map(float, quick), np.float64, len(written))
            except ValueError:
                continue
            missing = ~np.isfinite(values)
            if np.count_nonzero(missing) > n_empty:
                cells = pack.split("\0")
                for place in np.flatnonzero(missing).tolist():
                    values[place], missing[place] = read(cells[place])
            return values, missing
    cells = pack.split("\0")
    pairs = list(map(read, cells))
    return np.array([value for value, _ in pairs]), np.array([is_missing for _, is_missing in pairs])


def _number_or_missing(missing: frozenset[str], marks: Marks, cell: str) -> tuple[float, bool]:
    text = cell.strip()
    return (np.nan, True) if text in missing else (number_of(text, marks), False)
