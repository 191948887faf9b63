"""The epsilon that is asked for is a person's: in plans of every learner, in results, in documents of now and of before."""

import json
import math
from dataclasses import replace
from functools import cache

import pytest
from scipy.stats import norm

import dpviz
from dpviz.accounting.events import BoundedRange, GaussianRounds, PureDP, walk
from dpviz.accounting.guarantee import PrivacyLoss, for_unit, guarantee
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import DocumentError, ParameterError
from dpviz.io.results import document_verdict, result_from_json
from dpviz.learners import FitRequest, get_learner, learner_names
from dpviz.results.verdict import Unit
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.release_rows import SCHEMA, small_rows

FEATURES = (NumericFeature("age", 0, 100), NumericFeature("size", 0, 10), CategoricalFeature("colour", ("red", "green")))
TARGETS = {"classes": ClassTarget("y", ("n", "p")), "number": NumericTarget("y", 0, 100)}
ROWS = [2, 5]
#: Learners with little to do, so that a plan is priced quickly.
FEW = {"s-gbdt-published": {"rounds": 20}}


def cases() -> list[tuple[str, str]]:
    private = (get_learner(name) for name in learner_names() if get_learner(name).spends_epsilon)
    return [(spec.name, task) for spec in private for task in spec.tasks]


def schema_of(task: str, rows: int) -> Schema:
    return Schema(FEATURES, TARGETS[task], n_public=3000, rows_per_person=rows)


def request_of(name: str, epsilon: float, **more) -> FitRequest:
    return FitRequest.of(name, epsilon=epsilon, **FEW.get(name, {}), **more)


def spent_by(plan: BudgetPlan, rows: int) -> tuple[float, float]:
    """Epsilon and delta of all rows of a person, by nothing of the package but the steps: pure ones add up, once per row; plain
    Gaussian rounds move `rows` times as far, at the closed form of Balle & Wang 2018 (found by halving); of others group privacy.
    """
    event = plan.event() if not plan.held_out else replace(plan, held_out=()).event()
    epsilon, delta = 0.0, 0.0
    for _, step in walk(event):
        match step.cost:
            case PureDP(one) | BoundedRange(one):
                epsilon += rows * one
            case GaussianRounds(_, part, noise, sampling, rounds, None) if sampling >= 1:
                low, high = 0.0, 50.0
                for _ in range(80):
                    middle, mu = (low + high) / 2, rows * math.sqrt(rounds) / noise
                    kept = norm.cdf(mu / 2 - middle / mu) - math.exp(middle) * norm.cdf(-mu / 2 - middle / mu)
                    low, high = (low, middle) if kept <= part else (middle, high)
                epsilon, delta = epsilon + high, delta + part
            case GaussianRounds(one, part):
                epsilon, delta = epsilon + rows * one, delta + part * sum(math.exp(k * one) for k in range(rows))
    return epsilon, delta


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("name", "task"), cases())
def test_every_plan_spends_what_was_asked_for_of_a_person_and_no_more(name, task, rows):
    request, schema = request_of(name, 1.3), schema_of(task, rows)
    plan = request.plan(schema)
    claim = request.claim(schema)
    assert plan.rows_per_person == rows
    assert plan.asked.epsilon == pytest.approx(1.3, rel=1e-12)
    assert plan.asked.epsilon <= 1.3
    if claim.verdict == "holds":
        found = guarantee(plan.event(), rows)
        assert found.epsilon <= 1.3
        assert found.delta <= plan.delta
        assert found.epsilon == pytest.approx(1.3, rel=0.01)
        epsilon, delta = spent_by(plan, rows)
        assert epsilon <= 1.3 * (1 + 1e-9)
        assert delta <= plan.delta * (1 + 1e-9)
        assert epsilon == pytest.approx(1.3, rel=0.01)
        if not plan.delta or name == "s-gbdt":  # where rows are sampled, group privacy is not tight
            assert delta == pytest.approx(plan.delta, rel=0.01)
    assert request.claim_of_person(schema).loss == PrivacyLoss(plan.asked.epsilon, claim.delta)


