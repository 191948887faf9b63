"""The estimators keep scikit-learn's contract, and say what they read from the rows."""

import datetime as dt
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

import dpviz
from dpviz.errors import (
    ParameterError,
    ReadingWarning,
    RefusedRelease,
    RepeatedSpendWarning,
    SchemaError,
    TableError,
    UnknownName,
    UnsupportedError,
)
from dpviz.sklearn import PrivateTreeClassifier, PrivateTreeRegressor, PublicValuesWarning


def _check_name(check) -> str:
    return getattr(check, "func", check).__name__


#: Checks that do not apply, with the reason.
NOT_APPLICABLE = {
    "check_array_api_input": "skipped by scikit-learn itself unless SCIPY_ARRAY_API is set before SciPy is imported"
}
#: This check wants the likeliest class to be the label. Labels of honest leaves come from other rows than probabilities.
LABELS_ONLY = "check_classifiers_train"
ESTIMATORS = (
    PrivateTreeClassifier(random_state=0),
    PrivateTreeClassifier(params={"leaves": "labels"}, random_state=0),
    PrivateTreeRegressor(params={"rounds": 5}, random_state=0),
)
CHECKS = [
    pytest.param(estimator, check, id=f"{estimator.learner}-{_check_name(check)}")
    for given in ESTIMATORS
    for estimator, check in estimator_checks_generator(given, mark=None)
    if _check_name(check) not in NOT_APPLICABLE
    and (given.learner != "pf-tree" or (_check_name(check) == LABELS_ONLY) == (given.params is not None))
]


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
@pytest.mark.filterwarnings("ignore::dpviz.sklearn.PublicValuesWarning")
def test_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def rows(n_rows: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 3))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=n_rows) > 0, "yes", "no")


DECLARED = {"bounds": (-1, 1), "classes": ["no", "yes"], "n_public": 400}


def numbers(n_rows: int = 400):
    X, _ = rows(n_rows)
    return X, 10 + 5 * X[:, 0]


DECLARED_NUMBERS = {"bounds": (-1, 1), "target_bounds": (0, 20), "n_public": 400}


