"""What a `dpviz-tree/1` document says, read with typed errors: the whole result, and the facts that exports carry along."""

from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from msgspec import UnsetType

from dpviz.accounting.claim import Disclosure, why_uncovered
from dpviz.accounting.events import Event, RandomPartition
from dpviz.accounting.guarantee import epsilon_of_row, guarantee, of_person
from dpviz.accounting.ledger import Ledger, ledger_from
from dpviz.accounting.plan import BudgetPlan
from dpviz.accounting.risk import Risk, check_risks
from dpviz.errors import DpvizError, path_text
from dpviz.io.text import read_document
from dpviz.learners import get_learner, registry
from dpviz.learners.catalogue import FORMER_PARAMETERS
from dpviz.models.document import model_from_json, read_leaf
from dpviz.results.document import NO_REGISTER_ENTRY, LearnerEntry, Statement, TestEntry, is_recorded, learner_of, statement_of
from dpviz.results.result import FitResult, TestReport
from dpviz.results.verdict import Unit, Verdict, verdict
from dpviz.results.wording import signs_spelled
from dpviz.table.schema import NumericTarget, Schema
from dpviz.table.strict_json import parse_json, read, read_entry, require, wrong
from dpviz.training.contract import LearnerSpec, plan_with_test
from dpviz.training.estimate.number_report import DEGREE, NumberReport
from dpviz.training.estimate.report import ClassReport, groups_of, names_of
from dpviz.training.estimate.window import Window
from dpviz.training.params import Settings, controls_of, make_params

_MAX_DISCLOSURES = 5


def private_test_of(document: Any, schema: Schema) -> TestReport | None:
    """The private test result, computed anew from its released table; None where there is none. Raises DocumentError."""
    where = "test_report"
    if where not in document:
        return None
    return replace(_test_result(document, schema, where), rows_per_person=statement_of(document).unit.rows)


def _test_result(document: Any, schema: Schema, where: str) -> TestReport:
    body = read(TestEntry, document[where], where)
    if isinstance(schema.target, NumericTarget):
        return _of_numbers(body, schema, where)
    table = tuple(read_leaf(item, schema, f"{where}.table[{k}]") for k, item in enumerate(require(body.table, f"{where}.table")))
    if any(answer.counts is None for answer in table):
        raise wrong("Every answer of the model needs its counts.", f"{where}.table")
    groups = "" if isinstance(body.groups, UnsetType) else body.groups
    if groups not in ("", *groups_of(schema)):
        raise wrong("This must be a categorical feature of the schema.", f"{where}.groups")
    n_answers, left = divmod(len(table), len(names_of(schema, groups)))
    if left:
        raise wrong("Every answer needs its counts in every group.", f"{where}.table")
    counted = _parse_counts(body, (n_answers, len(schema.classes)), where)
    return ClassReport(schema, body.share, body.epsilon, table, counted, groups)


def _of_numbers(body: TestEntry, schema: Schema, where: str) -> NumberReport:
    names = ("table_epsilon", "centre", "width", "sums")
    table_epsilon, centre, width, sums = (require(getattr(body, name), f"{where}.{name}") for name in names)
    if table_epsilon > body.epsilon:
        raise wrong("The table must cost at most epsilon.", where)
    if any(len(row) != len(sums) for row in sums):
        raise wrong(f"{DEGREE + 1} rows of {DEGREE + 1} sums are needed.", f"{where}.sums")
    return NumberReport(schema, body.share, body.epsilon, table_epsilon, Window(centre, width), sums)


def _parse_counts(body: TestEntry, shape: tuple[int, int], where: str) -> tuple[tuple[int, ...], ...] | None:
    counts = body.counted
    if isinstance(counts, UnsetType):
        return None
    if len(counts) != shape[0] or any(len(row) != shape[1] for row in counts):
        raise wrong("One row per answer and one number per class are needed.", f"{where}.counted")
    return counts


def facts(document: Any, target: str, outcome: Verdict) -> list[str]:
    """What every export carries: who made it, what is guaranteed, what is not covered. A sentence or two each."""
    learner, version = entry_text(document, "learner", "name"), entry_text(document, "versions", "dpviz")
    statement = statement_of(document)
    return [
        f"Predicts {target!r}. Learner {learner}, dpviz {version}.",
        outcome.in_file,
        *([signs_spelled(f"{outcome.odds} {outcome.plain_bound}".strip())] if outcome.proven.is_finite else []),
        *([statement.noise.warning] if statement.noise.warning else []),
        *_uncovered(statement.disclosures),
    ]


