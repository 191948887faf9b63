"""Texts, True, infinity and not-a-number pass for no epsilon, delta, cap, count, seed or share, whoever is asked."""

import decimal
import json
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.evaluation.attacks import attack_curve
from dpviz.evaluation.audit.verify import QUICK_UNIVERSES
from dpviz.evaluation.poisoning import certify
from dpviz.learners.request import FitRequest
from dpviz.release.register import Register
from dpviz.release.release import preview_terms
from dpviz.sklearn import PrivateTreeClassifier, PrivateTreeRegressor
from dpviz.table.validation import is_number, is_whole, validate_count, validate_number
from tests.support.examples import examples

SCHEMA = dpviz.Schema((dpviz.NumericFeature("x", 0, 9),), dpviz.ClassTarget("y", ("n", "p")), n_public=40)
X, Y = np.arange(40.0).reshape(-1, 1) % 10, np.arange(40) % 2

#: None of them is a number. None itself is a choice in some places, and tried in the others.
ODD = ("1", "0.1", b"1", True, False, np.True_, float("inf"), -float("inf"), float("nan"), np.float64("inf"), 10**400, 1j, [1])
ODD += ((1,), {}, {1}, decimal.Decimal("NaN"), decimal.Decimal("Infinity"), pd.NA, np.datetime64("2024-01-01"), np.array(["1"]))
ODD += (object(),)


def rows(**how) -> dpviz.table.dataset.EncodedDataset:
    text = "who,x,y\n" + "".join(f"{k},{k % 10},{'np'[k % 2]}\n" for k in range(40))
    return dpviz.encode(dpviz.read_table(text.encode()), SCHEMA, **how)


@cache
def data() -> dpviz.table.dataset.EncodedDataset:
    return rows()


def fit(**how):
    return dpviz.fit("pf-tree", data(), **{"epsilon": 1.0, "max_depth": 1, "seed": 1} | how)


def sweep(**how):
    one = {"epsilon": (1.0,), "max_depth": (1,), "n_rows": (None,), "folds": 2, "repeats": 1, "seed": 0}
    return dpviz.sweep(["pf-tree"], data(), **one | how)


def curve(**how):
    return dpviz.poisoning_curve("pf-tree", data(), data(), **{"epsilon": 1.0, "draws": 2, "max_depth": 1} | how)


def audited(**how):
    return dpviz.audit("pf-tree", **{"epsilon": 1.0, "seed": 0, "draws": 4} | how)


def classifier(**how):
    declared = {"bounds": (0, 9), "classes": (0, 1), "n_public": 40, "random_state": 0}
    return PrivateTreeClassifier(**declared | how).fit(X, Y)


def regressor(**how):
    declared = {"bounds": (0, 9), "target_bounds": (0, 1), "n_public": 40, "random_state": 0}
    return PrivateTreeRegressor(**declared | how).fit(X, Y)


def promised(**how):
    return preview_terms(SCHEMA, FitRequest.of("pf-tree", **({"epsilon": 1.0} | how)))


def federated(**how):
    return dpviz.train_federated([data(), data()], **{"epsilon": 1.0, "seed": 0, "public_seed": 0, "rounds": 2} | how)


def stream(**how):
    return dpviz.train_on_stream(
        dpviz.stream_of(data(), data(), "x", 0.5), "stop", **{"epsilon": 1.0, "seed": 0, "rounds": 2} | how
    )


