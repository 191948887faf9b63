"""The page of what one row risks: every private learner has its lines, with numbers from its own ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.risk import EPSILONS, listed_settings, numbers, table_of
from dpviz.learners import fit, registry

PAGE = Path(__file__).parents[2] / "data" / "benchmarks" / "risk.md"


def test_every_private_learner_is_on_the_stored_page_at_every_epsilon():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for title, *_ in listed_settings():
        assert [line.split("|")[2].strip() for line in lines if line.startswith(f"| {title} |")] == [f"{e:g}" for e in EPSILONS]
    private = {name for name, spec in registry().items() if spec.spends_epsilon}
    assert {spec.name for _, spec, *_ in listed_settings()} == private


@pytest.mark.parametrize("learner", ["pf-tree", "s-gbdt"])
def test_the_stored_numbers_are_those_of_today(learner):
    found = numbers(fit(learner, table_of("classes"), epsilon=1.0, seed=1).risk)
    line = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{learner}` | 1 |"))
    assert [cell.strip() for cell in line.strip("|").split("|")[3:]] == found
