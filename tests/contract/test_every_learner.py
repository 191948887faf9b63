"""Every registered learner against every promise of the contract: a table of cases, and fits that those who only read share.

What belongs to shared code and not to a learner (settings, seeds, frozen results) is asked once per kind of model.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import FrozenInstanceError, dataclass, fields
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import Unbounded, walk
from dpviz.accounting.guarantee import guarantee
from dpviz.errors import DpvizError, ParameterError, SchemaError, UnknownName, UnsupportedError
from dpviz.evaluation.audit.evidence import typical
from dpviz.learners import FitRequest, get_learner, learners_for
from dpviz.models.document import BODIES, model_body
from dpviz.privacy.source import Simulation
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.params import controls_of
from tests.support import fits, numbers, tables
from tests.support.fits import FEW, other_values
from tests.support.tables import FEATURES, hostile_schema, reordered, schema_of

EVERY = dpviz.learner_names()
KINDS = ("numbers", "categories", "mixed")
BUDGETS = (0.01, 0.1, 1 / 3, 1.0, 7.7)
DEPTHS = (1, 2, 3, 5)
#: Exact by design: no noise, so no seed changes anything, and the loss is infinite.
EXACT = tuple(name for name in EVERY if not get_learner(name).spends_epsilon)
#: Publish something exact beside their mechanisms, or use a sensitivity that is no bound: their ledger is infinite.
INFINITE = (*EXACT, "privatree", "privatree-star", "privatree-corrected", "bdpt", "dpgdf", "smooth-forest")
#: What a learner discloses of a schema that discloses nothing.
OWN = {
    "privatree": {"stopping-rule"},
    "privatree-star": {"stopping-rule", "exact-quantiles"},
    "bdpt": {"stopping-rule", "merged-values"},
    "dpgdf": {"stopping-rule"},
}
#: Stop where a noisy count is low: what is left of the path's epsilon stays unspent.
STOP_EARLY = ("fs-tree",)
#: Train where no feature can be split; the others refuse by name.
SPLIT_NOTHING = (*EXACT, "majority", "logistic", "dp-mean")
#: Refuse a table without a category (their own tests say how).
NEED_CATEGORIES = ("dpgdf",)
NEED_NO_ROW_COUNT = (
    *EXACT,
    "majority",
    "diffprivlib-tree",
    "s-gbdt-published",
    "dpboost",
    "bdpt",
    "dpgdf",
    "pf-forest",
    "smooth-forest",
    "fs-tree",
    "rgv-forest",
)
#: Parameters that change a model beside another one, or none of tables as small as these (None).
BESIDE = {
    ("privatree", "grow_complete"): {"max_depth": 8},
    ("s-gbdt", "multiscale"): {"histogram_share": 0.0},
    ("smooth-forest", "publishable"): None,
}
#: A learner for every kind of model that can be written down.
OF_EACH_MODEL = ("majority", "dp-mean", "pf-tree", "dpa", "pf-forest", "logistic", "s-gbdt")


@dataclass(frozen=True)
class Case:
    """A learner, what it is to predict, the kind of its features, and whether it has few trees or as many as a user gets."""

    learner: str
    task: str = "classes"
    kind: str = "mixed"
    is_full: bool = False

    def __str__(self) -> str:
        task = "-number" if self.task == "number" else ""
        return f"{self.learner}-{self.kind}{task}{'-full' if self.is_full else ''}"

    def schema(self, n_classes: int = 3, n_public: int | None = 200) -> Schema:
        if self.task == "number":
            return numbers.schema_of_numbers(self.kind, n_public)
        return schema_of(self.kind, n_classes, n_public)

    def rows(self, n_rows: int = 120, seed: int = 5, **declared: Any) -> EncodedDataset:
        make = numbers.rows if self.task == "number" else tables.table
        return make(self.schema(**declared), n_rows, seed)

    def fit(self, rows: EncodedDataset, **asked: Any) -> FitResult:
        return dpviz.fit(self.learner, rows, **({"epsilon": 1.0, "max_depth": 3, "seed": 7} | self.own | asked))

    @property
    def own(self) -> dict[str, Any]:
        return {} if self.is_full else FEW.get(self.learner, {})

    @property
    def is_noisy(self) -> bool:
        return self.learner not in EXACT


@cache
def fitted(case: Case, n_classes: int = 3, **asked: Any) -> FitResult:
    return case.fit(case.rows(n_classes=n_classes), **asked)


SMALL = tuple(
    Case(name, task, kind)
    for name in EVERY
    for task in sorted(get_learner(name).tasks)
    for kind in KINDS
    if (kind, name in NEED_CATEGORIES) != ("numbers", True)
)
FULL = tuple(Case(case.learner, case.task, case.kind, is_full=True) for case in SMALL if case.learner in FEW)
MIXED = tuple(case for case in SMALL if case.kind == "mixed")
LANES = {"mixed": [], "others": [pytest.mark.slow], "full": [pytest.mark.slow, pytest.mark.verify]}


def _asked(*cases: Case) -> Any:
    """By learner, task and lane: mixed features with every change, the others in make test, many trees in make verify."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        lane = "full" if case.is_full else "mixed" if case.kind == "mixed" else "others"
        found.setdefault((f"{case.learner}-{case.task}", lane), []).append(case)
    lists = [pytest.param(own, id=f"{who}-{lane}", marks=LANES[lane]) for (who, lane), own in found.items()]
    return pytest.mark.parametrize("cases", lists)


