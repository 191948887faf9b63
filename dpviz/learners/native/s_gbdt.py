"""S-GBDT: boosted random trees whose leaves are noisy sums; for numbers and for classes. (epsilon, delta).

Trees cut at quantiles of one noisy histogram per number (`training.boosting.histograms`) and ask for a feature the more often,
the more the released sums leave to learn from it (`training.boosting.trees`); nearly all of the budget pays for leaf values
(`training.boosting.rounds`). Settings are the same for every epsilon and every number of rows; public rules adapt. On which
tables they were chosen: `docs/project/tuning.md`. Discloses nothing.

A redesign of the published algorithm; `data/benchmarks/differences.md` lists what was changed, and why.

Source: Kirschte, Peinemann, Stock, Cotrini & Mohammadi 2023, "S-GBDT: Frugal differentially private gradient boosting decision
trees"; Newton's step from Chen & Guestrin 2016; one feature per tree in turn from Nori et al. 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpviz.accounting.events import GaussianRounds, sequence
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.base import n_scores
from dpviz.models.boxes import split_features
from dpviz.privacy.source import NoiseSource, record_sampler
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.boosting.histograms import numbers_of, release_histograms
from dpviz.training.boosting.loss import Loss, gradient_limit, initial_score, loss_of
from dpviz.training.boosting.rounds import Recipe, Rounds
from dpviz.training.boosting.trees import BoostingTrees, Drawing, FollowingTrees, cells_by_part, draw_boosting_trees
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims, n_public_of
from dpviz.training.params import Settings, flag, number, whole

NAME = "s-gbdt"
#: Used where none is asked for: that of the results which the paper's authors released later. The paper names none.
DELTA = 5e-8
#: From this public row count, trees may be deeper.
MANY_ROWS = 5000
_DEEP = 5
#: With histograms, trees of this depth ask for pairs; public rows times epsilon from which a number and classes get them.
_PAIRS, _NUMBER_NEEDS, _CLASSES_NEED = 3, 20_000, 4000
#: Public rows times epsilon at which the noise of the first score is about a twentieth of the range, and below which noise in the
#: trees may move a score less. Chosen on abalone and the samples.
_START_NEEDS, _TREES_NEED = 20.0, 100.0
#: The largest share of epsilon that the rule gives the first score.
_MAX_START = 0.5
_INITIAL, _TREES = "initial score", "tree"


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of the learner."""

    rounds: int = whole(256, "Rounds", "Trees.", low=1, high=5000)
    multiscale: float = number(0.5, "Fine ends", "Without histograms: share of trees cut finely at the ends.", low=0, high=1)
    learning_rate: float = number(1.0, "Learning rate", "Step of a tree, where it holds many rows.", low=0.001, high=1)
    spread: float = number(1.0, "Noise allowed", "How far noise may move a score, in log-odds.", low=0.01, high=100)
    least_support: float = number(0.0, "Added support", "Rows added to each leaf's count.", low=0, high=1e6)
    clip: float = gradient_limit()
    support_share: float = number(0.01, "Share for counts", "Share of precision for leaf counts.", low=0.001, high=0.999)
    initial_share: float = number(
        0.05,
        "Share for the start",
        f"Share of epsilon for the first score; a public rule gives it more, up to {_MAX_START:g}, where rows are few.",
        low=0,
        high=0.9,
    )
    histogram_share: float = number(
        0.1, "Share for histograms", "Share of precision; 0: cuts of the declared ranges.", low=0, high=0.9
    )
    newton: bool = flag(True, "Newton's step", "Weigh rows by how unsure they are (two classes).")


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Epsilon for the initial score and for the trees. Raises SchemaError without a split, or without a row count it needs."""
    split_features(schema)
    starts = params.initial_share > 0 and n_scores(schema) == 1
    share = start_share(schema, settings.epsilon, params) if starts else 0.0
    start, trees = split_budget(settings.epsilon, (share, 1 - share))
    by = "you" if share == params.initial_share != Params().initial_share else f"rule: {share:.1%} of epsilon"
    first = (Share(_INITIAL, None, start, set_by=by),) if starts else ()
    delta = settings.needed_delta(NAME, DELTA)
    depth = _depth(schema, settings, params)
    shape = tree_shape(schema, depth, params)
    counted = histogram_rounds(schema, params)
    notes = (
        f"Delta = {delta:g}" + ("." if settings.delta else ", the default; none was asked for."),
        f"{params.rounds:,} random trees that ask for {shape} each.",
        *((f"Histograms of the numbers cost {counted:,} more rounds, which the ledger counts as such.",) if counted else ()),
        *(("More than two classes start from 0.",) if n_scores(schema) > 1 else ()),
    )
    replaced = _replaced_values(schema, params, share, starts)
    shares = (*first, Share(_TREES, None, trees, set_by="what is left", gaussian=(1.0, params.rounds + counted, False)))
    return BudgetPlan(settings.epsilon, depth, shares, (*notes, *replaced), delta, replaced=replaced)


def _replaced_values(schema: Schema, params: Params, share: float, starts: bool) -> tuple[str, ...]:
    """What became of values that somebody asked for and a rule does not take."""
    usual, asked, notes = Params(), params.initial_share, []
    if asked not in (0, usual.initial_share, share):
        why = "fewer rows need more against noise" if starts else "more than two classes start from 0"
        notes.append(f"initial_share = {asked:g} was replaced by {share:.3g}, the public rule: {why}.")
    counted = histogram_rounds(schema, params)
    weighs = n_scores(schema) == 1 and not isinstance(schema.target, NumericTarget)
    for name, why, is_unused in (
        ("histogram_share", "histograms need a number and a row count", not counted and params.histogram_share > 0),
        ("multiscale", "histograms say where to cut", counted > 0),
        ("newton", "only two classes are weighed", not weighs),
    ):
        if is_unused and getattr(params, name) != getattr(usual, name):
            notes.append(f"{name} has no effect: {why}.")
    return tuple(notes)


def start_share(schema: Schema, epsilon: float, params: Params) -> float:
    """As asked for, or more if public rows times epsilon are so few that noise would drown the first score. Public."""
    n_public = n_public_of(schema, NAME, "start from 0 (initial_share=0)")
    return max(params.initial_share, min(_MAX_START, _START_NEEDS / (n_public * epsilon)))


def histogram_rounds(schema: Schema, params: Params) -> int:
    """How many rounds the histograms cost as much as; 0 where none is made. Public."""
    if not (schema.n_public and numbers_of(schema)):
        return 0
    return math.ceil(params.rounds * params.histogram_share / (1 - params.histogram_share))


def tree_shape(schema: Schema, depth: int, params: Params) -> str:
    """Which features a tree uses, by the depth where cuts follow histograms, else by target, row count and depth. Public."""
    if histogram_rounds(schema, params):
        return "two features" if depth >= _PAIRS else "one feature"
    enough = _has_many_rows(schema) and depth >= _DEEP
    return "two features" if enough or isinstance(schema.target, NumericTarget) else "one feature"


def _has_many_rows(schema: Schema) -> bool:
    return schema.n_public is not None and schema.n_public >= MANY_ROWS


def _depth(schema: Schema, settings: Settings, params: Params) -> int:
    """Auto: 4 cells of a feature, or pairs of 4 x 2; without histograms 8 cells, pairs of 8 x 4 or 4 x 4, or 6 random levels."""
    if settings.depth != "auto":
        return int(settings.depth)
    if histogram_rounds(schema, params):
        needs = _NUMBER_NEEDS if isinstance(schema.target, NumericTarget) else _CLASSES_NEED
        return min(settings.max_depth, _PAIRS - ((schema.n_public or 0) * settings.epsilon < needs))
    pairs = tree_shape(schema, settings.max_depth, params) == "two features"
    return min(settings.max_depth, _DEEP - (not _has_many_rows(schema)) if pairs else 3)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees, then fill them round by round."""
    schema, shape = data.schema, tree_shape(data.schema, plan.depth, params)
    loss, counted = loss_of(schema, params.newton), histogram_rounds(schema, params)
    step, priced = plan.rounds(_TREES)
    initial, before = initial_score(loss, data.target, schema.n_public or 1, plan.of(_INITIAL), source)
    trees: BoostingTrees | FollowingTrees
    if counted:
        drawing = Drawing(
            schema, params.multiscale, release_histograms(data, priced.noise_multiplier, counted, source=source), source
        )
        trees = FollowingTrees(drawing, cells_by_part(plan.depth, shape == "two features" and plan.depth > 1), source)
    else:
        trees = draw_boosting_trees(schema, shape, params.rounds, plan.depth, multiscale=params.multiscale, source=source)
    rounds = Rounds(data, trees, loss, initial, recipe(priced, loss, params, schema.n_public), source)
    return FitOutput(rounds.run_all(), sequence(*before, record_sampler(source, step)))


