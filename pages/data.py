"""Page "Data": whose rows, which table, what is public about it, and what encoding did."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from weakref import ref

import streamlit as st

from dpviz.app import frame, parts, schema_editor, state
from dpviz.app.encoding_report import show_report
from dpviz.app.explorations import keep_unnoted
from dpviz.app.parts import escape_markdown, in_list
from dpviz.app.preparation import preparation
from dpviz.app.prose import prose
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.table_files import ask_file, ask_on_server, is_configured
from dpviz.app.widgets import one_of, show_chart
from dpviz.charts import as_python
from dpviz.charts.data import column_chart, overview
from dpviz.errors import DpvizError
from dpviz.evaluation.columns import profile_columns
from dpviz.io.samples import samples
from dpviz.learners.request import doubts
from dpviz.release.records import INSPECTION
from dpviz.release.register import Register
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from dpviz.table.schema import MAX_SOURCE_LENGTH

SAMPLE, FILE, SERVER = "A sample", "A file", "On the server"
#: Where rows of a role may come from.
WAYS = {DataRole.SIMULATED: (SAMPLE, FILE), DataRole.PUBLIC: (SAMPLE, FILE), DataRole.PRIVATE: (FILE, SERVER)}
#: Says after a rerun that a table has just been put into use.
JUST_USED = "just-used"

parts.page("Data", "What is public about your rows?")
work = preparation()


# --- which table: first whose rows, because everything else depends on it


def change_role() -> None:
    """At once, unless a private table would be shown: that is asked first, and changes nothing yet."""
    wished = DataRole(st.session_state["role"])
    if not work.would_uncover(wished):
        work.change_role(wished)


def ask_role() -> None:
    """Whose rows these are; a private table that another role would show is put aside only once that was agreed to."""
    roles = list(DataRole)
    captions = [parts.CONSEQUENCES[role] for role in roles]
    options = {"format_func": lambda role: str(role).capitalize(), "captions": captions, "on_change": change_role}
    st.radio("Whose rows are these?", roles, roles.index(work.role), key="role", **options)
    wished = st.session_state["role"]
    if work.would_uncover(wished):
        st.warning(prose("private", "put aside", role=str(wished)), icon=":material/front_hand:")
        with st.container(horizontal=True):
            stay = {"on_click": st.session_state.update, "args": ({"role": DataRole.PRIVATE},)}
            st.button("Stay with private rows", icon=":material/lock:", **stay)
            st.button(f"Close it, and continue with {wished} rows", on_click=work.change_role, args=(wished,))
    if work.role is DataRole.PRIVATE and not frame.checks_requests():
        parts.error(frame.unchecked_error("Private rows"))
        st.stop()


def ask_sample() -> None:
    """A bundled table, which is used at once."""
    offered = {sample.name: sample for sample in samples() if sample.role == work.role}
    names, key = list(offered), f"sample-{work.role}"

    def use_sample() -> None:
        if st.session_state[key] is not None:
            now = state.use_sample(st.session_state[key])
            draft = SchemaDraft.of(now.schema, now.table.names, person=now.person)
            work.choose(now.title, now.table, draft, sample=now.sample)

    words = "A sample comes with its schema and is used at once."
    options = {"placeholder": "Choose a sample", "help": words, "on_change": use_sample, "key": key}
    first = names.index(work.sample) if work.sample in names else None
    st.selectbox("Sample", names, first, format_func=lambda name: offered[name].title if name in offered else name, **options)
    if work.sample in offered:
        st.caption(offered[work.sample].description)


def ask_table() -> None:
    """A sample, a file or a table on the server, whichever the role allows. Problems leave the table there was."""
    ways = tuple(way for way in WAYS[work.role] if way != SERVER or is_configured())
    way = ways[0]
    if len(ways) > 1:

        def forget_problem() -> None:
            work.problem = None

        first = FILE if work.draft is not None and work.sample is None else ways[0]
        options = {"default": first, "on_change": forget_problem, "persist_state": "session"}
        way = one_of("Which table?", ways, key=f"way-{work.role}", **options)
    if way == SAMPLE:
        ask_sample()
    elif way == FILE:
        ask_file(work)
    else:
        ask_on_server(work)
    if work.problem is not None:
        parts.error(work.problem, kept="Nothing below has changed." if work.draft else "The data in use are as they were.")


# --- a look at rows that anyone may see


def look_at_columns() -> None:
    """The cells of every column, and one column in full; counted once per table."""
    if work.table is None or not work.role.may_read or not st.toggle("Look at the columns", key="look", persist_state="session"):
        return
    known, looks = st.session_state.get("columns-looked-at", (lambda: None, ()))
    if known() is not work.table:
        with st.spinner("Counting the cells …"):
            looks = profile_columns(work.table, work.role)
        st.session_state["columns-looked-at"] = (ref(work.table), looks)
    bars, ends = (
        "Bins of a number from left to right, or values by frequency.",
        "The ends of a number, or the most frequent values.",
    )
    columns = {
        "column": st.column_config.TextColumn("Column", pinned=True, width="medium"),
        "cells": st.column_config.BarChartColumn("Cells", help=bars, y_min=0),
        "values": st.column_config.TextColumn("Values", width="large", help=ends),
        "missing": st.column_config.NumberColumn("Missing", format="%.1f%%", width="small"),
    }
    rows = [{**row, "column": in_list(row["column"]), "values": in_list(row["values"])} for row in overview(looks)]
    alt = "One row per column: its cells as bars, its values, the share of missing cells."
    height = round(38 + 35 * min(len(rows), 12.5))
    st.dataframe(rows, hide_index=True, column_config=columns, height=height, alt=alt)
    names = [look.name for look in looks]
    target = None if work.draft is None else work.draft.target
    first = names.index(target) if target in names else len(names) - 1
    name = st.selectbox("Column in full", names, index=first, key=f"look-at-{work.revision}", format_func=in_list)
    look = looks[names.index(name)]
    if look.counts:
        show_chart(column_chart(look), "look-chart")
    else:
        st.caption(f"Every cell of {parts.as_code(look.name)} is missing.")


# --- the schema checked against the rows, before they are used


def check(draft: SchemaDraft) -> None:
    """Encode the rows by the draft and keep the report. A look at private rows is noted. Raises DpvizError."""
    assert work.table is not None
    schema = draft.schema()
    data = encode(work.table, schema, person=draft.person)
    if not work.role.may_read:
        try:
            Register().note_inspection(INSPECTION, data)
        except DpvizError as problem:
            keep_unnoted(problem)
        work.draft = draft.looked_at()
    work.checked = (schema, data.report, doubts(data))


def ask_check(draft: SchemaDraft, why_not: str) -> None:
    """How many rows fit the schema, and what becomes of the cells; of private rows after a consent."""
    with st.expander("Check the schema against the rows", expanded=not work.role.may_read, icon=":material/rule:"):
        consents = work.role.may_read
        if not consents:
            st.caption(prose("data", "check"))
            consents = st.checkbox("I may see these rows, and know what follows", key=f"check-{work.revision}")
        clicked = st.button("Check against the rows", disabled=bool(why_not) or not consents, icon=":material/rule:")
        parts.why_disabled(why_not or ("" if consents else "Tick the box first."))
        if clicked:
            try:
                with st.spinner("Encoding the rows …"):
                    check(draft)
            except DpvizError as problem:
                parts.error(problem, kept="Nothing was looked at.")
            else:
                st.rerun()  # what stands above may count as read from the data from now on
        if work.checked is not None:
            schema, report, found = work.checked
            try:
                is_same = not draft.gaps() and replace(draft.schema(), source="") == replace(schema, source="")
            except DpvizError:
                is_same = False
            if not is_same:
                st.caption("The schema has changed since this look; check again to see what follows.")
            for sentence in found:
                st.warning(escape_markdown(sentence), icon=":material/front_hand:")
            if report is not None:
                show_report(report, schema)
        if not work.role.may_read:
            ask_source(draft)


def ask_source(draft: SchemaDraft) -> None:
    """What changed since the look, where it is known from without the rows, and the way back."""
    key = f"source-{work.revision}"

    def take_source() -> None:  # before the grids above are drawn
        if work.draft is not None:
            work.draft = replace(work.draft, source=" ".join(st.session_state[key].split()))

    label, words = "Public source of what is corrected after a look", "such as: codebook of 2024, page 12"
    options = {"max_chars": MAX_SOURCE_LENGTH, "placeholder": words, "key": key, "help": prose("data", "source")}
    st.text_input(label, draft.source, on_change=take_source, **options)
    if draft == draft.before_look():
        return
    count = draft.read_fields()
    if count:
        words = f"{count:,} value{'s'[: count != 1]} changed after the look. Name the public source: a release refuses"
        st.warning(f"{words} {'them' if count != 1 else 'it'} without one.", icon=":material/visibility:")
    elif draft.before is not None:
        st.info("What changed after the look counts as declared. The report prints its source.", icon=":material/menu_book:")
    back = partial(work.replace_draft, draft.before_look())
    st.button("Put back what was declared before the look", on_click=back, icon=":material/undo:")


# --- into use


def is_in_use(draft: SchemaDraft) -> bool:
    """Whether the data in use are this table by this schema."""
    now = state.data_in_use()
    if now.table is not work.table or now.role is not work.role or now.person != draft.person:
        return False
    try:
        return draft.schema() == now.schema
    except DpvizError:
        return False  # the button then shows the problem


def put_into_use(draft: SchemaDraft) -> None:
    """Encode the table by the draft and use it. Raises DpvizError; then the data in use stay."""
    assert work.table is not None
    schema, now = draft.schema(), state.data_in_use()
    # a sample with an edited schema is no longer what its name in the address would bring back
    sample = work.sample if (now.sample, now.schema) == (work.sample, schema) else None
    state.use(work.role, work.title, work.table, schema, sample, person=draft.person)


def ask_to_use(draft: SchemaDraft, why_not: str) -> None:
    """The button that puts table and schema into use; when it cannot, the sentence that says why."""
    if st.session_state.pop(JUST_USED, False):
        st.toast("In use now.", icon=":material/check:")
    is_used = is_in_use(draft)
    why_not = why_not or ("This is the data in use; the other pages follow it." if is_used else "")
    with st.container(horizontal=True, vertical_alignment="center"):
        clicked = st.button("Use this data", type="primary", disabled=bool(why_not), icon=":material/check:")
        if is_used:
            frame.next_page_button("data")
    parts.why_disabled(why_not)
    if clicked:
        try:
            with st.spinner("Encoding the rows …"):
                put_into_use(draft)
        except DpvizError as problem:
            parts.error(problem, kept=f"The data in use are as they were: {escape_markdown(state.data_in_use().title)}.")
        else:
            st.session_state[JUST_USED] = True  # a toast of this run would vanish with it
            st.rerun()


ask_role()
ask_table()
if work.draft is not None:
    st.divider()
    look_at_columns()
    schema_editor.ask_schema(work)
    files = st.container()
    schema_editor.ask_columns(work)
    with files:  # filled last: what is downloaded is what the grids say now
        schema_editor.ask_schema_file(work)
    why_not = "Choose a table first." if work.table is None else schema_editor.missing_text(work.draft)
    ask_check(work.draft, why_not)
    ask_to_use(work.draft, why_not)

now = state.data_in_use()
if now.data.report is not None and now.role is not DataRole.PRIVATE:  # whose exact counts no ε covers
    st.divider()
    st.header("Rows used and dropped", anchor=False)
    st.caption(f"Of the rows in use: {escape_markdown(now.title)}.")
    show_report(now.data.report, now.schema)
frame.as_python(partial(as_python.data, state.rows_read()))
