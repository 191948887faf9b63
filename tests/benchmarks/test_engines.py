"""The page of what engines cost: a line per question, a column per engine."""

import pytest

from benchmarks.engines import costs


@pytest.mark.slow
def test_costs_of_duckdb_are_measured():
    pytest.importorskip("duckdb")
    found = costs("duckdb", 2000)
    assert len(found) == 13
    assert min(found.values()) >= 0
    assert found["encode, once"] > 0
