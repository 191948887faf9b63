"""PrivaTree*: PrivaTree with exact quantiles of the data instead of private ones.

Discloses the exact quantiles of every numeric feature, and exact counts through its stopping rule.

Source: Vos et al. 2023 (arXiv 2305.15394), the column PrivaTree* of Tables II, VI and VII.
"""

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, Step
from dpviz.accounting.plan import BudgetPlan
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, Schema
from dpviz.training.contract import LearnerSpec, always_claims, fit_by_growing
from dpviz.training.growing import STOPPING_DISCLOSURE, TreeRecipe
from dpviz.training.noisy_histograms import NoisyHistogramGrower, quantile_grid
from dpviz.training.params import Settings
from dpviz.training.privatree_budget import PrivaTreeParams, epsilon_split_of, privatree_plan, split_epsilon

NAME = "privatree-star"
Params = PrivaTreeParams
QUANTILE_DISCLOSURE = Disclosure(
    code="exact-quantiles",
    what="Every threshold is an exact quantile, that is, a value of some row.",
    remedy="Use PF-tree, whose thresholds come from the schema.",
)


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """Equations (7) to (10) with no quantile budget."""
    split = split_epsilon(NAME, schema, settings, params.shares, params.max_leaf_error, quantiles=False)
    return privatree_plan(schema, settings, split, stops=True, exact=True)


def prepare(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> TreeRecipe:
    """Exact quantiles, then the tree."""
    levels = np.arange(1, params.bins) / params.bins
    numeric = [(f, column) for f, column in zip(data.schema.features, data.columns, strict=True) if isinstance(f, NumericFeature)]
    thresholds = {feature.name: _quantiles(column, levels) for feature, column in numeric}
    grower = NoisyHistogramGrower(quantile_grid(data.schema, thresholds, NAME), epsilon_split_of(plan), plan.depth, False, source)
    exact: tuple[Event, ...] = (Step.unbounded("exact quantiles of the numeric features", "quantile"),) if numeric else ()
    disclosures = (QUANTILE_DISCLOSURE, STOPPING_DISCLOSURE) if numeric else (STOPPING_DISCLOSURE,)
    return grower.recipe(data, exact, disclosures)


def _quantiles(column: np.ndarray, levels: np.ndarray) -> np.ndarray:
    return np.quantile(column, levels, method="inverted_cdf") if len(column) else np.zeros(len(levels))


LEARNER = LearnerSpec(
    name=NAME,
    title="PrivaTree*",
    idea="PrivaTree with exact quantiles: shows what private quantiles cost.",
    citation="Vos, Vos, Li, Erkin & Verwer 2023, arXiv 2305.15394",
    plan=plan,
    fit=fit_by_growing(prepare),
    prepare=prepare,
    claim=always_claims(
        "Vos et al. 2023, Table II",
        "violated",
        "Thresholds are values of rows (the paper says so), and the stopping rule is exact.",
        evidence="dpviz/learners/published/privatree.py: one row against two",
    ),
    Params=Params,
)