@pytest.mark.slow
def test_with_everything_declared_it_is_a_release_without_a_warning():
    for model, (X, y), epsilon in (
        (PrivateTreeClassifier(epsilon=2.0, max_depth=3, **DECLARED), rows(), 2),
        (PrivateTreeRegressor(epsilon=20.0, **DECLARED_NUMBERS), numbers(), 20),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(X, y)
        assert model.result_.released
        assert model.result_.ledger.guarantee.epsilon <= epsilon + 1e-9
        assert model.score(X, y) > 0.3 + 0.3 * (epsilon == 2)
        assert dpviz.model_from_json(model.result_.to_json()) == model.model_


@pytest.mark.slow
def test_what_is_read_from_the_rows_is_a_disclosure_and_a_warning():
    with pytest.warns(PublicValuesWarning, match=r"Public values of .x0., .x1., .x2., .y., .n_public. were read from the rows"):
        model = PrivateTreeClassifier(random_state=1).fit(*rows())
    assert {item.code for item in model.result_.disclosures} == {"schema-low", "schema-high", "schema-classes", "schema-n_public"}
    assert not model.result_.released
    with pytest.warns(PublicValuesWarning, match=r"'y', 'n_public' were read .* Give `bounds`, `target_bounds` and `n_public`"):
        model = PrivateTreeRegressor(random_state=1, bounds=(-1, 1)).fit(*numbers())
    found = {(item.field, item.code) for item in model.result_.disclosures}
    assert found == {("y", "schema-low"), ("y", "schema-high"), ("n_public", "schema-n_public")}
    X, y = missing_rows()
    with pytest.warns(PublicValuesWarning, match="Give them in the schema from public knowledge"):
        PrivateTreeClassifier(schema=dpviz.propose_schema(X.assign(y=y), target="y"), random_state=0).fit(X, y)


MIXED = {"bounds": {"age": (0, 90)}, "categories": {"ward": ["north", "south"]}, "n_public": 60}
SPOILED = [
    ({"age": np.nan}, "no"),
    ({"age": None}, "no"),
    ({"age": "secret"}, "no"),
    ({"age": {"secret": 1}}, "no"),
    ({"ward": "secret"}, "no"),
    ({"ward": None}, "yes"),
    ({"ward": np.nan}, "yes"),
    ({}, "secret"),
    ({}, None),
    ({}, np.nan),
]


def wards() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    ages = rng.integers(0, 90, 60).astype(object)
    frame = pd.DataFrame({"age": ages, "ward": rng.choice(["north", "south"], 60).astype(object)})
    return frame, pd.Series(np.where(ages > 40, "yes", "no"), dtype=object)


def with_row(frame: pd.DataFrame, y: pd.Series, place: int, cells: dict, label: object) -> tuple[pd.DataFrame, pd.Series]:
    """One more row before `place`."""
    new = {"age": 50, "ward": "north", **cells}
    rows = [*frame.to_dict("records")[:place], new, *frame.to_dict("records")[place:]]
    return pd.DataFrame(rows, columns=["age", "ward"], dtype=object), pd.Series([*y[:place], label, *y[place:]], dtype=object)


@pytest.mark.slow
def test_with_everything_declared_a_spoiled_row_changes_nothing_wherever_it_stands():
    for cells, label in SPOILED:
        model = PrivateTreeClassifier(random_state=5, classes=["no", "yes"], **MIXED)
        frame, y = wards()
        without = model.fit(frame, y).result_.to_json()
        for place in (0, 30, 60):
            assert model.fit(*with_row(frame, y, place, cells, label)).result_.to_json() == without
        model.set_params(random_state=None).fit(*with_row(frame, y, 7, cells, label))
        assert model.result_.released
    number = PrivateTreeRegressor("dp-mean", target_bounds=(0, 9), random_state=5, **MIXED)
    y = pd.Series([1.0, 2.0, 8.0] * 20, dtype=object)
    without = number.fit(frame, y).result_.to_json()
    for label in (np.nan, None, "secret"):
        assert number.fit(*with_row(frame, y, 11, {}, label)).result_.to_json() == without


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dpviz.sklearn.PublicValuesWarning")
def test_what_is_refused_otherwise_quotes_no_cell():
    for cells, label in SPOILED:
        frame, y = wards()
        open_model = PrivateTreeClassifier(random_state=0, bounds=MIXED["bounds"], categories=MIXED["categories"], n_public=60)
        numbers_only = PrivateTreeClassifier(random_state=0, n_public=60)
        spoiled = with_row(frame, y, 7, cells, label)
        with pytest.raises((TypeError, ValueError)) as problem:
            numbers_only.fit(*spoiled)
        assert "secret" not in str(problem.value)
        trained = open_model.fit(frame, y)
        if cells:
            with pytest.raises((TypeError, ValueError)) as problem:
                trained.predict(spoiled[0])
            assert "secret" not in str(problem.value)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_what_cannot_be_used_is_refused_in_words():
    for asked, error, says in [
        ({"bounds": [(0, 1)]}, ValueError, "one pair .low, high., 3 pairs, or a mapping"),
        ({"bounds": {"x9": (0, 1)}}, ValueError, "There is no column 'x9'"),
        ({"classes": ["no"]}, ValueError, "There is one class only"),
        ({"classes": (0, "yes")}, ParameterError, "all texts, all numbers or all truth values"),
        *(({"classes": wrong}, ParameterError, "must be a list of classes") for wrong in ("no", 5)),
        *(({"categories": wrong}, ParameterError, "columns to lists of categories") for wrong in ([0], {0: "ab"}, {0: 5})),
        *(({"params": wrong}, ParameterError, "the learner's own parameters") for wrong in ({"epsilon": 2}, [1], {1: 2})),
        ({"missing": "middle", "bounds": None}, ValueError, "'middle' with a schema, or with `bounds` and `classes` declared"),
        ({"learner": "dp-mean"}, UnsupportedError, "predicts numbers"),
        ({"learner": "pf-treee"}, UnknownName, "Did you mean 'pf-tree'"),
        ({"epsilon": -1}, ValueError, "'epsilon' parameter"),
        ({"accept_rows": "no"}, ParameterError, "True or False"),
        ({"learner": "privatree", "random_state": None}, RefusedRelease, "no exact sampler"),
    ]:
        X, y = rows()
        with pytest.raises(error, match=says):
            PrivateTreeClassifier(**{"random_state": 0, **DECLARED, **asked}).fit(X, y)
    with pytest.raises(UnsupportedError):
        PrivateTreeRegressor("majority", random_state=0).fit(*numbers())
    twice = pd.DataFrame(X[:, :2], columns=["a", "a"])
    alone, apart = "Expected (a 2-dimensional|2D)", "unique column names|The column 'a' appears twice"
    masked = np.ma.array(X), "X is a masked array"  # whether or not it has a mask, which only rows tell
    for given, says in [(pd.Series(X[:, 0]), alone), (np.asmatrix(X), "np.matrix is not"), (twice, apart), masked]:
        with pytest.raises((TableError, SchemaError), match=says):
            PrivateTreeClassifier(random_state=0, **DECLARED).fit(given, y)
    with pytest.raises(TableError, match="y is a masked array"):
        PrivateTreeClassifier(random_state=0, **DECLARED).fit(X, np.ma.array(y))


def test_probabilities_are_there_where_the_fitted_model_holds_them(rng):
    x = rng.random((200, 2))
    y = np.where(x[:, 0] > 0.5, "yes", "no")
    declared = {"bounds": (0, 1), "classes": ["no", "yes"], "n_public": 200, "random_state": 1}
    model = PrivateTreeClassifier("s-gbdt", delta=1e-6, params={"rounds": 5}, **declared)
    assert hasattr(model, "predict_proba")  # nothing says otherwise before it is fitted, and calibration asks
    shares = model.fit(x, y).predict_proba(x)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(x))
    assert not hasattr(PrivateTreeClassifier("diffprivlib-tree", **declared).fit(x, y), "predict_proba")


