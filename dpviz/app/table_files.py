"""A file, from the browser or the server, to a table: read off the page, and asked about where its owner can answer."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.app import background, parts
from dpviz.app.preparation import Preparation
from dpviz.app.prose import prose
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.state import require_not_private
from dpviz.errors import DpvizError, TableError
from dpviz.io.csv import DELIMITERS
from dpviz.io.limits import MAX_BYTES, MAX_ROWS, in_words
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import table_of_arrow
from dpviz.io.tables.folder import FolderFile, files_in
from dpviz.io.tables.read import has_header_line, read_table
from dpviz.io.text import ENCODINGS, UTF16
from dpviz.progress import Progress, Stop, watch
from dpviz.rows.address import is_address, parse_address
from dpviz.rows.opening import read_columns
from dpviz.table.raw import RawTable, note_left_out
from dpviz.table.role import DataRole
from dpviz.table.sums import sum_table

#: Problems of a file that its owner can answer, so that it stays at hand.
_NO_SHEET, _REPEATED = frozenset({"several-sheets", "no-sheet"}), "duplicate-name"
_ASKS = _NO_SHEET | {_REPEATED}
_HEADER, _ROW = "Column names", "The first row"
_TRIED, _BEGUN = "file-tried", "file-begun"
#: Files that are read within this time need no progress.
_SECONDS = 1.0


def ask_file(work: Preparation) -> None:
    """The file is read once; a new widget then takes the old one's place, so that its bytes are freed."""
    reading = _ask_reading(work.role)
    count = st.session_state.setdefault("upload-count", 0)
    kinds = "CSV, TSV, Excel, Parquet, Feather, Stata or SPSS, also packed (.gz, .zip, .zst)."
    most = max(1, min(MAX_BYTES >> 20, int(st.get_option("server.maxUploadSize"))))  # of tables, and of this server
    # any file may be chosen: the reader says of one that is no table what it is and what to do
    file = st.file_uploader("Table", key=f"upload-{count}", max_upload_size=most)
    st.caption(f"{kinds} {prose('data', 'when a file is read')} {in_words()}")
    if work.table is not None and work.sample is None:
        st.markdown(f":material/draft: **{parts.escape_markdown(work.title)}** is chosen. Another file takes its place.")
    if file is not None:
        read = partial(read_table, file, name=file.name)
        _go_on(work, _Given(file.file_id, file.name, has_header_line(file.name), read), reading)


def ask_on_server(work: Preparation) -> None:
    """A table that the server's configuration offers."""
    try:
        offered = tables_on_server()
    except DpvizError as problem:
        parts.error(problem, kept="The data in use are as they were.")
        return
    reading = _ask_reading(work.role) if any(table.has_header_line for table in offered.values()) else {}
    count = st.session_state.setdefault("upload-count", 0)
    chosen = st.selectbox("Table on the server", offered, index=None, key=f"server-{count}", placeholder="Choose a table")
    st.caption(f"{prose('data', 'from the server')} {in_words()}")
    table = offered.get(chosen) if chosen else None
    if table is not None:
        _go_on(work, _Given(f"{count} {chosen}", table.name, table.has_header_line, table.read), reading)


@dataclass(frozen=True)
class _Given:
    """A file that was chosen; `file_id` is another one whenever it is chosen again."""

    file_id: str
    name: str
    has_header_line: bool
    read: Callable[..., RawTable]


def _go_on(work: Preparation, file: _Given, reading: dict[str, Any] | None) -> None:
    """Read a chosen file, once its owner has answered what it asks."""
    reading = reading if file.has_header_line else {}
    if reading is None:
        st.warning(prose("private", "waits", name=parts.escape_markdown(file.name)), icon=":material/hourglass_top:")
        return
    of_file, tried = st.session_state.get(_TRIED, ("", {}))
    if of_file == file.file_id:
        reading = reading | _ask_about(work.problem, file.file_id, tried)
    else:
        work.problem = None  # of another file
    begun = st.session_state.get(_BEGUN, ("", {}))
    if begun[0] == file.file_id:  # an answer given by a button holds for one run only
        reading = begun[1]
    if (of_file, tried) != (file.file_id, reading):
        _read(work, file, reading)


def _read(work: Preparation, file: _Given, reading: dict[str, Any]) -> None:
    key = "reading", file.file_id, repr(sorted(reading.items()))
    task = background.in_one("reading", key, partial(file.read, **reading), priority="short")
    st.session_state[_BEGUN] = (file.file_id, reading)
    status = background.autostart(task, _SECONDS)
    if status.job is not None:
        background.watch(task, "Reading the file")
        return
    stopped = DpvizError("Reading was stopped.", remedy="Choose the file again to read it.")
    work.problem = next(iter(status.problems), None if status.values else stopped)
    for table in status.values:
        try:
            require_not_private(work.role, table.fingerprint, sum_table(table))
            work.choose(file.name, table, SchemaDraft.blank(table.names))
        except DpvizError as problem:
            work.problem = problem
    background.forget(task)
    del st.session_state[_BEGUN]
    st.session_state[_TRIED] = (file.file_id, reading)
    if getattr(work.problem, "code", "") not in _ASKS:
        st.session_state["upload-count"] += 1
    st.rerun()


