"""DPGDF: a greedy tree on one category against the rest, with leaves labelled by smooth sensitivity.

Half of epsilon pays for splits, equally over the levels: the exponential mechanism on weighted Gini with its global sensitivity
of one half. The other half labels the leaves, which hold disjoint rows, by the exponential mechanism with smooth sensitivity.
Numeric features are ignored; a table without categories is refused. Splits are one category against the rest, as in the code
behind the papers' tables. Not private for two reasons: the rule for the leaves has unbounded odds (`privacy/leaf_labels.py`),
and the stopping rule (one class, or fewer than eleven rows) discloses exact counts.

Source: Xin, Yang, Wang & Huang 2019, ICASSP; as described and measured by Vos et al. 2023.
"""

from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.learners.published.one_against_rest import one_against_rest_grid, recipe, split_shares
from dpviz.privacy.leaf_labels import SmoothMajority
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.training.contract import FitByGrowing, LearnerSpec, always_claims
from dpviz.training.growing import Label, TreeRecipe, stopping_event
from dpviz.training.nodes import CountedNode
from dpviz.training.params import NoParams, Settings

NAME = "dpgdf"
#: A node with fewer rows becomes a leaf.
MIN_ROWS = 11
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
    shares = (*split_shares(for_nodes, depth), Share("leaf", depth, leaf, set_by="rule: half", exact=False))
    return BudgetPlan(settings.epsilon, depth, shares, unbounded=(stopping_event(None),))


def prepare(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> TreeRecipe:
    """A tree on the categorical features."""
    leaf = SmoothMajority(plan.of("leaf", plan.depth))

    def label(node: CountedNode) -> Label:
        chosen = leaf.release(node.class_counts, source=source, part="leaf", level=node.level)
        return Label(chosen.value, chosen.event)

    return recipe(NAME, data, {}, plan, MIN_ROWS, label, lambda node: (GINI, ()), source)


LEARNER = LearnerSpec(
    name=NAME,
    title="DPGDF",
    idea="Categories only; leaves labelled with smooth sensitivity.",
    citation="Xin, Yang, Wang & Huang 2019, ICASSP",
    plan=plan,
    fit=FitByGrowing(prepare),
    claim=always_claims(
        "Xin et al. 2019",
        "violated",
        "One more row can multiply the odds of a leaf's label without limit: smooth sensitivity does not scale the "
        "exponential mechanism. The stopping rule is exact too.",
        evidence="dpviz/privacy/leaf_labels.py; addendum of August 2021 to Fletcher & Islam 2017",
    ),
)
