"""PF-forest: private as it claims on every small data set, and sound where a disjoint forest can go wrong."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import Parallel, Sequential
from dpviz.evaluation.audit.evidence import PlannedLearner
from dpviz.evaluation.audit.exact import Universe, whole_distribution
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.evaluation.audit.verify import verify_each
from dpviz.learners.published import pf_forest
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.tables import schema_of, table

#: A cap that the rule of a learner stays below is asked for on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.WithoutEffect")

SMALL = Universe((2,), depth=1, max_rows=3)


@pytest.mark.parametrize(
    ("trees", "universe"),
    [
        (1, SMALL),
        pytest.param(1, Universe((2, 2), depth=1, max_rows=3), marks=pytest.mark.slow),
        pytest.param(1, Universe((3,), numeric=True, depth=2, max_rows=3), marks=pytest.mark.slow),
        pytest.param(2, SMALL, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("epsilon", [0.3, pytest.param(2.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("disjoint", [True, False])
def test_no_pair_of_small_data_sets_is_told_apart_beyond_epsilon(trees, universe, epsilon, disjoint) -> None:
    (result,) = verify_each("pf-forest", epsilon=epsilon, universes=[universe], trees=trees, disjoint=disjoint)
    assert result.verdict == "holds"
    assert result.log_ratio == pytest.approx(epsilon)  # and the claim is tight


def test_the_law_of_two_trees_is_that_of_every_way_to_divide_the_rows() -> None:
    # One feature of two categories: both trees are known, so only rows and labels are left to chance.
    planned = PlannedLearner.of("pf-forest", SMALL.schema, epsilon=1.0, depth=1, trees=2)
    data = SMALL.dataset(len(SMALL.keys) - 1)
    distribution = whole_distribution(planned, data, Enumeration())
    expected: dict[tuple[int, ...], float] = {}
    for division in np.ndindex(*(2,) * data.n_rows):
        for labels in np.ndindex(2, 2, 2, 2):
            chance = 0.5**data.n_rows * np.prod([_chance(data, division, leaf, label) for leaf, label in enumerate(labels)])
            expected[labels] = expected.get(labels, 0.0) + chance
    assert sorted(distribution.values()) == pytest.approx(sorted(expected.values()))
    assert sum(distribution.values()) == pytest.approx(1)


def _chance(data, division: tuple[int, ...], leaf: int, label: int) -> float:
    here = (np.array(division) == leaf // 2) & (data.columns[0] == leaf % 2)
    counts = np.bincount(data.target[here], minlength=2)
    flip = 0.5 * np.exp(-abs(counts[0] - counts[1]))
    return float(1 - flip if counts[label] > counts[1 - label] else flip)


def test_trees_of_disjoint_rows_are_parallel_and_trees_that_share_rows_add_up() -> None:
    data = table(schema_of(), 60)
    parallel = dpviz.fit("pf-forest", data, epsilon=0.7, seed=1, trees=3).ledger
    shared = dpviz.fit("pf-forest", data, epsilon=0.7, seed=1, trees=3, disjoint=False).ledger
    assert isinstance(parallel.event, Parallel)
    assert isinstance(shared.event, Sequential)
    assert parallel.guarantee.epsilon == 0.7
    assert shared.guarantee.epsilon == pytest.approx(0.7)
    assert shared.guarantee.epsilon <= 0.7
    assert max(row.epsilon for row in shared.rows()) == pytest.approx(0.7 / 3)


@pytest.mark.slow
def test_a_row_more_moves_no_other_row_in_law() -> None:
    # The chance that two rows are in one tree does not depend on a third.
    data = table(schema_of("numbers"), 3)
    pair = data.take(np.array([0, 1]), share=1.0)
    from dpviz.privacy.source import Simulation
    from dpviz.training.forests.random_trees import rows_to_trees

    for rows in (pair, data):
        together = [np.equal(*rows_to_trees(rows, 4, Simulation(seed))[:2]) for seed in range(4000)]
        assert abs(np.mean(together) - 0.25) < 4.5 * np.sqrt(0.25 * 0.75 / 4000)


def test_the_depth_is_held_to_what_can_be_published() -> None:
    features = tuple(CategoricalFeature(f"c{i}", tuple(f"v{k}" for k in range(40))) for i in range(12))
    schema = Schema(features, ClassTarget("y", ("a", "b")), n_public=10_000)
    plan = dpviz.fit("pf-forest", table_of(schema), epsilon=1.0, max_depth=12, seed=1).plan
    assert plan.depth == 3
    depth, trees = plan.notes
    assert depth == "Depth 3 (rule 6, at most 12, held to what 4,000,000 leaves can hold)."
    assert trees == "10 trees (by the public rule)."


def test_the_number_of_trees_comes_from_public_things_alone() -> None:
    def trees(classes=2, categories=2, **given):
        epsilon = given.pop("epsilon", 1.0)
        features = (NumericFeature("x", 0, 1), CategoricalFeature("c", tuple(f"v{k}" for k in range(categories))))
        target, n_public = ClassTarget("y", tuple(f"k{k}" for k in range(classes))), given.pop("n_public", 20_000)
        return pf_forest.trees_of(Schema(features, target, n_public=n_public), epsilon, pf_forest.Params(**given))

    assert trees() == 200
    assert trees(epsilon=0.25) == 100
    assert trees(classes=4) == 100
    assert trees(categories=6) == 100
    assert trees(n_public=300) == 10
    assert trees(n_public=10**6) == 400
    assert trees(n_public=None) == 50
    assert trees(disjoint=False) == 10
    assert trees(trees=7) == 7


def table_of(schema: Schema):
    from tests.support.tables import column_of

    rng = np.random.default_rng(0)
    columns = tuple(column_of(feature, 20, rng) for feature in schema.features)
    return dpviz.table.dataset.EncodedDataset(schema, columns, (np.arange(20) % 2).astype(np.uint8))


def test_every_leaf_is_published_whether_it_holds_rows_or_not() -> None:
    schema = Schema((NumericFeature("x", 0, 1), NumericFeature("z", 0, 1)), ClassTarget("y", ("a", "b")))
    few, many = (dpviz.fit("pf-forest", table(schema, n), epsilon=1.0, seed=4, trees=3, depth=3).model for n in (0, 400))
    assert len(few.labels) == len(many.labels) == 3 * 8
    assert 0 < few.labels.mean() < 1


def test_with_much_data_it_learns() -> None:
    data = table(schema_of("numbers"), 6000)
    train, test = data.split(seed=0)
    result = dpviz.fit("pf-forest", train, epsilon=1.0, seed=1)
    assert result.score(test) > 0.8
