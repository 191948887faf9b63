"""A first schema for a table that its reader may look at: kinds, ranges, categories and classes read from the data.

Every such value is marked as read from the data. None of it is private; declaring the values replaces the marks.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from dpviz.errors import ParameterError, SchemaError
from dpviz.table.cells import MAX_EXACT, TRUTHS, UNREADABLE, decimal_of, parse_numbers, shortest
from dpviz.table.columns import Column
from dpviz.table.dates import DateFeature
from dpviz.table.notes import is_code, isolated_codes, isolated_days, unread_kind, warn_of_doubts
from dpviz.table.raw import RawTable, table_of
from dpviz.table.schema import (
    MAX_CLASSES,
    MIN_WIDTH,
    CategoricalFeature,
    ClassTarget,
    Feature,
    NumericFeature,
    NumericTarget,
    Schema,
    Target,
)

#: A categorical column with more distinct texts than this is an identifier or free text.
MAX_CATEGORIES = 1000
#: A numeric target with more distinct values than this is proposed as a number instead of classes.
MAX_NUMERIC_CLASSES = 20
#: From this many rows on, a column in which every text is different is an identifier.
_MIN_ROWS_OF_AN_IDENTIFIER = 20
_ROW_NAMES = re.compile(r"__index_level_\d+__", re.ASCII)

Task = Literal["classes", "number"]


def propose_schema(rows: Any, target: str | None = None, *, task: Task | None = None) -> Schema:
    """A schema that fits these rows. What it reads from them is marked as read: no epsilon covers it.

    Numeric columns become numbers between their least and greatest value (two distinct values or fewer: categories), without
    those that may be codes for missing cells, such as 999; a total in the last row is no row of a proposal. Dates become days
    since the first of January before them; the few texts among them count as missing. Other columns become categories, and
    their missing cells the category "missing". See `left_out` for columns that cannot be features.

    Parameters
    ----------
    rows : DataFrame of pandas or Polars, Arrow table, RawTable, or path or bytes of a file
    target : str, optional
        Column to predict; the last one by default.
    task : "classes" or "number", optional
        By default a numeric target with more than 20 distinct values is a number, any other has classes.

    Returns
    -------
    Schema
        To be declared where the rows are private: `schema.declare("age", low=0, high=120)`.

    Raises
    ------
    UnknownName
        No such column.
    SchemaError
        The target has fewer than two values, more than 100 classes, or is no number where it should be one; no column is left
        as a feature.
    """
    if task not in (None, "classes", "number"):
        raise ParameterError("propose_schema", "task", task, "'classes', 'number' or None")
    whole = table_of(rows)
    table = whole.without_total
    if table.n_malformed and not table.n_rows:
        remedy = "Lines above the names have to go, and each line needs as many cells: see what separates them, and quotes."
        raise SchemaError("No line has as many cells as the first line has names.", remedy=remedy)
    last = next((column for column in reversed(table.columns) if not _is_row_names(column.name)), table.columns[-1])
    goal = last if target is None else table.column(target)
    called = "the last column" if target is None else str(target)[:60]  # without a header line its name is a cell
    proposed_target = _target(goal, task, called)
    warn_of_doubts(note.about(name) for name, note in whole.remarks)
    features = tuple(feature_for(column) for column in table.columns if column is not goal and not _unfit(column))
    if not features:
        others = [(place, column) for place, column in enumerate(table.columns, 1) if column is not goal]
        reasons = [f"column {place} ({_unfit(column)})" for place, column in others]
        what = f"No column besides the target, {called}, can be a feature: {'; '.join(reasons[:5])}."
        raise SchemaError(what, remedy="Add a column of numbers, or of texts that repeat.")
    return Schema(features, proposed_target, n_public=rounded_count(whole.n_rows), read_from_data=("n_public",))


def left_out(table: RawTable, schema: Schema) -> tuple[tuple[str, str], ...]:
    """(column, reason) for every column of `table` that `schema` does not name. Private: read from the data."""
    named = {*schema.feature_names, schema.target.name}
    others = (column for column in table.without_total.columns if column.name not in named)
    return tuple((column.name, _unfit(column) or "not chosen") for column in others)


def _is_row_names(name: str) -> bool:
    """Whether pandas gave a column of a file this name: it holds the index of a frame."""
    return _ROW_NAMES.fullmatch(name) is not None


def _unfit(column: Column) -> str:
    """Why the column cannot be a feature; empty when it can."""
    texts, n_given = column.distinct_texts, len(column.codes) - column.n_missing
    are_all_different = len(texts) > _MIN_ROWS_OF_AN_IDENTIFIER and len(texts) == n_given
    if _is_row_names(column.name):
        return "names of rows, as pandas writes them"
    if not texts:
        return "every cell is missing"
    if not _readable(column):
        return "letters of every cell are lost, or none has a text"
    if column.is_numeric:
        has_one_width = len({*map(len, texts)}) == 1 and all(map(str.isdecimal, texts))
        if len(texts) > MAX_CATEGORIES and has_one_width and min(texts)[0] == "0":
            return f"{len(texts):,} codes of {len(texts[0])} digits with zeros in front: an identifier"
        low, high = float(column.text_numbers.min()), float(column.text_numbers.max())
        if max(-low, high) > MAX_EXACT and are_all_different:
            return "numbers of so many digits, all different, that they are an identifier"
        if not math.isfinite(high - low):
            return "its numbers are too far apart"
        return "its numbers are too close together" if 0 < high - low < MIN_WIDTH else ""
    if column.dates:
        return ""
    if len(texts) <= MAX_CATEGORIES and not are_all_different:
        return ""
    kind = unread_kind(texts)
    what = f"most of the kind “{kind}”, which is not read" if kind else "an identifier or free text"
    if len(texts) > MAX_CATEGORIES:
        is_mixed = np.isnan(column.text_numbers).mean() < 0.5
        what = "numbers, if the texts among them are missing codes" if is_mixed else what
        return f"{len(texts):,} different texts, more than {MAX_CATEGORIES:,}: {what}"
    return f"a different text in every row: {what}"


def feature_for(column: Column) -> Feature:
    """The feature that fits these cells; its range holds no numbers that may be codes for missing cells (`isolated_codes`)."""
    if column.dates:
        return _date(column, *column.dates)
    is_coded = column.is_numeric and len(column.distinct_texts) <= MAX_CATEGORIES and any(map(is_code, column.distinct_texts))
    values = np.unique(column.text_numbers) if column.is_numeric and not is_coded else None
    if values is None or len(values) <= 2:
        categories, missing_as = _labels(column), "missing" if column.n_missing else None
        if missing_as and missing_as not in categories:
            categories += (missing_as,)
        return CategoricalFeature(column.name, categories, missing_as=missing_as, read_from_data=("kind", "categories"))
    whole = bool((values == np.rint(values)).all())
    return NumericFeature(column.name, *_range(values), whole=whole, read_from_data=("kind", "low", "high"))


def _range(values: np.ndarray) -> tuple[float, float]:
    """The least and the greatest of distinct numbers, without those that may be codes for missing cells."""
    kept = values[~np.isin(values, [*chain.from_iterable(isolated_codes(values))])]
    return float(kept[0]), float(kept[-1])


def _date(column: Column, order: str, others: tuple[str, ...]) -> DateFeature:
    """Days since the year of the first; the few texts that are no dates count as missing."""
    isolated = isolated_days(column.distinct_texts, order)
    texts = [text for text in column.distinct_texts if text not in isolated]
    year = DateFeature(column.name, 1, 9999, part="year", order=order, missing_codes=others)
    first = int(np.nanmin(year.numbers(texts)))
    rule = replace(year, part="days", since=f"{first:04d}-01-01", unit="")
    days = rule.numbers(texts)
    read = ("kind", "low", "high", "part", "order", "since", *(("missing_codes",) if others else ()))
    return replace(rule, low=float(np.nanmin(days)), high=float(np.nanmax(days)), read_from_data=read)


def _target(column: Column, task: Task | None, called: str) -> Target:
    distinct = len(np.unique(column.text_numbers)) if column.is_numeric else len(_readable(column))
    if distinct < 2:
        what = "The target has only one value." if distinct else "The target has no value at all."
        raise SchemaError(what, field=called, remedy="Choose another column as the target.")
    if task == "number" or (task is None and column.is_numeric and distinct > MAX_NUMERIC_CLASSES):
        if not column.is_numeric:
            what = "The target is to be a number but holds other texts."
            raise SchemaError(what, field=called, remedy="Choose another target, propose classes, or correct the file.")
        return NumericTarget(column.name, *_range(np.unique(column.text_numbers)), read_from_data=("kind", "low", "high"))
    if distinct > MAX_CLASSES:
        what = f"The target has {distinct:,} different values; at most {MAX_CLASSES} classes can be learned."
        instead = "propose it as a number" if column.is_numeric else "a numeric column"
        raise SchemaError(what, field=called, remedy=f"Choose another target, or {instead}.")
    return ClassTarget(column.name, _labels(column), read_from_data=("classes",))


def _readable(column: Column) -> list[str]:
    """Distinct texts that are whole: a letter that is lost may be any."""
    return [text for text in column.distinct_texts if UNREADABLE not in text]


def _labels(column: Column) -> tuple[str, ...]:
    """Categories that every text of the column is met by, in order: numbers by value, then texts.

    Truth values that are written in several ways are true and false, plain numbers their shortest form (of 1.0 and 1.00 it is 1).
    """
    ways = defaultdict[object, list[str]](list)
    for text in _readable(column):
        number, plain = decimal_of(text), text.lower()
        ways[plain if plain in TRUTHS else text if number is None else number].append(text)
    labels = dict[str, None]()
    for texts in ways.values():
        short = [text.lower() if text.lower() in TRUTHS else shortest(text) for text in texts]
        labels |= dict.fromkeys(texts if len(texts) == 1 or None in short else filter(None, short))
    return tuple(in_order(labels))


def in_order(texts: Iterable[str]) -> list[str]:
    """Numbers by value, then other texts by letter: an order that does not depend on the rows."""
    by_letter = sorted(texts)
    numbers = parse_numbers(by_letter)
    return [by_letter[place] for place in np.argsort(numbers, kind="stable")]  # NaN sorts last


def rounded_count(count: int) -> int:
    """Two significant digits: 45222 -> 45000."""
    return int(float(f"{count:.2g}"))