every_case = _asked(*SMALL, *FULL)
every_small_case = _asked(*SMALL)
every_task = _asked(*MIXED, *(case for case in FULL if case.kind == "mixed"))
every_model = pytest.mark.parametrize("name", OF_EACH_MODEL)
pytestmark = pytest.mark.filterwarnings("ignore:No individual filter:dpviz.errors.SettingWarning")  # at a small epsilon


def assert_declared(predicted: np.ndarray, data: EncodedDataset) -> None:
    """A prediction per row, of the declared type and in the declared range."""
    assert predicted.shape == (data.n_rows,)
    if isinstance(data.schema.target, NumericTarget):
        assert predicted.dtype == np.float64
        assert ((data.schema.target.low <= predicted) & (predicted <= data.schema.target.high)).all()
    else:
        assert predicted.dtype == np.uint8
        assert (predicted < len(data.schema.classes)).all()


def case_of(name: str) -> Case:
    return next(case for case in MIXED if case.learner == name)


# --- What it predicts


@pytest.mark.slow
@every_case
def test_what_it_predicts(cases, rng):
    for case in cases:
        for n_classes in (2, 7) if case.task == "classes" and not case.is_full else (3,):
            result, data = fitted(case, n_classes), case.rows(n_classes=n_classes)
            fresh = case.rows(500, 99, n_classes=n_classes)
            model, predicted = result.model, result.model.predict(fresh)
            assert_declared(predicted, fresh)
            assert_declared(model.predict(fresh.take(slice(0, 0), share=1.0)), fresh.take(slice(0, 0), share=1.0))
            order = rng.permutation(500)
            np.testing.assert_array_equal(model.predict(reordered(fresh, order)), predicted[order])
            other = EncodedDataset(fresh.schema, fresh.columns, fresh.target[::-1].copy())  # targets of rows that are asked about
            np.testing.assert_array_equal(model.predict(other), predicted)
            read = dpviz.model_from_json(result.to_json())
            assert read == model
            np.testing.assert_array_equal(read.predict(fresh), predicted)
            missed = data.target - model.predict(data).astype(float)
            score = (missed == 0).mean() if case.task == "classes" else 1 - (missed**2).mean() / data.target.var()
            assert result.score(data) == pytest.approx(score)
            require_shares(result, fresh)


def require_shares(result: FitResult, data: EncodedDataset) -> None:
    """Probabilities add up and agree with the prediction, or there are none."""
    try:
        shares = result.model.predict_proba(data)
    except UnsupportedError:
        return
    assert shares.shape == (data.n_rows, len(data.schema.classes))
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    if result.plan.held_out_part("leaf counts") is None:  # labels of honest leaves come from other rows than their probabilities
        np.testing.assert_allclose(shares[np.arange(data.n_rows), result.model.predict(data)], shares.max(axis=1))
    assert result.model.predict_proba(data.take(slice(0, 0), share=1.0)).shape == (0, shares.shape[1])


# --- What it trains on