#: None is automatic.
NO_DELTA = {"delta": (None,)}
NO_DEPTH = {"max_depth": (None,)}
#: What is asked -> (how it is asked, what else is allowed).
ASKED = {
    "fit": (
        fit,
        ("epsilon", "delta", "max_depth", "depth", "seed", "test_share"),
        dict.fromkeys(("seed", "test_share", "delta", "max_depth"), (None,)),
    ),
    "sweep": (sweep, ("folds", "repeats", "seed", "workers"), {}),
    "sweep, one": (
        lambda **how: sweep(**{k: [v] for k, v in how.items()}),
        ("epsilon", "max_depth", "n_rows"),
        {"n_rows": (None,)} | NO_DEPTH,
    ),
    "sweep, bare": (
        sweep,
        ("epsilon", "max_depth", "n_rows"),
        {name: ([1], (1,), {1}) for name in ("epsilon", "max_depth", "n_rows")},
    ),
    "poisoning_curve": (
        curve,
        ("epsilon", "max_poisoned", "draws", "seed", "beta", "workers", "max_depth", "delta"),
        NO_DELTA | NO_DEPTH,
    ),
    "certify": (
        lambda epsilon=1.0, **how: certify(FitRequest.of("pf-tree", epsilon=epsilon), [(data(), data())], **{"draws": 2} | how),
        ("beta", "epsilon"),
        {},
    ),
    "attack_curve": (
        lambda **how: attack_curve(
            "random-flips", FitRequest.of("majority"), data(), data(), poisoned_rows=[how.pop("rows", 0)], runs=1, draws=1, **how
        ),
        ("rows",),
        {},
    ),
    "audit": (audited, ("epsilon", "seed", "draws", "beta", "max_depth", "delta", "workers"), NO_DELTA),
    "verify": (lambda **how: dpviz.verify("pf-tree", universes=QUICK_UNIVERSES[:1], **how), ("epsilon",), {}),
    "encode": (lambda **how: rows(person="who", **how), ("rows_per_person",), {"rows_per_person": (None,)}),
    "parts": (lambda **how: data().parts(**how), ("share",), {}),
    "split": (lambda **how: data().split(**{"seed": 0} | how), ("test_share", "seed"), {}),
    "folds": (lambda **how: data().folds(**{"count": 2, "seed": 0} | how), ("count", "seed"), {}),
    "schema": (lambda **how: SCHEMA.declare("x", **how), ("low", "high", "missing_as"), {"missing_as": (None,)}),
    "schema's rows": (
        lambda **how: dpviz.Schema(SCHEMA.features, SCHEMA.target, **how),
        ("n_public", "rows_per_person"),
        {"n_public": (None,)},
    ),
    "number to predict": (lambda **how: dpviz.NumericTarget("y", **{"low": 0, "high": 1} | how), ("low", "high"), {}),
    "classifier": (
        classifier,
        ("epsilon", "delta", "max_depth", "n_public", "random_state"),
        {"n_public": (None,), "random_state": (None,)} | NO_DELTA | NO_DEPTH,
    ),
    "regressor": (regressor, ("epsilon", "delta", "max_depth", "n_public"), {"n_public": (None,)} | NO_DELTA | NO_DEPTH),
    "bounds": (lambda **how: classifier(bounds={0: (how["low"], 9)}), ("low",), {}),
    "all bounds": (lambda **how: classifier(bounds=(how["low"], 9)), ("low",), {}),
    "target's bounds": (lambda **how: regressor(target_bounds=(how["low"], 1)), ("low",), {}),
    "release": (promised, ("epsilon", "delta", "max_depth", "depth"), NO_DELTA | NO_DEPTH),
    "stream_of": (lambda **how: dpviz.stream_of(data(), data(), "x", **how), ("share",), {}),
    "train_on_stream": (stream, ("epsilon", "delta", "max_depth", "seed"), NO_DELTA),
    "train_federated": (federated, ("epsilon", "delta", "max_depth", "seed", "public_seed"), {"seed": (None,)} | NO_DELTA),
    "read_table": (lambda **how: dpviz.read_table(b"a,b\n1,2\n", **how), ("max_bytes", "max_rows", "max_columns"), {}),
}


