"""Logistic regression by objective perturbation: the linear model with which trees are compared.

Features are scaled to 0 .. 1 by the schema, categories by their place in the list. A row is then at most sqrt(n_features) long;
longer rows are shortened if a smaller norm is declared. More than two classes: one against the rest, each with an equal part of
epsilon. The paper's n in the penalty n Lambda is the public row count. Discloses nothing.

The claim holds under add/remove one row for the exact minimiser (proof in `dpviz/privacy/objective_perturbation.py`). The
minimiser that is computed is correct to about ten digits in floating point, so it cannot be released.

The default penalty was chosen on public benchmark data.

Source: Chaudhuri, Monteleoni & Sarwate 2011, "Differentially private empirical risk minimization", Algorithm 2.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.events import Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.base import n_scores
from dpviz.models.linear import LinearModel, unit_columns
from dpviz.privacy.objective_perturbation import ObjectivePerturbation
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset, Memo
from dpviz.table.schema import Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims, n_public_of
from dpviz.training.params import Settings, number

NAME = "logistic"
_SCALED_ROWS: Memo[tuple[np.ndarray, np.ndarray]] = Memo()


@dataclass(frozen=True, slots=True)
class Params:
    """Penalty and norm."""

    regularization: float = number(0.0001, "Regularization", "Penalty on large weights, per row (Lambda).", low=1e-8, high=10.0)
    norm_share: float = number(
        1.0, "Longest row", "Longer rows are shortened to this; 1 is the longest row that the schema allows.", low=1e-3, high=1.0
    )


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """An equal part of epsilon per score. Raises SchemaError without a public row count."""
    n_public = n_public_of(schema, NAME, "choose a learner that needs none, such as diffprivlib-tree")
    parts = n_scores(schema)
    shares = split_budget(settings.epsilon, (1.0,) * parts)
    note = f"Penalty {params.regularization:g}·n = {params.regularization * n_public:.4g} for n = {n_public:,}."
    lines = [
        Share("model", None, epsilon, shares.count(epsilon), "rule: equal parts", exact=False)
        for epsilon in dict.fromkeys(shares)
    ]
    return BudgetPlan(settings.epsilon, 0, tuple(lines), (note,))


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """One perturbed minimum per score."""
    x, target = _SCALED_ROWS.of(data, params.norm_share, lambda: _rows(data, params.norm_share))
    penalty = params.regularization * n_public_of(data.schema, NAME, "declare it")
    positive = [1] if n_scores(data.schema) == 1 else range(data.n_classes)
    epsilons = [share.epsilon for share in plan.shares for _ in range(share.n_compositions)]
    fitted = [
        ObjectivePerturbation(epsilon, penalty).release((x, np.where(target == k, 1.0, -1.0)), source=source, part="model")
        for k, epsilon in zip(positive, epsilons, strict=True)
    ]
    weights = np.array([one.value for one in fitted]) / _longest(data.n_features, params.norm_share)
    model = LinearModel(data.schema, tuple(map(tuple, weights[:, :-1].tolist())), tuple(weights[:, -1].tolist()))
    return FitOutput(model, Sequential(tuple(one.event for one in fitted)))


def _longest(n_features: int, norm_share: float) -> float:
    """Length of the longest row, its constant 1 included."""
    return math.sqrt(norm_share**2 * n_features + 1)


def _rows(data: EncodedDataset, norm_share: float) -> tuple[np.ndarray, np.ndarray]:
    """(rows of length at most 1 with a constant in the last column, target), in an order that depends on their values alone."""
    x = unit_columns(data)
    longest = norm_share * math.sqrt(data.n_features)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    x *= longest / np.maximum(lengths, longest)
    order = np.lexsort((*x.T, data.target))  # sums of floating-point numbers depend on their order
    whole = np.column_stack([x, np.ones(len(x))])[order] / _longest(data.n_features, norm_share)
    return whole, data.target[order]


LEARNER = LearnerSpec(
    name=NAME,
    title="Logistic regression",
    idea="A linear model whose objective carries noise.",
    citation="Chaudhuri, Monteleoni & Sarwate 2011, JMLR 12",
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Chaudhuri et al. 2011, Theorem 9, for add/remove",
        "holds",
        "One row changes the gradient by at most 1 and the curvature by one rank-one term; for the exact minimiser.",
        evidence="dpviz/privacy/objective_perturbation.py",
    ),
    Params=Params,
)
