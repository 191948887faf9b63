"""What BDPT and DPGDF share: a greedy tree on one value against the rest, down to where exact rows are few or of one class."""

from collections.abc import Callable

import numpy as np

from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.privacy.selection import ExponentialMechanism
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid, FeatureCandidates
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
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
from dpviz.training.scores import gini_utilities


def split_shares(epsilon: float, depth: int) -> list[Share]:
    """Equal parts for the splits of every level."""
    nodes = split_budget(epsilon, (1.0,) * depth)
    return [Share("node", level, part, set_by="rule: half, equal", exact=False) for level, part in enumerate(nodes)]


def recipe(
    name: str,
    data: EncodedDataset,
    groups: dict[str, np.ndarray],
    plan: BudgetPlan,
    min_rows: int,
    label: Callable[[CountedNode], Label],
    sensitivity: Callable[[CountedNode], tuple[Sensitivity, tuple[Event, ...]]],
    source: NoiseSource,
) -> TreeRecipe:
    """Splits by the exponential mechanism on 0.5 - Gini, down to the depth or to where the stopping rule is met."""
    grid = one_against_rest_grid(data.schema, groups, name)

    def step(node: CountedNode) -> Decision:
        level = node.level
        if level == plan.depth:
            return label(node)
        if meets_stopping_rule(node, min_rows):
            return stopped_leaf(label(node), level)
        bound, before = sensitivity(node)
        mechanism = ExponentialMechanism(plan.of("node", level), bound)
        chosen = mechanism.release(gini_utilities(node.left_counts, node.class_counts), source=source, part="node", level=level)
        return Split(*grid.locate(chosen.value), Sequential((stopping_event(level), *before, chosen.event)))

    return TreeRecipe(counter_of(data).root(grid), step, disclosures=(STOPPING_DISCLOSURE,))


def one_against_rest_grid(schema: Schema, groups: dict[str, np.ndarray], name: str) -> CandidateGrid:
    """One category, or one group of a numeric feature, against the rest. Raises SchemaError if no feature can be split.

    `groups`: numeric feature -> increasing upper ends of its groups; a missing feature is not split.
    """

    def of(feature: NumericFeature | CategoricalFeature) -> FeatureCandidates:
        if isinstance(feature, CategoricalFeature):
            starts = np.arange(len(feature.categories) if len(feature.categories) > 1 else 0)
            return FeatureCandidates(len(feature.categories), None, starts, starts + 1)
        return _groups(groups[feature.name], feature.high) if feature.name in groups else FeatureCandidates(1, np.empty(0))

    return CandidateGrid(schema, tuple(map(of, schema.features)), name, is_reused=not groups)


def _groups(ends: np.ndarray, high: float) -> FeatureCandidates:
    """Group i goes left. For the last group all others go left instead, which is the same split."""
    cuts = ends[:-1] if len(ends) > 1 else np.array([high])  # a single group: everything goes left
    starts = np.arange(max(len(ends), 1))
    stops = starts + 1
    if len(ends) > 1:
        starts[-1], stops[-1] = 0, len(cuts)
    return FeatureCandidates(len(cuts) + 1, cuts, starts, stops)
