"""A look at rows that anyone may see: the cells of every column, the balance of the classes, the share of missing cells."""

from weakref import ref

import streamlit as st

from dpviz.app.data.prepared import Prepared
from dpviz.app.parts import in_list, literal
from dpviz.app.widgets import show_chart
from dpviz.evaluation.data.columns import ColumnLook, look_at
from dpviz.figures.data import column_chart, overview

_LOOK = "columns-looked-at"
_MOST_ROWS = 12.5


def offer_look(work: Prepared) -> None:
    """A switch, and behind it every column; nothing for private rows."""
    if work.table is None or not work.role.may_read:
        return
    if st.toggle("Look at the columns", key="look", persist_state="session"):
        looks = _looks(work)
        _show_all(looks)
        _show_one(looks, work)


def _looks(work: Prepared) -> tuple[ColumnLook, ...]:
    """Counted once per table."""
    known, looks = st.session_state.get(_LOOK, (lambda: None, ()))
    if known() is not work.table and work.table is not None:
        with st.spinner("Counting the cells …"):
            looks = look_at(work.table, work.role)
        st.session_state[_LOOK] = (ref(work.table), looks)
    return looks


def _show_all(looks: tuple[ColumnLook, ...]) -> None:
    columns = {
        "column": st.column_config.TextColumn("Column", pinned=True, width="medium"),
        "cells": st.column_config.BarChartColumn(
            "Cells", help="Bins of a number from left to right, or values by frequency.", y_min=0
        ),
        "values": st.column_config.TextColumn("Values", width="large", help="The ends of a number, or the most frequent values."),
        "missing": st.column_config.NumberColumn("Missing", format="%.1f %%", width="small"),
    }
    rows = [{**row, "column": in_list(row["column"]), "values": in_list(row["values"])} for row in overview(looks)]
    height = round(38 + 35 * min(len(rows), _MOST_ROWS))
    alt = "One row per column: its cells as bars, its values, the share of missing cells."
    st.dataframe(rows, hide_index=True, column_config=columns, height=height, alt=alt)


def _show_one(looks: tuple[ColumnLook, ...], work: Prepared) -> None:
    names = [look.name for look in looks]
    target = work.draft.target if work.draft is not None else None
    first = names.index(target) if target in names else len(names) - 1
    name = st.selectbox("Column in full", names, index=first, key=f"look-at-{work.revision}", format_func=in_list)
    look = looks[names.index(name)]
    if look.counts:
        show_chart(column_chart(look), "look-chart")
    else:
        st.caption(f"Every cell of {literal(look.name)} is missing.")
