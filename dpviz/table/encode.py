"""Rows encoded by a schema, each by itself: what happens to one row never depends on another.

Numbers are encoded cell by cell; of categories each distinct text is translated once and every cell looked up. Values out of
range, unknown categories and missing cells follow the schema's public rules and are counted for the owner; they never raise.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any
from unicodedata import category, normalize

import numpy as np

from dpviz.errors import ParameterError, SchemaError
from dpviz.randomness import secure_uniforms
from dpviz.table.candidates import FeatureCandidates, ThresholdCells, bin_column
from dpviz.table.cells import MARKS, UNREADABLE, Declared, canonical_number, decimal_of, parse_numbers
from dpviz.table.columns import Column
from dpviz.table.dataset import Changes, EncodedDataset, report_of
from dpviz.table.dates import DateFeature
from dpviz.table.kinds import (
    CODES,
    UNDECLARED,
    Kind,
    is_no_value,
    kind_beside_categories,
    kind_beside_dates,
    kind_beside_numbers,
    kind_of_nobody,
)
from dpviz.table.notes import SAME_DIGITS, Doubt, Unread, decimal_notes, record_of, warn_of
from dpviz.table.raw import RawTable, table_of
from dpviz.table.schema import (
    MOST_ROWS_PER_PERSON,
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
from dpviz.table.sums import ColumnSum, TableSums, of_column, of_keys, of_numbers
from dpviz.table.validation import validate_count

_MOST_CATEGORIES = 1 << 16
_GROUPED = re.compile("[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
#: What a declared code of missing cells means among categories.
_MISSING = -2

Groups = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """What becomes of each cell of a column."""

    name: str
    #: Shape (n_rows,). Encoded value.
    values: np.ndarray
    #: Both of shape (n_rows,), bool: which cells drop their row, and which are missing; None where no row is dropped.
    unusable: tuple[np.ndarray, np.ndarray] | None
    #: By report field, bool of shape (n_rows,): which cells are changed by encoding; no entry where none is.
    changed: dict[str, np.ndarray]
    given: np.ndarray | None = None  #: Numbers as they were read, NaN where there is none; None for categories

    def drop(self, kept: np.ndarray) -> tuple[int, int]:
        """Take unusable rows out of `kept` (in place); (missing, unknown) rows that this column drops."""
        if self.unusable is None:
            return 0, 0
        unusable, is_missing = self.unusable
        dropped = kept & unusable
        kept &= ~dropped
        missing = int((is_missing & dropped).sum())
        return missing, int(dropped.sum()) - missing

    def of_rows(self, kept: np.ndarray | None) -> tuple[np.ndarray, dict[str, int], list[np.ndarray]]:
        """(encoded values of the kept rows; all if None, changed cells by report field, which of them are changed)."""
        values = self.values if kept is None else self.values[kept]
        changed = {kind: flags if kept is None else flags[kept] for kind, flags in self.changed.items()}
        return values, {kind: int(np.count_nonzero(flags)) for kind, flags in changed.items()}, list(changed.values())


def encode(rows: Any, schema: Schema, *, person: str | None = None, rows_per_person: int | None = None) -> EncodedDataset:
    """Encode every row that `schema` can use; `.report` says what happened to the others.

    Dates become numbers by their rule. Numbers are rounded where the schema says whole, then clipped into the declared
    range. Categories and classes, and texts that count as one of them, are found as `dpviz.table.cells.Declared` says; "NA" and
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
    data = encode_quietly(rows, schema, person=person, rows_per_person=rows_per_person)
    warn_of(data.report.unread if data.report else (), stacklevel=3)
    return data


def encode_quietly(rows: Any, schema: Schema, *, person: str | None = None, rows_per_person: int | None = None) -> EncodedDataset:
    """As `encode`; cells that cannot be read stand in the report and are not warned of, for the rows may be some of many."""
    require_schema(schema)
    schema, person, rows_per_person = limit_of(schema, person, rows_per_person)
    table = table_of(rows, [*schema.feature_names, schema.target.name, *([] if person is None else [person])])
    table = table.with_decimal(schema.decimal)
    warn_of_marks(table, (*schema.features, schema.target))
    return _data_set(table, schema, encode_columns(table, (*schema.features, schema.target)), person, rows_per_person)


