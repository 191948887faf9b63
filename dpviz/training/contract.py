"""The contract between learners and everything that uses them.

A learner is a `LearnerSpec` at the end of a file in `dpviz/learners/`. Widgets, validation, error texts, the documentation table
and the contract tests all come from that one value.

**Test.** For any learner: rows are held out at random from training, and one noisy table is released of them. For numbers see
`estimate/number_report.py`. For classes the table counts, per actual class, the rows that got each answer: a label, with the band
of its probability where the model of two classes has one, and the row's group where groups are counted apart. A row is in one
cell: sensitivity 1, all of epsilon. Rows of the test are not trained on, so the whole costs the larger of the two
(`dpviz/privacy/random_assignment.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dpviz.accounting.claim import Claim, ClaimStatus, Disclosure
from dpviz.accounting.events import Event, sequence
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.errors import SchemaError
from dpviz.models.base import Model, labels_and_probabilities
from dpviz.models.tree import Leaf, Tree
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import NoiseSource
from dpviz.results.result import TestReport
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.counted_rows import Count, Rows, counter_of
from dpviz.training.estimate.number_report import PARTS, report_of_numbers
from dpviz.training.estimate.report import BANDS, TEST, codes_of, names_of, release_counts, with_groups
from dpviz.training.growing import TreeRecipe, grow_honestly
from dpviz.training.params import NoParams, Settings

#: What a learner predicts; "any" means both.
Task = Literal["classes", "number", "any"]


@dataclass(frozen=True, slots=True)
class FitOutput:
    """What a learner's `fit` returns: a model made of released values, its event, the learner's own disclosures, its test."""

    model: Model
    event: Event
    disclosures: tuple[Disclosure, ...] = ()
    test_report: TestReport | None = None


#: Learners without `counts` are given an EncodedDataset.
Fit = Callable[[Any, BudgetPlan, Any, NoiseSource], FitOutput]
Prepare = Callable[[Any, BudgetPlan, Any, NoiseSource], TreeRecipe]
ClaimRule = Callable[[BudgetPlan, Any, Schema], Claim]


@dataclass(frozen=True, slots=True)
class FitByGrowing:
    """The `fit` of a learner that grows one tree by the recipe that `prepare` returns."""

    prepare: Prepare

    def __call__(self, data: Rows, plan: BudgetPlan, params: Any, source: NoiseSource) -> FitOutput:
        """Grow the tree, and count and test it on the rows that the plan holds out for this."""
        recipe = self.prepare(data, plan, params, source)
        if plan.held_out:
            tree, event, report = grow_honestly(counter_of(data), plan, recipe, source)
            return FitOutput(tree, sequence(*recipe.before, event), recipe.disclosures, report)
        root, event = recipe.grow(source)
        return FitOutput(Tree(data.schema, root), sequence(*recipe.before, event), recipe.disclosures)


def always_claims(source: str, verdict: ClaimStatus, because: str, evidence: str = "") -> ClaimRule:
    """The `claim` of a learner that claims all of its budget, with the same verdict for every plan."""
    return lambda plan, params, schema: Claim(plan.epsilon, source, verdict, because, plan.delta, evidence)


@dataclass(frozen=True)
class LearnerSpec:
    """One learner."""

    #: name, title, idea, citation: registry name, name for people, one sentence, source.
    name: str
    title: str
    idea: str
    citation: str
    #: Depth and shares from public values alone; raises SchemaError if a public value it needs is missing.
    plan: Callable[[Schema, Settings, Any], BudgetPlan]
    #: Trains. Everything it learns from `data` goes through a mechanism drawn from `source`, or is a disclosure.
    fit: Fit
    claim: ClaimRule  #: What the paper claims for this plan, with our verdict
    #: Frozen dataclass of the learner's own parameters, with fields from `dpviz.training.params`.
    Params: type = NoParams
    task: Task = "classes"  #: What it predicts
    default_max_depth: int = Settings().max_depth  #: Its `Settings.max_depth` where none is asked for
    #: A baseline is drawn as a line for comparison; a reference is one without privacy: epsilon and noise change nothing.
    role: Literal["private", "baseline", "reference"] = "private"
    #: What it asks of rows, which may then be anywhere; empty if it needs the rows themselves.
    counts: frozenset[Count] = frozenset()

    @property
    def prepare(self) -> Prepare | None:
        """Of a learner that grows one tree: what `fit` grows. Verification enumerates it step by step."""
        return self.fit.prepare if isinstance(self.fit, FitByGrowing) else None

    @property
    def is_baseline(self) -> bool:
        """True if it is drawn as a line for comparison."""
        return self.role != "private"

    @property
    def spends_epsilon(self) -> bool:
        """False for a learner without privacy."""
        return self.role != "reference"

    @property
    def tests_itself(self) -> bool:
        """True if its `plan` and `fit` see to `Settings.test_share`, by counts of its leaves; else `fit_with_test` does."""
        return "leaves" in self.counts

    @property
    def tasks(self) -> tuple[str, ...]:
        """The kinds of target it predicts: "classes", "number" or both; it is shown with the first."""
        return ("classes", "number") if self.task == "any" else (self.task,)


def n_public_of(schema: Schema, learner: str, instead: str) -> int:
    """The public row count; raises SchemaError with two remedies, of which `instead` is the second."""
    if schema.n_public is None:
        raise SchemaError(
            f"The learner {learner!r} needs a public row count, and none is declared.",
            field="n_public",
            remedy=f"Declare one in the schema (n_public; rounded is fine), or {instead}.",
        )
    return schema.n_public


def schema_disclosures(schema: Schema) -> tuple[Disclosure, ...]:
    """One disclosure per public value that was read from the data."""
    remedy, disclosures = "Declare it from public knowledge.", []
    for column, field in schema.read_fields():
        what = "The row count" if column == "n_public" else f"{_FIELD_WORDS.get(field, field)} of {column!r}"
        disclosures.append(Disclosure(f"schema-{field}", f"{what} was read from the data.", remedy, field=column))
    return tuple(disclosures)


_FIELD_WORDS = {
    "low": "The lower bound",
    "high": "The upper bound",
    "kind": "The kind (number, whole number or category)",
    "categories": "The list of categories",
    "classes": "The list of classes",
}


def plan_with_test(spec: LearnerSpec, schema: Schema, settings: Settings, params: Any) -> BudgetPlan:
    """The learner's plan, with the rows kept for a test: the one place where a person's epsilon becomes that of a row.

    `schema.rows_per_person` rows spend an equal part each. Delta is the person's, for which `BudgetPlan` has noise priced.
    """
    settings = settings.of_row(schema.rows_per_person)  # by `epsilon_of_row`
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
    return release_counts(data.schema, held_out, answers, exact, source)


def _answers(model: Model, data: EncodedDataset) -> tuple[list[Leaf], np.ndarray]:
    """Every answer the model can give, and the number of the one each row gets."""
    labels, probabilities = labels_and_probabilities(model, data)
    labels = labels.astype(np.int64)
    if probabilities is None or data.n_classes != 2:
        return list(map(Leaf, range(data.n_classes))), labels
    bands = np.clip((probabilities[:, 1] * BANDS).astype(np.int64), 0, BANDS - 1)
    middles = [(band + 0.5) / BANDS for band in range(BANDS)]
    return [Leaf(label, None, (1 - middle, middle)) for label in range(2) for middle in middles], labels * BANDS + bands
