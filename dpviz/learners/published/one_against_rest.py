"""BDPT and DPGDF: greedy trees on one value against the rest, which stop where exact rows are few or of one class.

**BDPT.** Half of epsilon pays for splits: the exponential mechanism on 0.5 - Gini at every level. The other half pays for counts,
in a geometric series over the levels: the noisy row count of a node, or the noisy class counts of a leaf. Values of a number are
merged in groups of five distinct values, read from the rows. Discloses the ends of those groups, and exact counts through its
stopping rule. The noisy count can exceed the true one, so the sensitivity is no bound, as in PrivaTree (corrected).

**DPGDF.** Half of epsilon pays for splits, equally over the levels: the exponential mechanism on weighted Gini with its global
sensitivity of one half. The other half labels the leaves, which hold disjoint rows, by the exponential mechanism with smooth
sensitivity. Numeric features are ignored; a table without categories is refused. Splits are one category against the rest, as in
the code behind the papers' tables. Not private for two reasons: the rule for the leaves has unbounded odds
(`dpviz/privacy/smooth.py`), and the stopping rule (one class, or fewer than eleven rows) discloses exact counts.

Source: Guan, Sun, Shi, Wu & Du 2020, Computers & Security 96; Xin, Yang, Wang & Huang 2019, ICASSP; both as described and
measured by Vos et al. 2023.
"""

from collections.abc import Callable

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, Sequential, Step
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.selection import ExponentialMechanism
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.smooth import SmoothMajority
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid, FeatureCandidates
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
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
from dpviz.training.params import NoParams, Settings
from dpviz.training.scores import gini_sensitivity, gini_utilities

BDPT, DPGDF = "bdpt", "dpgdf"
#: Distinct values of a number that BDPT merges.
GROUP = 5
#: A node with fewer rows becomes a leaf.
LEAST_ROWS = {BDPT: 2, DPGDF: 11}
#: From one row to two of different classes Gini goes from 0 to 1/2; no other step is larger.
GINI = Sensitivity(0.5, monotone=False, source="one row changes the weighted Gini impurity by at most 1/2")
GROUP_DISCLOSURE = Disclosure(
    code="merged-values",
    what=f"The ends of all groups of {GROUP} distinct values of a number are values of rows.",
    remedy="Use PF-tree, whose thresholds come from the schema.",
)


