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

from dpviz.app.data.draft import ColumnDraft, Use

Cells = dict[str, Any]
#: Shown without scrolling; the half row says that more follow.
_MOST_ROWS = 12.5


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
        edited = tuple(_apply(column, base[row], edits.get(row, {})) for row, column in enumerate(columns))
        frame = {"name": [column.name for column in columns]}
        frame |= {field: [cells[field] for cells in base] for field in self.fields}
        frame["source"] = [source_text(column) for column in edited]
        self._show(frame, key)
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

        kinds = {"low": "float64", "high": "float64", "missing_number": "float64", "whole": "bool"}
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
    """Where the values of a column come from; empty as long as there are none."""
    if column.use is None:
        return ""
    return column.source.value


def _edits(key: str) -> dict[int, Cells]:
    state = st.session_state.get(key) or {}
    return {int(row): dict(cells) for row, cells in state.get("edited_rows", {}).items()}


def _apply(column: ColumnDraft, base: Cells, edits: Cells) -> ColumnDraft:
    """Base and edits laid over the column; typing a value, even the same one, declares it."""
    cleaned = {field: _cleaned(field, value) for field, value in edits.items() if field in base}
    column = column.edited(**base | cleaned)
    return column.declare(cleaned) if cleaned else column


def _cleaned(field: str, value: Any) -> Any:
    if field == "use":
        return Use(value) if value else None
    if field == "unit":
        return value or ""
    if field == "whole":
        return bool(value)
    return value