@pytest.mark.slow
@every_case
def test_the_plan_needs_no_rows_and_hardly_any_are_trained_on(cases):
    for case in cases:
        spec = get_learner(case.learner)
        for epsilon in (0.01, 1.0):
            results = [case.fit(case.rows(n_rows), epsilon=epsilon) for n_rows in (0, 1, 2, 300)]
            for result, larger in pairwise(results):
                assert result.plan == larger.plan == spec.plan(case.schema(), result.settings, spec.Params(**case.own))
                assert result.claim == larger.claim
            for result in results:
                assert_declared(result.model.predict(case.rows(9)), case.rows(9))


@pytest.mark.slow
@every_task
def test_it_trains_at_the_ends_of_what_may_be_asked(cases):
    for case in cases:
        for epsilon, depth, n_rows in ((1e-6, 1, 60), (1e-6, 8, 0), (1e6, 1, 0), (1e6, 8, 60)):  # every two ends meet once
            result = case.fit(case.rows(n_rows), epsilon=epsilon, max_depth=depth, depth=depth)
            assert result.plan.epsilon in (epsilon, math.inf)
            assert_declared(result.model.predict(case.rows(5)), case.rows(5))


@pytest.mark.slow
@pytest.mark.parametrize("case", MIXED, ids=str)
def test_ranges_that_are_extreme_and_features_that_are_constant_are_trained_on_or_refused_by_name(case):
    constant = (NumericFeature("x", 0, 1), CategoricalFeature("only", ("one",)), NumericFeature("z", -3, 9))
    classes, forty = ClassTarget("y", ("n", "p")), np.linspace(0, 1, 40)
    codes = np.zeros(40, dtype=np.uint8)
    tried = [(constant, (np.full(40, 0.25), codes, np.full(40, 9.0)), NumericTarget("y", 0, 1), forty)]
    for low, high in ((-8e307, 8e307), (0, 1e-280), (1e16, 1e16 + 4)):
        line = np.linspace(low, high, 40)
        tried.append(((NumericFeature("x", low, high),), (line,), NumericTarget("y", 0, 1), forty))
        tried.append((constant[:2], (forty, codes), NumericTarget("y", low, high), line))
    for features, columns, target, values in tried if case.task == "number" else tried[::2][:1] + tried[1::2]:
        coded = values if case.task == "number" else (np.arange(40) > 19).astype(np.uint8)
        data = EncodedDataset(Schema(features, target if case.task == "number" else classes, n_public=50), columns, coded)
        try:
            result = case.fit(data)
        except DpvizError as problem:
            assert problem.remedy  # noqa: PT017
            assert case.learner in (*EXACT, *NEED_CATEGORIES) or target.high > 1
        else:
            assert_declared(result.model.predict(data), data)
    bare = Schema(constant[1:2], NumericTarget("y", 0, 1) if case.task == "number" else classes, n_public=50)
    data = EncodedDataset(bare, (codes,), forty if case.task == "number" else (np.arange(40) > 19).astype(np.uint8))
    if case.learner in SPLIT_NOTHING:
        assert_declared(case.fit(data).model.predict(data), data)
    else:
        with pytest.raises(SchemaError, match="No feature can be split"):
            case.fit(data)


def test_a_target_of_the_other_kind_is_refused_by_name():
    for case in (case for case in MIXED if len(get_learner(case.learner).tasks) == 1):
        other = Case(case.learner, "number" if case.task == "classes" else "classes")
        with pytest.raises(UnsupportedError) as problem:
            case.fit(other.rows())
        assert problem.value.fitting == learners_for(other.schema())
        assert repr(case.learner) in str(problem.value)
        assert "pf-tree" in problem.value.remedy


def test_a_missing_row_count_is_trained_without_or_named_with_both_remedies():
    for name in EVERY:
        usual = "set the quantile, node and leaf shares by hand"
        remedies = {"pf-tree": "depth=3", "jpw-forest": "depth=3", "logistic": "such as diffprivlib-tree"}
        remedies |= {"dp-mean": "count_rows=True", "s-gbdt": "initial_share=0"}
        case = case_of(name)
        data = case.rows(n_classes=2, n_public=None)
        if name in NEED_NO_ROW_COUNT:
            assert case.fit(data).plan
        else:
            with pytest.raises(
                SchemaError,
                match=rf"(?s)n_public.*{name!r}.*in the schema \(n_public.*{re.escape(remedies.get(name, usual))}",
            ):
                case.fit(data)