def recipe(cost: GaussianRounds, loss: Loss, params: Params, n_public: int | None) -> Recipe:
    """The settings of the rounds. Noise may move a score less if public rows times epsilon promise little to learn."""
    trust = 1.0 if n_public is None else min(1.0, n_public * cost.epsilon / _TREES_NEED)
    return Recipe(
        rounds=params.rounds,
        noise_multiplier=cost.noise_multiplier,
        learning_rate=params.learning_rate,
        clip=params.clip or loss.usual_clip,
        sampling=1.0,
        support_share=params.support_share,
        spread=params.spread * loss.spread * trust,
        least_support=params.least_support,
    )


LEARNER = LearnerSpec(
    name=NAME,
    title="S-GBDT",
    idea="A redesign of S-GBDT: boosts random trees whose leaves are noisy sums of gradients; for numbers and classes.",
    citation="Kirschte, Peinemann, Stock, Cotrini & Mohammadi 2023",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Kirschte et al. 2023, with corrections",
        "holds",
        "Gaussian noise on counts and sums that one row moves by a bounded amount, priced together; splits follow only these.",
        evidence="dpviz/training/boosting/rounds.py; dpviz/training/boosting/histograms.py; dpviz/accounting/gaussian.py",
    ),
    Params=Params,
    task="any",
)
