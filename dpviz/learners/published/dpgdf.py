"""DPGDF: a greedy tree on categories, with leaves labelled by the exponential mechanism with smooth sensitivity.

Half of epsilon pays for splits, equally over the levels: the exponential mechanism on weighted Gini with its global sensitivity
of one half. The other half labels the leaves, which hold disjoint rows. Numeric features are ignored; a table without categories
is refused. Splits are one category against the rest, as in the code behind the papers' tables. Not private for two reasons:
the rule for the leaves has unbounded odds (`dpviz/privacy/smooth.py`), and a node with one class or fewer than eleven rows is
a leaf, which discloses exact counts.

Source: Xin, Yang, Wang & Huang 2019, ICASSP; as measured by Vos et al. 2023.
"""

from dpviz.accounting.events import Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.privacy.selection import ExponentialMechanism
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.smooth import SmoothMajority
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
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
from dpviz.training.one_against_rest import one_against_rest_grid
from dpviz.training.params import NoParams, Settings
from dpviz.training.scores import gini_utilities

NAME = "dpgdf"
LEAST_ROWS = 11
#: From one row to two of different classes Gini goes from 0 to 1/2; no other step is larger.
GINI = Sensitivity(0.5, monotone=False, source="one row changes the weighted Gini impurity by at most 1/2")


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """Half of epsilon for splits, half for labels. Raises SchemaError without a category to split."""
    if not any(isinstance(feature, CategoricalFeature) for feature in schema.features):
        what = f"{NAME!r} splits categorical features only, and there is none."
        raise SchemaError(what, remedy="Choose another learner, or declare a feature as categories.")
    one_against_rest_grid(schema, {}, NAME)  # raises if no category has two values
    depth = settings.fixed_or_max_depth
    for_nodes, leaf = split_budget(settings.epsilon, (1.0, 1.0))
    nodes = split_budget(for_nodes, (1.0,) * depth)
    splits = (Share("node", level, epsilon, set_by="rule: half, equal", exact=False) for level, epsilon in enumerate(nodes))
    shares = (*splits, Share("leaf", depth, leaf, set_by="rule: half", exact=False))
    return BudgetPlan(settings.epsilon, depth, shares, unbounded=(stopping_event(None),))


def prepare(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> TreeRecipe:
    """A tree on the categorical features."""
    grid = one_against_rest_grid(data.schema, {}, NAME)
    leaf = SmoothMajority(plan.of("leaf", plan.depth))

    def label(node: CountedNode) -> Label:
        chosen = leaf.release(node.class_counts, source=source, part="leaf", level=node.level)
        return Label(chosen.value, chosen.event)

    def step(node: CountedNode) -> Decision:
        if node.level == plan.depth:
            return label(node)
        if meets_stopping_rule(node, LEAST_ROWS):
            return stopped_leaf(label(node), node.level)
        mechanism = ExponentialMechanism(plan.of("node", node.level), GINI)
        utilities = gini_utilities(node.left_counts, node.class_counts)
        chosen = mechanism.release(utilities, source=source, part="node", level=node.level)
        return Split(*grid.locate(chosen.value), Sequential((stopping_event(node.level), chosen.event)))

    return TreeRecipe(counter_of(data).root(grid), step, disclosures=(STOPPING_DISCLOSURE,))


LEARNER = LearnerSpec(
    name=NAME,
    title="DPGDF",
    idea="Categories only; leaves labelled with smooth sensitivity.",
    citation="Xin, Yang, Wang & Huang 2019, ICASSP",
    plan=plan,
    fit=fit_by_growing(prepare),
    prepare=prepare,
    claim=always_claims(
        "Xin et al. 2019",
        "violated",
        "One more row can multiply the odds of a leaf's label without limit: smooth sensitivity does not scale the "
        "exponential mechanism. The stopping rule is exact too.",
        evidence="dpviz/privacy/smooth.py; addendum of August 2021 to Fletcher & Islam 2017",
    ),
)
