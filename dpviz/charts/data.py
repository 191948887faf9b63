"""The cells of one column as bars, in words and as a table; all columns as one table."""

from collections.abc import Iterable
from html import escape
from typing import Any

from dpviz.charts.chart import NAMES, Chart, Figure, bars, chart
from dpviz.charts.theme import BLUE
from dpviz.charts.wording import percent
from dpviz.evaluation.columns import ColumnProfile

_MAX_NAME_LENGTH = 40


def column_chart(profile: ColumnProfile) -> Chart:
    """One bar per value or bin: bins from left to right, texts from top to bottom."""
    rows = [
        {"value": label, "rows": f"{count:,}", "share": _share(profile, count)}
        for label, count in zip(profile.labels, profile.counts, strict=True)
    ]
    return Chart(_column_figure(profile), _column_sentence(profile), rows)


def _column_figure(profile: ColumnProfile) -> Figure:
    labels, style = [escape(_short(label)) for label in profile.labels], {"color": BLUE}
    hover = "%{customdata}: %{value:,} rows<extra></extra>"
    if profile.is_binned:
        figure = chart(260, bargap=0.06)
        figure.add_bar(x=labels, y=profile.counts, customdata=labels, marker=style, hovertemplate=hover.replace("value", "y"))
        return figure.update_yaxes(title="rows", tickformat=",").update_xaxes(type="category", nticks=6)
    figure = chart(60 + 26 * len(labels), bargap=0.25)
    places = list(range(len(labels)))  # two long texts may be alike once they are cut
    shares = [_share(profile, count) for count in profile.counts]
    figure.add_bar(**bars(places, profile.counts, shares, style), customdata=labels, hovertemplate=hover.replace("value", "x"))
    figure.update_yaxes(**NAMES, tickvals=places, ticktext=labels)
    return figure.update_xaxes(title="rows", tickformat=",", range=[0, 1.25 * max(profile.counts)])


def _column_sentence(profile: ColumnProfile) -> str:
    missing = f"{percent(profile.missing_share)} of the cells are missing" if profile.n_missing else "no cell is missing"
    if not profile.counts:
        return f"{profile.name}: every cell is missing."
    most = max(range(len(profile.counts)), key=profile.counts.__getitem__)
    others = f", {profile.n_others:,} rows have a text that is not shown" if profile.n_others else ""
    share = _share(profile, profile.counts[most])
    return f"{profile.name}: {_short(profile.labels[most])} is most frequent ({share}); {missing}{others}."


def overview(profiles: Iterable[ColumnProfile]) -> list[dict[str, Any]]:
    """One row per column: its name, its bars as numbers, its ends or most frequent values, the share of missing cells."""
    rows = []
    for profile in profiles:
        most = sorted(zip(profile.counts, profile.labels, strict=True), key=lambda pair: -pair[0])[:3]
        values = ", ".join(f"{_short(label)}: {_share(profile, count)}" for count, label in most)
        if profile.is_binned:
            values = f"{profile.labels[0].split(' to ')[0]} to {profile.labels[-1].split(' to ')[1]}"
        missing = 100 * profile.missing_share
        rows.append({"column": profile.name, "cells": list(profile.counts), "values": values, "missing": missing})
    return rows


def _share(profile: ColumnProfile, count: int) -> str:
    return percent(count / max(1, profile.n_rows))


def _short(label: str) -> str:
    return label if len(label) <= _MAX_NAME_LENGTH else f"{label[: _MAX_NAME_LENGTH - 1]}…"
