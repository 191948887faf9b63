"""A private test result for any learner: coins keep rows from training, and one noisy table is released of them.

For numbers see `number_report.py`. For classes the table counts, per actual class, the rows that got each answer: a label, with
the band of its probability where the model of two classes has one. A row is in one cell: sensitivity 1, all of epsilon. Rows of
the test are not trained on, so the whole costs the larger of the two (`dpviz/privacy/coins.py`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.accounting.events import Event, Parallel
from dpviz.accounting.plan import Aside, BudgetPlan
from dpviz.errors import NoProbabilities
from dpviz.models.base import Model
from dpviz.models.tree import Leaf
from dpviz.privacy.coins import Coins
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.counting.contract import Rows
from dpviz.training.honest.number_report import NumberReport, released_test
from dpviz.training.honest.report import BANDS, TEST, TestReport
from dpviz.training.params import Settings


def plan_with_test(spec: LearnerSpec, schema: Schema, settings: Settings, params: Any) -> BudgetPlan:
    """The learner's plan, with the rows kept for a test."""
    if spec.tests_itself or not settings.test_share:
        return spec.plan(schema, settings, params)
    plan = spec.plan(schema.scaled(1 - settings.test_share), settings, params)
    return replace(plan, aside=(Aside(TEST, settings.test_share, settings.epsilon),))


def fit_with_test(spec: LearnerSpec, data: Rows, plan: BudgetPlan, params: Any, source: NoiseSource) -> FitOutput:
    """Train on the rows that no coin keeps away, and test on those it does."""
    aside = plan.set_aside(TEST)
    if aside is None or spec.tests_itself:
        return spec.fit(data, plan, params, source)
    assert isinstance(data, EncodedDataset)
    kept = Coins((aside.share,)).flip(data.n_rows, source=source) == 1
    output = spec.fit(data.by_coins(~kept, 1 - aside.share), plan, params, source)
    report, event = _tested(output.model, data.by_coins(kept, aside.share), aside, source)
    return FitOutput(output.model, Parallel((output.event, event)), output.disclosures, replace(report, schema=data.schema))


def _tested(model: Model, kept: EncodedDataset, aside: Aside, source: NoiseSource) -> tuple[TestReport | NumberReport, Event]:
    if isinstance(kept.schema.target, NumericTarget):
        return released_test(model, kept, aside.share, aside.epsilon, None, source)
    table, event = released_table(model, kept, aside.epsilon, source)
    return TestReport(kept.schema, aside.share, aside.epsilon, table), event


def released_table(model: Model, data: EncodedDataset, epsilon: float, source: NoiseSource) -> tuple[tuple[Leaf, ...], Event]:
    """The released table of a model's answers to the rows of `data`, and its event."""
    answers, given = _answers(model, data)
    cells = given * data.n_classes + data.target
    counts = np.bincount(cells, minlength=len(answers) * data.n_classes).reshape(-1, data.n_classes)
    noisy = GeometricNoise(epsilon).release(counts, source=source, part=TEST)
    return tuple(
        replace(answer, counts=tuple(row)) for answer, row in zip(answers, noisy.value.tolist(), strict=True)
    ), noisy.event


def _answers(model: Model, data: EncodedDataset) -> tuple[list[Leaf], np.ndarray]:
    """Every answer the model can give, and the number of the one each row gets."""
    labels = model.predict(data).astype(np.int64)
    try:
        probability = model.predict_proba(data)[:, 1] if data.n_classes == 2 else None
    except NoProbabilities:
        probability = None
    if probability is None:
        return list(map(Leaf, range(data.n_classes))), labels
    bands = np.clip((probability * BANDS).astype(np.int64), 0, BANDS - 1)
    middles = [(band + 0.5) / BANDS for band in range(BANDS)]
    return [Leaf(label, None, (1 - middle, middle)) for label in range(2) for middle in middles], labels * BANDS + bands
