"""Honest leaves of numbers: what they hold without noise, what they look at, and how often their intervals hold the truth."""

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import RandomPartition
from dpviz.accounting.guarantee import guarantee
from dpviz.accounting.plan import HeldOutPart
from dpviz.errors import ParameterError
from dpviz.models.tree import Branch, MedianSplit, NumberLeaf, ThresholdRule
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.counted_rows import counter_of
from dpviz.training.estimate.leaf_means import LEAF_SUMS, estimate_leaf_means
from tests.support.numbers import rows, schema_of_numbers

DATA = rows(schema_of_numbers(), 600)
SHARES = 0.3, 0.05


def fit(data=DATA, *, epsilon=1.0, **more):
    return dpviz.fit("pf-tree", data, epsilon=epsilon, depth=2, max_depth=2, **{"seed": 3, **more})


def test_without_noise_a_leaf_says_nearly_the_mean_of_the_rows_assigned_to_it():
    result = fit(epsilon=1e6)
    kept = RandomAssignment(SHARES).assign(DATA.n_rows, source=Simulation(3)) == 1
    leaf_of = result.model.leaf_of_rows(DATA)
    for number, leaf in enumerate(result.model.leaves):
        here = DATA.target[kept & (leaf_of == number)]
        assert abs(leaf.value - here.mean()) < 3
        assert leaf.interval[0] < here.mean() < leaf.interval[1]
        assert leaf.interval[0] <= leaf.value <= leaf.interval[1]


def test_the_splits_do_not_look_at_rows_that_are_set_aside():
    parts = RandomAssignment(SHARES).assign(DATA.n_rows, source=Simulation(3))
    target = np.where(parts > 0, 80 - DATA.target, DATA.target)
    models = [fit(data).model for data in (DATA, EncodedDataset(DATA.schema, DATA.columns, target))]
    assert models[0].leaf_of_rows(DATA).tolist() == models[1].leaf_of_rows(DATA).tolist()
    assert models[0].root.median_split == models[1].root.median_split
    assert models[0] != models[1]


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 2.0])
def test_the_ledger_is_the_largest_of_three_parts_to_the_last_bit(epsilon):
    result = fit(epsilon=epsilon)
    assert isinstance(result.ledger.event, RandomPartition)
    assert result.ledger.event.probabilities[1:] == tuple(held_out.share for held_out in result.plan.held_out)
    assert len(result.ledger.event.events) == 3
    assert result.ledger.guarantee.epsilon <= epsilon
    assert [guarantee(part).epsilon for part in result.ledger.event.events] == pytest.approx([epsilon] * 3, rel=1e-12)
    assert [(held_out.part, held_out.share, held_out.epsilon) for held_out in result.plan.held_out] == [
        ("leaf sums", 0.3, epsilon),
        ("test", 0.05, epsilon),
    ]


@pytest.mark.parametrize("asked", [{"leaves": "labels"}, {"class_weights": (1.0, 2.0)}])
def test_what_needs_classes_is_refused(asked):
    with pytest.raises(ParameterError, match="for a target that is a number"):
        fit(**asked)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.slow
def test_intervals_hold_the_mean_of_a_leaf_as_often_as_they_say(epsilon):
    """Rows as a new sample each time, noise on all sums: at least 95 of 100, less four standard errors."""
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 100), n_public=1000)
    root = Branch(ThresholdRule(0, 0.5), NumberLeaf(50), NumberLeaf(50), MedianSplit(50.0, low_left=True))
    rng, held, draws, held_out = np.random.default_rng(8), 0, 400, HeldOutPart(LEAF_SUMS, 0.2, epsilon)
    means = 40.0, 62.0
    for seed in range(draws):
        x = rng.random(300)
        y = np.where(x <= 0.5, means[0], means[1]) + rng.uniform(-12, 12, len(x))
        data = EncodedDataset(schema, (x,), y)
        tree, _, _ = estimate_leaf_means(root, counter_of(data), np.ones(len(x), dtype=np.uint8), held_out, Simulation(seed))
        held += sum(leaf.interval[0] <= mean <= leaf.interval[1] for leaf, mean in zip(tree.leaves, means, strict=True))
    assert held / (2 * draws) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / (2 * draws))