def test_each_second_remedy_works():
    data = tables.table(schema_of(n_public=None))
    assert fits.fit("pf-tree", data, depth=3).plan.depth == 3
    assert [share.part for share in fits.fit("s-gbdt", data, initial_share=0).plan.shares] == ["tree"]
    for name, shares in (("privatree", (1, 1, 1)), ("privatree-star", (1, 1, 1)), ("privatree-corrected", (1, 1))):
        assert fits.fit(name, data, shares=shares).plan.shares[0].set_by == "you"


# --- What repeats, and what does not


@pytest.mark.slow
@every_case
def test_a_fit_repeats_in_any_order_and_where_counts_are_shared(cases, rng):
    for case in cases:
        # A simulation's coins of honest leaves belong to positions, as they must not look at rows: without them, then.
        asked = {"leaves": "labels"} if case.learner == "pf-tree" and case.task == "classes" else {}
        data, expected = case.rows(), fitted(case, **asked).to_json()
        shared, orders = data.with_cached_counts(), [rng.permutation(data.n_rows) for _ in range(2)]
        assert case.fit(shared, **asked).to_json() == expected
        if case.learner != "pf-tree" or asked:
            assert all(case.fit(reordered(data, order), **asked).to_json() == expected for order in orders)
        assert case.fit(data, seed=None, source=Simulation(7), **asked).to_json() == expected
        for seed, epsilon in ((1, 0.1), (1, 10.0)) if case.is_noisy and not case.is_full else ():
            assert case.fit(shared, seed=seed, epsilon=epsilon).to_json() == case.fit(data, seed=seed, epsilon=epsilon).to_json()


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in MIXED if case.is_noisy], ids=str)
def test_seeds_and_releases_differ(case):
    # few rows at a small epsilon: one that drew from a fixed seed would predict the same every time
    data = case.rows(40, n_classes=7)
    for seeds in (range(8), [None] * 8) if typical(case.learner).plan.is_exact else (range(8),):
        found = {case.fit(data, epsilon=0.01, seed=seed, accept_rows=True).model.predict(data).tobytes() for seed in seeds}
        assert len(found) > 1


# --- What it costs


def require_covered(name: str, schema: Schema, budgets: tuple[float, ...], **asked: Any) -> None:
    """What a plan may do to a row costs at most the claim; `test_plan_events.py` has that no ledger exceeds its plan."""
    for epsilon, depth in product(budgets, DEPTHS):
        request = FitRequest.of(name, epsilon=epsilon, max_depth=depth, depth=depth, **asked)
        claim, loss = request.claim(schema), guarantee(request.plan(schema).event())
        if claim.verdict == "holds":
            assert loss.epsilon <= claim.epsilon
            assert loss.delta <= claim.delta
        assert claim.verdict == "holds" or not asked.get("grow_complete")


@pytest.mark.slow
@every_small_case
def test_a_claim_that_holds_covers_its_plan_at_every_budget_and_depth(cases):
    for case in cases:
        for n_classes in (2, 3, 7) if case.task == "classes" else (2,):
            require_covered(case.learner, case.schema(n_classes=n_classes), BUDGETS, **case.own)


@pytest.mark.parametrize("shares", [(0.3, 0.1, 0.7), None, (1, 2, 3)])
def test_privatree_on_one_feature_grown_complete_meets_its_claim(shares):
    for feature in (NumericFeature("x", 0, 1), CategoricalFeature("c", ("a", "b", "c"))):
        schema = Schema((feature,), ClassTarget("y", ("n", "p")), n_public=1000)
        require_covered("privatree", schema, (*BUDGETS, 0.3), shares=shares, grow_complete=True)


