"""The page of what engines cost: a line per question, a column per engine."""

import pytest

from benchmarks.engines import cost_page, costs


def test_every_question_has_a_line_and_every_engine_a_column():
    duckdb = [{"encode": 0.5, "level 1": 0.25}, {"encode": 0.7, "level 1": 0.25}]
    page = cost_page({"duckdb": duckdb, "spark": [{"encode": 12.0, "level 1": 1.5}] * 2}, 2000, "Made here")
    assert "processor seconds for 2,000 rows of 14 doubles, 66 bins each" in page
    assert "| DuckDB | Spark |" in page
    assert "| encode | 0.60 ± 0.10 | 12.00 ± 0.00 |" in page
    assert "| level 1 | 0.25 ± 0.00 | 1.50 ± 0.00 |" in page


@pytest.mark.slow
def test_costs_of_duckdb_are_measured():
    pytest.importorskip("duckdb")
    found = costs("duckdb", 2000)
    assert len(found) == 13
    assert min(found.values()) >= 0
    assert found["encode, once"] > 0
