import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DpvizError, NeedsClasses, ParameterError, SchemaError, UnknownName
from dpviz.evaluation.simulate import LEAST_SIDE, Resampled, marginals_of, plant
from dpviz.learners import fit
from dpviz.models.tree import Branch, Leaf
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

SCHEMA = Schema(
    (
        NumericFeature("a", -5, 5),
        NumericFeature("age", 18, 90, whole=True),
        CategoricalFeature("c", ("x", "y", "z")),
        NumericFeature("b", 0, 1),
    ),
    ClassTarget("y", ("no", "yes", "maybe")),
)
TWO = Schema(SCHEMA.features, ClassTarget("y", ("no", "yes")))


@given(st.integers(0, 200), st.integers(1, 4), st.floats(0, 1))
def test_simulated_rows_keep_to_the_schema(seed, depth, strength):
    world = plant(SCHEMA, n_rows=50, strength=strength, depth=depth, seed=seed)
    train, test = world.draw(seed=seed)
    assert train.schema.n_public == train.n_rows == 50
    for feature, column in zip(SCHEMA.features, train.columns, strict=True):
        if isinstance(feature, CategoricalFeature):
            assert column.max() < len(feature.categories)
        else:
            assert feature.low <= column.min() <= column.max() <= feature.high
    assert (train.columns[1] == np.round(train.columns[1])).all()
    assert train.target.max() < 3
    assert test.n_rows > 0
    assert world.rule.depth <= depth


def test_the_class_follows_the_planted_tree_as_often_as_said():
    world = plant(SCHEMA, n_rows=40_000, strength=0.7, seed=2)
    train, _ = world.draw(seed=1)
    share = (world.rule.predict(train) == train.target).mean()
    assert world.chances[0][0] == pytest.approx(1 / 3 + 0.7 * 2 / 3)
    assert abs(share - world.chances[0][0]) < 4 * np.sqrt(0.25 / 40_000)


def test_nothing_is_right_more_often_than_the_ceiling_and_a_tree_comes_near():
    world = plant(TWO, n_rows=20_000, strength=0.8, depth=2, seed=3)
    train, test = world.draw(seed=1)
    score = fit("pf-tree", train, epsilon=20, seed=0, depth=3).score(test)
    assert world.chances[0][0] - 0.06 < score < world.chances[0][0] + 0.03


@pytest.mark.parametrize("seed", range(3))
def test_every_planted_rule_is_worth_finding_from_the_root(seed):
    """No exclusive or: the rule at the root alone is right more often than guessing."""
    world = plant(TWO, n_rows=20_000, strength=1.0, depth=2, seed=seed)
    root = world.rule.root
    assert isinstance(root, Branch)
    train, _ = world.draw(seed=1)
    left = root.rule.goes_left(train.columns[root.rule.feature])
    right_by_side = sum(np.bincount(train.target[side]).max() for side in (left, ~left)) / train.n_rows
    assert right_by_side > world.most_frequent + 0.05
    assert LEAST_SIDE - 0.03 <= left.mean() <= 1 - LEAST_SIDE + 0.03


def test_the_same_seed_draws_the_same_rows_and_siblings_of_the_planted_tree_differ():
    for seed in range(20):
        for placed in plant(SCHEMA, n_rows=10, strength=0.5, depth=3, seed=seed).rule.nodes():
            if isinstance(placed.node, Branch) and isinstance(placed.node.left, Leaf) and isinstance(placed.node.right, Leaf):
                assert placed.node.left != placed.node.right
    world = plant(SCHEMA, n_rows=100, strength=0.5, seed=1)
    assert world.draw(seed=4)[0].fingerprint == world.draw(seed=4)[0].fingerprint
    assert world.draw(seed=5)[0].fingerprint != world.draw(seed=4)[0].fingerprint
    assert world.draw(300, seed=4)[0].n_rows == 300


def test_given_marginals_are_drawn_and_read_ones_are_those_of_the_rows():
    world = plant(TWO, n_rows=30_000, strength=0.5, seed=1, marginals={"a": (3.0, 1.0), "c": (0.0, 1.0, 1.0)})
    train, _ = world.draw(seed=1)
    assert abs((train.columns[0] < 0).mean() - 0.75) < 0.02
    assert np.bincount(train.columns[2], minlength=3)[0] == 0
    rows, _ = plant(TWO, n_rows=20_000, strength=0.5, seed=1, marginals={"a": (1.0, 0.0, 3.0, 1.0)}).draw(seed=2)
    again, _ = plant(TWO, n_rows=20_000, strength=0.5, seed=1, marginals=marginals_of(rows)).draw(seed=3)
    edges = np.linspace(-5, 5, 5)
    first, second = (np.histogram(table.columns[0], edges)[0] / 20_000 for table in (rows, again))
    assert np.abs(first - second).max() < 0.02


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"strength": 1.5}, ParameterError),
        ({"depth": 0}, ParameterError),
        ({"n_rows": 0}, ParameterError),
        ({"marginals": {"c": (1.0, 2.0)}}, ParameterError),
        ({"marginals": {"a": (0.0, 0.0)}}, ParameterError),
        ({"marginals": {"nobody": (1.0,)}}, UnknownName),
    ],
)
def test_what_cannot_be_simulated_is_refused(wrong, error):
    with pytest.raises(error):
        plant(SCHEMA, **{"n_rows": 100, "strength": 0.5, "seed": 1} | wrong)


def test_a_schema_without_classes_or_without_anything_to_divide_is_refused():
    with pytest.raises(NeedsClasses, match="needs a target of classes"):
        plant(Schema(SCHEMA.features, NumericTarget("y", 0, 1)), n_rows=10, strength=0.5, seed=1)
    with pytest.raises(SchemaError, match="single value"):
        plant(Schema((CategoricalFeature("c", ("x",)),), TWO.target), n_rows=10, strength=0.5, seed=1)


def resampled(n: int = 100) -> Resampled:
    schema = Schema((NumericFeature("a", 0, n),), ClassTarget("y", ("no", "yes")), n_public=n)
    return Resampled(EncodedDataset(schema, (np.arange(n, dtype=float),), (np.arange(n) % 2).astype(np.uint8)))


def test_rows_kept_aside_are_never_trained_on_and_every_draw_keeps_others():
    for wanted in (None, 30, 500):
        train, test = resampled().draw(wanted, seed=3)
        assert not set(train.columns[0]) & set(test.columns[0])
        assert train.n_rows == (wanted or 80)
        assert train.schema.n_public == train.n_rows
        assert test.n_rows == 20
    assert set(resampled().draw(seed=1)[1].columns[0]) != set(resampled().draw(seed=2)[1].columns[0])
    assert resampled().repeats(81)
    assert not resampled().repeats(80)
    with pytest.raises(DpvizError, match="A plan needs at least 10 rows"):
        resampled(9)
