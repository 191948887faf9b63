"""How PrivaTree splits epsilon: Equations (7) to (10).

Source: Vos et al. 2023 (arXiv 2305.15394), section IV-D and Corollary 1.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.accounting.events import BoundedRange
from dpviz.accounting.guarantee import round_down, split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import ParameterError
from dpviz.table.schema import NumericFeature, Schema
from dpviz.training.contract import n_public_of
from dpviz.training.growing import stopping_event
from dpviz.training.params import Settings, number, share_weights, whole


def shares_field(*parts: str) -> Any:
    """The field `shares` of the PrivaTree learners."""
    return share_weights("Shares of epsilon", f"Weights for {' and '.join(parts)}; none uses the paper's rule.", parts=parts)


@dataclass(frozen=True, slots=True)
class PrivaTreeParams:
    """Parameters of PrivaTree on quantile bins, private ones or exact ones. `max_leaf_error` is E_max of Equation (7)."""

    max_leaf_error: float = number(
        0.01, "Largest leaf error", "Accuracy that labelling leaves may cost in expectation (E_max).", low=1e-4, high=1.0
    )
    bins: int = whole(10, "Bins per number", "Quantile bins of every numeric feature.", low=2, high=64)
    shares: tuple[float, ...] | None = shares_field("quantile", "node", "leaf")


@dataclass(frozen=True, slots=True)
class EpsilonSplit:
    """Epsilon of one mechanism of each kind, with notes that explain it."""

    quantile: float
    numeric_node: float
    categorical_node: float
    leaf: float
    set_by: str
    notes: tuple[str, ...]
    replaced: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def worst_leaf_error(n_classes: int) -> float:
    """max over p in (0, 1] of 2 ln(1/p) (1 - (1 - (1-p)^K) / (K p)): 1/e for two classes.

    The expected error of permute-and-flip on K counts is at most this divided by epsilon, in rows. Source: Equation (7).
    """

    def negative(log_p: float) -> float:
        p = np.exp(log_p)
        return float(2 * log_p * (1 + np.expm1(n_classes * np.log1p(-p)) / (n_classes * p)))

    from scipy.optimize import minimize_scalar  # slow to import: the first visitor of a server would wait for it

    best = minimize_scalar(negative, bounds=(-30.0, -1e-9), method="bounded", options={"xatol": 1e-10})
    return float(-best.fun)


def leaf_epsilon_needed(n_public: int, depth: int, n_classes: int, max_leaf_error: float) -> float:
    """eps'_leaf, which labels all leaves at an expected accuracy loss of at most `max_leaf_error`. Source: Equation (7)."""
    return 2**depth * worst_leaf_error(n_classes) / (n_public * max_leaf_error)


def split_epsilon(
    learner: str, schema: Schema, settings: Settings, shares: tuple[float, ...] | None, max_leaf_error: float, *, quantiles: bool
) -> EpsilonSplit:
    """Equations (8) to (10), or the given (quantile, node, leaf) shares. `quantiles` says whether quantiles cost epsilon.

    Raises SchemaError if the leaf rule needs n_public and none is declared.
    """
    if shares is not None:
        return _by_hand(learner, settings, shares, quantiles)
    epsilon, depth = settings.epsilon, settings.fixed_or_max_depth
    n_public = n_public_of(schema, learner, "set the quantile, node and leaf shares by hand")
    needed = leaf_epsilon_needed(n_public, depth, len(schema.classes), max_leaf_error)
    leaf = min(epsilon / 2, needed)
    categorical = round_down((Fraction(epsilon) - Fraction(leaf)) / depth)
    numeric = round_down((Fraction(epsilon) - Fraction(leaf)) / (1 + depth)) if quantiles else categorical
    above_leaves = max(depth * Fraction(categorical), (depth + quantiles) * Fraction(numeric))
    bound = (
        f"Corollary 1: labels for {2**depth} leaves and n = {schema.n_public:,} need ε = {needed * schema.rows_per_person:.4g}"
    )
    if leaf < needed:
        most = f"half of ε, {leaf * schema.rows_per_person:.4g}, is the most they get."
    else:
        most = "that is what they get."
    replaced: tuple[str, ...] = ()
    if leaf < needed and max_leaf_error != PrivaTreeParams().max_leaf_error:  # what became of it where somebody asked for it
        held = f"max_leaf_error = {max_leaf_error:g} was replaced by {max_leaf_error * needed / leaf:.3g}"
        replaced = (f"{held}: labels get half of epsilon at most.",)
    return EpsilonSplit(
        quantile=numeric if quantiles else 0.0,
        numeric_node=numeric,
        categorical_node=categorical,
        leaf=round_down(Fraction(epsilon) - above_leaves),  # all that is left, so that the claim is met and never exceeded
        set_by="rule: half at most" if leaf < needed else "rule: error bound",
        notes=(f"{bound} to lose at most {max_leaf_error:.3g} of accuracy; {most}",),
        replaced=replaced,
    )


def _by_hand(learner: str, settings: Settings, shares: tuple[float, ...], quantiles: bool) -> EpsilonSplit:
    if not quantiles:
        shares = (0.0, shares[0] + shares[1], shares[2])
    if not shares[1]:
        raise ParameterError(learner, "shares", shares, "a sequence that leaves something for the nodes")
    depth = settings.fixed_or_max_depth
    quantile, node, leaf = split_budget(settings.epsilon, shares)
    # as in the paper's code, categorical nodes also get what numeric features spend on quantiles
    numeric, categorical = (round_down(whole / depth) for whole in (Fraction(node), Fraction(node) + Fraction(quantile)))
    return EpsilonSplit(quantile, numeric, categorical, leaf, "you", ("The shares were set by you.",))


def privatree_plan(schema: Schema, settings: Settings, split: EpsilonSplit, *, stops: bool, exact: bool) -> BudgetPlan:
    """The plan of PrivaTree's two published forms: the mechanisms that a row meets one after another, and whether it stops.

    `exact`: whether all have exact samplers, whatever the columns. Private quantiles have none, so a tree of categories alone
    is no release either: one column more must not turn a release into a refusal.
    """
    numeric = sum(isinstance(feature, NumericFeature) for feature in schema.features)
    categorical = schema.n_features - numeric
    depth = settings.fixed_or_max_depth
    lines, costs = [], (BoundedRange(split.quantile),)
    if split.quantile:
        lines.append(Share("quantile", None, split.quantile, numeric, split.set_by, "numeric", costs=costs, exact=exact))
    for level in range(depth):
        lines.append(Share("node", level, split.numeric_node, numeric, split.set_by, "numeric", at_once=True))
        lines.append(Share("node", level, split.categorical_node, categorical, split.set_by, "categorical", at_once=True))
    lines.append(Share("leaf", depth, split.leaf, 1, split.set_by, exact=exact))
    paid = tuple(line for line in lines if line.n_compositions)
    notes, unbounded = (*split.notes, *split.replaced), (stopping_event(None),) if stops else ()
    return BudgetPlan(settings.epsilon, depth, paid, notes, replaced=split.replaced, unbounded=unbounded)
