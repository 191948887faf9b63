"""Labels of any type in any order of declaration, with scikit-learn's own tools; what a cell of y means depends on it alone."""

import datetime as dt
import itertools
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.metrics import accuracy_score, make_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dpviz
from dpviz.errors import DpvizWarning, FewRowsWarning, ReadingWarning, RefusedRelease, TableError
from dpviz.sklearn import PrivateTreeClassifier

N = 600
X = np.random.default_rng(0).uniform(0, 1, (N, 2))
UP = X[:, 0] > 0.4  # the upper class, so that the two are not of a size
TWO = {
    "places": (0, 1),
    "from 1": (1, 2),
    "signs": (-1, 1),
    "far": (3, 7),
    "truth": (False, True),
    "floats": (0.0, 1.0),
    "texts": ("died", "survived"),
    "texts of numbers": ("1", "2"),
    "texts of places": ("0", "1"),
    "texts of truth": ("False", "True"),
    "capitals": ("Yes", "no"),
}
#: A number of these is a class, and at another place among the sorted classes: 1 is the first of 1 and 2.
PLACES_DIFFER = ("from 1", "texts of numbers")
#: Every other kind by a schema, and the rest by parameters; all is verified.
BY_TURNS = [
    pytest.param(kind, by, marks=() if place % 2 == rest else pytest.mark.verify)
    for place, kind in enumerate(TWO)
    for rest, by in enumerate(("schema", "parameters"))
]


def of_two(kind: str) -> np.ndarray:
    return np.array(TWO[kind])[UP.astype(int)]


FORMS = {
    "array": lambda y: y,
    "list": lambda y: y.tolist(),
    "objects": lambda y: y.astype(object),
    "Series": pd.Series,
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
    "Arrow": lambda y: pd.Series(y).convert_dtypes(dtype_backend="pyarrow"),
    "categorical": lambda y: pd.Series(y).astype("category"),
    "Polars": lambda y: pl.Series(y.tolist()),
}


def estimator(classes, by: str, n_features: int = 2, **more) -> PrivateTreeClassifier:
    """Everything is declared, by a schema (whose classes are texts) or by parameters."""
    asked = {"epsilon": 20.0, "max_depth": 2, "random_state": 0} | more
    if by == "parameters":
        return PrivateTreeClassifier(bounds=(0, 1), classes=classes, n_public=N, **asked)
    features = tuple(dpviz.NumericFeature(f"x{k}", 0, 1) for k in range(n_features))
    return PrivateTreeClassifier(schema=dpviz.Schema(features, dpviz.ClassTarget("label", tuple(map(str, classes))), N), **asked)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "by"), BY_TURNS)
def test_classes_are_sorted_and_of_the_type_of_y_and_columns_are_in_their_order(kind, by):
    for (form, made), classes in itertools.product(FORMS.items(), (TWO[kind], TWO[kind][::-1])):
        fitted = estimator(classes, by).fit(X, made(of_two(kind)))
        assert fitted.classes_.tolist() == np.unique(of_two(kind)).tolist() == list(TWO[kind]), form
        is_whole = kind == "floats" and form in ("nullable", "Arrow")  # so does pandas
        assert {type(one) for one in fitted.classes_.tolist()} == {int if is_whole else type(TWO[kind][0])}, form
        assert set(fitted.predict(X).tolist()) == set(TWO[kind]), form
        assert roc_auc_score(UP, fitted.predict_proba(X)[:, 1]) > 0.95, form
        assert fitted.score(X, of_two(kind)) > 0.95, form


