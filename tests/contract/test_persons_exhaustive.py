"""Every small table, with and without every person of several rows: no output is likelier by more than what was asked for.

The laws are exact: all outputs of a learner on all data sets of a small universe (`evaluation/audit/exact.py`).
"""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from dpviz.accounting.guarantee import epsilon_of_row
from dpviz.evaluation.audit.evidence import BoundLearner
from dpviz.evaluation.audit.exact import NodeLaws, Universe
from dpviz.learners import FitRequest

ASKED = 1.5
LABELS = {"leaves": "labels", "lookahead": 1}


def log_chances(laws: NodeLaws, counts: tuple[int, ...], level: int) -> dict[int, float]:
    law = laws.law(counts, level)
    assert law.cut == 0
    return dict(zip(law.numbers.tolist(), np.log(law.chances).tolist(), strict=True))


def most_told(laws: NodeLaws, first: tuple[int, ...], second: tuple[int, ...], level: int, depth: int) -> float:
    """The largest log ratio of an output on the first rows to the same on the second."""
    on_first, on_second = (log_chances(laws, counts, level) for counts in (first, second))
    assert on_first.keys() == on_second.keys()
    ratios = []
    for number, chance in on_first.items():
        ratio = chance - on_second[number]
        if level < depth:
            parts = laws.outcomes[level][number].open
            inside = [tuple(tuple((np.array(counts) * part).tolist()) for counts in (first, second)) for part in parts]
            ratio += sum(most_told(laws, *pair, level + 1, depth) for pair in inside)
        ratios.append(ratio)
    return max(ratios)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize(("name", "depth", "given"), [("majority", 0, {}), ("pf-tree", 1, LABELS)])
def test_no_output_tells_a_person_by_more_than_was_asked_for(name, depth, given, rows):
    universe = Universe((2, 2) if depth else (2,), depth=max(1, depth), max_rows=rows + 1)
    whole = FitRequest.of(name, epsilon=ASKED, depth=1, max_depth=1, **given)
    part = epsilon_of_row(ASKED, rows)
    planned = BoundLearner.of(name, universe.schema, epsilon=part, depth=1, **given)
    of_person = whole.plan(replace(universe.schema, rows_per_person=rows))
    assert of_person.shares == planned.plan.shares
    laws, kinds = NodeLaws(planned, universe.kinds), range(universe.kinds.n_rows)
    empty = np.zeros(len(kinds), dtype=np.int64)
    told = 0.0
    for others in [(), *((kind,) for kind in kinds)]:
        base = empty + np.bincount(np.array(others, dtype=np.int64), minlength=len(kinds))
        for person in combinations_with_replacement(kinds, rows):
            more = base + np.bincount(person, minlength=len(kinds))
            pair = tuple(base.tolist()), tuple(more.tolist())
            told = max(told, most_told(laws, *pair, 0, depth), most_told(laws, *pair[::-1], 0, depth))
    assert told <= ASKED + 1e-9
    assert told > ASKED / 2
