"""Tables that the server's configuration offers as private rows: files of its folders, and tables in engines.

DPVIZ_TABLES names them, one folder or address a line, in the environment or at the top of Streamlit's secrets.toml. What is named
there, such as PGPASSWORD, is found by the engines' drivers. The browser only chooses among what is listed.
"""

import os
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError, TableError
from dpviz.io.limits import MAX_BYTES, MAX_ROWS
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import table_of_arrow
from dpviz.io.tables.folder import FolderFile, files_in
from dpviz.progress import Progress, Stop, watched
from dpviz.rows.address import is_address, parse_address
from dpviz.rows.opening import read_columns
from dpviz.table.raw import RawTable

VARIABLE = "DPVIZ_TABLES"


@dataclass(frozen=True)
class _InEngine:
    """A table at an address. Its rows come here, as a file's do."""

    name: str
    place: str
    address: str
    has_header_line = False

    def read(self, *, progress: Progress | None = None, stop: Stop | None = None, **reading: Any) -> RawTable:
        import pyarrow as pa

        step, batches, n_bytes = watched(progress, stop), [], 0
        for share, batch in read_columns(self.address, MAX_ROWS):
            step(share)
            batches.append(batch)
            n_bytes += batch.nbytes
            if n_bytes > MAX_BYTES:
                what = f"The table is larger than {MAX_BYTES / 1e6:,.0f} MB, the most for this machine's memory."
                raise TableError("too-many-bytes", what, remedy="Train where its rows are: dpviz train ADDRESS --schema FILE.")
        return table_of_arrow(pa.Table.from_batches(batches[1:] or batches), ReadOptions(self.name))  # the first has names alone


OnServer = FolderFile | _InEngine


def is_configured() -> bool:
    """Whether the server offers any place."""
    return any(_configured())


def tables_on_server() -> dict[str, OnServer]:
    """What is offered, by what it is called on the page. Raises DpvizError where the configuration is wrong."""
    found: list[OnServer] = []
    for number, line in enumerate(_configured(), start=1):
        try:
            found += [_in_engine(line)] if is_address(line) else files_in(line) if line else []
        except DpvizError as problem:
            raise DpvizError(problem.what, where=f"line {number} of {VARIABLE}", remedy=problem.remedy) from None
    return {f"{table.name} ({table.place})": table for table in found}


def _configured() -> list[str]:
    st.secrets.load_if_toml_exists()  # Streamlit hands on to the environment what stands at the top of it
    return [line.strip() for line in os.environ.get(VARIABLE, "").splitlines()]


def _in_engine(address: str) -> _InEngine:
    """Raises EngineError, also for an address with a password, which it does not quote."""
    return _InEngine(".".join(parse_address(address).table), address.partition("?")[0], address)
