"""PrivaTree, corrected: the form behind the paper's later tables.

Equal-width bins, a complete tree, and one private selection per node. Half of a node's budget pays for a noisy row count, the
other half for permute-and-flip over all candidates with the sensitivity of Gini at that noisy count. Discloses nothing, but the
noisy count can exceed the true one, so the sensitivity is no bound, and the claim fails at small node budgets.

Counterexample. One row, against the same and one of another class that all candidates but one separate from it. Alone, all
candidates are equal; together, that one is worse, and the more so the larger the noisy count. `one_against_two_loss` is the exact
loss of choosing it at every level: 4.8 node budgets at a node budget of .0125, 1.4 at .05, .8 at .1, .3 at 1. Over all small data
sets the largest loss found is 4.8, 1.6, .9 and .3: at larger budgets the claim is neither proved nor refuted.

Source: the appendix added to Vos et al. 2023 and the authors' code after December 2023.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import Sequential, Unbounded
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT, Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid, equal_width_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.training.contract import FitByGrowing, LearnerSpec
from dpviz.training.counted_rows import counter_of
from dpviz.training.growing import ENUMERATION, Decision, Label, Split, TreeRecipe, leaf_distribution
from dpviz.training.nodes import CountedNode
from dpviz.training.params import Settings, whole
from dpviz.training.privatree_budget import PrivaTreeParams, shares_field, split_epsilon
from dpviz.training.scores import gini_change, gini_sensitivity, gini_utilities

NAME = "privatree-corrected"
#: Noisy counts in a tail of this probability are left out of the exact distribution (and their mass is reported).
TAIL = 1e-5


@dataclass(frozen=True, slots=True)
class Params(PrivaTreeParams):
    """Parameters of the corrected form."""

    bins: int = whole(10, "Bins per number", "Equal-width bins of every numeric feature.", low=2, high=64)
    shares: tuple[float, ...] | None = shares_field("node", "leaf")


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Equation (8) for the leaves; the nodes share the rest equally over the levels."""
    by_hand = None if params.shares is None else (0.0, *params.shares)
    split = split_epsilon(NAME, schema, settings, by_hand, params.max_leaf_error, quantiles=False)
    depth = settings.fixed_or_max_depth
    nodes = (
        Share("node", level, split.categorical_node, set_by=split.set_by, costs=(Unbounded(),), exact=False)
        for level in range(depth)
    )
    shares, notes = (*nodes, Share("leaf", depth, split.leaf, set_by=split.set_by)), (*split.notes, *split.replaced)
    return BudgetPlan(settings.epsilon, depth, shares, notes, replaced=split.replaced)