def test_a_fit_is_asked_for_what_the_estimator_was_given():
    x, y = np.linspace(0, 1, 40).reshape(-1, 1), np.array(["no", "yes"] * 20)
    asked = {"epsilon": 0.75, "delta": 1e-7, "max_depth": 2}
    declared = {"bounds": (0, 1), "classes": ["no", "yes"], "n_public": 40, "random_state": 1}
    result = PrivateTreeClassifier("s-gbdt", params={"rounds": 3}, **asked, **declared).fit(x, y).result_
    assert {name: getattr(result.settings, name) for name in asked} == asked
    assert result.params.rounds == 3


def test_a_score_of_labels_of_two_types_quotes_none():
    X, y = np.arange(40.0).reshape(-1, 1), np.array(["no", "yes"] * 20, dtype=object)
    fitted = PrivateTreeClassifier(bounds=(0, 40), classes=("no", "yes"), n_public=40, random_state=0).fit(X, y)
    said = ""
    try:  # some versions of scikit-learn compare them, and none is right
        assert fitted.score(X, np.arange(4711, 4751)) == 0
    except ValueError as refused:
        said = f"{refused} {refused.__context__}"
    assert said in ("", "X or y has cells that cannot be used here. Give numbers, and texts where declared. None")
    for call in (fitted.fit, fitted.score):  # no cells are wrong, the call is
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
            call(X)


def missing_rows():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["ward"] = pd.Series(["north", "south"] * 200, dtype=object)
    frame.loc[3, "a"], frame.loc[5, "b"], frame.loc[7, "ward"] = None, np.inf, "elsewhere"
    with np.errstate(invalid="ignore"):  # older pandas compares the infinite cell as a whole number
        return frame.convert_dtypes(), pd.Series(y, name="outcome")


WITH_A_RULE = DECLARED | {"categories": {"ward": ["north", "south"]}, "missing": "middle", "random_state": 0, "epsilon": 5.0}


def test_cells_that_are_missing_or_unknown_count_alike_in_fit_and_predict():
    X, y = missing_rows()
    filled = X.astype({"a": float, "b": float, "ward": object})
    filled.loc[3, "a"], filled.loc[5, "b"], filled.loc[7, "ward"] = 0.0, 0.0, "north"
    models = [PrivateTreeClassifier(**WITH_A_RULE).fit(one, y) for one in (X, filled)]
    assert models[0].result_.to_json() == models[1].result_.to_json()
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(filled))
    np.testing.assert_array_equal(models[0].result_.predict(X.drop(index=5)), models[0].predict(X.drop(index=5)))


