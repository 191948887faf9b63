"""`lookahead`: gains per table, and where two levels are behind one."""

from __future__ import annotations

import pytest

from benchmarks.lookahead import (
    AS_DEEP,
    AUTO,
    DEEP,
    EPSILONS,
    ONE,
    ORDINARY,
    PRIVATREE,
    SPLITS,
    Measured,
    behind_after_holm,
    lookahead_page,
    measure,
)
from tests.contract.tables import schema_of, table


def measured(gain: float, name: str = "adult") -> list[Measured]:
    """Two levels better by `gain`, give or take a little."""
    levels = {AUTO: gain, ONE: 0.0, ORDINARY: 0.1, PRIVATREE: -0.1, DEEP: gain + 0.05, AS_DEEP: 0.06}
    return [
        Measured(name, 100, epsilon, split, draw, title, 0.7 + more + 0.001 * split * (title == AUTO), 0.6 + more)
        for epsilon in EPSILONS
        for split in range(SPLITS)
        for draw in range(3)
        for title, more in levels.items()
    ]


def test_only_a_loss_beyond_chance_counts_as_behind():
    assert behind_after_holm(measured(0.05)) == []
    assert behind_after_holm(measured(-0.002)) == []  # a mean of 0 over splits
    assert behind_after_holm(measured(-0.1)) == [("adult", epsilon) for epsilon in EPSILONS]


def test_the_page_parts_tables_that_chose_constants_from_the_others():
    page = lookahead_page([*measured(0.02), *measured(-0.1, "heloc")], "Measured once.")
    assert "| 0.1 | 1 others | -0.0980" in page
    assert "| 0.1 | 1 starred | +0.0220" in page
    assert "| adult* | 0.722 | 0.700 | 0.800 | 0.600 | +0.0220" in page
    assert "| adult* | 1 | 0.770 | 0.760 |" in page
    assert "At 1 the private tree is not behind it on 1 of 2 tables." in page
    assert "Behind in accuracy after Holm's correction: heloc at 0.01, heloc at 0.1, heloc at 1." in page


@pytest.mark.slow
def test_all_learners_are_measured_on_the_same_splits():
    found = list(measure("small", table(schema_of(), 60)))
    assert len(found) == SPLITS * 3 * 3 * 6
    assert {one.learner for one in found} == {AUTO, ONE, ORDINARY, PRIVATREE, DEEP, AS_DEEP}