def prepare(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> TreeRecipe:
    """A complete tree."""
    grid = equal_width_grid(data.schema, params.bins)
    leaf = PermuteAndFlip(plan.of("leaf", plan.depth), COUNT)

    def step(node: CountedNode) -> Decision:
        if node.level == plan.depth:
            chosen = leaf.release(node.class_counts, source=source, part="leaf", level=node.level)
            return Label(chosen.value, chosen.event)
        return choose_split(grid, node, plan.of("node", node.level), source)

    def distribution(node: CountedNode) -> tuple[list[tuple[Decision, float]], float]:
        return (
            leaf_distribution(leaf, node)
            if node.level == plan.depth
            else split_distribution(grid, node, plan.of("node", node.level))
        )

    return TreeRecipe(counter_of(data).root(grid), step, distribution=distribution)


def choose_split(grid: CandidateGrid, node: CountedNode, epsilon: float, source: NoiseSource) -> Split:
    """A noisy count for half of `epsilon`, then permute-and-flip on 0.5 - Gini for the other half."""
    count = GeometricNoise(epsilon / 2).release(np.array([node.n_rows]), source=source, part="node", level=node.level)
    noisy_rows = max(1, int(count.value[0]))
    utilities = gini_utilities(node.left_counts, node.class_counts)
    mechanism = PermuteAndFlip(epsilon / 2, gini_sensitivity(noisy_rows))
    chosen = mechanism.release(utilities, source=source, part="node", level=node.level)
    return Split(*grid.locate(chosen.value), Sequential((count.event, chosen.event)))


def split_distribution(grid: CandidateGrid, node: CountedNode, epsilon: float) -> tuple[list[tuple[Decision, float]], float]:
    """The exact distribution of `choose_split` (the noisy count summed out), and the mass of the counts cut off."""
    noise = GeometricNoise(epsilon / 2)
    largest = node.n_rows + noise.radius(TAIL)
    counts = np.arange(1, largest + 1)
    masses = noise.pmf(counts - node.n_rows)
    # counts below 1 are raised to 1
    masses[0] = noise.tail(node.n_rows - 1)
    utilities = gini_utilities(node.left_counts, node.class_counts)
    per_unit = 1 / gini_change(counts)
    unit = PermuteAndFlip(epsilon / 2, Sensitivity(1.0, monotone=False, source="scaled by the caller"))
    probabilities = masses @ unit.probabilities(utilities[None, :] * per_unit[:, None])
    decisions: list[tuple[Decision, float]] = [
        (Split(*grid.locate(index), ENUMERATION), float(chance)) for index, chance in enumerate(probabilities)
    ]
    return decisions, noise.tail(largest + 1 - node.n_rows)


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Epsilon; violated where one row against two rows is a counterexample."""
    source = "Vos et al. 2023, corrected version"
    because = "The sensitivity is taken at a noisy row count, which can exceed the true one."
    loss = one_against_two_loss(plan, params, schema)
    if loss <= plan.epsilon:
        because = f"{because} At these node budgets no counterexample is known."
        return Claim(plan.epsilon, source, "unproven", because)
    because = (
        f"{because} Between one row and two rows, the probability of a tree changes by a factor of at least exp({loss:.4g})."
    )
    evidence = "dpviz/learners/published/privatree_corrected.py: one_against_two_loss"
    return Claim(plan.epsilon, source, "violated", because, evidence=evidence)


def one_against_two_loss(plan: BudgetPlan, params: Params, schema: Schema) -> float:
    """A lower bound on the loss of the plan; 0 where no two rows are separated by all candidates but one.

    Alone, that one is chosen with probability 1/m, like all m candidates; together, with the mean of c(count) / m over the noisy
    counts, where c = exp(-epsilon / (8 Delta(count))) is its weight against the others.
    """
    splittable = any(isinstance(feature, CategoricalFeature) or not feature.whole for feature in schema.features)
    if equal_width_grid(schema, params.bins).n_candidates < 2 or not splittable:
        return 0.0
    classes = np.zeros((2, len(schema.classes)), dtype=np.int64)
    classes[0, 0] = classes[1, 0] = classes[1, 1] = 1
    alone, together = PermuteAndFlip(plan.of("leaf", plan.depth), COUNT).probabilities(classes)[:, 0]
    return sum(_node_loss(plan.of("node", level)) for level in range(plan.depth)) + math.log(alone / together)


def _node_loss(epsilon: float) -> float:
    """-ln of an upper bound on the mean of c: 1 / Delta(count) = (count + 1)^2 / (2 count) is at least (count + 2) / 2."""
    decay = math.exp(-epsilon / 2)
    from_two = math.expm1(-epsilon / 2) / math.expm1(-epsilon * 9 / 16)  # noisy counts of at least two, times 1 + decay
    return epsilon / 4 - math.log((decay + from_two) / (1 + decay))


LEARNER = LearnerSpec(
    name=NAME,
    title="PrivaTree (corrected)",
    idea="A noisy count and one private choice per node, on equal-width bins.",
    citation="Vos, Vos, Li, Erkin & Verwer, appendix of December 2024 to arXiv 2305.15394",
    plan=plan,
    fit=FitByGrowing(prepare),
    claim=claim,
    Params=Params,
)