def _ask_about(problem: DpvizError | None, file_id: str, tried: dict[str, Any]) -> dict[str, Any]:
    """What the problem of this file asks its owner for, beside what was answered before: arguments of `read_table`."""
    answers: dict[str, Any] = {name: tried[name] for name in ("sheet", "rename_duplicates") if name in tried}
    if getattr(problem, "code", "") in _NO_SHEET:
        sheet = st.text_input("Which sheet? Its name, or its place: 1, 2, …", key=f"sheet-{file_id}").strip()
        answers |= {"sheet": sheet} if sheet else {}
    if getattr(problem, "code", "") == _REPEATED and "names" not in tried:
        st.caption("The names are in the first line. Renamed, the second “age” becomes “age (2)”, and so on.")
        if st.button("Rename them", key=f"rename-{file_id}", icon=":material/edit:"):
            answers["rename_duplicates"] = True
    return answers


# --- how text and sheets are read: what the first line holds, and where that is a row, everything a header would have said


def _ask_reading(role: DataRole) -> dict[str, Any] | None:
    """Arguments of `read_table`; None until the owner has answered.

    What a header holds is shown as column names. For private rows nothing is taken for a header unless the owner says so.
    """
    options = {"index": 0 if role.may_read else None, "horizontal": True, "key": f"first-line-{role}"}
    first = st.radio("What does the first line of a text file or sheet hold?", (_HEADER, _ROW), **options)
    if first == _HEADER:
        return {}
    if first is None:
        parts.why_disabled(prose("private", "first line"))
        return None
    text = st.text_area("Column names, in order", key="names", placeholder="age\nward\noutcome", help="One per line.")
    marks, encodings = st.columns(2)
    delimiter = marks.selectbox("Cells are separated by", list(DELIMITERS), format_func=DELIMITERS.__getitem__, key="delimiter")
    known, which = (*ENCODINGS, *UTF16), "cp1252 is what Excel on Windows writes, utf-16-le its “Unicode text”."
    encoding = encodings.selectbox("Encoding", known, key="encoding", help=which)
    names = [name.strip() for name in text.split("\n") if name.strip()]
    parts.why_disabled("" if names else "Give the column names first.")
    return {"names": names, "delimiter": delimiter, "encoding": encoding} if names else None


# --- tables that the server offers as private rows: files of its folders, and tables in engines. DPVIZ_TABLES names
# them, one folder or address a line, in the environment or at the top of Streamlit's secrets.toml. What is named there, such as
# PGPASSWORD, is found by the engines' drivers. The browser only chooses among what is listed.


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

        step, batches, n_bytes = watch(progress, stop), [], 0
        for share, batch in read_columns(self.address, MAX_ROWS):
            step(share)
            batches.append(batch)
            n_bytes += batch.nbytes
            if n_bytes > MAX_BYTES:
                what = f"The table is larger than {MAX_BYTES / 1e6:,.0f} MB, the most for this machine's memory."
                raise TableError("too-many-bytes", what, remedy="Train where its rows are: dpviz train ADDRESS --schema FILE.")
        names = batches[0].schema.names
        table = table_of_arrow(pa.Table.from_batches(batches[1:] or batches), ReadOptions(self.name))
        return replace(table, notes=note_left_out([name for name in names if name not in table.names]))


OnServer = FolderFile | _InEngine


def is_configured() -> bool:
    """Whether the server offers any place."""
    return any(_configured())


def tables_on_server() -> dict[str, OnServer]:
    """What is offered, by what it is called on the page. Raises DpvizError where the configuration is wrong."""
    found: list[OnServer] = []
    for number, line in enumerate(_configured(), start=1):
        try:
            if is_address(line):  # refused with a password, which is not quoted
                found.append(_InEngine(".".join(parse_address(line).table), line.partition("?")[0], line))
            elif line:
                found += files_in(line)
        except DpvizError as problem:
            raise DpvizError(problem.what, where=f"line {number} of {VARIABLE}", remedy=problem.remedy) from None
    return {f"{table.name} ({table.place})": table for table in found}


def _configured() -> list[str]:
    st.secrets.load_if_toml_exists()  # Streamlit hands on to the environment what stands at the top of it
    return [line.strip() for line in os.environ.get(VARIABLE, "").splitlines()]
