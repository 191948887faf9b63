"""DP-EBM: a boosted additive model, one curve per feature, trained by the package `interpret-core`.

It is registered only where that package is installed. The package does its own accounting, (epsilon, delta) by Gaussian
differential privacy, and its native library draws the noise in floating point. It treats the exact number of rows as public,
which is a disclosure. Two classes. Features use the declared ranges and categories.

Source: Nori, Caruana, Bu, Shen & Kulkarni 2021, "Accuracy, interpretability, and differential privacy via explainable boosting".
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import DpvizError, SchemaError
from dpviz.models.additive import AdditiveModel
from dpviz.privacy.external import ExternalMechanism
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training.contract import Departure, FitOutput, LearnerSpec, always_claims
from dpviz.training.params import Settings, whole

NAME = "dp-ebm"
TITLE = "explainable boosting"
#: Used where no delta is asked for: the package's own default.
DELTA = 1e-5


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of the package that matter."""

    rounds: int = whole(300, "Rounds", "Passes over the features.", low=1, high=5000)
    bins: int = whole(32, "Bins", "Bins of every feature, at most.", low=2, high=1024)


@dataclass(frozen=True, slots=True)
class Boosting(ExternalMechanism):
    """The package's classifier as a mechanism: all its noise comes from one seed."""

    params: Params
    title: ClassVar[str] = TITLE

    def sample(self, values: EncodedDataset, rng: np.random.Generator) -> Any:
        """A fitted classifier."""
        from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found]

        features = values.schema.features
        trainer = DPExplainableBoostingClassifier(
            feature_types=["continuous" if isinstance(f, NumericFeature) else "nominal" for f in features],
            privacy_bounds={k: (f.low, f.high) for k, f in enumerate(features) if isinstance(f, NumericFeature)},
            epsilon=self.epsilon,
            delta=self.delta,
            max_rounds=self.params.rounds,
            max_bins=self.params.bins,
            random_state=int(rng.integers(2**31)),
            n_jobs=1,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the warning about a fixed seed: a simulation says so itself
            return trainer.fit(*_rows(values))


def _rows(data: EncodedDataset) -> tuple[np.ndarray, np.ndarray]:
    """(features as numbers, classes), in an order that depends on their values alone."""
    order = np.lexsort((*data.columns, data.target))
    return np.column_stack(data.columns).astype(np.float64)[order], data.target[order]


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon, and a delta. Raises SchemaError for more than two classes."""
    if len(schema.classes) != 2:
        what = f"{NAME!r} tells two classes apart, and there are {len(schema.classes)}."
        raise SchemaError(what, field=schema.target.name, remedy="Choose another learner, or declare two classes.")
    delta = settings.needed_delta(NAME, DELTA)
    note = f"Delta = {delta:g}" + ("" if settings.delta else ", its package's default; none was asked for") + "."
    return BudgetPlan(settings.epsilon, 0, (Share("model", None, settings.epsilon, set_by="its package"),), (note,), delta)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Train, then copy the curves. Raises DpvizError unless both classes occur, because the package cannot train on one."""
    if np.count_nonzero(data.class_counts()) < 2:
        raise DpvizError(f"{NAME!r} needs rows of both classes.", remedy="Choose another learner, or give more rows.")
    released = Boosting(plan.epsilon, plan.delta, params).release(data, source=source, part="model")
    trained = released.value
    curves = {term[0]: scores for term, scores in zip(trained.term_features_, trained.term_scores_, strict=True)}
    pairs = [_curve(feature, trained.bins_[k], curves.get(k)) for k, feature in enumerate(data.schema.features)]
    cuts, values = zip(*pairs, strict=True)
    model = AdditiveModel(data.schema, cuts, values, float(np.ravel(trained.intercept_)[0]))
    return FitOutput(model, released.event, (ROWS_DISCLOSURE,))


def _curve(
    feature: NumericFeature | CategoricalFeature, bins: Sequence[Any], scores: np.ndarray | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(cuts, values) of one feature. The package stores a value for missing cells first and one for unknown values last."""
    if isinstance(feature, CategoricalFeature):
        place = {int(float(name)): number for name, number in bins[0].items()} if scores is not None else {}
        return (), tuple(float(scores[place.get(c, -1)]) if scores is not None else 0.0 for c in range(len(feature.categories)))
    if scores is None:
        return (), (0.0,)
    return tuple(map(float, bins[0])), tuple(map(float, scores[1:-1]))


ROWS_DISCLOSURE = Disclosure(
    code="exact-row-count",
    what="The package treats the exact number of rows as public.",
    remedy="Use a learner that works with a declared row count, such as PF-tree.",
)


LEARNER = LearnerSpec(
    name=NAME,
    title="DP-EBM",
    idea="A boosted additive model with a curve per feature, by the package interpret-core.",
    citation="Nori, Caruana, Bu, Shen & Kulkarni 2021",
    departures=(
        Departure(
            "The package takes the exact number of rows as public.",
            "The same, recorded as a disclosure.",
            "Adding or removing one row changes it.",
        ),
        Departure(
            "The package claims (epsilon, delta) by Gaussian differential privacy.",
            "The same, marked as unproven.",
            "Its accounting was not checked here, and its noise is drawn in floating point.",
        ),
        Departure(
            "Ranges and categories may be read from the data.",
            "They are the declared ones.",
            "A range or count read from the rows is a disclosure that no epsilon covers.",
        ),
    ),
    plan=plan,
    fit=fit,
    claim=always_claims(
        "Nori et al. 2021",
        "unproven",
        "The package's own accounting, not checked here; it takes the exact number of rows as public.",
    ),
    Params=Params,
    exact=False,
    needs="interpret",
)