@pytest.mark.parametrize("what", ASKED)
def test_what_is_no_number_is_a_typed_error_that_names_the_parameter(what):
    ask, names, allowed = ASKED[what]
    for name, value in product(names, (*ODD, None)):
        if any(value is other or (type(value) is type(other) and value == other) for other in allowed.get(name, ())):
            continue
        with pytest.raises((ParameterError, SchemaError)) as caught:
            ask(**{name: value})
        assert name in str(caught.value) or name == "rows", value


def test_no_schema_file_and_no_cap_of_the_register_brings_one_that_is_no_number(tmp_path):
    for name in ["low", "high", "missing_as"]:
        for value in ("1", True, False, [1], {}, "infinity", float("inf"), float("nan")):
            document = SCHEMA.to_dict()
            document["features"][0][name] = value
            (tmp_path / "schema.json").write_text(json.dumps(document), encoding="utf-8")
            with pytest.raises(DpvizError):
                dpviz.load_schema(tmp_path / "schema.json")
    for name in ["epsilon_cap", "delta_cap", "rows_per_unit"]:
        register = Register(tmp_path / f"{name}.db")
        register.declare("rows", epsilon_cap=1)
        for value in (*ODD, None):
            with pytest.raises(ParameterError, match=f"The '{name}' parameter of the register must be"):
                register.declare("others", **{"epsilon_cap": 1.0} | {name: value})
            if name != "rows_per_unit":
                with pytest.raises(ParameterError, match=name):
                    register.change_caps("rows", **{"epsilon_cap": 1.0, "reason": "r", "made_by": "m"} | {name: value})
        assert [known.name for known in register.data_sets()] == ["rows"]


def test_numbers_of_numpy_are_numbers(tmp_path):
    given = fit(epsilon=np.float64(1), max_depth=np.int64(1), seed=np.int32(1), delta=np.float32(0))
    assert given.settings == fit(delta=0.0).settings
    assert json.loads(fit(seed=np.int64(1)).to_json())
    assert len(sweep(epsilon=np.array([0.5, 1]), max_depth=np.array([1]), folds=np.int64(2))) == 4
    assert classifier(random_state=np.int64(3), epsilon=np.float32(1), n_public=np.int64(40)).result_.released is False
    register = Register(tmp_path / "releases.db")
    assert register.declare("rows", epsilon_cap=np.float32(1), rows_per_unit=np.int64(2)).rows_per_unit == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dpviz.errors.DpvizWarning")
@pytest.mark.parametrize("what", [name for name in ASKED if name not in ("sweep, bare", "verify")])
def test_a_number_of_another_type_is_that_number_or_is_refused(what):
    ask, names, _ = ASKED[what]
    for name, value in product(names, (2.0, -0.0, np.int8(2), Fraction(1, 2), np.float16(0.5))):
        if name not in ("workers", "delta", "max_depth"):  # which would start processes, and search long
            with suppress(DpvizError):
                ask(**{name: value})