@pytest.mark.parametrize("classes", [(2**53, 2**53 + 1), (-(2**53) - 1, 2**62 + 1), (2**63, 2**63 + 1), (2**70, 2**70 + 1)])
def test_whole_numbers_that_no_float_holds_are_classes(classes):
    y = np.array(classes)[UP.astype(int)]
    fitted = estimator(classes[::-1], "parameters").fit(X, y)
    assert fitted.classes_.tolist() == list(classes)
    assert np.mean(fitted.predict(X) == y) > 0.95


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:y has no classes but 0 and 1")  # where -1 is absent
@pytest.mark.parametrize("by", ["schema", "parameters"])
@pytest.mark.parametrize("classes", [("low", "mid", "top"), (0, 1, 2), (1, 2, 3), (-1, 0, 1), (1.0, 2.0, 7.0), ("10", "9", "8")])
def test_three_classes_in_any_order_and_classes_that_no_row_has(classes, by):
    y = np.array(sorted(classes))[np.digitize(X[:, 0], (0.3, 0.6))]
    for order in itertools.permutations(classes):
        fitted = estimator(order, by).fit(X, y)
        assert fitted.classes_.tolist() == sorted(classes)
        assert roc_auc_score(y, fitted.predict_proba(X), multi_class="ovr", labels=fitted.classes_) > 0.9
        for absent in classes:
            fitted.fit(X[y != absent], y[y != absent])
            assert fitted.classes_.tolist() == sorted(classes)
            assert fitted.score(X[y != absent], y[y != absent]) > 0.9
            assert fitted.predict_proba(X).shape == (N, 3)
    scores = cross_val_score(estimator(order, by), X, y, cv=3, scoring="roc_auc_ovr")
    assert scores.min() > 0.85


#: Scores that take no word for which class is positive, as scikit-learn's own classifiers have them for any labels.
SCORES = {"accuracy": 0.9, "roc_auc": 0.9, "neg_log_loss": -0.4, "balanced_accuracy": 0.9}
#: These want 1 among the labels.
OF_ONES = {"average_precision": 0.9, "neg_brier_score": -0.12, "f1": 0.9}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "by"), BY_TURNS)
def test_cross_validation_and_searches_score_what_is_right(kind, by):
    y, model = of_two(kind), estimator(TWO[kind][::-1], by)
    for name, least in (SCORES | (OF_ONES if TWO[kind][1] == 1 else {})).items():
        assert cross_val_score(model, X, y, cv=3, scoring=name).min() > least, name
    if kind in PLACES_DIFFER:
        with pytest.raises(TableError, match="y seems to number its classes from 0 to 1"):
            cross_val_predict(model, X, y, cv=3, method="predict_proba")
    else:
        assert roc_auc_score(UP, cross_val_predict(model, X, y, cv=3, method="predict_proba")[:, 1]) > 0.9
    assert accuracy_score(y, cross_val_predict(model, X, y, cv=3)) > 0.9
    asked = {"param_grid": {"epsilon": [0.001, 20.0]}, "scoring": "roc_auc", "cv": 3}
    assert GridSearchCV(model, **asked).fit(X, y).best_params_ == {"epsilon": 20.0}


def two(model) -> list:
    return [("one", model), ("two", clone(model).set_params(epsilon=15.0))]


def calibrated(how: str, ensemble: bool):
    return lambda model, labels: CalibratedClassifierCV(model, method=how, ensemble=ensemble, cv=3)


METHODS = ("sigmoid", "isotonic", "temperature")[: 3 if sklearn.__version__ >= "1.8" else 2]
#: Tools that wrap an estimator; some of them number the classes before they fit.
TOOLS = {
    "voting": lambda model, labels: VotingClassifier(two(model)),
    "soft voting": lambda model, labels: VotingClassifier(two(model), voting="soft"),
    "stacking": lambda model, labels: StackingClassifier(two(model), cv=3),
    "stacking of labels": lambda model, labels: StackingClassifier(two(model), cv=3, stack_method="predict"),
    "bagging": lambda model, labels: BaggingClassifier(model, n_estimators=3, random_state=0),
    **{f"calibration by {how}, {ensemble}": calibrated(how, ensemble) for how in METHODS for ensemble in (True, False)},
    "a tuned threshold": lambda model, labels: TunedThresholdClassifierCV(
        model, scoring=make_scorer(accuracy_score), cv=3, thresholds=20
    ),
    "a fixed threshold": lambda model, labels: FixedThresholdClassifier(model, threshold=0.5, pos_label=labels[1]),
}
REFUSED = "y seems to number its classes from 0 to 1, but the classes are declared as others"
FEW_KINDS = ("from 1", "truth", "texts", "texts of numbers")


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [FEW_KINDS, pytest.param(tuple(TWO), marks=pytest.mark.verify)], ids=["few", "all"])
@pytest.mark.parametrize("by", ["schema", "parameters", "rows"])
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.filterwarnings("ignore::dpviz.errors.PublicValuesWarning")
def test_every_tool_is_right_for_all_labels_or_refuses(tool, by, kinds):
    refusals = {}
    for kind in kinds:
        labels, y = TWO[kind], of_two(kind)
        model = estimator(None, "parameters") if by == "rows" else estimator(labels[::-1], by)
        try:
            made = TOOLS[tool](model, labels).fit(X, y)
        except TableError as refused:
            refusals[kind] = str(refused)
            continue
        assert made.score(X, y) > 0.95, kind
        assert set(made.predict(X).tolist()) == set(labels)
        if tool.startswith("calibration"):
            assert roc_auc_score(UP, made.predict_proba(X)[:, 1]) > 0.95
    assert set(refusals) <= set(PLACES_DIFFER)
    assert all(REFUSED in said for said in refusals.values())
    if tool in ("voting", "soft voting", "stacking", "stacking of labels", "bagging"):
        assert set(refusals) == (set() if by == "rows" else set(PLACES_DIFFER)), "they number the classes"


