"""Rows to be predicted, from a file: teaches `dpviz.table.new_rows.table_of` to read files."""

import io
from collections.abc import Sequence
from pathlib import Path

from dpviz.io.tables.read import read_table
from dpviz.io.text import Source
from dpviz.table.new_rows import table_of
from dpviz.table.raw import RawTable


@table_of.register(str)
@table_of.register(Path)
@table_of.register(bytes)
@table_of.register(io.IOBase)
def read_new_rows(rows: Source, names: Sequence[str]) -> RawTable:
    """The table of a file that holds its column names; raises TableError."""
    return read_table(rows)