def plan_bdpt(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """Half of epsilon for splits, equal over levels; half for counts, proportional to 2^(level/3)."""
    depth, rule = settings.fixed_or_max_depth, "rule: 2^(level/3)"
    for_nodes, for_counts = split_budget(settings.epsilon, (1.0, 1.0))
    counts = split_budget(for_counts, tuple(2 ** (level / 3) for level in range(depth + 1)))
    counted = [Share("count", level, epsilon, set_by=rule, exact=False) for level, epsilon in enumerate(counts[:-1])]
    shares = (*_splits(for_nodes, depth), *counted, Share("leaf", depth, counts[-1], set_by=rule, exact=False))
    return BudgetPlan(settings.epsilon, depth, shares, unbounded=(stopping_event(None),))


def plan_dpgdf(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """Half of epsilon for splits, half for labels. Raises SchemaError without a category to split."""
    if not any(isinstance(feature, CategoricalFeature) for feature in schema.features):
        what = f"{DPGDF!r} splits categorical features only, and there is none."
        raise SchemaError(what, remedy="Choose another learner, or declare a feature as categories.")
    one_against_rest_grid(schema, {}, DPGDF)  # raises if no category has two values
    depth = settings.fixed_or_max_depth
    for_nodes, leaf = split_budget(settings.epsilon, (1.0, 1.0))
    shares = (*_splits(for_nodes, depth), Share("leaf", depth, leaf, set_by="rule: half", exact=False))
    return BudgetPlan(settings.epsilon, depth, shares, unbounded=(stopping_event(None),))


def _splits(epsilon: float, depth: int) -> list[Share]:
    nodes = split_budget(epsilon, (1.0,) * depth)
    return [Share("node", level, part, set_by="rule: half, equal", exact=False) for level, part in enumerate(nodes)]


def prepare_bdpt(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> TreeRecipe:
    """Merge values, then grow."""
    pairs = zip(data.schema.features, data.columns, strict=True)
    groups = {feature.name: group_ends(column, GROUP) for feature, column in pairs if isinstance(feature, NumericFeature)}

    def label(node: CountedNode) -> Label:
        noise = LaplaceNoise(plan.of("leaf" if node.level == plan.depth else "count", node.level))
        noisy = noise.release(node.class_counts, source=source, part="leaf", level=node.level)
        return Label(int(noisy.value.argmax()), noisy.event)

    def sensitivity(node: CountedNode) -> tuple[Sensitivity, tuple[Event, ...]]:
        noise = LaplaceNoise(plan.of("count", node.level))
        count = noise.release(np.array([node.n_rows]), source=source, part="count", level=node.level)
        return gini_sensitivity(max(1.0, float(count.value[0]))), (count.event,)

    grown = _recipe(BDPT, data, groups, plan, label, sensitivity, source)
    if not groups:
        return grown
    merged = Step.unbounded("exact values that end the groups of merged values", "groups")
    return TreeRecipe(grown.root, grown.step, (merged,), (GROUP_DISCLOSURE, STOPPING_DISCLOSURE))


def prepare_dpgdf(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> TreeRecipe:
    """A tree on the categorical features."""
    leaf = SmoothMajority(plan.of("leaf", plan.depth))

    def label(node: CountedNode) -> Label:
        chosen = leaf.release(node.class_counts, source=source, part="leaf", level=node.level)
        return Label(chosen.value, chosen.event)

    return _recipe(DPGDF, data, {}, plan, label, lambda node: (GINI, ()), source)


def _recipe(
    name: str,
    data: EncodedDataset,
    groups: dict[str, np.ndarray],
    plan: BudgetPlan,
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
        if meets_stopping_rule(node, LEAST_ROWS[name]):
            return stopped_leaf(label(node), level)
        bound, before = sensitivity(node)
        mechanism = ExponentialMechanism(plan.of("node", level), bound)
        chosen = mechanism.release(gini_utilities(node.left_counts, node.class_counts), source=source, part="node", level=level)
        return Split(*grid.locate(chosen.value), Sequential((stopping_event(level), *before, chosen.event)))

    return TreeRecipe(counter_of(data).root(grid), step, disclosures=(STOPPING_DISCLOSURE,))


def one_against_rest_grid(schema: Schema, groups: dict[str, np.ndarray], name: str) -> CandidateGrid:
    """One category, or one group of a numeric feature, against the rest.

    Raises SchemaError if no feature can be split.

    `groups`: numeric feature -> increasing upper ends of its groups; a missing feature is not split.
    """

    def of(feature: NumericFeature | CategoricalFeature) -> FeatureCandidates:
        if isinstance(feature, CategoricalFeature):
            return _categories(len(feature.categories))
        return _groups(groups[feature.name], feature.high) if feature.name in groups else FeatureCandidates(1, np.empty(0))

    return CandidateGrid(schema, tuple(map(of, schema.features)), name, is_reused=not groups)


def _categories(count: int) -> FeatureCandidates:
    starts = np.arange(count if count > 1 else 0)
    return FeatureCandidates(count, None, starts, starts + 1)


def _groups(ends: np.ndarray, high: float) -> FeatureCandidates:
    """Group i goes left. For the last group all others go left instead, which is the same split."""
    cuts = ends[:-1] if len(ends) > 1 else np.array([high])  # a single group: everything goes left
    starts = np.arange(max(len(ends), 1))
    stops = starts + 1
    if len(ends) > 1:
        starts[-1], stops[-1] = 0, len(cuts)
    return FeatureCandidates(len(cuts) + 1, cuts, starts, stops)


def group_ends(column: np.ndarray, size: int) -> np.ndarray:
    """The largest value of every group of `size` consecutive distinct values. Exact values of rows: a disclosure."""
    values = np.unique(column)
    last = np.minimum(np.arange(size - 1, len(values) + size - 1, size), len(values) - 1)
    return values[last].astype(np.float64)


LEARNER_BDPT = LearnerSpec(
    name=BDPT,
    title="BDPT",
    idea="One value against the rest, chosen by the exponential mechanism at a noisy sensitivity.",
    citation="Guan, Sun, Shi, Wu & Du 2020, Computers & Security 96",
    plan=plan_bdpt,
    fit=fit_by_growing(prepare_bdpt),
    prepare=prepare_bdpt,
    claim=always_claims(
        "Guan et al. 2020",
        "violated",
        "The sensitivity is taken at a noisy row count, which can exceed the true one, and the stopping rule is exact: "
        "some trees are possible for one data set only.",
        evidence="dpviz/learners/published/privatree.py: one row against two",
    ),
)
LEARNER_DPGDF = LearnerSpec(
    name=DPGDF,
    title="DPGDF",
    idea="Categories only; leaves labelled with smooth sensitivity.",
    citation="Xin, Yang, Wang & Huang 2019, ICASSP",
    plan=plan_dpgdf,
    fit=fit_by_growing(prepare_dpgdf),
    prepare=prepare_dpgdf,
    claim=always_claims(
        "Xin et al. 2019",
        "violated",
        "One more row can multiply the odds of a leaf's label without limit: smooth sensitivity does not scale the "
        "exponential mechanism. The stopping rule is exact too.",
        evidence="dpviz/privacy/smooth.py; addendum of August 2021 to Fletcher & Islam 2017",
    ),
)
