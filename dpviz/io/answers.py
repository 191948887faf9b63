"""What a model says about many rows, as CSV or Parquet. As private as the rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from io import BytesIO
from typing import Any

import numpy as np

from dpviz.errors import TableError, no_probabilities
from dpviz.installation import require_extra
from dpviz.io.csv import unique_names
from dpviz.io.csv_text import harmless
from dpviz.models.base import Model, labels_and_probabilities
from dpviz.table.cells import canonical_number, number_of
from dpviz.table.columns import is_text, local_moments, utc_offset
from dpviz.table.encode import NewRows
from dpviz.table.raw import RawTable
from dpviz.table.schema import NumericTarget


@dataclass(frozen=True, eq=False)
class Answers:
    """One per row. Private."""

    key: str  #: Name of the column that says whose answer it is; empty for none
    keys: Any  #: Its cells: a list, or an Arrow array of the type they have where they come from
    labels: tuple[str, ...]  #: Classes; empty for a number
    codes: np.ndarray  #: int16 of shape (n_rows,): which class, -1 for no answer; for a number 0 throughout
    names: tuple[str, ...]  #: Of `numbers`
    numbers: np.ndarray  #: float64 of shape (n_rows, len(names)): probabilities, or the number; not-a-number for no answer

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns, all different: an answer gives way to the key."""
        label = ["label"] if self.labels else []
        return tuple(unique_names([*([self.key] if self.key else []), *label, *self.names]))

    @cached_property
    def key_texts(self) -> list[Any]:
        """Keys as CSV has them: numbers, texts, and None for no key."""
        return self.keys if isinstance(self.keys, list) else _texts_of(self.keys)


def answers_to(model: Model, new: NewRows, key: str, keys: Any) -> tuple[Answers, str]:
    """(what a model says about rows, why there are no probabilities; empty where there are or where it is a number)."""
    keys = [] if keys is None else keys
    if isinstance(model.schema.target, NumericTarget):
        numbers = _spread(new.usable, model.predict(new.data)[:, None], np.nan)
        return Answers(key, keys, (), np.zeros(len(numbers), dtype=np.int16), ("value",), numbers), ""
    labels, probabilities = labels_and_probabilities(model, new.data)
    why = "" if probabilities is not None else no_probabilities(model.kind).what
    probabilities = np.empty((new.data.n_rows, 0)) if probabilities is None else probabilities
    codes = _spread(new.usable, labels.astype(np.int16), -1)
    names = tuple(f"p_{name}" for name in model.schema.classes[: probabilities.shape[1]])
    return Answers(key, keys, model.schema.classes, codes, names, _spread(new.usable, probabilities, np.nan)), why


def _spread(usable: np.ndarray, answers: np.ndarray, no_answer: float) -> np.ndarray:
    rows = np.full((len(usable), *answers.shape[1:]), no_answer, dtype=answers.dtype)
    rows[usable] = answers
    return rows


def keys_of(table: RawTable, name: str) -> Any:
    """Cells of a column as they are given, one per record: a list, or an Arrow array of the type they have where they come from.

    Nothing (None) where a cell is missing or the record was left out. Of a value with a label the value.
    """
    if table.key is not None:
        return table.key
    cells = table.column(name).cells()
    if not table.left_out:
        return cells
    kept, left_out = iter(cells), frozenset(table.left_out)
    return [None if place in left_out else next(kept) for place in range(len(cells) + len(left_out))]


def _texts_of(keys: Any) -> list[Any]:
    """Each cell of an Arrow array as the text that says all of it, by the type: 1.0, 1.50, 2024-03-01 14:30:00.000000001+0100.

    What are no letters in UTF-8 is lost.
    """
    import pyarrow as pa
    import pyarrow.types as types

    kind = keys.type
    if types.is_dictionary(kind):
        return _texts_of(keys.cast(kind.value_type))
    if types.is_integer(kind):
        return keys.to_pylist()  # type: ignore[no-any-return]
    if types.is_floating(kind):
        return [None if key is None else repr(key) for key in keys.to_pylist()]
    if types.is_duration(kind):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
        counts = (None if key is None else Decimal(key) for key in keys.cast(pa.int64()).to_pylist())
        return [None if key is None else format(key.scaleb(-digits, Context(prec=20)), "f") for key in counts]
    if types.is_interval(kind):
        return [None if key is None else "{}M{}d{}ns".format(*key) for key in keys.to_pylist()]
    if types.is_timestamp(kind) and (offset := utc_offset(kind.tz)):
        return [None if key is None else key + offset for key in local_moments(keys).cast(pa.string()).to_pylist()]
    if not (is_text(kind) or types.is_fixed_size_binary(kind)):
        return keys.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    letters = keys if types.is_fixed_size_binary(kind) else keys.cast(pa.large_binary())
    return [None if key is None else key.decode("utf-8", "replace") for key in letters.to_pylist()]


