"""The published stopping rule: it looks at exact rows, and its ledger says so whatever the answer was."""

from __future__ import annotations

import pytest

import dpviz
from dpviz.accounting.events import Unbounded, walk
from tests.support.tables import schema_of, table


@pytest.mark.parametrize("name", ["privatree", "bdpt", "dpgdf"])
@pytest.mark.parametrize("n_rows", [0, 1, 120])
def test_a_rule_that_looked_has_no_price_also_where_it_stopped_at_once(name: str, n_rows: int) -> None:
    result = dpviz.fit(name, table(schema_of("categories"), n_rows), epsilon=1.0, max_depth=2, seed=1)
    assert any(isinstance(step.cost, Unbounded) and step.part == "stopping rule" for _, step in walk(result.ledger.event))
    assert not result.ledger.guarantee.is_finite