def test_a_column_of_moments_is_of_the_categories_that_a_file_of_them_has():
    moments, texts = [dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30)], ("2024-03-01", "2024-03-01T14:30:00")
    asked = {"bounds": {"x": (0, 2)}, "classes": ("n", "p"), "n_public": 100, "epsilon": 50, "max_depth": 1, "random_state": 0}
    frames = [pd.DataFrame({"shift": cells * 50, "x": 1.0}) for cells in (moments, list(texts))]
    for frame, declared in ((frames[0], texts), (frames[0].astype(object), tuple(moments)), (pl.from_pandas(frames[0]), texts)):
        fitted = PrivateTreeClassifier(categories={"shift": declared}, **asked).fit(frame, ["n", "p"] * 50)
        assert fitted.result_.schema.features[0].categories == texts
        assert fitted.predict(frame).tolist() == fitted.result_.predict(frames[1]).tolist() == ["n", "p"] * 50


CELLS = [0.25, 1, -1, True, "0.5", "1,311", None, "secret", float("inf"), np.bool_(False), dt.timedelta(seconds=1), 10**400, 1j]


@pytest.mark.filterwarnings("ignore::dpviz.errors.DpvizWarning")
def test_parameters_are_a_schema_and_arrays_a_frame_that_the_package_itself_encodes():
    """Whatever the cells are; but true and false are numbers, as scikit-learn's tools have it."""
    rng = np.random.default_rng(4)
    cells = [CELLS[k] for k in rng.integers(len(CELLS), size=300)]
    wards = [["north", "south", True, 1, 1.0, None, "n"][k] for k in rng.integers(7, size=300)]
    X = np.array(list(zip(cells, wards, strict=True)), dtype=object)
    y = np.array(["no", "yes"], dtype=object)[rng.integers(2, size=300)]
    asked = {"bounds": {"a": (-1, 1)}, "categories": {"ward": ("north", "south", 1)}, "classes": ("no", "yes"), "n_public": 300}
    numbers = [int(cell) if isinstance(cell, bool | np.bool_) else cell for cell in cells]
    frame = pd.DataFrame({"a": pd.Series(numbers, dtype=object), "ward": pd.Series(wards, dtype=object)})
    fitted = PrivateTreeClassifier(random_state=3, **asked).fit(pd.DataFrame(X, columns=["a", "ward"]), y)
    plain = dpviz.fit("pf-tree", frame.assign(y=y), schema=fitted.result_.schema, epsilon=1.0, seed=3)
    assert fitted.result_.schema.features[1].categories == ("north", "south", "1")
    assert fitted.result_.to_json() == plain.to_json()


def test_frames_of_polars_and_arrow_are_frames():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = PrivateTreeClassifier(random_state=0, **DECLARED).fit(frame, y)
    for other in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        again = PrivateTreeClassifier(random_state=0, **DECLARED).fit(other, y)
        np.testing.assert_array_equal(again.predict(other), fitted.predict(frame))


def test_a_person_of_the_schema_keeps_so_many_rows():
    schema = dpviz.Schema((dpviz.NumericFeature("x", 0, 1),), dpviz.ClassTarget("y", ("n", "p")), n_public=200, person="who")
    X = pd.DataFrame({"x": np.linspace(0, 1, 400), "who": np.repeat(np.arange(100), 4)})
    y = np.where(X["x"] > 0.5, "p", "n")
    fitted = PrivateTreeClassifier(schema=schema, rows_per_person=2, epsilon=1.0).fit(X, y)
    assert fitted.result_.unit.rows == 2
    assert fitted.predict(X[["x"]]).shape == (400,)
    assert PrivateTreeClassifier(schema=schema, random_state=0).fit(X, y).result_.unit.rows == 1, "as the schema says"
    with pytest.raises(ValueError, match="rows_per_person"):
        PrivateTreeClassifier(schema=replace(schema, rows_per_person=3), rows_per_person=2, random_state=0).fit(X, y)


