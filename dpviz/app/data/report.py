"""What encoding did to the rows, column by column, on screen."""

import streamlit as st

from dpviz.app import parts
from dpviz.app.prose import prose
from dpviz.app.widgets import rows_table
from dpviz.table.dataset import EncodingReport

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


def show_report(report: EncodingReport) -> None:
    """Rows used, dropped and unchanged, and what happened to the cells of each column. Exact: for whoever may see it."""
    dropped = report.rows_read - report.rows_kept
    share = f" ({dropped / report.rows_read:.1%})" if dropped else ""
    is_said = report.unchanged is not None and report.unchanged < report.rows_kept  # else it is said below
    unchanged = f" {report.unchanged:,} rows are used without a changed cell." if is_said else ""
    lost = f"{dropped:,} dropped{share}" if dropped else "none dropped"
    st.markdown(f"**{report.rows_kept:,}** of {report.rows_read:,} rows are used; {lost}.{unchanged}")
    if report.malformed:
        st.caption(f"{report.malformed:,} lines are no rows: another number of cells, or a quote that is never closed.")
    if report.over_limit:
        st.caption(f"{report.over_limit:,} rows of persons who have more than are kept of each.")
    counts = report_rows(report)
    if counts:
        rows_table(counts, "What encoding changed or dropped, by column.")
    else:
        st.caption("No cell was changed.")
    if report.dropped_unknown:
        st.caption(prose("data", "how to keep rows"))
    if report.ignored_columns:
        st.caption(f"Columns left out: {parts.names_text(list(report.ignored_columns), most=20)}.")


def report_rows(report: EncodingReport) -> list[dict[str, str | int]]:
    """What happened, in which column, how often, to what."""
    return [
        {"What happened": text, "Column": parts.in_list(column), "Count": count, "Of": unit}
        for field, (text, unit) in _COUNTED.items()
        for column, count in getattr(report, field)
    ]