def warn_of_marks(table: RawTable, columns: Sequence[Feature | Target]) -> None:
    """Say where numbers may be written with other marks than were assumed, and where a range was read from missing codes."""
    for declared in columns:
        if isinstance(declared, (NumericFeature, NumericTarget)) and not isinstance(declared, DateFeature):
            read = {getattr(declared, end) for end in ("low", "high") if end in declared.read_from_data}
            if read.intersection(parse_numbers(declared.missing_codes).tolist()):
                what = "The range was read from cells that are declared as missing codes: declare low and high without them."
                warn_of([Doubt(what).about(repr(declared.name[:60]))], stacklevel=5)
            notes = (note for note in decimal_notes(table.column(declared.name)) if isinstance(note, Doubt))
            warn_of((note.about(repr(declared.name[:60])) for note in notes), stacklevel=5)


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
        if (clipped := column.changed.get("clipped")) is not None and column.given is not None:
            values, places = np.unique(column.given[clipped], return_inverse=True)
            is_code = np.array([looks_missing(value, one) for value in values.tolist()])[places]  # type: ignore[arg-type]
            if is_code.any():
                flags = clipped.copy()
                flags[clipped] = is_code
                yield Unread(one.name, {CODES: int(is_code.sum())}, _BEYOND, _first(flags, table))
        if column.unusable is not None and (flags := column.unusable[0] & ~column.unusable[1]).any():
            kind, words = _kind_and_words(one)
            yield Unread(one.name, _counted(raw.counts_of(flags), kind), words, _first(flags, table))
        elif (mapped := column.changed.get("unknown_mapped")) is not None:
            kinds = _counted(raw.counts_of(mapped), _kind_and_words(one)[0])
            del kinds[UNDECLARED]
            if kinds:
                yield Unread(one.name, kinds, _REPLACED)


def _first(flags: np.ndarray, table: RawTable) -> int:
    """The record, from 1, of the first row with a flag."""
    return record_of(int(flags.argmax()), table.left_out)


def looks_missing(value: float, declared: NumericFeature | NumericTarget) -> bool:
    """Whether a number beyond the range is one that often stands for no value: of nines, eights or sevens, or below 0."""
    return SAME_DIGITS.fullmatch(canonical_number(abs(value))) is not None or (value < 0 <= declared.low and value.is_integer())


def _counted(texts: Mapping[str, int], kind_of: Kind) -> Counter[str]:
    kinds = Counter[str]()
    for text, count in texts.items():
        kinds[kind_of(text)] += count
    return kinds


def _kind_and_words(declared: Feature | Target) -> tuple[Kind, tuple[str, str]]:
    match declared:
        case DateFeature():
            return kind_beside_dates(declared.order), _NO_DATE
        case NumericFeature() | NumericTarget():
            return kind_beside_numbers, _NO_NUMBER
        case CategoricalFeature():
            return kind_beside_categories(declared.category_of), _NO_CATEGORY
    return kind_beside_categories((*declared.classes, *(text for text, _ in declared.groups))), _NO_CATEGORY


def encode_part(
    table: RawTable, schema: Schema, candidates: Sequence[FeatureCandidates] = (), person: str | None = None
) -> EncodedDataset:
    """As `encode`, of some rows of a table, of which no person's are chosen: `persons` are places among the `value_texts` of that
    column. With `candidates` the bin of every value takes its place: what `bin_column` makes of it.
    """
    table = table.with_decimal(schema.decimal)
    columns = encode_columns(table, (*schema.features, schema.target), candidates)
    return _data_set(table, schema, columns, person)


