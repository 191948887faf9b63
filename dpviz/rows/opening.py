"""`encode_large` and `open_table`: rows of files larger than memory, of databases and of clusters, to train on.

Rows also come out of databases and clusters one by one: to be predicted, with a column that tells them apart, or looked at on the
Data page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.errors import TableError
from dpviz.installation import require_extra
from dpviz.io.options import ReadOptions
from dpviz.learners.request import read_rows as encoded_rows
from dpviz.progress import Progress, Stop
from dpviz.rows.address import Address, parse_address
from dpviz.rows.databases import DuckDB, PostgreSQL, batches_at, readable_columns
from dpviz.rows.files import batches_of, is_large
from dpviz.rows.sources import Batches, LocalRows, SourceRows
from dpviz.table.encode import encode, person_limit
from dpviz.table.schema import Schema
from dpviz.training.counted_rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

#: What each engine needs; the extra has the engine's name.
_PACKAGES = {
    "duckdb": ("duckdb", "pyarrow"),
    "postgresql": ("adbc_driver_postgresql", "pyarrow"),
    "spark": ("pyspark", "pyarrow"),
}


def encode_large(
    source: str | Path,
    schema: Schema,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    person: str | None = None,
    rows_per_person: int | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> LocalRows:
    """Encode a table that is larger than memory. What becomes of a row is what `read_table` and `encode` make of it.

    The encoded rows are in a temporary file that nobody else can open and that vanishes with its last use, at the latest with the
    process. Use them in a `with` block. `dpviz.fit` trains learners on them that need only counts, PF-tree among them.

    Parameters
    ----------
    source : str or Path
        Parquet, Feather or CSV (also .gz); or a folder of files of one kind, read in the order of their names. Private rows.
    schema : Schema
        Declared: nothing is read from a table this large to propose one.
    names, delimiter, encoding
        Of text, as in `read_table`; lines are read by the same row-wise reader.
    person, rows_per_person : optional
        As in `encode`: of each person at most so many usable rows are kept, chosen at random. The keys of all persons are held in
        memory while the rows are encoded.
    progress : callable (share in [0, 1]), optional
        Told how much is read.
    stop : callable or Event, optional
        Ends the reading, and later the counting, with Cancelled.

    Returns
    -------
    LocalRows
        The encoded rows, private, with `n_rows` and `close`.

    Raises
    ------
    TableError
        The source cannot be read; `code` as in `read_table`, or several-files.
    SchemaError
        A column of the schema, or the person's, is not in the table; or as in `encode`.
    ParameterError
        `rows_per_person` is given without a person column, or contradicts the schema.
    DpvizError
        What reads this kind of file is not installed, or there is no room for the temporary file.
    """
    path = Path(source)
    options = ReadOptions(path.name, names=None if names is None else tuple(names), delimiter=delimiter, encoding=encoding)

    def batches(wanted: tuple[str, ...]) -> Batches:
        return batches_of(path, replace(options, wanted=wanted))

    rows = LocalRows(batches, schema, person, rows_per_person, progress=progress, stop=stop)
    assert rows.n_rows >= 0  # encoded at once
    return rows


@encoded_rows.register(str)
@encoded_rows.register(Path)
def _(rows: str | Path, schema: Schema) -> Rows:
    """A file or folder, counted where it is when it takes more than memory."""
    return encode_large(rows, schema) if is_large(Path(rows)) else encode(rows, schema)


def open_table(address: str, schema: Schema, *, person: str | None = None, rows_per_person: int | None = None) -> SourceRows:
    """Rows of a table in DuckDB, in PostgreSQL or on Spark, for `fit`. Close them, or use `with`.

    >>> with dpviz.open_table("postgresql://clinic.example/records?table=visits", schema) as rows:
    ...     result = dpviz.fit("pf-tree", rows, epsilon=0.5)

    Nothing is read before `fit` asks for a count, and what cannot be counted is refused before that. Rows of a database come to
    this computer, in batches that are not kept: a temporary file that nobody else can open holds a few bytes of each. Those of
    Spark stay on its executors, and counts come here. A view is read as it is: each of its rows must come from one row of the
    data.

    Parameters
    ----------
    address : str
        postgresql://user@host:port/database?table=NAME, duckdb:///path/of/the/file?table=NAME or spark:///?table=NAME, where NAME
        may be schema.table. Without a password: PostgreSQL's own password file, service file and PG* variables are used, and
        Spark's own configuration. `&order=COLUMN` numbers the rows by a column, so that a seed gives the same tree as for a file
        in this order; otherwise they are numbered as they are stored.
    schema : Schema
        Public, and declared before anything is read.
    person, rows_per_person : optional
        As in `encode`: of each person at most so many usable rows are kept, chosen at random.

    Returns
    -------
    SourceRows
        The rows where they are, private, for `dpviz.fit`.

    Raises
    ------
    TableError
        The address is wrong or holds a password; the engine cannot be reached, or has no such table.
    SchemaError
        The table lacks a column, or a column's type cannot be read; or as in `encode`.
    ParameterError
        `rows_per_person` is given without a person column, or contradicts the schema.
    DpvizError
        The engine's driver is not installed.
    """
    place = parse_address(address)
    person_limit(schema, person, rows_per_person)
    session = _session(place)
    try:
        if place.engine == "spark":
            from dpviz.rows.spark import spark_rows

            return spark_rows(session, place, schema, person, rows_per_person)
        rows = LocalRows(lambda wanted: batches_at(session, place, wanted), schema, person, rows_per_person)
    except BaseException:
        session.close()
        raise
    rows.whereabouts = "rows came from a database to the computer that trained, in batches that were not kept"
    return rows


def _session(address: Address) -> Any:
    """A `Database`, or what reads on Spark as one does; raises DpvizError where the engine's driver is not installed."""
    require_extra(address.engine, "A table in an engine", *_PACKAGES[address.engine])
    if address.engine == "spark":
        from dpviz.rows.spark import SparkTable

        return SparkTable()
    return DuckDB(address.database) if address.engine == "duckdb" else PostgreSQL(address)


