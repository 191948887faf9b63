"""A table of a DuckDB file, in Arrow batches. Only tables that the file holds: a view may be text that DuckDB would read its way.

The file is opened for reading alone, and DuckDB may open no other: it can neither write next to it nor reach another place.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from dpviz.errors import TableError
from dpviz.installation import require_extra
from dpviz.io.csv_lines import check_names
from dpviz.io.exports.sql_names import identifier
from dpviz.io.large.arrow import table_of_batch
from dpviz.io.large.pieces import Pieces, Reading
from dpviz.io.limits import MAX_COLUMNS
from dpviz.io.tables.arrow import flat_columns, table_of_arrow
from dpviz.io.tables.cells import in_our_words
from dpviz.progress import Progress
from dpviz.table.raw import RawTable
from dpviz.training.counting.on_disk import rows_at_once


def duckdb_pieces(path: Path, reading: Reading) -> Pieces:
    """A DuckDB file; raises TableError."""
    require_extra("duckdb", "Reading a DuckDB file", "duckdb", "pyarrow")
    with in_our_words("DuckDB file"), closing(_opened(path)) as base:
        table = _table(base, reading.sheet)
        schema = _batches(base, f"select * from {table} limit 0").schema
        check_names(list(schema.names), MAX_COLUMNS)
        names = tuple(flat_columns(schema))
    wanted = names if reading.wanted is None else tuple(name for name in names if name in reading.wanted)

    def read(step: Progress) -> Iterator[RawTable]:
        with in_our_words("DuckDB file"), closing(_opened(path)) as base:
            ((n_rows,),) = base.execute(f"select count(*) from {table}").fetchall()
            done, columns = 0, ", ".join(map(identifier, wanted))
            reader = _batches(base, f"select {columns} from {table}", rows_at_once(len(wanted)))
            if not n_rows:
                yield table_of_arrow(reader.schema.empty_table(), path.name)
            for batch in reader:
                step(done / max(n_rows, 1))
                done += batch.num_rows
                yield table_of_batch(batch, path.name)

    return Pieces(path.name, names, read)


def _opened(path: Path) -> Any:
    import duckdb

    settings = {"enable_external_access": "false", "autoload_known_extensions": "false", "threads": "2"}
    return duckdb.connect(str(path), read_only=True, config=settings)


def _batches(base: Any, query: str, n_rows: int = 1) -> Any:
    """An Arrow reader of the rows, in the order in which they are stored."""
    found = base.sql(query)
    return (getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader)(n_rows)  # its name before version 2


def _table(base: Any, asked: str | None) -> str:
    """The table's quoted name; raises TableError unless it is named or the only one. Names are public, cells are not shown."""
    found = base.execute("select schema_name, table_name from duckdb_tables() where not internal order by all").fetchall()
    named = [(schema, name) for schema, name in found if asked in (None, name, f"{schema}.{name}")]
    if len(named) == 1:
        return ".".join(map(identifier, named[0]))
    listed = ", ".join(repr(name) for _, name in found[:20]) or "none"
    what = f"The file holds these tables: {listed}." if asked is None else f"The file has no single table {asked!r}: {listed}."
    raise TableError("several-tables", what, remedy="Name one of them (sheet=..., --sheet on the command line).")
