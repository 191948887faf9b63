"""The bars of a column, in the figure, in words and as a table."""

from __future__ import annotations

from dpviz.evaluation.data.columns import ColumnLook
from dpviz.figures.data import column_chart, overview

TEXTS = ColumnLook("answer <b>", 100, 10, ("yes <i>", "y" * 60), (60, 20), n_others=10)
BINS = ColumnLook("age", 60, 0, ("0 to 5", "5 to 10", "10 to 15"), (10, 20, 30), is_binned=True)
NONE = ColumnLook("empty", 3, 3, (), ())


def test_bars_tables_and_sentences_hold_the_counts():
    [bars] = column_chart(TEXTS).figure.data
    assert list(bars.x) == [60, 20]
    assert column_chart(TEXTS).figure.layout.yaxis.ticktext[0] == "yes &lt;i&gt;"
    assert len(column_chart(TEXTS).figure.layout.yaxis.ticktext[1]) == 40
    [bins] = column_chart(BINS).figure.data
    assert list(bins.y) == [10, 20, 30]
    assert column_chart(BINS).rows[1] == {"value": "5 to 10", "rows": "20", "share": "33.3%"}
    assert "60%" in column_chart(TEXTS).summary
    assert "10%" in column_chart(TEXTS).summary
    assert "50%" in column_chart(BINS).summary
    first, second, third = overview((TEXTS, BINS, NONE))
    assert first == {"column": "answer <b>", "cells": [60, 20], "values": f"yes <i>: 60%, {'y' * 39}…: 20%", "missing": 10.0}
    assert (second["values"], third["values"], third["missing"]) == ("0 to 15", "", 100.0)
