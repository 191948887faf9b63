"""Which table: first whose rows, then a sample, a file, or a public data set by name."""

from __future__ import annotations

from typing import Any, BinaryIO

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.prepared import Prepared, prepared
from dpviz.app.data.reading import ask_reading
from dpviz.app.state import use_sample
from dpviz.errors import DpvizError, TableError
from dpviz.io.openml import fetch_openml, is_offline
from dpviz.io.samples import samples
from dpviz.io.tables.read import PACKINGS, TEXTS, TYPED, WORKBOOKS, has_header_line, read_table
from dpviz.io.text import MAX_BYTES, MAX_COLUMNS, MAX_ROWS
from dpviz.table.role import DataRole

MOST_MEGABYTES = MAX_BYTES // 1_000_000
_SAMPLE, _FILE, _OPENML = "A sample", "A file", "OpenML, by name"
#: Problems of a file that its owner can answer, so that it stays at hand.
_NO_SHEET, _REPEATED = frozenset({"several-sheets", "no-sheet"}), "duplicate-name"
_ASKS = _NO_SHEET | {_REPEATED}
_TRIED = "file-tried"
_WAYS = {
    DataRole.SIMULATED: (_SAMPLE, _FILE),
    DataRole.PUBLIC: (_SAMPLE, _FILE, _OPENML),
    DataRole.PRIVATE: (_FILE,),
}


def ask_role(work: Prepared) -> None:
    """Whose rows these are; the first question, because everything else depends on it."""
    roles = list(DataRole)
    st.radio(
        "Whose rows are these?",
        roles,
        index=roles.index(work.role),
        key="role",
        format_func=lambda role: str(role).capitalize(),
        captions=[parts.CONSEQUENCES[role] for role in roles],
        on_change=_change_role,
    )


def ask_table(work: Prepared) -> None:
    """A sample, a file or a public data set, whichever the role allows. Problems leave the table there was."""
    ways = tuple(way for way in _WAYS[work.role] if way != _OPENML or not is_offline())
    way = ways[0]
    if work.table is None and work.draft is not None:
        st.info("The draft below is as you left it. Choose its file again: rows are never kept.", icon=":material/restore_page:")
    if len(ways) > 1:
        first = _FILE if work.draft is not None and work.sample is None else _SAMPLE
        way = st.segmented_control(
            "Which table?",
            ways,
            default=first,
            required=True,
            key=f"way-{work.role}",
            on_change=_forget_problem,
            persist_state="session",
        )
    {_SAMPLE: _ask_sample, _FILE: _ask_file, _OPENML: _ask_openml}[way or ways[0]](work)
    if work.problem is not None:
        parts.error(work.problem, kept="What stands below is as it was." if work.draft else "The data in use are as they were.")


def _change_role() -> None:
    prepared().change_role(DataRole(st.session_state["role"]))


def _forget_problem() -> None:
    prepared().problem = None


def _ask_sample(work: Prepared) -> None:
    offered = {sample.name: sample for sample in samples() if sample.role == work.role}
    names = list(offered)
    st.selectbox(
        "Sample",
        names,
        index=names.index(work.sample) if work.sample in names else None,
        key=f"sample-{work.role}",
        format_func=lambda name: offered[name].title if name in offered else name,
        placeholder="Choose a sample",
        help="A sample comes with its schema and is used at once.",
        on_change=_use_sample,
        args=(f"sample-{work.role}",),
    )
    if work.sample in offered:
        st.caption(offered[work.sample].description)


def _use_sample(key: str) -> None:
    if st.session_state[key] is not None:
        now = use_sample(st.session_state[key])
        prepared().choose(now.title, now.table, SchemaDraft.of(now.schema, now.table.names), sample=now.sample)


def _ask_file(work: Prepared) -> None:
    """The file is parsed once; a new widget then takes the old one's place, so that its bytes are freed."""
    reading = ask_reading(work.role)
    count = st.session_state.setdefault("upload-count", 0)
    file = st.file_uploader(
        "Table",
        type=[ending.removeprefix(".") for ending in (*TEXTS, *WORKBOOKS, *TYPED, *PACKINGS)],
        key=f"upload-{count}",
        max_upload_size=MOST_MEGABYTES,
        help=f"CSV, TSV, Excel, Parquet, Feather, Stata or SPSS, also packed (.gz, .zip, .zst). At most {MOST_MEGABYTES} MB "
        f"before and after unpacking, {MAX_ROWS:,} rows, {MAX_COLUMNS:,} columns.",
    )
    st.caption(_WHEN_READ if work.role.may_read else f"{_WHEN_READ} {_PRIVATE_READ}")
    if file is None:
        return
    reading = reading if has_header_line(file.name) else {}
    if reading is None:
        return
    of_file, tried = st.session_state.get(_TRIED, ("", {}))
    if of_file == file.file_id:
        reading = reading | _ask_about(work.problem, file.file_id, tried)
    if (of_file, tried) != (file.file_id, reading):
        with st.spinner("Reading the file …"):
            _read_upload(work, file, reading)
        st.session_state[_TRIED] = (file.file_id, reading)
        if _code(work.problem) not in _ASKS:
            st.session_state["upload-count"] += 1
        st.rerun()


def _code(problem: DpvizError | None) -> str:
    return problem.code if isinstance(problem, TableError) else ""


def _ask_about(problem: DpvizError | None, file_id: str, tried: dict[str, Any]) -> dict[str, Any]:
    """What the problem of this file asks its owner for, beside what was answered before: arguments of `read_table`."""
    answers: dict[str, Any] = {name: tried[name] for name in ("sheet", "rename_duplicates") if name in tried}
    if _code(problem) in _NO_SHEET:
        sheet = st.text_input("Which sheet? Its name, or its place: 1, 2, …", key=f"sheet-{file_id}").strip()
        answers |= {"sheet": sheet} if sheet else {}
    if _code(problem) == _REPEATED and "names" not in tried:
        st.caption("The names stand in the first line. Renamed, the second “age” becomes “age (2)”, and so on.")
        if st.button("Rename them", key=f"rename-{file_id}", icon=":material/edit:"):
            answers["rename_duplicates"] = True
    return answers


_WHEN_READ = (
    "The file is read once, when you choose it. It stays in this app's memory on this machine; nothing is sent or stored."
)
_PRIVATE_READ = "From private rows only the column names are shown, and nothing is filled in."


def _read_upload(work: Prepared, file: BinaryIO, reading: dict[str, Any]) -> None:
    try:
        work.take(file.name, read_table(file, name=file.name, **reading))
    except DpvizError as problem:
        work.problem = problem


def _ask_openml(work: Prepared) -> None:
    name = st.text_input("Data set name on OpenML", key="openml", placeholder="adult", persist_state="session").strip()
    st.caption("The only button of this app that uses the internet: it asks openml.org for this data set.")
    clicked = st.button("Fetch from OpenML", disabled=not name, icon=":material/download:")
    parts.why_disabled("" if name else "Give a name first.")
    if clicked:
        with st.spinner("Fetching …"):
            _fetch(work, name)
        st.rerun()


def _fetch(work: Prepared, name: str) -> None:
    try:
        work.take(name, fetch_openml(name))
    except DpvizError as problem:
        work.problem = problem
