"""An editable grid of columns that never loses an edit.

Streamlit's grid forgets edits when what it is given changes, and cannot be set from code. So each grid keeps its *base*, the
values it started from, for as long as its rows stay the same; edits are laid over the base. Only cells nobody can edit
follow the draft.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.app.parts import in_list, literal, plain
from dpviz.errors import DpvizError
from dpviz.figures.tree.labels import visible
from dpviz.io.codebook import groups_in, groups_text, list_text, listed_in
from dpviz.table.column_draft import MIDDLE, ColumnDraft, Use, number_in
from dpviz.table.dates import ORDERS, PARTS

Cells = dict[str, Any]
#: Shown without scrolling; the half row says that more follow.
_MOST_ROWS = 12.5
_MOST_PROBLEMS = 5
#: A use of a column beside those of `Use`: a number, by a date rule.
_DATE = "date"
_NUMBERS = ("low", "high", "missing_number")
_LISTS: dict[str, Callable[[str], tuple[Any, ...]]] = {"categories": listed_in, "missing_codes": listed_in, "groups": groups_in}


@dataclass(frozen=True)
class Grid:
    """A grid with one row per column of the table; `name` is that of the widget, `alt` is for screen readers.

    `config` is Streamlit's column configuration of the fields of `ColumnDraft` that can be edited, left to right; `placeholder`
    stands in empty cells.
    """

    name: str
    config: Mapping[str, Any]
    alt: str
    placeholder: str = "\u2013"

    def edit(self, columns: tuple[ColumnDraft, ...], *, revision: int, has_source: bool = False) -> tuple[ColumnDraft, ...]:
        """Show the columns; return them as edited. `revision` changes when the values were replaced from outside.

        `has_source`: what changed since a look at the rows has a public source.
        """
        key, base = self._base(columns, revision)
        state = st.session_state.get(key) or {}
        edits = {int(row): dict(cells) for row, cells in state.get("edited_rows", {}).items()}
        problems: list[str] = []
        edited = tuple(_apply(column, base[row], edits.get(row, {}), problems) for row, column in enumerate(columns))
        frame = {"name": [in_list(column.name) for column in columns]}
        frame |= {field: [_shown(_said(cells, field)) for cells in base] for field in self.config}
        frame["source"] = [source_text(column.with_source() if has_source else column) for column in edited]
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
            base = [
                {field: _DATE if field == "use" and is_date(column) else getattr(column, field) for field in self.config}
                for column in columns
            ]
            key = f"{self.name}-{count}"
            st.session_state[f"{self.name}-count"] = count
            st.session_state[f"{self.name}-base"] = (rows, key, base)
        return key, base

    def _show(self, frame: Mapping[str, list[Any]], key: str) -> None:
        import pandas as pd

        kinds = {"whole": "bool"}
        table = pd.DataFrame({field: pd.Series(cells, dtype=kinds.get(field, "object")) for field, cells in frame.items()})
        height = round(38 + 35 * min(len(table), _MOST_ROWS))
        fixed = {"num_rows": "fixed", "hide_index": True, "disabled": ["name", "source"], "height": height}
        columns = {"name": _NAME, **self.config, "source": _SOURCE}
        st.data_editor(table, key=key, column_config=columns, placeholder=self.placeholder, alt=self.alt, **fixed)


def source_text(column: ColumnDraft) -> str:
    """Where the values of a column come from; empty as long as some are lacking."""
    return "" if column.lacks() else column.source.value


def _said(cells: Cells, field: str) -> Any:
    """How a date is written says nothing about a number."""
    return None if field == "order" and not cells.get("part") else cells[field]


def _shown(value: Any) -> Any:
    """A cell as it can be typed again: numbers and lists are texts, for a grid of numbers reads 220,5 as 2205."""
    if isinstance(value, tuple):
        is_pairs = any(isinstance(item, tuple) for item in value)
        return groups_text([tuple(map(visible, item)) for item in value]) if is_pairs else list_text(map(visible, value))
    return f"{value:.15g}" if isinstance(value, float | int) and not isinstance(value, bool) else value


def _apply(column: ColumnDraft, base: Cells, edits: Cells, problems: list[str]) -> ColumnDraft:
    """Base and edits laid over the column; typing a value, even the same one, declares it. What cannot be read stays empty."""
    cleaned: Cells = {}
    for field, value in edits.items():
        if field in base:
            try:
                cleaned[field] = _cleaned(field, value)
            except DpvizError as problem:
                cleaned[field] = _cleaned(field, None)
                problems.append(f"{literal(column.name)}: {plain(problem.what)} {plain(problem.remedy)}")
    if "use" in cleaned and (edits["use"] == _DATE) is not is_date(column):
        cleaned |= {"part": "year", "whole": True} if edits["use"] == _DATE else {"part": ""}
    known = base | ({"use": Use.NUMBER} if base.get("use") == _DATE else {})
    column = column.edited(**known | cleaned)
    return column.declare(cleaned) if cleaned else column


def is_date(column: ColumnDraft) -> bool:
    """Whether a date rule makes numbers of it."""
    return column.use is Use.NUMBER and bool(column.part)


def _cleaned(field: str, value: Any) -> Any:
    if field == "use":
        return Use.NUMBER if value == _DATE else Use(value) if value else None
    if field in ("unit", "part", "order"):
        return value or ""
    if field in _NUMBERS and isinstance(value, str):
        if field == "missing_number" and value.strip().lower() == MIDDLE:
            return MIDDLE
        return number_in(value) if value.strip() else None
    if field in _LISTS:
        return _LISTS[field](value or "")
    if field in ("missing_as", "unknown_as"):
        return (value or "").strip() or None
    if field == "whole":
        return bool(value)
    return value


# --- the grids of the Data page

_text, _choice = st.column_config.TextColumn, st.column_config.SelectboxColumn
_SOURCE = _text("Source", help="Declared by you, or read from the data: then no epsilon covers it.")
_NAME = _text("Column", pinned=True, width="medium")
KINDS = Grid(
    "kinds",
    {
        "use": _choice(
            "Use as",
            options=[Use.NUMBER.value, _DATE, *(use.value for use in Use if use is not Use.NUMBER)],
            help="Number, date, categories, or not at all.",
        ),
        "missing_codes": _text("Missing codes", help="Cells that count as missing, such as: 999; k.A.; -"),
    },
    alt="One row per column of the table: its name, what to use it as, and where that comes from.",
    placeholder="choose",
)
_DROPS = "empty: the row is dropped."
_LIST_HELP = "Between semicolons: north; south. A cell that is none of them is unknown."
CATEGORIES = Grid(
    "categories",
    {
        "categories": _text("Categories", width="large", help=_LIST_HELP),
        "groups": _text("Same as", width="medium", help="Other texts and the category each counts as: M = m; male = m; W = f."),
        "missing_as": _text(
            "If missing", width="small", help=f"The category of a missing cell, added to the list if need be; {_DROPS}"
        ),
        "unknown_as": _text(
            "If unknown", width="small", help=f"The category of every other text, added to the list as well; {_DROPS}"
        ),
    },
    alt="One row per categorical feature: name, categories, texts that count as one, missing and unknown cells, source.",
    placeholder="drops the row",
)
NUMBERS = Grid(
    "numbers",
    {
        "low": _text("Low", width="small", help="Smaller values count as this one. Write 220.5 or 220,5."),
        "high": _text("High", width="small", help="Greater values count as this one."),
        "unit": _text("Unit", max_chars=20, help="For people only, such as EUR or years."),
        "whole": st.column_config.CheckboxColumn("Whole", help="Only whole numbers; others are rounded."),
        "missing_number": _text("If missing", help=f"Stands for a missing value: a number, or the middle of the range; {_DROPS}"),
        "part": _choice(
            "Date as", options=list(PARTS), help="Of a date: its year, month, weekday (1 is Monday), or days since 1970-01-01."
        ),
        "order": _choice(
            "Written", options=list(ORDERS), help="Of a date: ymd 2024-03-01, dmy 01.03.2024, mdy 3/1/2024; empty: ymd."
        ),
    },
    alt="One row per numeric feature: name, range, unit, whole numbers, value for missing cells, date rule, source.",
)
