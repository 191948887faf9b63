"""The DiffPrivLib tree: random splits that cost nothing, and all of epsilon for the labels.

The feature is uniform, the threshold uniform in what the path has left of the declared range, the tree complete to its depth, and
each leaf is labelled by one permute-and-flip. Categories are cut by their code, as in the papers' tables. Discloses nothing. Its
weakness is accuracy: a single random tree rarely asks the right question.

Source: Holohan, Braghin, Mac Aonghusa & Levacher 2019 (arXiv 1907.02444), release 0.6.
"""

import numpy as np

from dpviz.accounting.events import Event, Parallel, Sequential
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.boxes import is_cut_between, split_features, starting_box
from dpviz.models.tree import Branch, Leaf, Node, SubsetRule, ThresholdRule, Tree
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformChoice, UniformPoint
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims
from dpviz.training.counted_rows import Rows, counter_of
from dpviz.training.params import NoParams, Settings

NAME = "diffprivlib-tree"


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """All of epsilon at every leaf; leaves hold disjoint rows."""
    split_features(schema)
    depth = settings.fixed_or_max_depth
    return BudgetPlan(settings.epsilon, depth, (Share("leaf", depth, settings.epsilon, set_by="rule: splits are free"),))


def fit(data: Rows, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """Draw the tree, count its leaves, then label them: whoever counts the rows is asked once."""
    mechanism, (low, high) = PermuteAndFlip(plan.of("leaf", plan.depth), COUNT), starting_box(data.schema)
    splits: list[Event] = []  # of the drawn nodes, parents first, left before right
    drawn = _drawn(data.schema, low, high, 0, plan.depth, splits, source)
    (counts,) = counter_of(data).leaf_counts(drawn, None, 1)
    events, exact = iter(splits), iter(counts)

    def labelled(node: Node, level: int) -> tuple[Node, Event]:
        if not isinstance(node, Branch):
            chosen = mechanism.release(next(exact), source=source, part="leaf", level=level)
            return Leaf(chosen.value), chosen.event
        split = next(events)
        (left, left_event), (right, right_event) = (labelled(child, level + 1) for child in (node.left, node.right))
        return Branch(node.rule, left, right), Sequential((split, Parallel((left_event, right_event))))

    root, event = labelled(drawn, 0)
    return FitOutput(Tree(data.schema, root), event)


def _drawn(
    schema: Schema, low: np.ndarray, high: np.ndarray, level: int, depth: int, splits: list[Event], source: NoiseSource
) -> Node:
    """A subtree whose leaves have no label of their own yet, in what is left of every feature from `low` to `high`.

    Categories are cut by their code. A cut costs nothing; the event of the feature stands for both.
    """
    free = np.flatnonzero(high > low)
    if level == depth or not len(free):
        return Leaf(0)
    chosen = UniformChoice().release(len(free), source=source, part="node", level=level)
    splits.append(chosen.event)
    feature = int(free[chosen.value])
    declared, ends = schema.features[feature], (float(low[feature]), float(high[feature]))
    step = float(isinstance(declared, CategoricalFeature) or is_cut_between(declared))
    if step:
        below = ends[0] + UniformChoice().release(int(ends[1] - ends[0]), source=source, part="node", level=level).value
    else:
        below = UniformPoint().release(ends, source=source, part="node", level=level).value
    left_high, right_low = high.copy(), low.copy()
    left_high[feature], right_low[feature] = below, below + step
    left = _drawn(schema, low, left_high, level + 1, depth, splits, source)
    right = _drawn(schema, right_low, high, level + 1, depth, splits, source)
    if isinstance(declared, CategoricalFeature):
        return Branch(SubsetRule(feature, tuple(range(int(ends[0]), int(below) + 1))), left, right)
    return Branch(ThresholdRule(feature, below + step / 2), left, right)


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