@pytest.mark.parametrize(("classes", "other"), [(("no", "yes"), " yes"), (("1", "2"), "2.0"), (("false", "true"), "TRUE")])
def test_classes_that_a_score_takes_for_others_are_said(classes, other):
    y = np.where(UP, other, classes[0])
    for by in ("schema", "parameters"):
        with pytest.warns(DpvizWarning, match="y has classes in another spelling than the declared one"):
            fitted = estimator(classes, by).fit(X, y)
        assert np.mean(fitted.predict(X) == np.array(classes)[UP.astype(int)]) > 0.95
        assert fitted.score(X, y) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("tool", [OneVsRestClassifier, OneVsOneClassifier])
@pytest.mark.parametrize("classes", [("low", "mid", "top"), (0, 1, 2), (1, 2, 3), (-5, 3, 8)])
def test_one_against_others_is_right_or_refused(tool, classes):
    y = np.array(classes)[np.digitize(X[:, 0], (0.3, 0.6))]
    for by in ("schema", "parameters"):
        made = tool(estimator(classes[::-1], by))
        if classes[0] == 1:
            with pytest.raises(TableError, match="number them from 0 in y, too, and declare these numbers"):
                made.fit(X, y)
        else:
            assert made.fit(X, y).score(X, y) > 0.9
        assert tool(estimator((0, 1), by)).fit(X, y).score(X, y) > 0.9


@pytest.mark.slow
def test_zero_and_one_read_as_classes_at_other_places_are_said():
    for classes, by in itertools.product([(-1, 0, 1), (1, 0, -7), (-2, 0, 1, 3), ("-1", "0", "1")], ("schema", "parameters")):
        y = np.array(sorted(classes))[np.digitize(X[:, 0], np.linspace(0, 1, len(classes) + 1)[1:-1])]
        for tool in (OneVsRestClassifier, partial(OutputCodeClassifier, random_state=0)):
            with pytest.warns(DpvizWarning, match="y has no classes but 0 and 1, which are not the first and second"):
                tool(estimator(classes, by)).fit(X, y)
        estimator(classes, by).fit(X, y)  # without a word: warnings are errors here


#: What hands on arrays, and what hands on frames.
OF_ARRAYS = {
    "bagging": lambda model: BaggingClassifier(model, n_estimators=2, random_state=0),
    "one against one": OneVsOneClassifier,
    "columns": lambda model: make_pipeline(make_column_transformer(("passthrough", ["b"]), remainder="passthrough"), model),
}
OF_FRAMES = {
    "voting": lambda model: VotingClassifier([("a", model)], voting="soft"),
    "calibration": lambda model: CalibratedClassifierCV(model, cv=3),
    "scaled frames": lambda model: make_pipeline(
        StandardScaler(with_mean=False, with_std=False).set_output(transform="pandas"), model
    ),
}