@pytest.mark.slow
@every_case
def test_a_finite_ledger_costs_what_the_plan_composes_to(cases):
    """It is infinite exactly where something exact is published."""
    for case in cases:
        asked = {"grow_complete": True} if case.learner == "privatree" else {}
        for result in (fitted(case, n_classes, depth=3, **asked) for n_classes in (2, 7)):
            composed, ledger = sum(share.composed for share in result.plan.shares), result.ledger
            is_infinite = case.learner in INFINITE and not asked
            assert ledger.guarantee.is_finite != is_infinite
            assert result.claim.verdict != "holds" or not result.disclosures
            assert any(isinstance(step.cost, Unbounded) for _, step in walk(ledger.event)) == is_infinite
            if "stopping-rule" in OWN.get(case.learner, ()):  # it has looked also where it stopped at once
                few = case.fit(case.rows(1), depth=3).ledger
                assert any(isinstance(step.cost, Unbounded) and step.part == "stopping rule" for _, step in walk(few.event))
            if case.learner in STOP_EARLY:
                assert ledger.guarantee.epsilon <= composed * (1 + 1e-12)
            elif not is_infinite:
                assert ledger.guarantee.epsilon == pytest.approx(composed, rel=1e-12)
                if result.claim.delta == 0:
                    assert sum(ledger.spent().values()) == pytest.approx(composed, rel=1e-12)
        losses = [case.fit(case.rows(), epsilon=epsilon, depth=3, **asked).ledger.guarantee.epsilon for epsilon in (0.1, 3.0)]
        assert losses[0] <= fitted(case, 3, depth=3, **asked).ledger.guarantee.epsilon <= losses[1]


# --- What is written down


