"""A private test result for any learner: rows are held out at random from training, and one noisy table is released of them.

For numbers see `number_report.py`. For classes the table counts, per actual class, the rows that got each answer: a label, with
the band of its probability where the model of two classes has one, and the row's group where groups are counted apart
(`groups.py`). A row is in one cell: sensitivity 1, all of epsilon. Rows of
the test are not trained on, so the whole costs the larger of the two (`dpviz/privacy/random_assignment.py`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.accounting.events import Event
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.errors import UnsupportedModel
from dpviz.models.base import Model
from dpviz.models.tree import Leaf
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import NoiseSource
from dpviz.results.result import TestReport
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.contract import FitOutput, LearnerSpec
from dpviz.training.counted_rows import Rows
from dpviz.training.estimate.number_report import PARTS, report_of_numbers
from dpviz.training.estimate.report import BANDS, TEST, codes_of, names_of, released_counts, with_groups
from dpviz.training.params import Settings


def plan_with_test(spec: LearnerSpec, schema: Schema, settings: Settings, params: Any) -> BudgetPlan:
    """The learner's plan, with the rows kept for a test: the one place where a person's epsilon becomes that of a row.

    `schema.rows_per_person` rows spend an equal part each. Delta is the person's, for which `BudgetPlan` has noise priced.
    """
    settings = settings.of_row(schema.rows_per_person)
    if spec.tests_itself or not settings.test_share:
        plan = spec.plan(schema, settings, params)
    else:
        plan = spec.plan(schema.scaled(1 - settings.test_share), settings, params)
        parts = split_budget(settings.epsilon, PARTS) if isinstance(schema.target, NumericTarget) else ()
        plan = replace(plan, held_out=(HeldOutPart(TEST, settings.test_share, settings.epsilon, parts=parts),))
    plan = replace(plan, rows_per_person=schema.rows_per_person)
    return with_groups(plan, schema, settings.groups, TEST) if settings.groups else plan


def fit_with_test(spec: LearnerSpec, data: Rows, plan: BudgetPlan, params: Any, source: NoiseSource) -> FitOutput:
    """Train on the rows that are not held out, and test on those that are."""
    held_out = plan.held_out_part(TEST)
    if held_out is None or spec.tests_itself:
        return spec.fit(data, plan, params, source)
    assert isinstance(data, EncodedDataset)
    assignment = RandomAssignment((held_out.share,))
    kept = assignment.assign(data.n_rows, persons=data.persons, source=source) == 1
    output = spec.fit(data.by_assignment(~kept, 1 - held_out.share), plan, params, source)
    tested = report_of_numbers if isinstance(data.schema.target, NumericTarget) else report_of_classes
    report, event = tested(output.model, data.by_assignment(kept, held_out.share), held_out, source)
    whole = assignment.event((output.event, event), shared=data.persons is not None)
    return FitOutput(output.model, whole, output.disclosures, replace(report, schema=data.schema))


def report_of_classes(model: Model, data: EncodedDataset, held_out: HeldOutPart, source: NoiseSource) -> tuple[TestReport, Event]:
    """The test of a model on `data`, the rows held out for it (private), by the answers it gives them."""
    answers, given = _answers(model, data)
    n_groups = len(names_of(data.schema, held_out.groups))
    cells = (given * n_groups + codes_of(data, held_out.groups)) * data.n_classes + data.target
    exact = np.bincount(cells, minlength=len(answers) * n_groups * data.n_classes).reshape(-1, data.n_classes)
    return released_counts(data.schema, held_out, answers, exact, source)


def _answers(model: Model, data: EncodedDataset) -> tuple[list[Leaf], np.ndarray]:
    """Every answer the model can give, and the number of the one each row gets."""
    labels = model.predict(data).astype(np.int64)
    try:
        probability = model.predict_proba(data)[:, 1] if data.n_classes == 2 else None
    except UnsupportedModel:
        probability = None
    if probability is None:
        return list(map(Leaf, range(data.n_classes))), labels
    bands = np.clip((probability * BANDS).astype(np.int64), 0, BANDS - 1)
    middles = [(band + 0.5) / BANDS for band in range(BANDS)]
    return [Leaf(label, None, (1 - middle, middle)) for label in range(2) for middle in middles], labels * BANDS + bands
