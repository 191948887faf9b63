"""What encoding did to the rows, column by column, on screen."""

import streamlit as st

from dpviz.app import parts
from dpviz.app.prose import prose
from dpviz.app.widgets import rows_table
from dpviz.charts.wording import percent
from dpviz.table.dataset import EncodingReport
from dpviz.table.dates import DateFeature
from dpviz.table.notes import Interface, note_text
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, Schema, Target

#: Field of EncodingReport with counts by column -> (what is wrong with these cells, what follows); {unfit}: of the column's kind.
_COUNTED = {
    "dropped_target": ("{unfit}", "their rows are left out"),
    "dropped_unknown": ("{unfit}", "their rows are left out"),
    "dropped_missing": ("are missing", "their rows are left out"),
    "unknown_mapped": ("{unfit}", "they are replaced"),
    "missing_mapped": ("are missing", "they are replaced"),
    "clipped": ("lie outside the range", "they are moved to its end"),
    "rounded": ("are no whole numbers", "they are rounded"),
}


def show_report(report: EncodingReport, schema: Schema) -> None:
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
    counts = _report_rows(report, schema)
    if counts:
        rows_table(counts, "How many cells of each column do not fit, and what follows.")
    else:
        st.caption("No cell was changed.")
    for note in report.unread:
        st.warning(parts.escape_markdown(note_text(note, Interface.SCREEN)), icon=":material/help:")
    if report.dropped_unknown:
        st.caption(prose("data", "how to keep rows"))
    if report.ignored_columns:
        st.caption(f"Columns left out: {parts.names_text(list(report.ignored_columns), limit=20)}.")


def _report_rows(report: EncodingReport, schema: Schema) -> list[dict[str, str]]:
    """Which cells do not fit, by column, most first: a share of all rows with its count, what is wrong, what follows."""
    unfit = {column.name: _unfit(column) for column in (*schema.features, schema.target)}
    found = [(count, name, *words) for field, words in _COUNTED.items() for name, count in getattr(report, field)]
    return [
        {
            "Column": parts.in_list(name),
            "Cells": f"{percent(count / max(1, report.rows_read))} ({count:,})",
            "Fault": wrong.format(unfit=unfit.get(name, "name nobody")),
            "What follows": then,
        }
        for count, name, wrong, then in sorted(found, key=lambda item: -item[0])
    ]


def _unfit(column: Feature | Target) -> str:
    match column:
        case CategoricalFeature():
            return "match no category"
        case ClassTarget():
            return "match no class"
        case DateFeature():
            return "are no date"
    return "are no number"