def numbers_in(value, path=""):
    """Every number in a document is public, spent or a released threshold."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers_in(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from numbers_in(item, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


@pytest.mark.slow
def test_a_document_holds_no_row_counts_and_says_that_it_is_a_simulation():
    for case in MIXED:
        # 1013 rows of which 409 are of class 1: numbers nothing public leads to.
        data = case.rows(1013, n_classes=2)
        if case.task == "classes":
            data = EncodedDataset(data.schema, data.columns, (np.arange(1013) < 409).astype(np.uint8))
        document = json.loads(case.fit(data, seed=31337).to_json())
        secret = {1013, 409, 604}
        assert [path for path, number in numbers_in(document) if number in secret] == []
        assert not any(str(count) in json.dumps(document["privacy"]["ledger"]) for count in secret)
        noise = document["privacy"]["noise"]
        assert (noise["source"], noise["seed"]) == ("simulation", 31337)
        assert "not a release" in noise["warning"]


@pytest.mark.slow
def test_hostile_names_survive_the_document():
    for name in EVERY:
        schema = hostile_schema()
        if "classes" in get_learner(name).tasks:
            data = tables.table(schema)
        else:
            data = numbers.rows(Schema(schema.features, NumericTarget(schema.target.name, -10, 90), n_public=100))
        result = case_of(name).fit(data, depth=3)
        read = dpviz.model_from_json(result.to_json())
        assert read.schema == data.schema
        np.testing.assert_array_equal(read.predict(data), result.model.predict(data))


@pytest.mark.slow
def test_what_was_read_from_the_data_is_disclosed():
    for case in MIXED:
        assert {item.code for item in fitted(case).disclosures} == OWN.get(case.learner, set())
        height = NumericFeature("height", -2.5, 7.5, read_from_data=("low", "high"))
        colour = CategoricalFeature("colour", ("red", "green"), read_from_data=("categories",))
        classes = ClassTarget("y", ("c0", "c1"), read_from_data=("classes",))
        number = NumericTarget("y", -10, 90, read_from_data=("low", "high"))
        target, make = (classes, tables.table) if case.task == "classes" else (number, numbers.rows)
        read = Schema((height, colour), target, n_public=200, read_from_data=("n_public",))
        disclosed = {(item.code, item.field) for item in case.fit(make(read)).disclosures}
        of_features = {("schema-low", "height"), ("schema-high", "height"), ("schema-categories", "colour")}
        of_target = {("schema-classes", "y")} if case.task == "classes" else {("schema-low", "y"), ("schema-high", "y")}
        assert disclosed >= of_features | of_target | {("schema-n_public", "n_public")}


# --- What shared code promises, once per kind of model


def test_a_learner_of_each_model_is_asked():
    assert {fitted(case_of(name)).model.kind for name in OF_EACH_MODEL} == set(BODIES)


@every_model
def test_nothing_in_a_result_can_be_changed(name):
    result = fitted(case_of(name))
    parts = (result.model, result.plan, result.plan.shares[0], result.ledger, result.claim, result.settings, result.schema)
    for thing in (result, *parts):
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            setattr(thing, fields(thing)[0].name, None)
    assert isinstance(result.disclosures, tuple)


@every_model
def test_rows_of_another_schema_are_refused_and_no_rows_have_no_score(name):
    case = case_of(name)
    result = fitted(case)
    with pytest.raises(SchemaError, match="lack the model's columns"):
        result.model.predict(Case(name, case.task, "numbers").rows())
    same = EncodedDataset(result.schema, case.rows(5).columns, np.full(5, case.rows(5).target[0]))
    narrow = Schema(FEATURES["mixed"], ClassTarget("y", ("a", "b")), n_public=200)
    with pytest.raises(SchemaError, match="declaration differs"):
        result.score(tables.table(narrow))
    with pytest.raises(DpvizError, match="There are no rows to score"):
        result.score(case.rows(0))
    if case.task == "number":
        with pytest.raises(DpvizError, match="all have the same number, so there is no R²"):
            result.score(same)


BAD_SETTINGS = [
    ({"epsilon": 0}, "The 'epsilon' parameter of fit must be a number in [1e-06, 1e+06]. Got 0."),
    ({"epsilon": math.nan}, "Got nan."),
    ({"epsilon": math.inf}, "Got inf."),
    ({"epsilon": "much"}, "Got 'much'."),
    ({"max_depth": 0}, "The 'max_depth' parameter of fit must be a whole number in [1, 12]. Got 0."),
    ({"max_depth": 2.5}, "Got 2.5."),
    ({"max_depth": True}, "Got True."),
    ({"depth": "deep"}, "The 'depth' parameter of fit must be 'auto' or a whole number in [1, 12]. Got 'deep'."),
    ({"depth": 13}, "Got 13."),
    ({"delta": 0.6}, "The 'delta' parameter of fit must be None or a number in [0, 0.5]. Got 0.6."),
]


@every_model
def test_settings_parameters_and_seeds_are_checked_by_name(name):
    case = case_of(name)
    for asked, text in BAD_SETTINGS:
        with pytest.raises(ParameterError) as problem:
            case.fit(case.rows(10), **asked)
        assert str(problem.value).endswith(text)
    for seed in (-1, 1.5, "x", True):
        with pytest.raises(ParameterError, match="The 'seed' parameter of fit must be a whole number of at least 0, or None"):
            case.fit(case.rows(10), seed=seed)
    with pytest.raises(UnknownName, match=f"There is no parameter of '{name}' called 'colour'"):
        case.fit(case.rows(10), colour=3)
    expected = fitted(case).to_json()
    for asked in ({"max_depth": 3.0, "epsilon": 1}, {"max_depth": np.int64(3), "epsilon": np.float64(1), "seed": np.int64(7)}):
        assert case.fit(case.rows(), **asked).to_json() == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dpviz.errors.SettingWarning")
@pytest.mark.parametrize("name", EVERY)
def test_no_parameter_is_ignored(name):
    """Each changes some model, at the same seed: a learner that does not pass one on trains as if nobody had asked."""
    spec = get_learner(name)
    asked_of = [(Case(name, task), n) for task in sorted(spec.tasks) for n in (2, 3)]

    def model(case: Case, n_classes: int, **asked: Any) -> dict[str, Any]:
        return model_body(case.fit(case.rows(n_classes=n_classes), epsilon=3.0, **asked).model)

    for parameter, control in controls_of(spec.Params).items():
        beside = BESIDE.get((name, parameter), {})
        if beside is None:
            continue
        assert any(
            model(case, n, **beside, **{parameter: value}) != model(case, n, **beside)
            for case, n in asked_of
            for value in other_values(control, getattr(spec.Params(), parameter), n)
        ), parameter


def test_the_promised_learners_are_there_and_an_unknown_one_is_answered_with_the_nearest():
    assert set(EVERY) >= {"pf-tree", "privatree", "privatree-star", "privatree-corrected", "cart", "majority", "dp-mean", "gbdt"}
    assert EVERY[0] == "pf-tree"  # the default
    assert EVERY.index("majority") > EVERY.index("privatree")
    with pytest.raises(UnknownName, match=r"There is no learner called 'pf_tree'\. Did you mean 'pf-tree'\?"):
        fits.fit("pf_tree", tables.table(schema_of()))
