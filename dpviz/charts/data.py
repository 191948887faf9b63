"""The cells of one column as bars, in words and as a table; all columns as one table."""

from collections.abc import Iterable
from html import escape
from typing import Any

from dpviz.charts.chart import NAMES, Chart, Figure, bars, chart
from dpviz.charts.theme import BLUE
from dpviz.charts.wording import percent
from dpviz.evaluation.columns import ColumnLook

_MAX_NAME_LENGTH = 40


def column_chart(look: ColumnLook) -> Chart:
    """One bar per value or bin: bins from left to right, texts from top to bottom."""
    rows = [
        {"value": label, "rows": f"{count:,}", "share": _share(look, count)}
        for label, count in zip(look.labels, look.counts, strict=True)
    ]
    return Chart(_column_figure(look), _column_sentence(look), rows)


def _column_figure(look: ColumnLook) -> Figure:
    labels, style = [escape(_short(label)) for label in look.labels], {"color": BLUE}
    hover = "%{customdata}: %{value:,} rows<extra></extra>"
    if look.is_binned:
        figure = chart(260, bargap=0.06)
        figure.add_bar(x=labels, y=look.counts, customdata=labels, marker=style, hovertemplate=hover.replace("value", "y"))
        return figure.update_yaxes(title="rows", tickformat=",").update_xaxes(type="category", nticks=6)
    figure = chart(60 + 26 * len(labels), bargap=0.25)
    places = list(range(len(labels)))  # two long texts may be alike once they are cut
    shares = [_share(look, count) for count in look.counts]
    figure.add_bar(**bars(places, look.counts, shares, style), customdata=labels, hovertemplate=hover.replace("value", "x"))
    figure.update_yaxes(**NAMES, tickvals=places, ticktext=labels)
    return figure.update_xaxes(title="rows", tickformat=",", range=[0, 1.25 * max(look.counts)])


def _column_sentence(look: ColumnLook) -> str:
    missing = f"{percent(look.missing_share)} of the cells are missing" if look.n_missing else "no cell is missing"
    if not look.counts:
        return f"{look.name}: every cell is missing."
    most = max(range(len(look.counts)), key=look.counts.__getitem__)
    others = f", {look.n_others:,} rows have a text that is not shown" if look.n_others else ""
    return f"{look.name}: {_short(look.labels[most])} is most frequent ({_share(look, look.counts[most])}); {missing}{others}."


def overview(looks: Iterable[ColumnLook]) -> list[dict[str, Any]]:
    """One row per column: its name, its bars as numbers, its ends or most frequent values, the share of missing cells."""
    rows = []
    for look in looks:
        most = sorted(zip(look.counts, look.labels, strict=True), key=lambda pair: -pair[0])[:3]
        values = ", ".join(f"{_short(label)}: {_share(look, count)}" for count, label in most)
        if look.is_binned:
            values = f"{look.labels[0].split(' to ')[0]} to {look.labels[-1].split(' to ')[1]}"
        missing = 100 * look.missing_share
        rows.append({"column": look.name, "cells": list(look.counts), "values": values, "missing": missing})
    return rows


def _share(look: ColumnLook, count: int) -> str:
    return percent(count / max(1, look.n_rows))


def _short(label: str) -> str:
    return label if len(label) <= _MAX_NAME_LENGTH else f"{label[: _MAX_NAME_LENGTH - 1]}…"