# --- CSV

_IN_QUOTES = re.compile('[",\r\n]')


def csv_parts(pieces: Iterable[Answers], *, guard: bool) -> Iterator[bytes]:
    """The answers as CSV, some rows at a time. `guard`: an apostrophe before what a spreadsheet might run."""
    for number, piece in enumerate(pieces):
        if number == 0:
            yield _lines([[_cell(name, guard)] for name in piece.header])
        empty = "" if len(piece.header) > 1 else '""'  # a blank line would be no row
        labels = [*(_cell(label, guard) for label in piece.labels), empty]
        columns: list[list[str]] = [[_cell(key, guard) for key in piece.key_texts]] if piece.key else []
        columns += [list(map(labels.__getitem__, piece.codes.tolist()))] if piece.labels else []
        columns += [[repr(value) if value == value else empty for value in values.tolist()] for values in piece.numbers.T]
        yield _lines(columns)


def _lines(columns: list[list[str]]) -> bytes:
    return "".join(map("{}\n".format, map(",".join, zip(*columns, strict=True)))).encode()


def _cell(cell: Any, guard: bool) -> str:
    if cell is None:
        return ""
    text = canonical_number(cell) if isinstance(cell, float) else str(harmless(cell) if guard and is_formula(cell) else cell)
    return '"{}"'.format(text.replace('"', '""')) if _IN_QUOTES.search(text) else text


def is_formula(cell: Any) -> bool:
    """Whether a spreadsheet might run it. A number, such as -100, is shown as one."""
    return isinstance(cell, str) and harmless(cell) != cell and number_of(cell) != number_of(cell)


# --- Parquet


def _parquet_parts(pieces: Iterable[Answers]) -> Iterator[bytes]:
    """The answers as a Parquet file, some rows at a time. Classes are texts; no answer is null."""
    require_extra("tables", "Writing a Parquet file", "pyarrow")
    import pyarrow.parquet as pq

    file, writer, empty = _Drain(), None, None
    for piece in pieces:
        table = _arrow(piece)
        if not table.num_rows:  # of an engine, without types
            empty = table.schema
            continue
        if writer is None:
            writer = pq.ParquetWriter(file, table.schema)
        if table.schema != writer.schema:
            what = f"The column {piece.key!r:.80} has one type in some files of DATA and another in others."
            raise TableError("several-files", what, remedy="Write CSV, or predict the files one by one.")
        writer.write_table(table)
        yield file.drain()
    if writer is None and empty is not None:
        writer = pq.ParquetWriter(file, empty)
    if writer is not None:
        writer.close()
        yield file.drain()


class _Drain(BytesIO):
    """A file whose content is taken away while it is written; it tells its place in the whole."""

    n_drained = 0

    def tell(self) -> int:
        return self.n_drained + super().tell()

    def close(self) -> None:
        """Nothing: the last bytes are still to be taken."""

    def drain(self) -> bytes:
        """What was written since the last time."""
        content = self.getvalue()
        self.seek(0)
        self.truncate()
        self.n_drained += len(content)
        return content


def _arrow(piece: Answers) -> Any:
    import pyarrow as pa

    columns: list[Any] = []
    if piece.key:
        if isinstance(piece.keys, list) or pa.types.is_interval(piece.keys.type):  # which Parquet does not have
            has_numbers = any(isinstance(key, (int, float)) for key in piece.key_texts)
            columns = [pa.array(piece.key_texts, None if has_numbers else pa.string())]
        else:
            columns = [piece.keys]
    if piece.labels:
        labels = pa.DictionaryArray.from_arrays(pa.array(piece.codes, mask=piece.codes < 0), pa.array(piece.labels))
        columns.append(labels.cast(pa.string()))
    columns += [pa.array(np.ascontiguousarray(values), from_pandas=True) for values in piece.numbers.T]
    return pa.table(columns, names=list(piece.header))


def parts(ending: str, pieces: Iterable[Answers], *, guard: bool) -> Iterator[bytes]:
    """The answers in the form of a file with this ending: .parquet, else CSV; `guard` as in `csv_parts`."""
    return _parquet_parts(pieces) if ending.lower() == ".parquet" else csv_parts(pieces, guard=guard)
