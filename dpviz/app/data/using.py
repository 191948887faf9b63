"""From a finished draft to the data in use, and what encoding did to its rows."""

from __future__ import annotations

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.prepared import Prepared
from dpviz.app.data.schema_editor import missing_text
from dpviz.app.state import Loaded, loaded, use
from dpviz.errors import DpvizError
from dpviz.table.dataset import EncodingReport
from dpviz.table.role import DataRole

_JUST_USED = "just-used"
#: Fields of EncodingReport with counts by column: (what happened, of what).
_COUNTED = {
    "dropped_missing": ("Rows dropped: missing value", "rows"),
    "dropped_unknown": ("Rows dropped: unknown category or no number", "rows"),
    "dropped_target": ("Rows dropped: no declared class, or no number to predict", "rows"),
    "clipped": ("Moved into the declared range", "cells"),
    "rounded": ("Rounded to whole numbers", "cells"),
    "unknown_mapped": ("Unknown text replaced", "cells"),
    "missing_mapped": ("Missing value replaced", "cells"),
}


def ask_to_use(work: Prepared) -> None:
    """The button that puts table and schema into use; when it cannot, the sentence that says why."""
    if st.session_state.pop(_JUST_USED, False):
        st.toast("In use now.", icon=":material/check:")
    why_not = _why_not(work)
    clicked = st.button("Use this data", type="primary", disabled=bool(why_not), icon=":material/check:")
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
    sample = work.sample if work.sample is not None and _is_as_delivered(work, schema) else None
    persons = (work.draft.person, work.draft.rows_per_person)
    return use(work.role, work.title, work.table, schema, sample, person=persons[0], rows_per_person=persons[1])


def _is_as_delivered(work: Prepared, schema: object) -> bool:
    """A sample with an edited schema is no longer what its name in the URL would bring back."""
    now = loaded()
    return now.sample == work.sample and now.schema == schema


def _why_not(work: Prepared) -> str:
    if work.table is None or work.draft is None:
        return "Choose the file above again; its rows are never kept." if work.draft else "Choose a table first."
    missing = missing_text(work.draft)
    return missing or ("This is the data in use; the other pages follow it." if _in_use(work) else "")


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
    st.header("What encoding did", anchor=False)
    st.caption(f"To the rows in use: {parts.plain(now.title)}.")
    if now.role is DataRole.PRIVATE:
        st.caption("Not shown: counts of private rows are exact, and no ε covers them.")
        return
    _show_report(now, report)


def _show_report(now: Loaded, report: EncodingReport) -> None:
    dropped = report.rows_read - report.rows_kept
    share = f" ({dropped / report.rows_read:.1%})" if dropped else ""
    st.markdown(f"**{report.rows_kept:,}** of {report.rows_read:,} rows are used; {dropped:,} dropped{share}.")
    if report.malformed:
        st.caption(f"{report.malformed:,} lines are no rows: another number of cells, or a quote that is never closed.")
    if report.over_limit:
        st.caption(f"{report.over_limit:,} rows of persons who have more than are kept of each.")
    counts = report_rows(report)
    if counts:
        import pandas as pd

        frame = pd.DataFrame(counts, columns=["What happened", "Column", "Count", "Of"])
        st.dataframe(frame, hide_index=True, alt="What encoding changed or dropped, by column.", height="content")
    else:
        st.caption("No cell was changed.")
    if report.ignored_columns:
        st.caption(f"Columns left out: {parts.names_text(list(report.ignored_columns), most=20)}.")


def report_rows(report: EncodingReport) -> list[tuple[str, str, int, str]]:
    """(what happened, column, count, of what) for everything that happened."""
    return [(text, column, count, unit) for field, (text, unit) in _COUNTED.items() for column, count in getattr(report, field)]