@pytest.mark.parametrize("tool", [*OF_ARRAYS, *OF_FRAMES])
def test_columns_of_an_array_are_in_the_order_of_the_schema_which_is_said_where_a_tool_makes_one(tool):
    """In the frame, b stands before a: read as a, it says nothing about y."""
    frame = pd.DataFrame({"b": X[:, 1], "a": X[:, 0]})
    features = (dpviz.NumericFeature("a", 0, 1), dpviz.NumericFeature("b", 0, 1))
    schema = dpviz.Schema(features, dpviz.ClassTarget("label", ("0", "1")), N)
    made = (OF_ARRAYS | OF_FRAMES)[tool](PrivateTreeClassifier(schema=schema, epsilon=20.0, max_depth=1, random_state=0))
    y = UP.astype(int)
    if tool in OF_FRAMES:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ReadingWarning)
            assert made.fit(frame, y).score(frame, y) > 0.95
        return
    says = r"X is an array; its columns are taken for 'a', 'b', in the order of the schema. Give a DataFrame"
    with pytest.warns(ReadingWarning, match=says):
        made.fit(frame, y)
    with pytest.warns(ReadingWarning, match=says):
        made.predict(frame)
    with pytest.warns(ReadingWarning, match=says):
        in_order = made.fit(frame[["a", "b"]], y).score(frame[["a", "b"]], y)
    assert in_order > 0.95 or tool == "columns"


# --- each cell of y by itself

DECLARED = [
    ("no", "yes"),
    ("yes", "no"),
    ("0", "1"),
    ("1", "2"),
    ("false", "true"),
    (0, 1),
    (1, 2),
    (-1, 1),
    (False, True),
    (0.5, 2),
    (3, 7),
    ("042", "42"),
    ("1", "1.0"),
    ("NA", "x"),
    (dt.date(2020, 1, 1), dt.date(2021, 1, 1)),
]
HUGE = 10**400
ODD = [
    *(None, np.nan, pd.NA, pd.NaT, "secret", "", "yes", "1", 0, 1, 2, -1, 0.5, 1.0, 7, True, [1], float("inf"), HUGE, b"1"),
    *(" yes", "no", "042", "42", 42, 2.0, 3, 9, np.True_, np.int8(1), np.float32(1), np.str_("yes"), (1,), {"a": 1}, "True"),
    *(dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), pd.Timestamp("2020-01-01", tz="UTC"), Decimal(1), Fraction(1), 1j, -0.0),
]


def ways_to_say(classes) -> list[list]:
    """Columns of y that say the classes, as plain cells."""
    first, second = classes
    ways = [[first, second]]
    if classes in (("0", "1"), ("1", "2")):
        ways.append([int(first), int(second)])
    if set(map(str, classes)) == {"no", "yes"}:
        ways.append([0, 1] if classes == ("no", "yes") else [1, 0])
    if set(map(str, classes)) & {"0", "false", "False"}:
        ways += [[False, True], [0, 1]]
    return ways


