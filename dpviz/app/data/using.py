"""From a finished draft to the data in use: the line on top, the button, and what encoding did to the rows."""

import streamlit as st

from dpviz.app import frame, parts
from dpviz.app.data.prepared import Prepared, prepared
from dpviz.app.data.report import show_report
from dpviz.app.data.schema_editor import missing_text
from dpviz.app.state import Loaded, loaded, use
from dpviz.errors import DpvizError
from dpviz.table.role import DataRole

_JUST_USED = "just-used"


def data_line(now: Loaded) -> None:
    """The line on top of the Data page: the table being declared; where that is the one in use, the line of every page."""
    work = prepared()
    if work.draft is None or (work.table is now.table and work.role is now.role):
        parts.data_line(now)
        return
    title = parts.plain(work.title) if work.title else "A draft, its file not chosen yet"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        parts.role_badge(work.role)
        st.markdown(
            f"**{title}** · {len(work.draft.columns):,} columns · being declared; other pages still use {parts.plain(now.title)}",
            width="content",
        )


def ask_to_use(work: Prepared) -> None:
    """The button that puts table and schema into use; when it cannot, the sentence that says why."""
    if st.session_state.pop(_JUST_USED, False):
        st.toast("In use now.", icon=":material/check:")
    why_not = why_not_used(work)
    with st.container(horizontal=True, vertical_alignment="center"):
        clicked = st.button("Use this data", type="primary", disabled=bool(why_not), icon=":material/check:")
        if _in_use(work):
            frame.go_on("data")
    parts.why_disabled(why_not)
    if clicked:
        try:
            with st.spinner("Encoding the rows …"):
                put_into_use(work)
        except DpvizError as problem:
            parts.error(problem, kept=f"The data in use are as they were: {parts.plain(loaded().title)}.")
        else:
            st.session_state[_JUST_USED] = True  # a toast of this run would vanish with it
            st.rerun()


def put_into_use(work: Prepared) -> Loaded:
    """Encode the table by the draft and use it. Raises DpvizError; then the data in use stay."""
    if work.table is None or work.draft is None:
        raise DpvizError("There is no table.", remedy="Choose one first.")
    schema = work.draft.schema()
    now, persons = loaded(), {"person": work.draft.person, "rows_per_person": work.draft.rows_per_person}
    # a sample with an edited schema is no longer what its name in the URL would bring back
    sample = work.sample if (now.sample, now.schema) == (work.sample, schema) else None
    return use(work.role, work.title, work.table, schema, sample, **persons)  # type: ignore[arg-type]


def why_not_used(work: Prepared) -> str:
    """Why the table cannot be put into use, as Markdown: something is missing, or it is in use; empty when it can."""
    return why_not_encoded(work) or ("This is the data in use; the other pages follow it." if _in_use(work) else "")


def why_not_encoded(work: Prepared) -> str:
    """What is missing before the rows can be encoded, as Markdown; empty when nothing is."""
    if work.table is None or work.draft is None:
        return "Choose a table first."
    return missing_text(work.draft)


def _in_use(work: Prepared) -> bool:
    now = loaded()
    if now.table is not work.table or now.role is not work.role or work.draft is None:
        return False
    if (now.person, now.data.rows_per_person) != (work.draft.person, work.draft.rows_per_person):
        return False
    try:
        return work.draft.schema() == now.schema
    except DpvizError:
        return False  # the button then shows the problem


def show_encoding(now: Loaded) -> None:
    """What encoding did to the rows in use. Exact counts are private, so for private rows they are not shown."""
    report = now.data.report
    if report is None:
        return
    st.header("Rows used and dropped", anchor=False)
    st.caption(f"To the rows in use: {parts.plain(now.title)}.")
    if now.role is DataRole.PRIVATE:
        st.caption("Not shown: counts of private rows are exact, and no ε covers them.")
        return
    show_report(report, now.schema)