@pytest.mark.parametrize(("name", "task"), cases())
def test_a_pure_plan_is_that_of_a_row_with_its_part(name, task):
    """So is the depth: noise on a row's part is what a public rule has to count with."""
    whole, part = request_of(name, 1.5), request_of(name, 0.5)
    of_three, of_row = whole.plan(schema_of(task, 3)), part.plan(schema_of(task, 1))
    assert of_three.depth == of_row.depth
    assert of_three.shares == of_row.shares
    assert (of_three.epsilon, of_three.delta) == (of_row.epsilon, of_row.delta)


def test_too_little_for_so_many_rows_is_said_with_the_least():
    with pytest.raises(ParameterError, match="at least 1e-06 for every row, of which a person has 1,000"):
        FitRequest.of("pf-tree", epsilon=1e-5).plan(schema_of("classes", 1000))


@cache
def fitted(name: str, rows: int = 3) -> dpviz.FitResult:
    schema = replace(SCHEMA, n_public=30_000, rows_per_person=rows)
    more = {"rounds": 5} if name.startswith("s-gbdt") else {}
    return dpviz.fit(name, small_rows(schema=schema), epsilon=1.2, max_depth=1, seed=0, **more)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pf-tree", "s-gbdt", "s-gbdt-published"])
def test_a_document_says_the_persons_epsilon_and_means_the_same_when_it_is_read(name):
    result = fitted(name)
    document = json.loads(result.to_json())
    assert document["learner"]["settings"]["epsilon"] == 1.2
    assert document["learner"]["settings"]["rows_per_person"] == 3
    person = document["privacy"]["per_person"]
    assert (person["rows"], person["epsilon"]) == (3, result.per_person.epsilon)
    assert 1.188 <= person["epsilon"] <= 1.2
    assert person["delta"] <= result.plan.delta
    assert document["privacy"]["guarantee"]["epsilon"] <= 0.4
    again = result_from_json(result.to_json())
    assert (again.plan.rows_per_person, again.unit, again.plan.shares) == (3, result.unit, result.plan.shares)
    assert (again.spent, again.guarantee, again.claim_of_person) == (result.spent, result.guarantee, result.claim_of_person)
    assert again.verdict().headline == result.verdict().headline
    assert document_verdict(document, result.schema).proven == result.verdict().proven
    assert json.loads(again.to_json()) == document


@pytest.mark.parametrize("name", ["pf-tree", "s-gbdt", "s-gbdt-published"])
@pytest.mark.parametrize("factor", [0.99, 1.01, 0.3])
def test_what_is_said_of_a_person_follows_from_the_steps(name, factor):
    document = json.loads(fitted(name).to_json())
    document["privacy"]["per_person"]["epsilon"] *= factor
    with pytest.raises(DocumentError, match="per_person"):
        result_from_json(json.dumps(document))


@pytest.mark.parametrize("name", ["pf-tree", "s-gbdt"])
def test_a_document_of_before_keeps_its_meaning(name):
    """Its settings are a row's, and what it says of a person is what any mechanism with the row's loss costs."""
    before = replace(fitted(name, rows=1), unit=Unit(3, "one patient"))
    document = json.loads(before.to_json())
    row = before.ledger.guarantee
    assert "rows_per_person" not in document["learner"]["settings"]
    assert PrivacyLoss(*(document["privacy"]["per_person"][name] for name in ("epsilon", "delta"))) == for_unit(row, 3)
    again = result_from_json(json.dumps(document))
    assert again.plan.shares == before.plan.shares
    assert again.per_person == document_verdict(document, before.schema).proven == for_unit(row, 3)
    assert fitted(name, rows=1).per_person is None
    assert again.ledger.guarantee == row
    assert json.loads(again.to_json()) == document
    assert again.verdict().kind == fitted(name, rows=1).verdict().kind


def test_whom_a_plan_was_made_for_is_a_whole_number_of_rows():
    document = json.loads(fitted("pf-tree").to_json())
    for odd in (0, -1, 2.5, "3"):
        document["learner"]["settings"]["rows_per_person"] = odd
        with pytest.raises(DocumentError):
            result_from_json(json.dumps(document))
