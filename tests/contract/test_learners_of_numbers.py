"""Every learner that predicts a number against every promise of the contract."""

import json
import math

import numpy as np
import pytest

import dpviz
from dpviz.errors import DpvizError, NotReleasable, SchemaError, WrongTask
from dpviz.learners import get_learner
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema
from tests.support import fits as few_trees
from tests.support.numbers import rows, schema_of_numbers
from tests.support.tables import FEATURES, reordered, schema_of, table

NUMBERS = tuple(name for name in dpviz.learner_names() if "number" in get_learner(name).tasks)
#: Of the settings they need beyond epsilon.
NEEDS = {"s-gbdt": {"delta": 1e-6}, "s-gbdt-published": {"delta": 1e-6}}
every_learner = pytest.mark.parametrize("name", NUMBERS)
on_any_table = pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])


def fit(name, data, **asked):
    return few_trees.fit(name, data, **(NEEDS.get(name, {}) | asked))


def test_the_promised_learners_of_numbers_are_there():
    assert set(NUMBERS) >= {"cart-regression", "dp-mean", "gbdt"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No individual filter:dpviz.errors.ReplacedWarning")  # s-gbdt-published at the smaller epsilon
@every_learner
@on_any_table
def test_it_predicts_numbers_inside_the_declared_range(name, kind):
    schema = schema_of_numbers(kind)
    for epsilon in (0.01, 1.0):
        predicted = fit(name, rows(schema), epsilon=epsilon).model.predict(rows(schema, 77, seed=6))
        assert predicted.dtype == np.float64
        assert predicted.shape == (77,)
        assert predicted.min() >= -10
        assert predicted.max() <= 90


@every_learner
@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_it_trains_on_hardly_any_rows(name, n_rows):
    schema = schema_of_numbers()
    assert np.isfinite(fit(name, rows(schema, n_rows)).model.predict(rows(schema, 9))).all()


@every_learner
def test_the_order_of_training_rows_does_not_matter_and_predictions_follow_theirs(name, rng):
    data = rows(schema_of_numbers())
    order = rng.permutation(data.n_rows)
    result = fit(name, data)
    if name != "pf-tree":  # a simulation's coins belong to positions, as they must not look at rows
        assert fit(name, reordered(data, order)).to_json() == result.to_json()
    np.testing.assert_array_equal(result.model.predict(reordered(data, order)), result.model.predict(data)[order])


@every_learner
def test_the_same_seed_gives_the_same_document_and_another_does_not(name):
    data = rows(schema_of_numbers())
    assert fit(name, data).to_json() == fit(name, data).to_json()
    if get_learner(name).spends_epsilon:
        assert len({fit(name, data, seed=seed).model.predict(data).tobytes() for seed in range(5)}) > 1


@every_learner
@on_any_table
def test_a_document_predicts_as_the_model_does(name, kind):
    schema = schema_of_numbers(kind)
    result, fresh = fit(name, rows(schema)), rows(schema, 300, seed=99)
    read = dpviz.model_from_json(result.to_json())
    assert read == result.model
    np.testing.assert_array_equal(read.predict(fresh), result.model.predict(fresh))


@every_learner
@pytest.mark.filterwarnings("ignore::dpviz.errors.ReplacedWarning")
def test_a_claim_that_holds_covers_the_ledger_and_the_rest_is_infinite(name):
    for epsilon in (0.01, 1 / 3, 7.7):
        result = fit(name, rows(schema_of_numbers(), 40), epsilon=epsilon)
        assert result.ledger.guarantee.is_finite == get_learner(name).spends_epsilon
        if result.claim.verdict == "holds":
            assert result.ledger.guarantee.epsilon <= result.claim.epsilon
            assert not result.disclosures


@every_learner
def test_the_plan_needs_no_rows(name):
    schema = schema_of_numbers()
    few, many = (fit(name, rows(schema, n)) for n in (3, 300))
    assert few.plan == many.plan
    assert few.claim == many.claim


@every_learner
def test_the_score_is_the_share_of_the_variance_explained(name):
    data = rows(schema_of_numbers())
    result = fit(name, data)
    missed = data.target - result.model.predict(data)
    assert result.score(data) == pytest.approx(1 - (missed**2).mean() / data.target.var())


@every_learner
def test_rows_that_are_all_alike_have_no_score(name):
    schema = schema_of_numbers()
    data = rows(schema, 5)
    same = EncodedDataset(schema, data.columns, np.full(5, 7.0))
    with pytest.raises(DpvizError, match="all have the same number, so there is no R²"):
        fit(name, data).score(same)


@every_learner
def test_classes_are_refused_by_name_or_learned(name):
    if "classes" in get_learner(name).tasks:
        assert fit(name, table(schema_of())).model.predict(table(schema_of())).max() <= 1
        return
    with pytest.raises(WrongTask) as problem:
        fit(name, table(schema_of()))
    assert str(problem.value).startswith(f"The learner {name!r} predicts numbers, but the target 'y' is declared as classes. ")
    assert "(pf-tree, " in problem.value.remedy


@every_learner
def test_bounds_of_the_target_read_from_the_data_are_disclosed(name):
    read = Schema(FEATURES["mixed"], NumericTarget("rent", -10, 90, read_from_data=("low", "high")), n_public=100)
    codes = {(item.code, item.field) for item in fit(name, rows(read)).disclosures}
    assert codes >= {("schema-low", "rent"), ("schema-high", "rent")}


@every_learner
def test_a_document_holds_no_row_counts(name):
    data = rows(schema_of_numbers(), 1013)
    document = json.loads(fit(name, data).to_json())
    assert "1013" not in json.dumps(document["privacy"])
    assert "1013" not in json.dumps(document["learner"])


@every_learner
def test_a_release_needs_exact_samplers_and_keeps_no_seed(name):
    data = rows(schema_of_numbers(), 40)
    if not get_learner(name).exact:
        with pytest.raises(NotReleasable, match="has no exact sampler"):
            fit(name, data, seed=None, accept_rows=True)
        return
    result = fit(name, data, seed=None, accept_rows=True)
    assert (result.noise, result.seed) == ("release", None)
    assert result.released == (get_learner(name).spends_epsilon and not result.disclosures)


@every_learner
def test_extreme_ranges_are_trained_on_or_refused_by_name(name):
    for low, high in ((-8e307, 8e307), (0, 1e-280), (1e16, 1e16 + 4)):
        schema = Schema((NumericFeature("x", 0, 1), CategoricalFeature("only", ("one",))), NumericTarget("y", low, high), 50)
        columns = (np.linspace(0, 1, 40), np.zeros(40, dtype=np.uint8))
        data = EncodedDataset(schema, columns, np.linspace(low, high, 40))
        try:
            predicted = fit(name, data).model.predict(data)
        except SchemaError as problem:
            assert problem.remedy  # noqa: PT017
        else:
            assert all(map(math.isfinite, predicted))
            assert predicted.min() >= low
            assert predicted.max() <= high