def entry_text(document: Any, part: str, name: str) -> str:
    """The text `name` of a part of the document, such as "learner"; "unknown" where there is none. Raises DocumentError."""
    text = read(dict, read(dict, document).get(part, {}), part).get(name, "unknown")
    return read(str, text, f"{part}.{name}")


def _stated_plan(document: Any, schema: Schema) -> BudgetPlan | None:
    """The plan of a document's own settings; None where it has none, or this version of dpviz would plan otherwise."""
    with suppress(DpvizError):
        learner = learner_of(document)
        spec = get_learner(learner.name)
        schema = replace(schema, rows_per_person=learner.rows_per_person)  # of a file of before, settings are those of a row
        plan = plan_with_test(spec, schema, settings_of(learner), _params_of(spec, learner))
        if plan.depth == learner.depth:
            return plan
    return None


def settings_of(learner: LearnerEntry) -> Settings:
    """The settings that a document names."""
    values = {item.name: learner.settings[item.name] for item in fields(Settings) if item.name in learner.settings}
    return Settings(**values | {"delta": values.get("delta") or None})  # a document says 0 where none was asked for


def _params_of(spec: LearnerSpec, learner: LearnerEntry) -> Any:
    """The learner's own parameters. A file without one of these is older: labels alone, and levels chosen one by one.

    So is one with parameters that the learner has no more: they are left out.
    """
    before = {"leaves": "labels", "lookahead": "1"}
    older = {name: value for name, value in before.items() if name in controls_of(spec.Params)}
    gone = FORMER_PARAMETERS.get(spec.name, ())
    values = {name: value for name, value in learner.parameters.items() if name not in gone}
    return make_params(spec.Params, spec.name, older | values)


def document_verdict(document: Any, schema: Schema, unit: Unit | None = None) -> Verdict:
    """What may be said about a document; `unit`: whom a register says it protects. Raises DocumentError."""
    statement, plan = statement_of(document), _stated_plan(document, schema)
    # in the register's words; what bounded the rows of the unit is in the file
    unit = statement.unit if unit is None else replace(unit, is_bounded=statement.unit.is_bounded)
    loss = statement.loss if unit.rows == statement.unit.rows else unit.loss_of(statement.guarantee)
    claimed = statement.claim.loss
    claimed = of_person(claimed, unit.rows) if _covers_unit(document, unit) else unit.loss_of(claimed)
    outcome = verdict(
        statement.claim.of(claimed),
        loss,
        released=statement.noise.warning is None,
        why_not=why_uncovered(statement.disclosures, is_exact=_is_exact(document, schema, plan)),
        unit=unit,
        risk=_risk(statement, plan),
    )
    if outcome.kind != "released" or is_recorded(document):
        return outcome
    return replace(outcome, because=f"{outcome.because} {NO_REGISTER_ENTRY}")


def _covers_unit(document: Any, unit: Unit) -> bool:
    """Whether epsilon and delta were asked for all rows of such a unit; in files of before they are those of a row."""
    with suppress(DpvizError):
        return learner_of(document).rows_per_person == unit.rows
    return unit.rows == 1


def _is_exact(document: Any, schema: Schema, plan: BudgetPlan | None) -> bool:
    """Whether all mechanisms of the learner have exact samplers; of one that is not known here, what the document says."""
    spec = registry().get(entry_text(document, "learner", "name"))
    if plan is None and spec is not None:  # this version would plan otherwise, by the same mechanisms
        with suppress(DpvizError):
            plan = spec.plan(replace(schema, n_public=schema.n_public or 1000), Settings(), spec.Params())
        return plan is not None and plan.is_exact
    return plan is None or plan.is_exact


def _planned_event(ledger: Ledger, plan: BudgetPlan | None) -> Event | None:
    """What might have been done to a row where its steps are fewer because of the rows; None where they are not."""
    with suppress(DpvizError):
        if plan is not None and ledger.guarantee.epsilon < guarantee(plan.event()).epsilon:
            return plan.event(shared=isinstance(ledger.event, RandomPartition) and ledger.event.shared)
    return None