SCHEMA = dpviz.Schema(
    (*(dpviz.NumericFeature(name, -1, 1) for name in "abc"), dpviz.CategoricalFeature("ward", ("north", "south"))),
    dpviz.ClassTarget("outcome", ("no", "yes")),
    n_public=400,
)
BY_SCHEMA = {"schema": SCHEMA, "missing": "middle", "random_state": 0, "epsilon": 5.0}


@pytest.mark.parametrize("asked", [WITH_A_RULE, BY_SCHEMA], ids=["parameters", "schema"])
@pytest.mark.slow
def test_cross_validation_calibration_voting_and_searches_take_missing_cells(asked):
    X, y = missing_rows()
    model = PrivateTreeClassifier(**asked)
    assert cross_val_score(model, X, y, cv=3).min() > 0.7
    voting = VotingClassifier([("one", model), ("two", clone(model).set_params(epsilon=4.0))], voting="soft")
    for made in (voting, CalibratedClassifierCV(model, cv=2), GridSearchCV(model, {"epsilon": [1.0, 5.0]}, cv=2)):
        assert made.fit(X, y).score(X, y) > 0.7, made  # labels that it took for undeclared would leave no row


def test_no_row_has_no_answer_and_with_everything_declared_no_row_and_one_are_enough_to_fit():
    frame, y = wards()
    named = PrivateTreeClassifier(random_state=5, classes=["no", "yes"], **MIXED)
    numbered = PrivateTreeClassifier(random_state=5, classes=["no", "yes"], bounds=(0, 90), n_public=60)
    for model, rows in ((named, frame), (numbered, frame[["age"]].to_numpy(dtype=float))):
        for n_rows in (0, 1):
            assert model.fit(rows[:n_rows], y[:n_rows]).predict(rows).shape == (60,)
        assert (model.predict(rows[:0]).shape, model.predict_proba(rows[:0]).shape) == ((0,), (0, 2))


def test_what_is_no_number_and_no_date_counts_as_missing_alike():
    for cell in ["no number", "NULL", None, float("inf"), pd.NA]:
        features = (dpviz.NumericFeature("x", 0, 9, whole=True), dpviz.DateFeature("day", 2000, 2020))
        schema = dpviz.Schema(features, dpviz.ClassTarget("label", ("n", "p")), n_public=60)
        whole = pd.DataFrame({"x": [1, 8] * 30, "day": ["2001-02-03", "2019-02-03"] * 30}, dtype=object)
        asked = {"schema": schema, "missing": "middle", "random_state": 0}
        fitted = []
        for instead in ((cell, cell), (4, "2010-07-07")):
            rows = whole.copy()
            rows.iloc[7] = instead
            fitted.append(PrivateTreeClassifier(**asked).fit(rows, ["n", "p"] * 30))
            assert fitted[0].predict(rows).tolist() == fitted[-1].predict(rows).tolist()
        assert fitted[0].result_.to_json() == fitted[1].result_.to_json()


def test_with_a_schema_it_is_the_tree_of_dpviz_by_the_names_of_columns():
    X, y = missing_rows()
    whole = X.assign(outcome=y)
    fitted = PrivateTreeClassifier(schema=SCHEMA, random_state=3).fit(X[["ward", "c", "a", "b"]].assign(more=1), y)
    plain = dpviz.fit("pf-tree", whole, schema=SCHEMA, epsilon=1.0, seed=3)
    assert fitted.result_.to_json() == plain.to_json()
    answered = X.drop(index=[3, 5, 7])
    found = fitted.predict(answered[["ward", "c", "a", "b"]].assign(more=1))
    np.testing.assert_array_equal(found, plain.predict(answered))
    with pytest.raises(ValueError, match=r"The column 'a' has a value that is missing or not declared.*missing='middle'"):
        fitted.predict(X[["ward", "c", "a", "b"]].assign(more=1))


def test_a_number_is_predicted_by_a_schema():
    X, y = numbers()
    schema = dpviz.Schema(tuple(dpviz.NumericFeature(f"x{k}", -1, 1) for k in range(3)), dpviz.NumericTarget("rent", 0, 20), 400)
    asked = {"epsilon": 50.0, "random_state": 0, "params": {"rounds": 5}}
    fitted = PrivateTreeRegressor(schema=schema, **asked).fit(X, y)
    declared = PrivateTreeRegressor(**asked, **DECLARED_NUMBERS).fit(
        pd.DataFrame(X, columns=["x0", "x1", "x2"]), pd.Series(y, name="rent")
    )
    assert fitted.result_.to_json() == declared.result_.to_json()