#: What is no yes or no, no list and no name, where one of these is asked for.
OTHERWISE = {
    "accept_rows": (lambda value: fit(accept_rows=value), ("no", "False", 1.0, None, pd.NA)),
    "whole": (lambda value: dpviz.NumericFeature("x", 0, 1, whole=value), ("no", 1.0, None, pd.NA)),
    "missing_codes": (lambda value: SCHEMA.declare("x", missing_codes=value), ("NA", 9, None)),
    "read_from_data": (lambda value: dpviz.Schema(SCHEMA.features, SCHEMA.target, read_from_data=value), ("features", 1, None)),
    "groups": (lambda value: SCHEMA.declare("y", groups=value), (1, "np", {"no": "n"}, (1,), [("a", "n", "p")])),
    "classes": (lambda value: dpviz.ClassTarget("y", value), (1, None, "np", np.array(1))),
    "features": (lambda value: dpviz.Schema(value, SCHEMA.target), (1, None, "x")),
    "learner": (lambda value: dpviz.fit(value, data(), epsilon=1, seed=0), (1, None, ["pf-tree"], pd.DataFrame({"a": [1]}))),
    "source": (lambda value: fit(source=value), (1, "os", [1])),
    "schema": (lambda value: fit(schema=value), (1, "schema.json", {})),
    "parts": (lambda value: dpviz.train_federated(value, epsilon=1, seed=0, public_seed=0), (1, None, iter([data()]), [1, 2])),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_a_text_is_no_yes_or_no_and_no_list(what):
    ask, values = OTHERWISE[what]
    for value in values:
        with pytest.raises(DpvizError):
            ask(value)


def test_the_register_takes_no_text_for_an_answer_and_no_number_for_a_name(tmp_path):
    register = Register(tmp_path / "releases.db")
    register.declare("rows", epsilon_cap=1)
    for name, value in product(("add_rows", "accept_rows"), ("no", 1, None)):
        with pytest.raises(ParameterError, match=name):
            register.release("rows", "pf-tree", data(), epsilon=0.1, **{"add_rows": True} | {name: value})
    for value in (1, None, np.array(1), ["rows"]):
        with pytest.raises(DpvizError):
            register.release(value, "pf-tree", data(), epsilon=0.1)
        with pytest.raises(ParameterError):
            register.declare(value, epsilon_cap=1)
        with pytest.raises(ParameterError):
            register.change_caps("rows", epsilon_cap=2, reason=value, made_by="m")
    assert not register.releases()


def test_numbers_of_few_bits_do_not_overflow():
    many = SCHEMA.declare(n_public=100_000)
    assert dpviz.which_learner(many, epsilon=np.int8(3)) == dpviz.which_learner(many, epsilon=Fraction(3))
    assert type(dpviz.PrivacyLoss(np.float16(0.1)).epsilon) is float
    assert dpviz.audit_outputs([0] * 300, [1] * 300, delta=Fraction(1, 4), beta=Fraction(1, 4)).bound > 0


@pytest.mark.slow
@examples(200)
@given(st.one_of(st.text(), st.booleans(), st.binary(), st.none(), st.sampled_from([float("nan"), float("inf"), -float("inf")])))
def test_nothing_else_is_one(value):
    assert not is_number(value)
    assert not is_whole(value)
    with pytest.raises(ParameterError):
        validate_count("a test", "value", value, -(10**9))
    with pytest.raises(ParameterError):
        validate_number("a test", "value", value, allowed="a number")


@examples(200)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70))
def test_every_finite_number_is_one_and_stays_what_it_is(value):
    assert validate_number("a test", "value", value, allowed="a number") == float(value)
    assert is_whole(value) == (value == int(value))
    if is_whole(value):
        assert validate_count("a test", "value", value, -(10**400)) == int(value)


@pytest.mark.parametrize(
    ("value", "said"), [(10**400, "an int"), (pd.DataFrame({"a": ["Maria"]}), "a DataFrame"), (["Maria", 41], "a list")]
)
def test_what_could_hold_rows_is_named_by_its_type(value, said):
    with pytest.raises(ParameterError, match=f"Got {said}\\.$"):
        fit(epsilon=value)


@pytest.mark.parametrize("rows", ["age,hiv\n4711,yes\n", ["4711", "yes"], ("4711,yes", 3)])
def test_rows_in_the_place_of_a_name_or_a_list_are_not_quoted(rows, tmp_path):
    register = Register(tmp_path / "releases.db")
    asks = (
        register.balance,
        dpviz.learners.get_learner,
        dpviz.import_codebook,
        SCHEMA.feature,
        lambda given: dpviz.NumericFeature("x", given, 1),
        lambda given: dpviz.CategoricalFeature("x", "\n".join(map(str, given)) if isinstance(given, (list, tuple)) else given),
        lambda given: fit(groups=given),
        lambda given: register.declare(given, epsilon_cap=1),
    )
    for ask in asks:
        with pytest.raises(DpvizError) as refusal:
            ask(rows)
        assert "4711" not in str(refusal.value)
