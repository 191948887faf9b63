"""Forests of the papers: every small data set under its claim, public rules by hand, what each tree is made of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import dpviz
from dpviz.errors import DpvizError, UnsupportedError
from dpviz.evaluation.audit.evidence import BoundLearner
from dpviz.evaluation.audit.exact import Universe, whole_distribution
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.evaluation.audit.verify import verify_each
from dpviz.learners.published import pf_forest
from dpviz.learners.published.jpw_forest import jpw_depth
from dpviz.models.hashed_forest import HashedForest
from dpviz.privacy.source import Simulation
from dpviz.privacy.uniform import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.training.counted_rows import row_order
from tests.support.tables import schema_of, schema_with, table

#: A cap that the rule of a learner stays below is asked for on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.SettingWarning")

SMALL = Universe((2,), depth=1, max_rows=3)


# --- no two neighbours of a small universe are told apart beyond the claim


LARGER = (
    (1, Universe((2, 2), depth=1, max_rows=3)),
    (1, Universe((3,), numeric=True, depth=2, max_rows=3)),
    (2, SMALL),
)


@pytest.mark.parametrize(
    ("trees", "universe", "epsilon"),
    [
        *((1, SMALL, epsilon) for epsilon in (0.3, 2.0)),
        *(pytest.param(*case, 0.3, marks=pytest.mark.slow) for case in LARGER),
        *(pytest.param(*case, 2.0, marks=pytest.mark.verify) for case in LARGER),
    ],
)
@pytest.mark.parametrize("disjoint", [True, False])
def test_pf_forest_is_as_private_as_it_claims_and_hardly_more(trees, universe, epsilon, disjoint) -> None:
    (result,) = verify_each("pf-forest", epsilon=epsilon, universes=[universe], trees=trees, disjoint=disjoint)
    assert result.verdict == "holds"
    assert result.log_ratio == pytest.approx(epsilon)


@pytest.mark.slow
def test_smooth_forest_holds_with_the_global_sensitivity_and_fails_at_a_gap_of_one() -> None:
    universe = Universe((2,), depth=1, max_rows=4)
    smooth, plain = (
        verify_each("smooth-forest", epsilon=1.0, universes=[universe], trees=1, smooth=smooth)[0] for smooth in (True, False)
    )
    assert (smooth.verdict, smooth.composed, plain.verdict) == ("violated", math.inf, "holds")
    assert 0 < plain.log_ratio <= 1 < 6 < smooth.log_ratio


def test_keys_of_random_trees_are_too_many_to_list() -> None:
    with pytest.raises(UnsupportedError, match="keys of random trees"):
        verify_each("random-forest", epsilon=1.0, universes=[Universe((2,), max_rows=2)])


def test_the_law_of_two_trees_is_that_of_every_way_to_divide_the_rows() -> None:
    # One feature of two categories: both trees are known, so only rows and labels are left to chance.
    planned = BoundLearner.of("pf-forest", SMALL.schema, epsilon=1.0, depth=1, trees=2)
    data = SMALL.dataset(len(SMALL.keys) - 1)
    expected: dict[tuple[int, ...], float] = {}
    for division in np.ndindex(*(2,) * data.n_rows):
        for labels in np.ndindex(2, 2, 2, 2):
            chance = 0.5**data.n_rows * np.prod([_chance(data, division, leaf, label) for leaf, label in enumerate(labels)])
            expected[labels] = expected.get(labels, 0.0) + chance
    found = sorted(whole_distribution(planned, data, Enumeration()).values())
    assert found == pytest.approx(sorted(expected.values()))
    assert sum(found) == pytest.approx(1)


def _chance(data, division: tuple[int, ...], leaf: int, label: int) -> float:
    here = (np.array(division) == leaf // 2) & (data.columns[0] == leaf % 2)
    counts = np.bincount(data.target[here], minlength=2)
    flip = 0.5 * np.exp(-abs(counts[0] - counts[1]))
    return float(1 - flip if counts[label] > counts[1 - label] else flip)


# --- public rules


def test_depths_and_numbers_of_trees_by_hand() -> None:
    for schema, n_rows, depth in [
        (schema_with(10, ()), 30_000, 5),  # half of the features
        (schema_with(40, ()), 1000, 8),  # log2(1000) - 1
        (schema_with(0, (10,) * 20), 10_000, 3),
        (schema_with(0, (50, 50, 50, 50)), 100, 1),
        (schema_with(0, (1, 1)), 100, 1),
    ]:
        assert jpw_depth(schema, n_rows) == depth
    for rule, depth in [("theorem 2", 4), ("half of the features", 2), ("all features", 4)]:  # two numbers, two categories
        result = dpviz.fit("smooth-forest", table(schema_of("mixed")), epsilon=1.0, max_depth=12, seed=1, depth_rule=rule)
        assert result.plan.depth == depth
    wide = schema_with(0, (40,) * 12, n_public=10_000)
    plan = dpviz.fit("pf-forest", table(wide, 20), epsilon=1.0, max_depth=12, seed=1).plan
    assert plan.depth == 3  # by the rule 6, held to what 4,000,000 leaves can hold
    assert "4,000,000 leaves" in plan.notes[0]
    for trees, given in [
        (200, {}),
        (100, {"epsilon": 0.25}),
        (100, {"n_classes": 4}),
        (100, {"categories": 6}),
        (10, {"n_public": 300}),
        (400, {"n_public": 10**6}),
        (50, {"n_public": None}),
        (10, {"disjoint": False}),
        (7, {"trees": 7}),
    ]:
        public = {"epsilon": 1.0, "categories": 2, "n_classes": 2, "n_public": 20_000}
        asked = public | {name: value for name, value in given.items() if name in public}
        schema = schema_with(1, (asked["categories"],), asked["n_classes"], asked["n_public"])
        params = pf_forest.Params(**{name: value for name, value in given.items() if name not in public})
        assert pf_forest.trees_of(schema, asked["epsilon"], params) == trees


# --- what a forest is made of


def test_what_the_forests_of_three_papers_are_made_of() -> None:
    few, many = (dpviz.fit("pf-forest", table(schema_with(2, ()), n), epsilon=1.0, seed=4, trees=3, depth=3) for n in (0, 400))
    assert len(few.model.labels) == len(many.model.labels) == 3 * 8
    assert 0 < few.model.labels.mean() < 1
    data = table(schema_of("mixed", 3), 200)
    model = dpviz.fit("jpw-forest", data, epsilon=1e6, seed=1, trees=4).model
    totals = np.zeros((4, 3))
    np.add.at(totals, model.splits.tree[model.splits.leaves], model.tallies)
    assert totals.tolist() == [data.class_counts().tolist()] * 4
    np.testing.assert_array_equal(model.labels, model.tallies.argmax(axis=1))
    model = dpviz.fit("rgv-forest", table(schema_of("mixed"), 500), epsilon=1e5, seed=1, trees=40, depth=1).model
    assert len({tree.root.rule.feature for tree in model.trees}) > math.isqrt(4)  # without noise, one would be best everywhere


@pytest.mark.slow
def test_a_forest_of_millions_of_leaves_per_tree_predicts_and_is_not_written_down() -> None:
    schema = schema_with(0, (30,) * 10, n_public=1000)
    rng = np.random.default_rng(1)
    columns = tuple(rng.integers(0, 30, 500).astype(np.uint8) for _ in schema.features)
    data = EncodedDataset(schema, columns, (columns[0] < 15).astype(np.uint8))
    held, full = (
        dpviz.fit("smooth-forest", data, epsilon=3.0, max_depth=12, seed=1, publishable=publishable)
        for publishable in (True, False)
    )
    assert (held.plan.depth, full.plan.depth) == (3, 5)
    assert isinstance(full.model, HashedForest)
    assert full.model.predict(data).shape == (500,)
    with pytest.raises(DpvizError, match="publishable=True"):
        full.to_json()
    shared = dpviz.fit("smooth-forest", data, epsilon=300.0, depth=4, seed=1, publishable=False, disjoint=False, trees=20)
    assert np.mean(shared.model.predict(data) == data.target) > 0.95


@pytest.mark.parametrize("n_classes", [2, 5])
def test_random_forest_votes_as_the_trees_of_scikit_learn_do(n_classes: int) -> None:
    data = table(schema_of("mixed", n_classes), 400)
    model = dpviz.fit("random-forest", data, epsilon=1.0, max_depth=6, trees=15, seed=4).model
    (key,) = SecretKeys().choose(1, source=Simulation(4))
    values, order = np.column_stack(data.columns).astype(float), row_order(data)
    theirs = RandomForestClassifier(15, max_depth=6, random_state=int(key % 2**32)).fit(values[order], data.target[order])
    votes = np.zeros((data.n_rows, n_classes), dtype=int)
    for tree in theirs.estimators_:
        votes[np.arange(data.n_rows), tree.predict(values).astype(int)] += 1
    np.testing.assert_array_equal(model.votes(data), votes)