def test_a_schema_that_does_not_fit_is_refused_in_words():
    for asked, error, says in [
        ({"bounds": (0, 1)}, ValueError, "'bounds' parameter .* must be left out: the schema says it"),
        ({"schema": "loans.json"}, ValueError, "must be a Schema, such as from dpviz.load_schema"),
        ({"schema": SCHEMA.without("ward")}, ValueError, "X has 4 columns without names, the schema 3 features"),
        ({"schema": replace(SCHEMA, target=dpviz.NumericTarget("y", 0, 1))}, ValueError, "PrivateTreeRegressor predicts numbers"),
        ({"schema": SCHEMA.declare("outcome", classes=("1", "2"))}, ValueError, "y seems to number its classes from 0 to 1"),
    ]:
        with pytest.raises(error, match=says):
            PrivateTreeClassifier(**{"schema": SCHEMA, "random_state": 0, **asked}).fit(np.zeros((20, 4)), np.array([0, 1] * 10))


@pytest.mark.slow
def test_importances_are_shares_of_what_splits_gain_by_released_counts():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(unused=1)
    schema = dpviz.Schema(SCHEMA.features[2::-1], SCHEMA.target, n_public=400)
    fitted = PrivateTreeClassifier(schema=schema, epsilon=5.0, random_state=0).fit(frame, y)
    found = fitted.feature_importances_
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1)
    assert (found.argmax(), found[3]) == (0, 0)
    model, gains = fitted.model_, dict.fromkeys("abc", 0.0)

    def impurity(node):
        """Counts below a node, and rows times their Gini impurity; adds what splits gain."""
        if not hasattr(node, "rule"):
            counts = np.maximum(node.counts, 0)
        else:
            (left, low), (right, high) = impurity(node.left), impurity(node.right)
            counts = left + right
            gains[model.schema.features[node.rule.feature].name] += max(0, total(counts) - low - high)
        return counts, total(counts)

    def total(counts):
        return counts.sum() - (counts**2).sum() / max(counts.sum(), 1)

    impurity(model.root)
    np.testing.assert_allclose(found[:3], np.array(list(gains.values())) / sum(gains.values()))
    for estimator, target in (
        (PrivateTreeClassifier("majority", random_state=0, **DECLARED), y),
        (PrivateTreeRegressor("s-gbdt", random_state=0, epsilon=20.0, **DECLARED_NUMBERS), numbers()[1]),
        (PrivateTreeClassifier("privatree", random_state=0, epsilon=3.0, **DECLARED), y),
    ):
        found = estimator.fit(X, target).feature_importances_
        assert found.sum() == pytest.approx(float(estimator.learner != "majority"))
        assert (found >= 0).all()
    assert not hasattr(PrivateTreeClassifier("logistic", random_state=0, **DECLARED).fit(X, y), "feature_importances_")


def test_a_copy_that_would_spend_again_says_so():
    with pytest.warns(RepeatedSpendWarning, match="spends epsilon 2 again"):
        assert clone(PrivateTreeClassifier(epsilon=2.0)).epsilon == 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(PrivateTreeClassifier(random_state=0))


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "given"), [([1, 2], ("1", "2")), ([1.0, 2.0], ("1", "2")), ([True, False], ("true", "false"))])
def test_categories_that_are_texts_for_a_column_of_numbers_are_said_and_met_by_value(cells, given):
    X, y = pd.DataFrame({"c": cells * 50}), np.array([0, 1] * 50)
    model = PrivateTreeClassifier(categories={"c": given}, classes=(0, 1), bounds={}, n_public=100, epsilon=20, random_state=0)
    with pytest.warns(ReadingWarning, match="categories of 'c' are texts and its cells are numbers"):
        model.fit(X, y)
    assert model.score(X, y) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReadingWarning)
        model.set_params(categories={"c": cells}).fit(X, y)
