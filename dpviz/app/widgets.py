"""Widgets that every page uses in the same way: charts and tables with words for screen readers, inputs kept in the link."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from dpviz.charts.chart import Chart
from dpviz.charts.tree.text import visible

T = TypeVar("T")

_QUIET = {"displayModeBar": False, "responsive": True}
_STYLE_OF_ROWS = Path(__file__).with_name("rows.css")


def show_chart(chart: Chart, key: str, *, png: str = "", on_select: Callable[[], None] | None = None) -> None:
    """A chart, and its numbers folded away below it. `on_select` runs before the page when one of its marks is clicked."""
    config: dict[str, Any] = dict(_QUIET)
    if png:
        config |= {"displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]]}
        config |= {"toImageButtonOptions": {"format": "png", "scale": 2, "filename": png}}
    clicks: dict[str, Any] = {} if on_select is None else {"on_select": on_select, "selection_mode": "points"}
    along = chart.figure.layout.xaxis.title.text or ""
    relation = along.partition("ε ")[2]  # what neighbours of an axis of epsilon are
    alt = f"{chart.summary} Along: {along}." if relation and relation not in chart.summary else chart.summary
    st.plotly_chart(chart.figure, config=config, key=key, alt=alt, **clicks)
    if chart.rows is not None:
        table(chart.rows, chart.summary, key=key)


def on_demand(label: str, *, icon: str, opened: bool = False, key: str = "") -> Any:
    """A closed box whose contents are made when it is opened: whoever fills it asks its `.open` first.

    What nobody looks at would be made, sent and drawn at every run of the page, before the picture is to be seen. `key` is
    another one where several boxes have this label.
    """
    return st.expander(label, opened, icon=icon, key=key or f"open {label}", on_change="rerun")


def once_per(model: Any, key: str, make: Callable[[Any], Any]) -> Any:
    """What `make` finds of the model on screen, worked out once and kept in the session under `key`."""
    kept = st.session_state.get(key)
    if kept is None or kept[0] is not model:
        kept = st.session_state[key] = (model, make(model))
    return kept[1]


def table(rows: Any, words: str, *, key: str) -> None:
    """The numbers of a chart, folded away; a callable makes them when they are looked at."""
    with on_demand("As a table", icon=":material/table_rows:", key=f"table {key}") as box:
        if box.open:
            st.dataframe(rows() if callable(rows) else rows, hide_index=True, alt=words)


def rows_table(rows: Sequence[Mapping[str, object]], words: str) -> None:
    """Records as a table as wide as the page; on a narrow screen every record becomes a list of its cells.

    It brings its style along: the frame's may come a moment later, and everything below the table would move then.
    """
    names = [escape(visible(name)) for name in rows[0]]
    lines = (zip(names, map(_cell, row.values()), strict=True) for row in rows)
    cells = ("".join(f'<td data-name="{name}">{cell}</td>' for name, cell in line) for line in lines)
    body = "".join(f"<tr>{line}</tr>" for line in cells)
    head = "".join(f"<th>{name}</th>" for name in names)
    label = escape(visible(words))
    records = f'<table class="dp-rows" aria-label="{label}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    st.html(f"<style>{_STYLE_OF_ROWS.read_text(encoding='utf-8')}</style>{records}")


def _cell(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else escape(visible(str(cell))) if cell != "" else ""


def link_options(key: str) -> dict[str, Any]:
    """Arguments of an input whose value stays in the link and outlives a change of page."""
    return {"key": key, "bind": "query-params", "persist_state": "session"}


def keep_in_link(key: str, text: str, *, default: str) -> None:
    """The address names the value of an input that Streamlit does not bind, unless it is the default."""
    if text == default:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != text:
        st.query_params[key] = text


def one_of(label: str, options: Sequence[T], **more: Any) -> T:
    """One of several buttons: at first, and where the address names none, the `default` or else the first."""
    first: T = more.setdefault("default", options[0])
    found: T | None = st.segmented_control(label, options, required=True, **more)
    return first if found is None else found


def whole_number(label: str, low: int, high: int, default: int, *, key: str, **more: Any) -> int:
    """A whole number that stays in the link and outlives a change of page.

    Streamlit does not bind it: an infinite number in an address raises there, and a bound box sometimes shows its default first.
    """
    given = (int(text) for text in st.query_params.get_all(key) if text.isdecimal() and len(text) <= len(str(high)))
    start = next((value for value in given if low <= value <= high), default)
    value = int(st.number_input(label, low, high, start, key=key, persist_state="session", **more))
    keep_in_link(key, str(value), default=str(default))
    return value


def download(label: str, content: str | bytes | Callable[[], Any], name: str, mime: str = "text/csv", **more: Any) -> None:
    """A button that does not run the page again; a callable makes the file when it is clicked."""
    st.download_button(label, content, name, mime, icon=":material/download:", on_click="ignore", **more)
