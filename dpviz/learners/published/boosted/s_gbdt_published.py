"""S-GBDT as published: Poisson samples, an individual filter, random splits, noisy supports bounded from below. (epsilon, delta).

Every round draws a complete tree whose nodes ask for a random feature at a random point, and a Poisson sample of the rows whose
own budget lasts. A leaf is its noisy sum of gradients over max(lambda, its noisy number of rows). A number starts from a noisy
mean. After the regular rounds, extra ones use what is left on the rows' accounts. `s-gbdt` is our redesign. Discloses nothing.

Source: Kirschte, Peinemann, Stock, Cotrini & Mohammadi 2023, "S-GBDT: Frugal differentially private gradient boosting decision
trees", Algorithms 4 to 8.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.accounting.events import Event, GaussianRounds, sequence
from dpviz.accounting.gaussian import filter_orders
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.boxes import split_features
from dpviz.privacy.source import NoiseSource, record_sampler
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.boosting.loss import gradient_limit, initial_score, loss_of
from dpviz.training.boosting.rounds import Recipe, Rounds
from dpviz.training.boosting.trees import BoostingTrees, draw_boosting_trees
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims, n_public_of
from dpviz.training.params import Settings, flag, number, whole

NAME = "s-gbdt-published"
#: Used where none is asked for: that of the results which the paper's authors released later. The paper names none.
DELTA = 5e-8
#: The learning rates where none is asked for. All defaults are the best of a few settings tried on abalone and adult.
_STEP_CLASSES, _STEP_NUMBER = 1.0, 0.2
_INITIAL, _TREES = "initial score", "tree"


@dataclass(frozen=True, slots=True)
class Params:
    """The paper's settings; in brackets its symbol."""

    rounds: int = whole(100, "Rounds", "Regular trees (T regular).", low=1, high=5000)
    extra_rounds: int = whole(20, "Extra rounds", "Trees for rows with budget left (T extra).", low=0, high=5000)
    sampling: float = number(0.1, "Rows per round", "Probability that a row takes part (gamma).", low=0.001, high=1)
    least_support: float = number(50.0, "Least support", "A leaf's noisy row count is raised to it (lambda).", low=0.01, high=1e6)
    learning_rate: float = number(
        0.0,
        "Learning rate",
        f"Step of a tree (eta). 0: {_STEP_CLASSES:g} for classes, {_STEP_NUMBER:g} for a number.",
        low=0,
        high=1,
    )
    clip: float = gradient_limit()
    support_share: float = number(0.01, "Share for counts", "Share of precision for leaf counts (r1).", low=0.001, high=0.999)
    numeric_weight: float = number(
        1.0, "Weight of numbers", "How many times as likely a number is asked for as a category (r).", low=0.01, high=100
    )
    initial_share: float = number(
        0.1, "Share for the start", "Share of epsilon for the first score of a number.", low=0, high=0.9
    )
    filter: bool = flag(True, "Individual filter", "Each row keeps its own account of loss. Off: no extra rounds either.")
    static_noise: bool = flag(
        False, "Static noise", "For comparison: noise of one size on every leaf's value, and no filter (the paper's ablation)."
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Epsilon for a number's initial score, and for the trees. Raises SchemaError without a split or a row count it needs."""
    split_features(schema)
    share = params.initial_share if isinstance(schema.target, NumericTarget) else 0.0
    if share:
        n_public_of(schema, NAME, "start from 0 (initial_share=0)")
    start, trees = split_budget(settings.epsilon, (share, 1 - share))
    first = (Share(_INITIAL, None, start, set_by="initial_share"),) if share else ()
    delta = settings.needed_delta(NAME, DELTA)
    said = f"Delta = {delta:g}" + ("." if settings.delta else ", the default; none was asked for.")
    no_filter = "No individual filter and no extra rounds: epsilon is too small for an account of Renyi loss."
    wants_filter = params.filter and not params.static_noise
    filtered = wants_filter and bool(filter_orders(trees, delta, schema.rows_per_person))
    replaced = [no_filter] if wants_filter and not filtered else []
    asked = params.initial_share not in (0, Params().initial_share) and not isinstance(schema.target, NumericTarget)
    replaced += [f"initial_share = {params.initial_share:g} has no effect: classes start from 0."] if asked else []
    gaussian = params.sampling, params.rounds, filtered
    shares = (*first, Share(_TREES, None, trees, set_by="what is left", gaussian=gaussian))
    depth = settings.fixed_or_max_depth
    return BudgetPlan(settings.epsilon, depth, shares, (said, *replaced), delta, replaced=tuple(replaced))


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Draw the trees, then fill them round by round. Raises ParameterError, DpvizError where no noise gives the budget."""
    rounds, event = start(data, plan, params, source)
    return FitOutput(rounds.run_all(), event)


def start(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> tuple[Rounds, Event]:
    """The training before its first round, and the event of all of it."""
    schema, (step, cost) = data.schema, plan.rounds(_TREES)
    recipe, loss = recipe_of(schema, cost, params), loss_of(schema, newton=False)
    initial, before = initial_score(loss, data.target, schema.n_public or 1, plan.of(_INITIAL), source)
    trees = draw(data.schema, plan, params, recipe, source)
    return Rounds(data, trees, loss, initial, recipe, source), sequence(*before, record_sampler(source, step))


def recipe_of(schema: Schema, cost: GaussianRounds, params: Params) -> Recipe:
    """How the rounds of this cost go, from public values alone."""
    loss = loss_of(schema, newton=False)
    return Recipe(
        rounds=params.rounds + (0 if cost.order is None else params.extra_rounds),
        noise_multiplier=cost.noise_multiplier,
        learning_rate=params.learning_rate or (_STEP_NUMBER if isinstance(schema.target, NumericTarget) else _STEP_CLASSES),
        clip=params.clip or loss.usual_clip,
        sampling=params.sampling,
        support_share=params.support_share,
        spread=loss.spread,
        least_support=params.least_support,
        filter=None if cost.order is None else cost,
        static_noise=params.static_noise,
        bounded=True,
    )


def draw(schema: Schema, plan: BudgetPlan, params: Params, recipe: Recipe, source: NoiseSource) -> BoostingTrees:
    """The trees of all rounds; no row is looked at."""
    how = {"numeric_weight": params.numeric_weight}
    return draw_boosting_trees(schema, "random", recipe.rounds, plan.depth, 0.0, **how, source=source)


LEARNER = LearnerSpec(
    name=NAME,
    title="S-GBDT (as published)",
    idea="Boosts random trees on Poisson samples, with an account of loss for every row; for numbers and classes.",
    citation="Kirschte, Peinemann, Stock, Cotrini & Mohammadi 2023",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Kirschte et al. 2023, Theorem 11",
        "holds",
        "Gaussian noise on sums that one row moves by a bounded amount; every row leaves before its account exceeds the budget.",
        evidence="dpviz/training/boosting/filter.py; dpviz/accounting/gaussian.py",
    ),
    Params=Params,
    task="any",
)