def _data_set(
    table: RawTable,
    schema: Schema,
    columns: list[EncodedColumn],
    person: str | None = None,
    rows_per_person: int | None = None,
) -> EncodedDataset:
    kept = np.ones(table.n_rows, dtype=bool)
    unread = list(_unread(table, columns, schema))
    dropped = [(column.name, column.drop(kept)) for column in columns]
    persons = None if person is None else _persons(raw := table.column(person))
    if persons is not None:
        if kinds := _counted(raw.counts_of(persons < 0), kind_of_nobody):
            unread.append(Unread(str(person), kinds, _NOBODY))
        dropped.insert(0, (str(person), (int((kept & (persons < 0)).sum()), 0)))
        kept &= persons >= 0
    sums = [_sum(table, column) for column in columns]
    encoded, changes, unchanged = encoded_columns(columns, kept)
    if person is not None:
        sums.append(of_keys(table.column(person)))
    report = replace(report_of(table, schema, int(kept.sum()), dropped, changes, unchanged), unread=tuple(unread))
    told = TableSums(table.n_rows, sums)
    data = EncodedDataset(schema, tuple(encoded[:-1]), encoded[-1], report, table.not_row_wise, source_sums=told)
    if persons is None:
        return data
    if rows_per_person is None:
        return replace(data, persons=persons[kept])
    return data.of_persons(persons[kept], chosen_rows(persons[kept], rows_per_person), rows_per_person)


def _sum(table: RawTable, column: EncodedColumn) -> ColumnSum:
    """What tells the column again: of all its cells as they were read, those included that drop their row."""
    return of_column(table.column(column.name)) if column.given is None else of_numbers(column.name, column.given)


def _persons(column: Column) -> np.ndarray:
    """Whose row it is, int of shape (n_rows,); negative where nobody can tell: what cannot be read may be several persons.

    Raises SchemaError where texts of the column seem to be several spellings of one person: each would have rows of its own.
    """
    codes = np.maximum(column.value_codes, -1)
    if column.typed is not None:
        return codes
    if len(set(map(appearance, column.value_texts))) < len(column.value_texts):
        raise several_spellings(column.name)
    is_known = np.array([*(UNREADABLE not in text and not is_no_value(text) for text in column.value_texts), True])
    return np.where(is_known[codes], codes, -1)


def several_spellings(column: str) -> SchemaError:
    """What to say of a column of persons in which texts that differ have the same `appearance`."""
    what = "Several spellings in this column seem to be one person, such as 7 beside 07 or 7.0, or names beside capitals."
    return SchemaError(what, field=column, remedy="Write every person in one way, or number the persons.")


def appearance(text: str) -> object:
    """What a reader takes a name for: its number, else its letters without capitals, blanks, unseen signs and odd forms."""
    if not text.isascii():
        text = "".join(letter for letter in normalize("NFKC", text) if category(letter)[0] not in "ZC")
    text = text.replace(" ", "").casefold()
    number = decimal_of(text.replace(",", "") if _GROUPED.fullmatch(text) else text)
    is_power = number == 0 and "e" in text  # 0e12 and 0e34 are keys of many systems
    return text if number is None or is_power else number


def encoded_columns(columns: list[EncodedColumn], kept: np.ndarray) -> tuple[list[np.ndarray], Changes, int]:
    """(encoded columns, changed cells by column, rows without a changed cell). Takes the columns off the list, to free them."""
    rows = None if kept.all() else kept
    encoded, changes, touched = [], [], np.zeros(int(kept.sum()), dtype=bool)
    while columns:
        values, counts, changed = (column := columns.pop(0)).of_rows(rows)
        encoded.append(values)
        changes.append((column.name, counts))
        for flags in changed:
            touched |= flags
    return encoded, changes, len(touched) - int(np.count_nonzero(touched))


def encode_columns(
    table: RawTable, declared: Sequence[Feature | Target], candidates: Sequence[FeatureCandidates] = ()
) -> list[EncodedColumn]:
    """Each column by itself; of features with candidates the bins of their values."""
    with_bins = zip(declared, chain(candidates, repeat(None)), strict=False)
    return [_encode_one(table.column(one.name), one, bins) for one, bins in with_bins]