def _risk(statement: Statement, plan: BudgetPlan | None) -> Risk | None:
    """What the steps of the ledger come to; None where they are not those that the guarantee is stated for."""
    ledger = ledger_from(statement.ledger, "privacy.ledger").with_assignment_of(plan)
    return Risk(ledger.event) if ledger.guarantee == statement.guarantee else None


def _uncovered(disclosures: tuple[Disclosure, ...]) -> list[str]:
    lines = [f"Outside the guarantee: {item.what}" for item in disclosures[:_MAX_DISCLOSURES]]
    more = len(disclosures) - _MAX_DISCLOSURES
    return [*lines, f"And {more} more such disclosures; the JSON document lists them."] if more > 0 else lines


_OTHERWISE = "Read from a file; this version of dpviz plans otherwise."


def load_result(source: str | Path) -> FitResult:
    """A result from the file that `dpviz train` or `result.to_json()` wrote: it can be asked for predictions and its ledger.

    The file is a statement of whoever wrote it. What its steps add up to is composed again; whether they were taken is not
    in a file. The plan is not in it either: it is worked out again from public values, and has the depth alone where this
    version of dpviz would plan another one. A random assignment that does not hold out what that plan does is not believed:
    its steps count as those of disjoint rows.

    Parameters
    ----------
    source : str or Path
        The file.

    Returns
    -------
    FitResult
        As of `dpviz.fit`. `released` says whether it is a release.

    Raises
    ------
    DocumentError
        No document of dpviz, a model without what was said about it, or steps that do not add up to the guarantee it states, or
        compose to a larger risk.
    DpvizError
        The file cannot be read; its learner is not known here.
    """
    return result_from_json(read_model_file(Path(source)))


def read_model_file(path: Path) -> str:
    """The text of a model file; raises DpvizError."""
    raw = read_document(path, "The model file", "Check the path; it must name a file written by `dpviz train`.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DpvizError(
            "The model file is not UTF-8 text.", where=path_text(path), remedy="Give a file written by `dpviz train`."
        ) from error


def result_from_json(text: str | bytes) -> FitResult:
    """The result of a document; see `load_result`."""
    model = model_from_json(text)
    document = parse_json(text)
    learner = learner_of(document)
    spec = get_learner(learner.name)
    settings, params = settings_of(learner), _params_of(spec, learner)
    plan = _stated_plan(document, model.schema)
    statement = statement_of(document)
    ledger = _ledger(document, statement).with_assignment_of(plan)
    return FitResult(
        learner=spec.name,
        model=model,
        ledger=ledger,
        claim=statement.claim,
        plan=plan or _unknown_plan(learner, settings),
        params=params,
        settings=settings,
        schema=model.schema,
        disclosures=statement.disclosures,
        noise="simulation" if statement.noise.source == "simulation" else "release",
        seed=None if isinstance(statement.noise.seed, UnsetType) else statement.noise.seed,
        test_report=private_test_of(document, model.schema),
        unit=statement.unit,
        releasable=_is_exact(document, model.schema, plan),
        planned=_planned_event(ledger, plan),
    )


def _unknown_plan(learner: LearnerEntry, settings: Settings) -> BudgetPlan:
    rows = learner.rows_per_person
    epsilon, delta = epsilon_of_row(settings.epsilon, rows), settings.delta or 0.0
    return BudgetPlan(epsilon, learner.depth, (), (_OTHERWISE,), delta, rows_per_person=rows)


def with_our_verdict(result: FitResult) -> FitResult:
    """What is known of its learner's claim here, not what the file says about it."""
    return replace(result, claim=get_learner(result.learner).claim(result.plan, result.params, result.schema))


def _ledger(document: dict[str, Any], statement: Statement) -> Ledger:
    privacy = read_entry(dict, document, "privacy")
    ledger = ledger_from(read_entry(list, privacy, "ledger", "privacy"), "privacy.ledger")
    if ledger.guarantee != statement.guarantee:
        raise wrong("The steps of the ledger do not add up to this.", "privacy.guarantee")
    check_risks(statement.risk or (), Risk(ledger.event), "privacy.risk")
    return ledger
