"""BDPT: a greedy tree on one value against the rest, with the sensitivity of Gini taken at a noisy row count.

Half of epsilon pays for splits: the exponential mechanism on 0.5 - Gini at every level. The other half pays for counts, in a
geometric series over the levels: the noisy row count of a node, or the noisy class counts of a leaf. Values of a number are
merged in groups of five distinct values, read from the rows. Discloses the ends of those groups, and exact counts through its
stopping rule (a node with one class or at most one row becomes a leaf). The noisy count can exceed the true one, so the
sensitivity is no bound, as in PrivaTree (corrected).

Source: Guan, Sun, Shi, Wu & Du 2020, Computers & Security 96; as measured by Vos et al. 2023.
"""

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, Sequential, Step
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.selection import ExponentialMechanism
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, Schema
from dpviz.training.contract import LearnerSpec, always_claims, fit_by_growing
from dpviz.training.counted_rows import counter_of
from dpviz.training.growing import (
    STOPPING_DISCLOSURE,
    Decision,
    Label,
    Split,
    TreeRecipe,
    meets_stopping_rule,
    stopped_leaf,
    stopping_event,
)
from dpviz.training.nodes import CountedNode
from dpviz.training.one_against_rest import group_ends, one_against_rest_grid
from dpviz.training.params import NoParams, Settings
from dpviz.training.scores import gini_sensitivity, gini_utilities

NAME = "bdpt"
GROUP = 5
LEAST_ROWS = 2
GROUP_DISCLOSURE = Disclosure(
    code="merged-values",
    what=f"The ends of all groups of {GROUP} distinct values of a number are values of rows.",
    remedy="Use PF-tree, whose thresholds come from the schema.",
)


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """Half of epsilon for splits, equal over levels; half for counts, proportional to 2^(level/3)."""
    depth = settings.fixed_or_max_depth
    for_nodes, for_counts = split_budget(settings.epsilon, (1.0, 1.0))
    nodes = split_budget(for_nodes, (1.0,) * depth)
    counts = split_budget(for_counts, tuple(2 ** (level / 3) for level in range(depth + 1)))
    shares = [Share("node", level, epsilon, set_by="rule: half, equal", exact=False) for level, epsilon in enumerate(nodes)]
    shares += [
        Share("count", level, epsilon, set_by="rule: 2^(level/3)", exact=False) for level, epsilon in enumerate(counts[:-1])
    ]
    shares.append(Share("leaf", depth, counts[-1], set_by="rule: 2^(level/3)", exact=False))
    return BudgetPlan(settings.epsilon, depth, tuple(shares), unbounded=(stopping_event(None),))


def prepare(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> TreeRecipe:
    """Merge values, then grow."""
    pairs = zip(data.schema.features, data.columns, strict=True)
    groups = {feature.name: group_ends(column, GROUP) for feature, column in pairs if isinstance(feature, NumericFeature)}
    grid = one_against_rest_grid(data.schema, groups, NAME)

    def step(node: CountedNode) -> Decision:
        if node.level == plan.depth:
            return _label(node, plan.of("leaf", plan.depth), source)
        if meets_stopping_rule(node, LEAST_ROWS):
            return stopped_leaf(_label(node, plan.of("count", node.level), source), node.level)
        return _split(node, plan, source)

    merged: tuple[Event, ...] = (Step.unbounded("exact values that end the groups of merged values", "groups"),) if groups else ()
    disclosures = (GROUP_DISCLOSURE, STOPPING_DISCLOSURE) if groups else (STOPPING_DISCLOSURE,)
    return TreeRecipe(counter_of(data).root(grid), step, merged, disclosures)


def _label(node: CountedNode, epsilon: float, source: NoiseSource) -> Label:
    noisy = LaplaceNoise(epsilon).release(node.class_counts, source=source, part="leaf", level=node.level)
    return Label(int(noisy.value.argmax()), noisy.event)


def _split(node: CountedNode, plan: BudgetPlan, source: NoiseSource) -> Split:
    level = node.level
    count = LaplaceNoise(plan.of("count", level)).release(np.array([node.n_rows]), source=source, part="count", level=level)
    sensitivity = gini_sensitivity(max(1.0, float(count.value[0])))
    mechanism = ExponentialMechanism(plan.of("node", level), sensitivity)
    chosen = mechanism.release(gini_utilities(node.left_counts, node.class_counts), source=source, part="node", level=level)
    event = Sequential((stopping_event(level), count.event, chosen.event))
    return Split(*node.grid.locate(chosen.value), event)


LEARNER = LearnerSpec(
    name=NAME,
    title="BDPT",
    idea="One value against the rest, chosen by the exponential mechanism at a noisy sensitivity.",
    citation="Guan, Sun, Shi, Wu & Du 2020, Computers & Security 96",
    plan=plan,
    fit=fit_by_growing(prepare),
    prepare=prepare,
    claim=always_claims(
        "Guan et al. 2020",
        "violated",
        "The sensitivity is taken at a noisy row count, which can exceed the true one, and the stopping rule is exact: "
        "some trees are possible for one data set only.",
        evidence="dpviz/learners/published/privatree.py: one row against two",
    ),
)
