"""Simulated rows keep to the schema and to what is declared of them, and what to expect is measured on such rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import Cancelled, DpvizError, ParameterError, SchemaError
from dpviz.evaluation.simulate import (
    FIRST_DRAWS,
    MIN_SIDE,
    STRENGTHS,
    ResampledRows,
    expected_steps,
    plant,
    region,
)
from dpviz.learners import FitRequest
from dpviz.models.tree import Branch, Leaf
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

FEATURES = (
    NumericFeature("a", -5, 5),
    NumericFeature("age", 18, 90, whole=True),
    CategoricalFeature("c", ("x", "y", "z")),
    NumericFeature("b", 0, 1),
)
SCHEMA = Schema(FEATURES, ClassTarget("y", ("no", "yes", "maybe")))
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")), n_public=4000)
UNDIVIDED = Schema((CategoricalFeature("one", ("a",)),), TWO.target)


@given(st.integers(0, 200), st.integers(1, 4), st.floats(0, 1))
def test_simulated_rows_keep_to_the_schema(seed, depth, strength):
    world = plant(SCHEMA, n_rows=50, strength=strength, depth=depth, seed=seed)
    train, test = world.draw(seed=seed)
    assert train.schema.n_public == train.n_rows == 50
    for feature, column in zip(FEATURES, train.columns, strict=True):
        low, high = (0, 2) if isinstance(feature, CategoricalFeature) else (feature.low, feature.high)
        assert low <= column.min() <= column.max() <= high
    assert (train.columns[1] == np.round(train.columns[1])).all()
    assert train.target.max() < 3
    assert test.n_rows > 0
    assert world.rule.depth <= depth
    assert [rows.fingerprint for rows in world.draw(seed=seed)] == [train.fingerprint, test.fingerprint]
    assert world.draw(seed=seed + 1)[0].fingerprint != train.fingerprint
    for placed in world.rule.nodes():
        if isinstance(placed.node, Branch) and isinstance(placed.node.left, Leaf) and isinstance(placed.node.right, Leaf):
            assert placed.node.left != placed.node.right


@pytest.mark.parametrize("seed", range(3))
def test_the_class_follows_the_planted_tree_as_often_as_said_and_every_rule_is_worth_finding_from_the_root(seed):
    """No exclusive or: the rule at the root alone is right more often than guessing."""
    world = plant(SCHEMA, n_rows=40_000, strength=0.7, seed=seed)
    train, _ = world.draw(seed=1)
    assert world.chances[0][0] == pytest.approx(1 / 3 + 0.7 * 2 / 3)
    assert np.mean(world.rule.predict(train) == train.target) == pytest.approx(
        world.chances[0][0], abs=4 * np.sqrt(0.25 / 40_000)
    )
    world = plant(TWO, n_rows=20_000, strength=1.0, depth=2, seed=seed)
    train, _ = world.draw(seed=1)
    left = world.rule.root.rule.goes_left(train.columns[world.rule.root.rule.feature])
    right_by_side = sum(np.bincount(train.target[side]).max() for side in (left, ~left)) / train.n_rows
    assert right_by_side > world.most_frequent + 0.05
    assert MIN_SIDE - 0.03 <= left.mean() <= 1 - MIN_SIDE + 0.03


def test_rows_kept_aside_are_never_trained_on_and_every_draw_keeps_others():
    schema = Schema((NumericFeature("a", 0, 100),), TWO.target, n_public=100)
    world = ResampledRows(EncodedDataset(schema, (np.arange(100.0),), (np.arange(100) % 2).astype(np.uint8)))
    for wanted in (None, 30, 500):
        train, test = world.draw(wanted, seed=3)
        assert not set(train.columns[0]) & set(test.columns[0])
        assert train.schema.n_public == train.n_rows == (wanted or 80)
        assert test.n_rows == 20
    assert set(world.draw(seed=1)[1].columns[0]) != set(world.draw(seed=2)[1].columns[0])


# --- what to expect

ASKED = {"base_rate": 0.3, "n_rows": 2000, "seed": 1}


def expected(epsilon=1.0, **asked):
    *_, found = expected_steps(TWO, FitRequest.of("pf-tree", epsilon=epsilon, max_depth=2), **ASKED | asked)
    return found


@pytest.mark.parametrize("base_rate", [0.05, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("strength", STRENGTHS.values())
def test_simulated_rows_have_the_declared_base_rate_at_every_strength(base_rate, strength):
    world = region(TWO, n_rows=20_000, base_rate=base_rate, strength=strength, seed=3)
    train, _ = world.draw(20_000, seed=1)
    assert np.mean(train.target == 1) == pytest.approx(base_rate, abs=0.012)
    outside, inside = (world.chances[part][int(base_rate <= 0.5)] for part in (0, 1))
    assert 0 <= outside < inside <= 1


@pytest.mark.slow
def test_a_stronger_signal_is_found_more_often_and_a_first_look_is_what_fewer_draws_give():
    found = expected(draws=3)
    assert [one.strength for one in found] == ["little", "something", "much"]
    assert found[0].best < found[1].best < found[2].best
    assert found[2].accuracy > found[2].always == pytest.approx(0.7, abs=0.03)
    assert expected(draws=3) == found
    assert all(one.better <= 0.5 for one in expected(0.001, base_rate=0.1, n_rows=300, draws=4))
    told, asked = [], iter([False, True])
    request = FitRequest.of("pf-tree", epsilon=1.0, max_depth=2)
    first, last = expected_steps(TWO, request, draws=5, progress=told.append, **ASKED)
    assert first == expected(draws=FIRST_DRAWS)
    assert [one.draws for one in (*first, *last)] == [FIRST_DRAWS] * 3 + [5] * 3
    assert told == [pytest.approx((number + 1) / 15) for number in range(15)]
    with pytest.raises(Cancelled):
        expected(stop=lambda: next(asked))


def test_what_cannot_be_simulated_is_refused():
    for schema, base_rate, error in ((SCHEMA, 0.2, SchemaError), (TWO, 1.0, ParameterError), (UNDIVIDED, 0.2, SchemaError)):
        with pytest.raises(error):
            region(schema, n_rows=100, base_rate=base_rate, strength=0.5, seed=1)
    for wrong in ({"strength": 1.5}, {"depth": 0}, {"n_rows": 0}, {"schema": UNDIVIDED}):
        with pytest.raises(SchemaError if "schema" in wrong else ParameterError):
            plant(**{"schema": SCHEMA, "n_rows": 100, "strength": 0.5, "seed": 1} | wrong)
    with pytest.raises(DpvizError, match="at least 10 rows"):
        ResampledRows(plant(TWO, n_rows=9, strength=0.5, seed=1).draw(seed=1)[0])
    assert ResampledRows(plant(TWO, n_rows=10, strength=0.5, seed=1).draw(seed=1)[0]).n_rows == 8, "ten are enough"
