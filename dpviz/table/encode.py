"""Rows encoded by a schema, each by itself: what happens to one row never depends on another.

Numbers are encoded cell by cell; of categories each distinct text is translated once and every cell looked up. Values out of
range, unknown categories and missing cells follow the schema's public rules and are counted for the owner; they never raise.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unicodedata import category, decimal, normalize

import numpy as np

from dpviz.errors import ParameterError, SchemaError
from dpviz.randomness import secure_uniforms
from dpviz.table.candidates import FeatureCandidates, bin_column
from dpviz.table.cells import MARKS, UNREADABLE, DeclaredTexts, decimal_of, parse_numbers
from dpviz.table.columns import Column, per_cell
from dpviz.table.dataset import CHANGES, EncodedDataset, EncodingReport
from dpviz.table.dates import DateFeature
from dpviz.table.kinds import (
    CODES,
    UNDECLARED,
    Kind,
    count_kinds,
    is_no_value,
    kind_of_nobody,
    text_kind_in_categories,
    text_kind_in_dates,
    text_kind_in_numbers,
)
from dpviz.table.notes import Doubt, Unread, decimal_notes, means_no_value, record_of, warn_of_doubts
from dpviz.table.raw import RawTable, table_of
from dpviz.table.schema import (
    MAX_ROWS_PER_PERSON,
    CategoricalFeature,
    ClassTarget,
    Feature,
    NumericFeature,
    NumericTarget,
    Schema,
    Target,
    require_no_column,
    require_schema,
)
from dpviz.table.sums import ColumnSum, TableSums, sum_column, sum_numbers
from dpviz.table.validation import validate_count

_MAX_CATEGORIES = 1 << 16
_GROUPED = re.compile("[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
#: What a declared code of missing cells means among categories.
_DECLARED_MISSING = -2

Groups = tuple[tuple[str, str], ...]


#: What encoding did to a cell, as bits: those of `CHANGES`, and that its row is dropped, for it is missing or cannot be read.
_CLIPPED, _ROUNDED, _UNKNOWN_MAPPED, _MISSING_MAPPED, _MISSING, _UNKNOWN = (1 << bit for bit in range(6))


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """What becomes of each cell of a column; arrays of shape (n_rows,)."""

    name: str
    values: np.ndarray
    effects: np.ndarray | None  #: What encoding did to each cell, uint8; None where it did nothing to any
    numbers: np.ndarray | None = None  #: As they were read, NaN where there is none; None for categories

    def had(self, effect: int) -> np.ndarray | None:
        """Which cells this was done to, bool; None where to none."""
        return None if self.effects is None or not (cells := self.effects & effect > 0).any() else cells


def encode(rows: Any, schema: Schema, *, person: str | None = None, rows_per_person: int | None = None) -> EncodedDataset:
    """Encode every row that `schema` can use; `.report` says what happened to the others.

    Dates become numbers by their rule. Numbers are rounded where the schema says whole, then clipped into the declared
    range. Categories and classes, and texts that count as one of them, are found as `cells.DeclaredTexts` says; "NA" and
    other marks of missing cells are missing unless they are declared.
    Rows dropped are counted at the first column that causes it: features in schema order, target last.

    Parameters
    ----------
    rows : DataFrame of pandas or Polars, Arrow table, RawTable, or path or bytes of a file
        Private rows. The same rows in another form are encoded alike.
    schema : Schema
        What is public about them.
    person : str, optional
        The column that says whose row it is, by default that of the schema; rows with the same text are one person's (7 and 7.0
        of a typed column have the same). It becomes no feature and goes into no file. Rows where it is missing or cannot be read
        are dropped.
    rows_per_person : int, optional
        By default that of the schema, which it may not contradict; it takes the place of the schema's 1. With a person column so
        many usable rows at most are kept of each, chosen at random (`dpviz.table.encode`). The unit of protection is then a
        person: results and files say what they cost one.

    Returns
    -------
    EncodedDataset
        The usable rows, in order. Private. `.report` says what became of the others; `.split` and `.parts` divide it.

    Raises
    ------
    SchemaError
        A column of the schema, or the person's, is not in the table; the person's column is part of the schema, or holds several
        spellings of what seems to be one person ("7", "007", "7.0").
    ParameterError
        `rows_per_person` is given without a person column, contradicts the schema, or is no whole number above 0.
    """
    require_schema(schema)
    schema, person, rows_per_person = person_limit(schema, person, rows_per_person)
    table = table_of(rows, [*schema.feature_names, schema.target.name, *([] if person is None else [person])])
    warn_of_marks(table.with_decimal(schema.decimal), (*schema.features, schema.target))
    data = encode_part(table, schema, person=person, rows_per_person=rows_per_person)
    warn_of_doubts(data.report.unread if data.report else (), stacklevel=3)
    return data


def warn_of_marks(table: RawTable, columns: Sequence[Feature | Target]) -> None:
    """Say where numbers may be written with other marks than were assumed, and where a range was read from missing codes."""
    for declared in columns:
        if isinstance(declared, (NumericFeature, NumericTarget)) and not isinstance(declared, DateFeature):
            read = {getattr(declared, end) for end in ("low", "high") if end in declared.read_from_data}
            if read.intersection(parse_numbers(declared.missing_codes).tolist()):
                what = "The range was read from cells that are declared as missing codes: declare low and high without them."
                warn_of_doubts([Doubt(what, column=declared.name)], stacklevel=5)
            warn_of_doubts((note.about(declared.name) for note in decimal_notes(table.column(declared.name))), stacklevel=5)


#: What is wrong with cells, and what helps.
_NO_NUMBER = "without a number that can be read, whose rows are left out", "Write plain numbers, or declare missing codes."
_NO_DATE = "without a date in the declared order, whose rows are left out", "Write all dates alike, with a year of four digits."
_NO_CATEGORY = "without a declared text, whose rows are left out", "Correct them, or declare what they are or count as."
_REPLACED = "without a declared text but like one, replaced as unknown", "Correct them, or declare what they count as."
_BEYOND = "beyond the declared range, moved to its end", "Where they mean that there is no value, declare them as missing codes."
_NOBODY = "without a person, whose rows are left out", "Number the persons; leave a cell empty where nobody is known."


def _unread(table: RawTable, columns: Sequence[EncodedColumn], schema: Schema) -> Iterator[Unread]:
    """Which kinds of text could not be read, by column."""
    declared = {one.name: one for one in (*schema.features, schema.target)}
    for column in columns:
        one, raw = declared[column.name], table.column(column.name)
        if (clipped := column.had(_CLIPPED)) is not None and column.numbers is not None:
            values, places = np.unique(column.numbers[clipped], return_inverse=True)
            is_code = np.array([_looks_missing(value, one) for value in values.tolist()])[places]  # type: ignore[arg-type]
            if is_code.any():
                clipped[clipped] = is_code
                yield Unread(one.name, {CODES: int(is_code.sum())}, _BEYOND, _first(clipped, table))
        if (unknown := column.had(_UNKNOWN)) is not None:
            kind, words = _kind_and_words(one)
            yield Unread(one.name, count_kinds(raw.counts_of(unknown), kind), words, _first(unknown, table))
        elif (mapped := column.had(_UNKNOWN_MAPPED)) is not None:
            kinds = count_kinds(raw.counts_of(mapped), _kind_and_words(one)[0])
            del kinds[UNDECLARED]
            if kinds:
                yield Unread(one.name, kinds, _REPLACED)


def _first(flags: np.ndarray, table: RawTable) -> int:
    """The record, from 1, of the first row with a flag."""
    return record_of(int(flags.argmax()), table.left_out)


def _looks_missing(value: float, declared: NumericFeature | NumericTarget) -> bool:
    """Whether a number beyond the range is one that often stands for no value, or a whole one below 0."""
    return means_no_value(abs(value)) or (value < 0 <= declared.low and value.is_integer())


def _kind_and_words(declared: Feature | Target) -> tuple[Kind, tuple[str, str]]:
    match declared:
        case DateFeature():
            return text_kind_in_dates(declared.order), _NO_DATE
        case NumericFeature() | NumericTarget():
            return text_kind_in_numbers, _NO_NUMBER
        case CategoricalFeature():
            return text_kind_in_categories(declared.category_of), _NO_CATEGORY
    return text_kind_in_categories((*declared.classes, *(text for text, _ in declared.groups))), _NO_CATEGORY


def encode_part(
    table: RawTable,
    schema: Schema,
    candidates: Sequence[FeatureCandidates] = (),
    person: str | None = None,
    rows_per_person: int | None = None,
) -> EncodedDataset:
    """As `encode`, of some rows of a table, without a warning. With `candidates` the bin of every value takes its place: what
    `bin_column` makes of it. Without `rows_per_person` no rows of a person are chosen: `persons` are places among the
    `value_texts` of that column.
    """
    table = table.with_decimal(schema.decimal)
    columns = _encode_columns(table, (*schema.features, schema.target), candidates)
    unread, kept, persons = list(_unread(table, columns, schema)), np.ones(table.n_rows, dtype=bool), None
    sums = [_sum(table, column) for column in columns]
    dropped = list[tuple[str, int, int]]()
    if person is not None:
        persons = _persons(whose := table.column(person))
        sums.append(sum_column(whose, are_keys=True))
        kept = persons >= 0
        if kinds := count_kinds(whose.counts_of(~kept), kind_of_nobody):
            unread.append(Unread(person, kinds, _NOBODY))
        dropped.append((person, len(kept) - int(kept.sum()), 0))
    dropped += _dropped_cells(columns, kept)
    encoded, counts, unchanged = _kept_rows(columns, kept)
    *of_features, (target, *of_target) = dropped
    report = EncodingReport(
        rows_read=table.n_rows,
        rows_kept=int(kept.sum()),
        dropped_missing=_positive((name, missing) for name, missing, _ in of_features),
        dropped_unknown=_positive((name, unknown) for name, _, unknown in of_features),
        dropped_target=_positive([(target, sum(of_target))]),
        ignored_columns=tuple(name for name in table.names if name not in (*schema.feature_names, schema.target.name)),
        malformed=table.n_malformed,
        unchanged=unchanged,
        unread=tuple(unread),
        **{kind: _positive(of_kind) for kind, of_kind in counts.items()},  # type: ignore[arg-type]
    )
    source_sums = TableSums(table.n_rows, sums)
    data = EncodedDataset(schema, tuple(encoded[:-1]), encoded[-1], report, table.not_row_wise, source_sums=source_sums)
    if persons is None:
        return data
    if rows_per_person is None:
        return replace(data, persons=persons[kept])
    if whose.typed is None:
        require_one_spelling(whose.name, whose.value_texts)
    return data.of_persons(persons[kept], choose_rows(persons[kept], rows_per_person), rows_per_person)


def _positive(counts: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple((name, count) for name, count in counts if count)


def _dropped_cells(columns: Sequence[EncodedColumn], kept: np.ndarray) -> Iterator[tuple[str, int, int]]:
    """(column, missing cells, unknown cells that drop a row), each row at the first column that drops it; changes `kept`."""
    for column in columns:
        missing, unknown = (0 if (cells := column.had(effect)) is None else _take(kept, cells) for effect in (_MISSING, _UNKNOWN))
        yield column.name, missing, unknown


def _take(kept: np.ndarray, cells: np.ndarray) -> int:
    before = int(kept.sum())
    kept &= ~cells
    return before - int(kept.sum())


def _kept_rows(columns: list[EncodedColumn], kept: np.ndarray) -> tuple[list[np.ndarray], dict[str, list[tuple[str, int]]], int]:
    """(values of the kept rows; by report field, changed cells by column; rows without a change). Empties `columns`."""
    rows: Any = slice(None) if kept.all() else kept
    encoded, touched = list[np.ndarray](), np.zeros(int(kept.sum()), dtype=bool)
    counts: dict[str, list[tuple[str, int]]] = {kind: [] for kind in CHANGES}
    while columns:
        column = columns.pop(0)  # which frees it
        encoded.append(column.values[rows])
        if column.effects is not None:
            effects = column.effects[rows]
            touched |= effects > 0
            for bit, kind in enumerate(CHANGES):
                counts[kind].append((column.name, int(np.count_nonzero(effects & (1 << bit)))))
    return encoded, counts, len(touched) - int(np.count_nonzero(touched))


def _sum(table: RawTable, column: EncodedColumn) -> ColumnSum:
    """What tells the column again: of all its cells as they were read, those included that drop their row."""
    return sum_column(table.column(column.name)) if column.numbers is None else sum_numbers(column.name, column.numbers)


def _persons(column: Column) -> np.ndarray:
    """Whose row it is, int of shape (n_rows,); negative where nobody can tell: what cannot be read may be several persons."""
    codes = column.value_codes
    if column.typed is not None:
        return codes
    is_known = [UNREADABLE not in text and not is_no_value(text) for text in column.value_texts]
    return np.where(per_cell(is_known, codes, False), codes, -1)


def require_one_spelling(column: str, texts: Collection[str]) -> None:
    """Raise SchemaError where texts of a column seem to be several spellings of one person: each would have rows of its own."""
    if len(set(map(appearance, texts))) < len(texts):
        raise several_spellings(column)


def several_spellings(column: str) -> SchemaError:
    """What to say of a column of persons in which texts that differ have the same `appearance`."""
    what = "Several spellings in this column seem to be one person, such as 7 beside 07 or 7.0, or names beside capitals."
    return SchemaError(what, field=column, remedy="Write every person in one way, or number the persons.")


@lru_cache(maxsize=4096)
def _plain_letter(letter: str) -> str:
    match category(letter):
        case "Nd":
            return str(decimal(letter))
        case "Pd":
            return "-"
        case "Pi" | "Pf":
            return "'" if letter in "‘’‛" else '"'
        case kind:
            return "" if kind[0] in "ZC" else letter.replace("−", "-")


def appearance(text: str) -> object:
    """What a reader takes a name for: its number, else its letters without capitals, blanks, unseen signs and odd forms.

    Dashes are one, and so are quotation marks; digits of all alphabets are those that they count as.
    """
    if not text.isascii():
        text = "".join(map(_plain_letter, normalize("NFKC", text)))
    text = text.replace(" ", "").casefold()
    number = decimal_of(text.replace(",", "") if _GROUPED.fullmatch(text) else text)
    is_power = number == 0 and "e" in text  # 0e12 and 0e34 are keys of many systems
    return text if number is None or is_power else number


def _encode_columns(
    table: RawTable, declared: Sequence[Feature | Target], candidates: Sequence[FeatureCandidates] = ()
) -> list[EncodedColumn]:
    """Each column by itself; of features with candidates the bins of their values."""
    columns = [_encode_column(table.column(one.name), one) for one in declared]
    for place, bins in enumerate(candidates):
        columns[place] = replace(columns[place], values=bin_column(bins, columns[place].values))
    return columns


def _encode_column(column: Column, declared: Feature | Target) -> EncodedColumn:
    if isinstance(declared, ClassTarget):
        return _categories(column, declared.classes, declared.groups)
    if isinstance(declared, CategoricalFeature):
        instead = declared.missing_as, declared.unknown_as
        return _categories(column, declared.categories, declared.groups, declared.missing_codes, *instead)
    if isinstance(declared, DateFeature):
        texts, codes = column.distinct_texts, column.codes
        is_missing = DeclaredTexts(dict.fromkeys(declared.missing_codes, 0)).find(texts) >= 0
        numbers = np.where(is_missing, np.nan, declared.numbers(texts))
        return _numbers(column.name, per_cell(numbers, codes, np.nan), per_cell(is_missing, codes, True), declared)
    return _numbers(column.name, *column.numbers_and_missing(declared.missing_codes), declared)


def _numbers(name: str, numbers: np.ndarray, missing: np.ndarray, declared: NumericFeature | NumericTarget) -> EncodedColumn:
    """Numbers rounded where the schema says whole, then clipped; missing ones replaced where it says by what."""
    whole = isinstance(declared, NumericFeature) and declared.whole
    # no negative zero anywhere: it equals 0 but would change the fingerprint
    low, high = (np.ceil(declared.low), np.floor(declared.high)) if whole else (declared.low, declared.high)
    missing_as = declared.missing_as if isinstance(declared, NumericFeature) else None
    effects, values = np.zeros(len(numbers), np.uint8), numbers
    if missing_as is not None and missing.any():
        values = np.where(missing, missing_as, numbers)
        effects[missing] = _MISSING_MAPPED
    if whole:
        rounded = np.rint(values) + 0.0
        effects[(rounded != values) & ~np.isnan(values) & ~missing] = _ROUNDED
        values = rounded
    outside = np.flatnonzero(~((values >= low) & (values <= high)))  # a NaN is neither
    if len(outside):
        beyond, values, of_missing = values[outside], values.copy(), missing[outside]
        is_nan = np.isnan(beyond)
        values[outside] = np.where(is_nan, low, np.clip(beyond, low, high)) + 0.0
        effects[outside] |= np.select([~is_nan & of_missing, ~is_nan, of_missing], [0, _CLIPPED, _MISSING], _UNKNOWN).astype(
            np.uint8
        )
    values = values.astype(_whole_dtype(low, high)) if whole else values
    return EncodedColumn(name, values, effects if effects.any() else None, numbers)


def _whole_dtype(low: float, high: float) -> np.dtype:
    kinds = (kind for kind in (np.int16, np.int32) if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return np.dtype(next(kinds, np.float64))


def _categories(
    column: Column,
    labels: tuple[str, ...],
    groups: Groups = (),
    missing_codes: tuple[str, ...] = (),
    missing_as: str | None = None,
    unknown_as: str | None = None,
) -> EncodedColumn:
    """Category codes, as `DeclaredTexts` finds them; what has none is not usable. What is declared is no mark of missing."""
    if len(labels) > _MAX_CATEGORIES:
        what = f"There are {len(labels):,} categories; at most {_MAX_CATEGORIES:,} can be encoded."
        raise SchemaError(what, field=column.name, remedy="Leave the column out, or group its categories.")
    code_of = {label: code for code, label in enumerate(labels)}
    code_of |= {text: code_of[label] for text, label in groups}
    codes, places = column.meanings(DeclaredTexts(dict.fromkeys(missing_codes, _DECLARED_MISSING) | code_of).find)
    is_mark = np.arange(len(codes)) >= len(codes) - len(MARKS)
    missing = (codes == _DECLARED_MISSING) | ((codes == -1) & is_mark)
    unknown = (codes == -1) & ~is_mark
    effects = np.zeros(len(codes), np.uint8)
    effects[missing] = _MISSING if missing_as is None else _MISSING_MAPPED
    effects[unknown] = _UNKNOWN if unknown_as is None else _UNKNOWN_MAPPED
    codes[missing] = 0 if missing_as is None else labels.index(missing_as)
    codes[unknown] = 0 if unknown_as is None else labels.index(unknown_as)
    of_cells = effects[places]
    values = codes.astype(np.uint8 if len(labels) <= 256 else np.uint16)[places]
    return EncodedColumn(column.name, values, of_cells if of_cells.any() else None)


# --- at most so many rows of each person


def person_limit(schema: Schema, person: str | None, rows_per_person: int | None) -> tuple[Schema, str | None, int | None]:
    """(the schema of the limited rows, the column that says whose each is, how many are kept of each; None twice without one).

    Raises ParameterError or SchemaError where what is given contradicts the schema, or itself.
    """
    person = schema.person if person is None else person
    if rows_per_person is None:
        rows_per_person = schema.rows_per_person
    else:
        rows_per_person = validate_count("encode", "rows_per_person", rows_per_person, 1, MAX_ROWS_PER_PERSON)
        if person is None:
            raise ParameterError("encode", "rows_per_person", rows_per_person, "given together with person, or in the schema")
        if schema.rows_per_person not in (1, rows_per_person):
            raise ParameterError("encode", "rows_per_person", rows_per_person, f"{schema.rows_per_person}, as in the schema")
    if person is not None:
        require_no_column(schema, person)
    limited = replace(schema, person=None, rows_per_person=rows_per_person)
    return limited, person, None if person is None else rows_per_person


def choose_rows(persons: np.ndarray, rows_per_person: int) -> np.ndarray:
    """Which rows are kept, bool of shape (n_rows,): of each person at most k = `rows_per_person`, every choice equally likely.

    Every usable row draws a uniform number of its own, and of each person the rows with the smallest stay. What is kept of one
    person depends on that person's rows and numbers alone. So with the same numbers, a person more or less changes at most k rows
    of what is kept, all of them that person's: whatever is epsilon private for one row is (k epsilon) private for one person, and
    with a delta (k epsilon, k e^((k - 1) epsilon) delta) private.
    Source: group privacy, Dwork & Roth 2014, Theorem 2.2.

    `persons`: shape (n_rows,), int; whose row it is. Private.
    """
    order = np.lexsort((secure_uniforms(len(persons)), persons))
    places = np.arange(len(persons))
    sorted_persons = persons[order]
    begins = np.append(True, sorted_persons[1:] != sorted_persons[:-1])[: len(persons)]
    rank = places - np.maximum.accumulate(np.where(begins, places, 0))
    chosen = np.zeros(len(persons), dtype=bool)
    chosen[order] = rank < rows_per_person
    return chosen


@dataclass(frozen=True, eq=False, repr=False)
class NewRows:
    """Rows to be predicted. Private, and so is how many of them cannot be used."""

    data: EncodedDataset  #: Those that the schema can use, with 0 for a target
    usable: np.ndarray  #: Bool per record: which records these are
    #: Column -> how many rows it drops; a row counts for the first. "" for records that the reader left out.
    dropped: Mapping[str, int]
    unread: tuple[Unread, ...] = ()  #: What kinds of text could not be read, by column


def encode_new(table: RawTable, schema: Schema) -> NewRows:
    """Encode rows without a target. Records that the reader left out count as ones that cannot be used.

    Raises SchemaError where a feature of the schema is not in the table.
    """
    table = table.with_decimal(schema.decimal)
    warn_of_marks(table, schema.features)
    columns = _encode_columns(table, schema.features)
    unread, kept = tuple(_unread(table, columns, schema)), np.ones(table.n_rows, dtype=bool)
    dropped = {"": len(table.left_out)} | {name: missing + unknown for name, missing, unknown in _dropped_cells(columns, kept)}
    encoded, _, _ = _kept_rows(columns, kept)
    usable = np.ones(table.n_records, dtype=bool)
    usable[list(table.left_out)] = False
    usable[usable] = kept
    return NewRows(EncodedDataset(schema, tuple(encoded), np.zeros(int(kept.sum()), dtype=np.uint8)), usable, dropped, unread)
