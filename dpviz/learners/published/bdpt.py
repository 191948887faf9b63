"""BDPT: a greedy tree on one value against the rest, which stops where exact rows are few or of one class.

Half of epsilon pays for splits: the exponential mechanism on 0.5 - Gini at every level. The other half pays for counts, in a
geometric series over the levels: the noisy row count of a node, or the noisy class counts of a leaf. Values of a number are
merged in groups of five distinct values, read from the rows. Discloses the ends of those groups, and exact counts through its
stopping rule. The noisy count can exceed the true one, so the sensitivity is no bound, as in PrivaTree (corrected).

Source: Guan, Sun, Shi, Wu & Du 2020, Computers & Security 96; as described and measured by Vos et al. 2023.
"""

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, Step
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.learners.published.one_against_rest import recipe, split_shares
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, Schema
from dpviz.training.contract import FitByGrowing, LearnerSpec, always_claims
from dpviz.training.growing import STOPPING_DISCLOSURE, Label, TreeRecipe, stopping_event
from dpviz.training.nodes import CountedNode
from dpviz.training.params import NoParams, Settings
from dpviz.training.scores import gini_sensitivity

NAME = "bdpt"
#: Distinct values of a number that are merged.
GROUP = 5
#: A node with fewer rows becomes a leaf.
MIN_ROWS = 2
GROUP_DISCLOSURE = Disclosure(
    code="merged-values",
    what=f"The ends of all groups of {GROUP} distinct values of a number are values of rows.",
    remedy="Use PF-tree, whose thresholds come from the schema.",
)


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """Half of epsilon for splits, equal over levels; half for counts, proportional to 2^(level/3)."""
    depth, rule = settings.fixed_or_max_depth, "rule: 2^(level/3)"
    for_nodes, for_counts = split_budget(settings.epsilon, (1.0, 1.0))
    counts = split_budget(for_counts, tuple(2 ** (level / 3) for level in range(depth + 1)))
    counted = [Share("count", level, epsilon, set_by=rule, exact=False) for level, epsilon in enumerate(counts[:-1])]
    shares = (*split_shares(for_nodes, depth), *counted, Share("leaf", depth, counts[-1], set_by=rule, exact=False))
    return BudgetPlan(settings.epsilon, depth, shares, unbounded=(stopping_event(None),))


def prepare(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> TreeRecipe:
    """Merge values, then grow."""
    pairs = zip(data.schema.features, data.columns, strict=True)
    groups = {feature.name: _group_ends(column, GROUP) for feature, column in pairs if isinstance(feature, NumericFeature)}

    def label(node: CountedNode) -> Label:
        noise = LaplaceNoise(plan.of("leaf" if node.level == plan.depth else "count", node.level))
        noisy = noise.release(node.class_counts, source=source, part="leaf", level=node.level)
        return Label(int(noisy.value.argmax()), noisy.event)

    def sensitivity(node: CountedNode) -> tuple[Sensitivity, tuple[Event, ...]]:
        noise = LaplaceNoise(plan.of("count", node.level))
        count = noise.release(np.array([node.n_rows]), source=source, part="count", level=node.level)
        return gini_sensitivity(max(1.0, float(count.value[0]))), (count.event,)

    grown = recipe(NAME, data, groups, plan, MIN_ROWS, label, sensitivity, source)
    if not groups:
        return grown
    merged = Step.unbounded("exact values that end the groups of merged values", "groups")
    return TreeRecipe(grown.root, grown.step, (merged,), (GROUP_DISCLOSURE, STOPPING_DISCLOSURE))


def _group_ends(column: np.ndarray, size: int) -> np.ndarray:
    """The largest value of every group of `size` consecutive distinct values. Exact values of rows: a disclosure."""
    values = np.unique(column)
    last = np.minimum(np.arange(size - 1, len(values) + size - 1, size), len(values) - 1)
    return values[last].astype(np.float64)


LEARNER = LearnerSpec(
    name=NAME,
    title="BDPT",
    idea="One value against the rest, chosen by the exponential mechanism at a noisy sensitivity.",
    citation="Guan, Sun, Shi, Wu & Du 2020, Computers & Security 96",
    plan=plan,
    fit=FitByGrowing(prepare),
    claim=always_claims(
        "Guan et al. 2020",
        "violated",
        "The sensitivity is taken at a noisy row count, which can exceed the true one, and the stopping rule is exact: "
        "some trees are possible for one data set only.",
        evidence="dpviz/learners/published/privatree.py: one row against two",
    ),
)
