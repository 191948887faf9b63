"""DP-EBM: a boosted additive model, one curve per feature, trained by the package `interpret-core` where it is installed.

Only then is it a learner here. Its privacy is its own, (epsilon, delta) by Gaussian differential privacy, with noise drawn in
floating-point numbers by its native library; it treats the exact number of rows as public, a disclosure. Two classes. Features
enter by the declared ranges and categories.

Source: Nori, Caruana, Bu, Shen & Kulkarni 2021, "Accuracy, interpretability, and differential privacy via explainable boosting".
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from dpviz.accounting.claim import Claim, Disclosure
from dpviz.accounting.events import Approximate
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import DpvizError, NotReleasable, SchemaError
from dpviz.models.additive import AdditiveModel
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.params import Settings, control

NAME = "dp-ebm"
TITLE = "explainable boosting"
#: Used where no delta is asked for: the package's own default.
DELTA = 1e-5


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of the package that matter."""

    rounds: int = control(300, label="Rounds", help="Passes over the features.", kind="whole", low=1, high=5000)
    bins: int = control(32, label="Bins", help="Bins of every feature, at most.", kind="whole", low=2, high=1024)


@dataclass(frozen=True, slots=True)
class Boosting:
    """The package's classifier as a mechanism: all its noise comes from one seed."""

    epsilon: float
    delta: float
    params: Params
    title: ClassVar[str] = TITLE

    def sample(self, data: EncodedDataset, rng: np.random.Generator) -> Any:
        """A fitted classifier."""
        from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found]

        features = data.schema.features
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
            warnings.simplefilter("ignore", UserWarning)  # that a seed protects nobody is said by the simulation itself
            return trainer.fit(*_rows(data))

    def sample_exactly(self, data: EncodedDataset) -> Any:
        """Always raises NotReleasable."""
        raise NotReleasable(TITLE)


def _rows(data: EncodedDataset) -> tuple[np.ndarray, np.ndarray]:
    """(features as numbers, classes), in an order that only their content decides."""
    order = np.lexsort((*data.columns, data.target))
    return np.column_stack(data.columns).astype(np.float64)[order], data.target[order]


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """All of epsilon, and a delta. Raises SchemaError for more than two classes."""
    if len(schema.classes) != 2:
        raise SchemaError(
            f"{NAME!r} tells two classes apart, and there are {len(schema.classes)}.",
            field=schema.target.name,
            remedy="Choose another learner, or declare two classes.",
        )
    delta = settings.delta or DELTA
    note = f"Delta = {delta:g}" + ("" if settings.delta else ", its package's default; none was asked for") + "."
    return BudgetPlan(settings.epsilon, 0, (Share("model", None, settings.epsilon, set_by="its package"),), (note,), delta)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Train, and take the curves over. Raises DpvizError unless both classes occur: the package cannot train on one."""
    if np.count_nonzero(data.class_counts()) < 2:
        raise DpvizError(f"{NAME!r} needs rows of both classes.", remedy="Choose another learner, or give more rows.")
    trained = source.draw(Boosting(plan.epsilon, plan.delta, params), data)
    curves = {term[0]: scores for term, scores in zip(trained.term_features_, trained.term_scores_, strict=True)}
    pairs = [_curve(feature, trained.bins_[k], curves.get(k)) for k, feature in enumerate(data.schema.features)]
    cuts, values = zip(*pairs, strict=True)
    model = AdditiveModel(data.schema, cuts, values, float(np.ravel(trained.intercept_)[0]))
    return FitOutput(model, Approximate(plan.epsilon, plan.delta, TITLE, "model"), (ROWS_DISCLOSURE,))


def _curve(
    feature: NumericFeature | CategoricalFeature, bins: Sequence[Any], scores: np.ndarray | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(cuts, values) of one feature. The package keeps a value for missing first, and one for unknown last."""
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


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """(epsilon, delta) as the package says; not checked here."""
    because = "The package's own accounting, not checked here; it takes the exact number of rows as public."
    return Claim(plan.epsilon, "Nori et al. 2021", "unproven", because, plan.delta)


if find_spec("interpret") is not None:
    LEARNER = LearnerSpec(
        name=NAME,
        title="DP-EBM",
        idea="A boosted additive model with a curve per feature, by the package interpret-core.",
        citation="Nori, Caruana, Bu, Shen & Kulkarni 2021",
        plan=plan,
        fit=fit,
        claim=claim,
        Params=Params,
        exact=False,
    )
