"""Wherever rows are counted, the same seed gives the same model, to the last bit; a learner that cannot be served says so."""

from dataclasses import replace

import pytest

import dpviz
from dpviz.errors import RefusedRelease, UnsupportedError
from dpviz.learners import FitRequest, registry
from dpviz.training.counted_rows import ArrayRows
from tests.support.elsewhere import OneByOne
from tests.support.fits import FEW
from tests.support.numbers import rows_of

COUNTING = [name for name, spec in registry().items() if spec.counts]
CASES = [
    ("pf-tree", 2, {}),
    ("pf-tree", 2, {"groups": "colour"}),
    ("pf-tree", 2, {"leaves": "labels", "depth": 3}),
    ("pf-tree", 2, {"leaves": "labels", "depth": 3, "lookahead": 1}),
    ("pf-tree", 7, {"depth": 3, "lookahead": 1}),
    ("pf-tree", 7, {"depth": 2}),
    ("pf-tree", 0, {"depth": 2}),
    ("majority", 3, {}),
    ("dp-mean", 0, {"count_rows": True}),
    ("diffprivlib-tree", 3, {}),
    ("pf-forest", 2, {}),
    ("pf-forest", 2, {"disjoint": False}),
]


@pytest.mark.parametrize(("name", "n_classes", "given"), CASES)
def test_the_model_is_the_same_to_the_last_bit_wherever_rows_are_counted(name, n_classes, given):
    for n_rows in (0, 1, 60):
        data = rows_of("mixed", n_classes, n_rows)
        asked = {"epsilon": 1.0, "max_depth": 3, "seed": 7} | FEW.get(name, {}) | given
        here, there = dpviz.fit(name, data, **asked), dpviz.fit(name, OneByOne(data), **asked)
        assert here.to_json() == there.to_json()


def test_a_level_is_one_question():
    data = OneByOne(rows_of("mixed", 2, 40))
    dpviz.fit("pf-tree", data, epsilon=1.0, depth=3, seed=1, lookahead=1)
    assert data.levels == 3
    together = OneByOne(rows_of("mixed", 2, 40))
    dpviz.fit("pf-tree", together, epsilon=1.0, depth=4, seed=1)
    assert together.levels == 2


class Silent(OneByOne):
    n_rows = property(lambda self: pytest.fail("a row was asked for"))
    root = class_counts = leaf_counts = forest_counts = banded = sums = n_rows


def test_a_learner_that_needs_more_says_so_before_anything_is_asked():
    for name in (name for name in registry() if name not in COUNTING):
        data = rows_of("mixed", 0 if registry()[name].task == "number" else 2, 3)
        with pytest.raises(UnsupportedError, match=rf"{name}.*needs only counts \(.*pf-tree"):
            dpviz.fit(name, Silent(data), epsilon=1.0, seed=1)
    with pytest.raises(UnsupportedError, match="A test of the learner 'majority'"):
        dpviz.fit("majority", OneByOne(rows_of("mixed", 2, 3)), epsilon=1.0, seed=1, test_share=0.2)


@pytest.mark.parametrize("name", COUNTING)
def test_a_learner_asks_for_nothing_that_it_does_not_declare(name):
    """Rows that answer only what is declared serve it."""
    asked = {"root": {"bins"}, "leaf_counts": {"leaves", "leaves by value"}, "sums": {"sums"}, "class_counts": {"classes"}}
    spec = registry()[name]
    for n_classes in (2, 0):
        if spec.task not in ("any", "number" if n_classes == 0 else "classes"):
            continue
        data = OneByOne(rows_of("mixed", n_classes, 30))
        for question, kinds in (asked | {"forest_counts": {"leaves of forests"}}).items():
            if not kinds & spec.counts:
                setattr(data, question, lambda *_: pytest.fail("not declared"))
        dpviz.fit(name, data, epsilon=1.0, seed=1, **FEW.get(name, {}))


def test_rows_in_memory_keep_what_is_known_of_their_table():
    """A table that is not row-wise is released by nobody, in whatever form its rows are given."""
    data = replace(rows_of("mixed", 2, 60), not_row_wise="its rows were chosen by their positions")
    rows = ArrayRows(data)
    assert (rows.not_row_wise, rows.report, rows.identity, rows.table_sums) == (
        data.not_row_wise,
        data.report,
        data.identity,
        data.table_sums,
    )
    for given in (data, rows):
        with pytest.raises(RefusedRelease, match="positions"):
            FitRequest.of("pf-tree", epsilon=1.0, max_depth=1).fit(given)
