"""The page of trees on large tables: what it says is what was measured."""

import re

import pytest

from benchmarks.outofcore.chart import chart_svg
from benchmarks.outofcore.measure import Cost, Measured, Shape, measure, write_rows
from benchmarks.outofcore.page import out_of_core_page

ONE = Cost(0.5, 0.5, 10**8)


def test_the_page_counts_passes_and_memory_and_says_what_is_met():
    slow = Measured(Shape(1000), ONE, Cost(2.0, 2.0, 10**8), Cost(0.25, 0.25, 2 * 10**9))
    page = out_of_core_page([Measured(Shape(10), ONE, ONE, ONE), slow], "Made here.", "x.svg")
    assert "| 1,000 | 14 | 4 | 2 | 1.00 (0.50) | 4.00 (2.00) | 0.50 (0.25) | 4.5 | 2,000 |" in page
    assert "At 1,000 rows of 14 numbers and depth 4: 4.5 passes (aim: at most 4, not met)" in page
    assert "2,000 MB of anonymous memory (aim: below 1,000, not met)" in page
    assert "44% is reading and binning, 44% the system's" in page
    assert "924 bins in all and two classes: a node with its children is 1,707,552 counts of 8 bytes" in page
    assert "asked 2 times, once per two levels, and sends at most 14, 55 MB" in page
    good = out_of_core_page([Measured(Shape(10), ONE, ONE, ONE)], "Made here.", None)
    assert "2.0 passes (aim: at most 4, met)" in good
    assert ".svg" not in good


def test_the_chart_places_points_by_their_logarithms():
    drawn = chart_svg([100, 1000, 10_000], {"a": [0.1, 1.0, 10.0]})
    points = [tuple(map(float, pair.split(","))) for pair in re.search(r'points="([^"]+)"', drawn)[1].split()]
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == pytest.approx(x2 - x1)
    assert y0 - y1 == pytest.approx(y1 - y2)
    assert x0 < x1
    assert y0 > y1


@pytest.mark.slow
def test_both_read_the_same_rows(tmp_path):
    shape = Shape(3000, features=3, depth=2)
    write_rows(tmp_path / "rows.parquet", shape)
    found = measure(tmp_path / "rows.parquet", shape, turns=1)
    assert found.shape == shape
    assert found.ratio > 0
    assert found.encoding.memory > 10**7
