"""Growing: each fit has the distribution of its mechanisms, and fits with one seed share their luck; the teaching view."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import dpviz
from dpviz.errors import SchemaError
from dpviz.models.tree import Branch, NumberLeaf, ThresholdRule, Tree
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.oracles import counts
from tests.support.oracles import trees as oracle
from tests.support.tables import schema_of, table

BINARY = tuple(CategoricalFeature(name, ("no", "yes")) for name in ("p", "q", "r"))
SMALL = table(Schema(BINARY, ClassTarget("y", ("a", "b")), n_public=40), 40)
DATA = table(schema_of("mixed"), 300)
EPSILONS = np.geomspace(0.05, 3, 12)


class InTurn(Simulation):
    """Noise that is drawn one after another, wherever it is used."""

    def enter(self, place: int) -> None:
        pass


class SameEverywhere(Simulation):
    """A fault: all places of a tree share their noise."""

    def enter(self, place: int) -> None:
        super().enter(1)


def trees(seed: int | None = None, **asked):
    """One tree per epsilon, with one seed or a new one each."""
    seeds = range(1000, 1012) if seed is None else [seed] * len(EPSILONS)
    return [
        dpviz.fit("pf-tree", DATA, epsilon=epsilon, depth=3, seed=each, **asked).model
        for epsilon, each in zip(EPSILONS, seeds, strict=True)
    ]


def changed(models) -> float:
    """Share of the places that hold another question than one epsilon before."""
    rules = [{placed.path: placed.node.rule for placed in model.nodes() if isinstance(placed.node, Branch)} for model in models]
    pairs = pairwise(rules)
    return float(np.mean([now.get(path) != before.get(path) for before, now in pairs for path in before.keys() | now.keys()]))


@pytest.mark.slow
def test_a_small_step_of_epsilon_changes_few_nodes():
    shared = np.mean([changed(trees(seed)) for seed in range(5)])
    assert shared < 0.5 * changed(trees())


def pairs_of_questions(sources) -> Counter:
    """How often each pair of features is asked at the root and at its left child."""
    found: Counter = Counter()
    for source in sources:
        root = dpviz.fit("pf-tree", SMALL, epsilon=0.5, depth=2, lookahead="1", source=source).model.root
        below = root.left if isinstance(root, Branch) else root
        found[tuple(node.rule.feature if isinstance(node, Branch) else -1 for node in (root, below))] += 1
    return found


def p_value(one: Counter, other: Counter) -> float:
    """Of the hypothesis that both have one distribution."""
    questions = [pair for pair, times in (one + other).items() if times >= 10]
    assert len(questions) >= 5
    return chi2_contingency([[counted[pair] for pair in questions] for counted in (one, other)]).pvalue


@pytest.mark.slow
def test_the_test_finds_noise_that_two_places_share():
    in_turn = pairs_of_questions(map(InTurn, range(5_000, 5_800)))
    assert p_value(pairs_of_questions(map(Simulation, range(800))), in_turn) > 1e-4
    assert p_value(pairs_of_questions(map(SameEverywhere, range(800))), in_turn) < 1e-6


def test_exact_counts_are_those_of_the_rows_that_reach_each_node():
    data = table(schema_of("mixed", 3), 80)
    tree = dpviz.fit("pf-tree", data, epsilon=1.0, depth=3, seed=2).model
    trace = dpviz.exact_trace(tree, data)
    expected = {id(node): counts.class_counts(data, rows) for _, node, rows in oracle.rows_by_node(tree, data)}
    assert set(trace.counts) == {placed.path for placed in tree.nodes()}
    for placed in tree.nodes():
        np.testing.assert_array_equal(trace.counts[placed.path], expected[id(placed.node)])
    assert trace.rows("") == 80
    assert not trace.means
    with pytest.raises(TypeError):
        trace.counts["L"] = 1
    with pytest.raises(SchemaError, match="lack the model's columns"):
        dpviz.exact_trace(tree, table(schema_of("numbers"), 5))


def test_a_numeric_target_has_exact_rows_and_means():
    schema = Schema((NumericFeature("x", 0, 10),), NumericTarget("y", 0, 100))
    data = EncodedDataset(schema, (np.array([1.0, 2.0, 9.0]),), np.array([10.0, 20.0, 60.0]))
    rule = ThresholdRule(0, 5.0)
    trace = dpviz.exact_trace(Tree(schema, Branch(rule, NumberLeaf(1.0), Branch(rule, NumberLeaf(2.0), NumberLeaf(3.0)))), data)
    assert {path: trace.rows(path) for path in trace.counts} == {"": 3, "L": 2, "R": 1, "RL": 0, "RR": 1}
    assert (trace.means[""], trace.means["L"], trace.means["RR"]) == (30.0, 15.0, 60.0)
    assert np.isnan(trace.means["RL"])