def read_rows(address: str, columns: Sequence[str]) -> Iterator[tuple[pa.Array, pa.RecordBatch]]:
    """(what the column named behind `order=` holds, the columns) of every row, in this column's order, some rows at a time.

    Nothing is kept of the rows here. Raises TableError, SchemaError or DpvizError: before a row is read, but for failures and
    for a key that is missing or stands in two rows.
    """
    order = parse_address(address).order
    if not order:
        what = "A table in an engine has no lines, so a column must say which answer is whose."
        raise TableError("order", what, remedy="Name one that tells the rows apart, such as a key: &order=COLUMN.")
    last: list[object] = [None]
    for _, batch in read_columns(address, wanted=tuple(dict.fromkeys((*columns, order)))):
        keys = batch.column(order).to_pylist()
        if any(key is None or key != key or key == before for before, key in zip(last + keys, keys, strict=False)):
            what = "A row has no key, or two rows have the same, so nobody could tell which answer is whose."
            raise TableError("order", what, remedy="Name a column that is different in every row: &order=COLUMN.")
        last = keys[-1:] or last
        yield batch.column(order), batch.select(list(columns))


def read_columns(
    address: str, max_rows: int | None = None, wanted: Sequence[str] | None = None
) -> Iterator[tuple[float, pa.RecordBatch]]:
    """(share of the rows before these, some rows), of the wanted columns (None: all of types that are read).

    At first no rows, of the wanted columns (None: all), for a table without rows has columns, too.
    The share is known where there is a limit of rows. Raises as `read_rows`, and TableError where there are more rows than that.
    """
    place = parse_address(address)
    session = _session(place)
    import pyarrow as pa

    with closing(session):
        schema = session.schema(place.table)
        columns = readable_columns(schema, wanted, place.order)
        n_rows = 0 if max_rows is None else session.count(place.table)
        if max_rows is not None and n_rows > max_rows:
            what = f"The table has more than {max_rows:,} rows, the most for this machine's memory."
            raise TableError("too-many-rows", what, remedy="Train where its rows are: dpviz train ADDRESS --schema FILE.")
        done = 0
        yield 0.0, pa.RecordBatch.from_pydict({name: pa.nulls(0) for name in wanted or schema.names})
        for batch in session.read(place.table, columns, place.order):
            yield min(done / max(n_rows, 1), 1.0), batch
            done += batch.num_rows
