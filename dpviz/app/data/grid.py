"""An editable grid of columns that never loses an edit.

Streamlit's grid forgets edits when what it is given changes, and cannot be set from code. So each grid keeps its *base*, the
values it started from, for as long as its rows stay the same; edits are laid over the base. Only cells nobody can edit
follow the draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.app.data.column_draft import ColumnDraft, Use
from dpviz.app.parts import literal, plain
from dpviz.errors import DpvizError
from dpviz.table.written_numbers import number_in

Cells = dict[str, Any]
#: Shown without scrolling; the half row says that more follow.
_MOST_ROWS = 12.5
_MOST_PROBLEMS = 5
_NUMBERS = ("low", "high", "missing_number")


@dataclass(frozen=True)
class Grid:
    """A grid with one row per column of the table.

    Attributes
    ----------
    name : str
        Of the widget.
    fields : tuple of str
        Fields of `ColumnDraft` that can be edited, left to right.
    config : mapping
        Streamlit's column configuration by field, and "name" and "source".
    alt : str
        What the grid is, for screen readers.
    placeholder : str
        Stands in empty cells.
    """

    name: str
    fields: tuple[str, ...]
    config: Mapping[str, Any]
    alt: str
    placeholder: str = "\u2013"

    def edit(self, columns: tuple[ColumnDraft, ...], *, revision: int) -> tuple[ColumnDraft, ...]:
        """Show the columns; return them as edited. `revision` changes when the values were replaced from outside."""
        key, base = self._base(columns, revision)
        edits = _edits(key)
        problems: list[str] = []
        edited = tuple(_apply(column, base[row], edits.get(row, {}), problems) for row, column in enumerate(columns))
        frame = {"name": [column.name for column in columns]}
        frame |= {field: [_shown(cells[field]) for cells in base] for field in self.fields}
        frame["source"] = [source_text(column) for column in edited]
        self._show(frame, key)
        if problems:
            st.warning("  \n".join(problems[:_MOST_PROBLEMS]), icon=":material/pin:")
        return edited

    def _base(self, columns: tuple[ColumnDraft, ...], revision: int) -> tuple[str, list[Cells]]:
        """(widget key, cells it started from); a new one when the rows are others or the widget's edits are gone."""
        rows = (revision, *(column.name for column in columns))
        known, key, base = st.session_state.get(f"{self.name}-base", (None, "", []))
        if known != rows or key not in st.session_state:
            count = st.session_state.get(f"{self.name}-count", 0) + 1
            base = [{field: getattr(column, field) for field in self.fields} for column in columns]
            key = f"{self.name}-{count}"
            st.session_state[f"{self.name}-count"] = count
            st.session_state[f"{self.name}-base"] = (rows, key, base)
        return key, base

    def _show(self, frame: Mapping[str, list[Any]], key: str) -> None:
        import pandas as pd

        kinds = {"whole": "bool"}
        table = pd.DataFrame({field: pd.Series(cells, dtype=kinds.get(field, "object")) for field, cells in frame.items()})
        st.data_editor(
            table,
            key=key,
            num_rows="fixed",
            hide_index=True,
            disabled=["name", "source"],
            column_config=dict(self.config),
            height=round(38 + 35 * min(len(table), _MOST_ROWS)),
            placeholder=self.placeholder,
            alt=self.alt,
        )


def source_text(column: ColumnDraft) -> str:
    """Where the values of a column come from; empty as long as some are lacking."""
    return "" if column.lacks() else column.source.value


def _edits(key: str) -> dict[int, Cells]:
    state = st.session_state.get(key) or {}
    return {int(row): dict(cells) for row, cells in state.get("edited_rows", {}).items()}


def _shown(value: Any) -> Any:
    """A cell as it can be typed again: numbers and lists are texts, for a grid of numbers reads 220,5 as 2205."""
    if isinstance(value, tuple):
        return "; ".join(value)
    return f"{value:.15g}" if isinstance(value, float | int) and not isinstance(value, bool) else value


def _apply(column: ColumnDraft, base: Cells, edits: Cells, problems: list[str]) -> ColumnDraft:
    """Base and edits laid over the column; typing a value, even the same one, declares it. A number that is none stays empty."""
    cleaned = {}
    for field, value in edits.items():
        if field in base:
            try:
                cleaned[field] = _cleaned(field, value)
            except DpvizError as problem:
                cleaned[field] = None
                problems.append(f"{literal(column.name)}: {plain(problem.what)} {plain(problem.remedy)}")
    column = column.edited(**base | cleaned)
    return column.declare(cleaned) if cleaned else column


def _cleaned(field: str, value: Any) -> Any:
    if field == "use":
        return Use(value) if value else None
    if field in ("unit", "part", "order"):
        return value or ""
    if field in _NUMBERS and isinstance(value, str):
        return number_in(value) if value.strip() else None
    if field == "missing_codes":
        return tuple(dict.fromkeys(code.strip() for code in (value or "").split(";") if code.strip()))
    if field == "whole":
        return bool(value)
    return value