def _encode_one(column: Column, declared: Feature | Target, candidates: FeatureCandidates | None) -> EncodedColumn:
    if candidates is None:
        return _encode_column(column, declared)
    is_plain = type(declared) is NumericFeature and not declared.whole and not declared.missing_codes
    if is_plain and candidates.cells is not None and column.typed is not None and not column.labels:
        assert isinstance(declared, NumericFeature)
        return _in_bins(column.name, column.typed, declared, candidates, candidates.cells)
    cells = _encode_column(column, declared)
    return replace(cells, values=bin_column(candidates, cells.values))


def _encode_column(column: Column, declared: Feature | Target) -> EncodedColumn:
    if isinstance(declared, ClassTarget):
        return _categories(column, declared.classes, declared.groups)
    if isinstance(declared, CategoricalFeature):
        instead = declared.missing_as, declared.unknown_as
        return _categories(column, declared.categories, declared.groups, declared.missing_codes, *instead)
    if isinstance(declared, DateFeature):
        texts, codes = column.texts, np.maximum(column.codes, -1)
        is_missing = np.append(Declared(dict.fromkeys(declared.missing_codes, 0)).find(texts) >= 0, True)
        numbers = np.where(is_missing, np.nan, np.append(declared.numbers(texts), np.nan))
        return _numbers(column.name, numbers[codes], is_missing[codes], declared)
    return _numbers(column.name, *column.numbers_and_missing(declared.missing_codes), declared)


def _numbers(name: str, numbers: np.ndarray, missing: np.ndarray, declared: NumericFeature | NumericTarget) -> EncodedColumn:
    """Numbers rounded where the schema says whole, then clipped; missing ones replaced where it says by what."""
    whole = isinstance(declared, NumericFeature) and declared.whole
    # no negative zero anywhere: it equals 0 but would change the fingerprint
    low, high = (np.ceil(declared.low), np.floor(declared.high)) if whole else (declared.low, declared.high)
    missing_as = declared.missing_as if isinstance(declared, NumericFeature) else None
    changed, values, unusable = dict[str, np.ndarray](), numbers, None
    if missing_as is not None and missing.any():
        values = np.where(missing, missing_as + 0.0, numbers)
        changed["missing_mapped"] = missing
    if whole:
        rounded = np.rint(values) + 0.0
        if (flags := (rounded != values) & ~np.isnan(values) & ~missing).any():
            changed["rounded"] = flags
        values = rounded
    outside = np.flatnonzero(~((values >= low) & (values <= high)))  # a NaN is neither
    if len(outside):
        given, values = values[outside], values.copy()
        is_nan = np.isnan(given)
        values[outside] = np.where(is_nan, low, np.clip(given, low, high)) + 0.0
        if is_nan.any():
            unusable = _flags(len(values), outside[is_nan]), missing
        if len(clipped := outside[~(is_nan | missing[outside])]):
            changed["clipped"] = _flags(len(values), clipped)
    return EncodedColumn(name, values.astype(_whole_dtype(low, high)) if whole else values, unusable, changed, numbers)


def _in_bins(
    name: str, numbers: np.ndarray, declared: NumericFeature, candidates: FeatureCandidates, cells: ThresholdCells
) -> EncodedColumn:
    """Numbers in their bins: what is between two thresholds is neither missing, nor out of range, nor changed."""
    found, others = cells.between(numbers)
    few = _numbers(name, *Column(name, numbers=numbers[others], is_own=True).numbers_and_missing(), declared)
    found[others] = bin_column(candidates, few.values)
    unusable = few.unusable and (_flags(len(found), others[few.unusable[0]]), _flags(len(found), others[few.unusable[1]]))
    changed = {kind: _flags(len(found), others[flags]) for kind, flags in few.changed.items()}
    if np.isinf(numbers[others]).any():  # infinity is no number, as in `_numbers`
        numbers = np.where(np.isinf(numbers), np.nan, numbers)
    return EncodedColumn(name, found, unusable, changed, numbers)