CASES = [(classes, way) for classes in DECLARED for way in ways_to_say(classes)]
#: Of every four, one by a schema and another by parameters, each with every third of the cells; all of it is verified.
EACH_WAY = [
    *(
        pytest.param(*case, by, slice(place // 4 % 3, None, 3))
        for rest, by in enumerate(("schema", "parameters"))
        for place, case in enumerate(CASES)
        if place % 4 == rest
    ),
    *(pytest.param(*case, by, slice(None), marks=pytest.mark.verify) for case in CASES for by in ("schema", "parameters")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "way", "by", "part"), EACH_WAY, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_one_odd_cell_changes_no_other_whatever_type_it_gives_the_column(classes, way, by, part):
    """A row more is either of a class, and then it is in every form of the column, or it is left out in every form."""
    plain = [way[k % 2] for k in range(40)]
    asked = {"learner": "cart", "max_depth": 1}

    def trained(cells, place=None):
        where = np.linspace(0, 1, 40)
        where = np.append(where, 0.5) if len(cells) > 40 else where
        model = estimator(classes, by, n_features=1, **asked).fit(where.reshape(-1, 1), cells)
        return model.result_.to_json()

    alone = trained(plain)
    possible = {alone} | {trained([*plain, label]) for label in way}
    for odd in ODD[part]:
        forms = [[*plain, odd], np.array([*plain, odd], dtype=object), pd.Series([*plain, odd], dtype=object)]
        if not isinstance(odd, (list, tuple, dict, bytes)) and odd is not HUGE:
            forms.append(pd.Series([*plain, odd]))
            if not isinstance(odd, complex) or pd.__version__ >= "3":  # pandas 2 converts no such column
                converted = (forms[-1].convert_dtypes(dtype_backend=kind) for kind in ("numpy_nullable", "pyarrow"))
                forms += [form for form in converted if form.dtype != forms[3].dtype]
            if not isinstance(odd, (bool, np.bool_)) or pd.__version__ >= "3":  # pandas 2 appends True as 1
                forms.append(pd.concat([pd.Series(plain), pd.Series([odd])], ignore_index=True))
        found = {trained(form) for form in forms}
        assert len(found) == 1, odd
        assert found <= possible, odd


def test_numbers_that_count_as_places_beside_classes_are_said():
    rows = np.linspace(0, 1, 41).reshape(-1, 1)
    for classes in ((-1, 1), ("no", "yes")):
        model, y = estimator(classes, "parameters", n_features=1), [*classes] * 20
        with pytest.warns(DpvizWarning, match="they count as places in the sorted classes"):
            counted = model.fit(rows, [*y, 0]).result_.to_json()
        assert counted == model.fit(rows, [*y, classes[0]]).result_.to_json()
        assert model.fit(rows[:40], y).classes_.tolist() == list(classes)


def test_days_are_classes():
    days = np.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], dtype=object)
    y = days[UP.astype(int)]
    for form in (y, y.tolist(), pd.Series(y)):
        fitted = estimator(tuple(days), "parameters").fit(X, form)
        assert fitted.classes_.tolist() == days.tolist()
        assert (fitted.predict(X) == y).mean() > 0.95


# --- rows that cannot be used are said


AGES = pd.DataFrame({"age": list(range(20, 90)), "ward": ["north", "south"] * 35})
LABELS = pd.Series(["yes" if age > 50 else "no" for age in AGES.age])
BY = {
    "schema": {
        "schema": dpviz.Schema(
            (dpviz.NumericFeature("age", 0, 99), dpviz.CategoricalFeature("ward", ("north", "south"))),
            dpviz.ClassTarget("label", ("no", "yes")),
            n_public=70,
        )
    },
    "parameters": {
        "bounds": {"age": (0, 99)},
        "categories": {"ward": ("north", "south")},
        "classes": ("no", "yes"),
        "n_public": 70,
    },
}
SPOILED = {
    "label": (AGES, " " + LABELS + " secret"),
    "age": (AGES.assign(age="secret"), LABELS),
    "age without a cell": (AGES.assign(age=np.nan), LABELS),
    "ward": (AGES.assign(ward="secret"), LABELS),
    "ward without a cell": (AGES.assign(ward=None), LABELS),
}
WANTED = {"label": "one of 'no', 'yes'", "age": "a number or date as declared", "ward": "one of 'north', 'south'"}


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("kind", SPOILED)
def test_hardly_a_usable_row_is_a_warning_that_names_the_column_and_no_cell(kind, by):
    rows, y = SPOILED[kind]
    column = kind.split()[0]
    name = "y" if column == "label" and by == "parameters" else column
    said = f"^No row is used.* left out by '{name}', which must be {WANTED[column]}"
    with pytest.warns(FewRowsWarning, match=said) as caught:
        PrivateTreeClassifier(random_state=0, **BY[by]).fit(rows, y)
    assert all("secret" not in str(one.message) for one in caught)
    assert all(one.filename == __file__ for one in caught if one.category is FewRowsWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ReadingWarning)  # which cells could not be read is said by encoding them
        PrivateTreeClassifier(random_state=0, accept_rows=True, **BY[by]).fit(rows, y)
        PrivateTreeClassifier(random_state=0, **BY[by]).fit(AGES, LABELS)
    with pytest.raises(RefusedRelease, match=said):
        PrivateTreeClassifier(**BY[by]).fit(rows, y)


@pytest.mark.parametrize("kind", SPOILED)
def test_a_row_count_is_not_blamed_for_rows_that_cannot_be_used(kind):
    asked = BY["parameters"] | {"n_public": None}
    with pytest.raises(TableError, match=r"^No row is used\. Most are left out by '(y|age|ward)', which must be") as refused:
        PrivateTreeClassifier(random_state=0, **asked).fit(*SPOILED[kind])
    assert "n_public = 0" not in str(refused.value)
    with pytest.raises(TableError, match=r"^No row is used"):
        PrivateTreeClassifier(random_state=0, **asked).fit(AGES[:0], LABELS[:0])


# --- columns


def test_a_generator_or_random_state_gives_another_draw_at_each_fit():
    for source in (np.random.default_rng(3), np.random.RandomState(3)):
        model = estimator((0, 1), "parameters", random_state=source, epsilon=0.05)
        assert model.fit(X, of_two("places")).result_.seed != model.fit(X, of_two("places")).result_.seed


@pytest.mark.parametrize("unit", ["s", "ns"])
@pytest.mark.parametrize("beside", [None, 1.0])
def test_a_duration_is_its_seconds_in_every_unit_and_beside_another_column(unit, beside):
    hours = np.arange(40) % 24
    y = np.where(hours > 11, "late", "early")
    plain = pd.DataFrame({"time": hours * 3600.0})
    typed = pd.DataFrame({"time": pd.Series(pd.to_timedelta(hours, unit="h")).astype(f"timedelta64[{unit}]")})
    asked = {"classes": ("early", "late"), "n_public": 40, "random_state": 0, "epsilon": 50.0, "bounds": {"time": (0, 86_400)}}
    if beside is not None:
        plain, typed = plain.assign(more=beside), typed.assign(more=beside)
        asked |= {"categories": {"more": (beside,)}}
    model = PrivateTreeClassifier(**asked)
    expected = model.fit(plain, y).predict(plain).tolist()
    assert model.fit(typed, y).predict(typed).tolist() == expected
    assert model.fit(typed.astype(object), y).predict(typed).tolist() == expected
    if beside is None:
        assert model.set_params(bounds=(0, 86_400)).fit(typed.to_numpy(), y).predict(typed.to_numpy()).tolist() == expected


@pytest.mark.filterwarnings("ignore::dpviz.errors.FewRowsWarning")
@pytest.mark.parametrize("odd", [None, "x", HUGE, -HUGE, 1j, pd.NaT, pd.Timestamp("2020-01-01"), True, b"5", [1], "1_0"])
def test_one_odd_cell_of_a_feature_changes_no_other_row(odd):
    plain = [[float(k)] for k in range(40)]
    y = [0, 1] * 20
    model = PrivateTreeClassifier("cart", bounds=(0, 40), classes=(0, 1), n_public=40, random_state=0, max_depth=1)
    possible = {model.fit(plain, y).result_.to_json()}
    possible |= {model.fit([*plain, [end]], [*y, 0]).result_.to_json() for end in (0, 1, 5, 10, 40)}
    assert model.fit([*plain, [odd]], [*y, 0]).result_.to_json() in possible


# --- the example of the documentation


@pytest.mark.slow
def test_the_example_of_the_documentation_scores_what_fit_and_score_by_hand_give():
    frame = pd.read_csv("data/loans.csv.gz")
    schema = dpviz.load_schema("data/loans.schema.json")
    rows, y = frame.drop(columns="defaulted"), frame["defaulted"]
    explore = PrivateTreeClassifier(epsilon=1, schema=schema, missing="middle", random_state=0)
    scores = cross_val_score(explore, rows, y, cv=3, scoring="roc_auc")
    declared = explore.fit(rows, y).result_.schema
    for score, (train, test) in zip(scores, StratifiedKFold(3).split(rows, y), strict=True):
        result = dpviz.fit("pf-tree", frame.iloc[train], schema=declared, epsilon=1, seed=0)
        shares = result.predict_proba(frame.iloc[test])[:, schema.classes.index("defaulted")]
        assert score == pytest.approx(roc_auc_score(y.iloc[test] == "defaulted", shares), abs=0.01)
        assert score > 0.75
