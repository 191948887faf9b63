"""The DiffPrivLib tree: random splits that cost nothing, and all of epsilon for the labels.

The feature is uniform, the threshold uniform in what the path has left of the declared range, the tree complete to its depth, and
each leaf is labelled by one permute-and-flip. Categories are cut by their code, as in the papers' tables. Discloses nothing. Its
weakness is accuracy: a single random tree rarely asks the right question.

Source: Holohan, Braghin, Mac Aonghusa & Levacher 2019 (arXiv 1907.02444), release 0.6.
"""

from dpviz.accounting.events import Sequential
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.boxes import split_features
from dpviz.models.packed_forest import UnpackedTrees
from dpviz.models.tree import Leaf
from dpviz.privacy.leaf_labels import LabelLeaves
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims
from dpviz.training.counted_rows import Rows, counter_of
from dpviz.training.forests import RANDOM_SPLITS, draw_trees
from dpviz.training.params import NoParams, Settings

NAME = "diffprivlib-tree"


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """All of epsilon at every leaf; leaves hold disjoint rows."""
    split_features(schema)
    depth = settings.fixed_or_max_depth
    return BudgetPlan(settings.epsilon, depth, (Share("leaf", depth, settings.epsilon, set_by="rule: splits are free"),))


def fit(data: Rows, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """Draw the tree, count its leaves, then label them: whoever counts the rows is asked once."""
    splits = draw_trees(data.schema, 1, plan.depth, source, in_order=True)
    drawn = UnpackedTrees(splits, Leaf)[0]
    (counts,) = counter_of(data).leaf_counts(drawn.root, None, 1)
    rule = PermuteAndFlip(plan.of("leaf", plan.depth), COUNT)
    labels = LabelLeaves(rule).release(counts, source=source, part="leaf", level=plan.depth)
    left_to_right = iter(labels.value.tolist())
    tree = UnpackedTrees(splits, lambda number: Leaf(next(left_to_right)))[0]
    return FitOutput(tree, Sequential((RANDOM_SPLITS, labels.event)))


LEARNER = LearnerSpec(
    name=NAME,
    title="DiffPrivLib tree",
    idea="Random splits, private labels.",
    citation="Holohan, Braghin, Mac Aonghusa & Levacher 2019, arXiv 1907.02444",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Holohan et al. 2019",
        "holds",
        "Splits look at no row; every row is in one leaf, labelled by one permute-and-flip on counts.",
        evidence="dpviz/learners/published/diffprivlib_tree.py; McKenna & Sheldon 2020",
    ),
    counts=frozenset({"leaves by value"}),
)