def _flags(n_rows: int, rows: np.ndarray) -> np.ndarray:
    flags = np.zeros(n_rows, dtype=bool)
    flags[rows] = True
    return flags


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
    """Category codes, as `Declared` finds them; what has none is not usable. What is declared is no mark of missing cells."""
    if len(labels) > _MOST_CATEGORIES:
        what = f"There are {len(labels):,} categories; at most {_MOST_CATEGORIES:,} can be encoded."
        raise SchemaError(what, field=column.name, remedy="Leave the column out, or group its categories.")
    code_of = {label: code for code, label in enumerate(labels)}
    code_of |= {text: code_of[label] for text, label in groups}
    codes, places = column.meanings(Declared(dict.fromkeys(missing_codes, _MISSING) | code_of).find)
    is_mark = np.arange(len(codes)) >= len(codes) - len(MARKS)
    missing = (codes == _MISSING) | ((codes == -1) & is_mark)
    unknown = (codes == -1) & ~is_mark
    codes[missing] = -1 if missing_as is None else labels.index(missing_as)
    codes[unknown] = -1 if unknown_as is None else labels.index(unknown_as)
    usable = codes >= 0
    mapped = {"unknown_mapped": unknown & usable, "missing_mapped": missing & usable}
    changed = {kind: flags[places] for kind, flags in mapped.items() if flags.any()}
    dropped = None if usable.all() else ~usable[places]
    unusable = None if dropped is None or not dropped.any() else (dropped, missing[places])
    dtype = np.uint8 if len(labels) <= 256 else np.uint16
    values = np.maximum(codes, 0).astype(dtype)[places]
    return EncodedColumn(column.name, values, unusable, changed)


# --- at most so many rows of each person


def limit_of(schema: Schema, person: str | None, rows_per_person: int | None) -> tuple[Schema, str | None, int | None]:
    """(the schema of the limited rows, the column that says whose each is, how many are kept of each; None twice without one).

    Raises ParameterError or SchemaError where what is given contradicts the schema, or itself.
    """
    person = schema.person if person is None else person
    if rows_per_person is None:
        rows_per_person = schema.rows_per_person
    else:
        validate_count("encode", "rows_per_person", rows_per_person, 1, MOST_ROWS_PER_PERSON)
        if person is None:
            raise ParameterError("encode", "rows_per_person", rows_per_person, "given together with person, or in the schema")
        if schema.rows_per_person not in (1, rows_per_person):
            raise ParameterError("encode", "rows_per_person", rows_per_person, f"{schema.rows_per_person}, as in the schema")
    if person is not None:
        require_no_column(schema, person)
    limited = replace(schema, person=None, rows_per_person=rows_per_person)
    return limited, person, None if person is None else rows_per_person


def chosen_rows(persons: np.ndarray, most: int) -> np.ndarray:
    """Which rows are kept, bool of shape (n_rows,): of each person at most `most`, every choice equally likely.

    Every usable row draws a uniform number of its own, and of each person the rows with the smallest stay. What is kept of one
    person depends on that person's rows and numbers alone. So with the same numbers, a person more or less changes at most `most`
    rows of what is kept, all of them that person's: whatever is epsilon private for one row is (most epsilon) private for one
    person, and with a delta (most epsilon, most e^((most - 1) epsilon) delta) private.
    Source: group privacy, Dwork & Roth 2014, Theorem 2.2.

    `persons`: shape (n_rows,), int; whose row it is. Private.
    """
    order = np.lexsort((secure_uniforms(len(persons)), persons))
    places = np.arange(len(persons))
    sorted_persons = persons[order]
    begins = np.append(True, sorted_persons[1:] != sorted_persons[:-1])[: len(persons)]
    rank = places - np.maximum.accumulate(np.where(begins, places, 0))
    chosen = np.zeros(len(persons), dtype=bool)
    chosen[order] = rank < most
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
    columns = encode_columns(table, schema.features)
    unread = tuple(_unread(table, columns, schema))
    kept = np.ones(table.n_rows, dtype=bool)
    dropped = {"": len(table.left_out)} | {column.name: sum(column.drop(kept)) for column in columns}
    encoded, _, _ = encoded_columns(columns, kept)
    usable = np.ones(table.n_rows + len(table.left_out), dtype=bool)
    usable[list(table.left_out)] = False
    usable[usable] = kept
    return NewRows(EncodedDataset(schema, tuple(encoded), np.zeros(int(kept.sum()), dtype=np.uint8)), usable, dropped, unread)
