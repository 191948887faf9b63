"""Errors name the file, the column and the nearest name there is, and say what to do; every class of them can be met."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from inspect import isclass

import pandas as pd
import pytest

import dpviz
from dpviz import errors
from dpviz.app.background import Job
from dpviz.errors import DocumentError, ParameterError, SchemaError, TableError
from dpviz.sklearn import PrivateTreeClassifier

FRAME = pd.DataFrame({"age": [20 + k % 60 for k in range(300)], "rent": [k % 7 for k in range(300)]})
FRAME["y"] = ["yes" if age > 50 else "no" for age in FRAME["age"]]
FEATURES = (dpviz.NumericFeature("age", 0, 100), dpviz.NumericFeature("rent", 0, 10))
SCHEMA = dpviz.Schema(FEATURES, dpviz.ClassTarget("y", ("no", "yes")), n_public=300)


def fitted(learner="pf-tree", rows=FRAME, **asked):
    return dpviz.fit(learner, rows, schema=SCHEMA, **{"epsilon": 1, "seed": 0, **asked})


def test_what_is_wrong_is_said_with_its_place_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("rows.csv", index=False)
    (tmp_path / "clinic.schema.json").write_text(SCHEMA.to_json()[:-20])
    (tmp_path / "rows.parquet").write_bytes(b"cut short")
    for wrong, error, says in (
        (lambda: dpviz.ClassTarget("y", (0, 1)), SchemaError, "0 is no text. Write it as in the table"),
        (lambda: dpviz.ClassTarget("y", "yn"), SchemaError, "is no list. Give a list"),
        (lambda: fitted(rows=FRAME.rename(columns={"age": "Age"})), SchemaError, "called so but for capitals"),
        (lambda: dpviz.load_schema("clinic.schema.json"), DocumentError, r"clinic.schema.json"),
        (lambda: dpviz.read_table("rows.parquet"), TableError, r"no \.parquet file((?!elimiter).)*$"),
        (lambda: dpviz.read_table("mysql://clinic/rows"), TableError, "mysql:// is the address of a place"),
        (lambda: dpviz.read_table("rows.csv", sheet="May"), TableError, r"'rows\.csv' is no workbook, so it has no sheet 'May'"),
        (lambda: dpviz.sweep(["pf-tree"], FRAME, schema=SCHEMA, epsilon=1), ParameterError, "epsilon"),
        (lambda: fitted("s-gbdt", delta=0.0), ParameterError, "above 0, or None for 5e-08"),
    ):
        with pytest.raises(error, match=says):
            wrong()


@pytest.mark.slow
def test_an_automatic_delta_is_automatic_also_when_a_result_is_read_back(tmp_path):
    automatic = fitted("s-gbdt")
    assert (automatic.ledger.guarantee.delta, fitted("s-gbdt", delta=1e-6).ledger.guarantee.delta) == (5e-8, 1e-6)
    assert fitted(delta=0.0).ledger.guarantee.delta == 0
    automatic.save(tmp_path / "model.json")
    found = dpviz.load_result(tmp_path / "model.json")
    assert (found.settings.delta, found.plan.delta) == (None, 5e-8)


def test_an_old_name_of_an_error_is_the_new_one_and_says_so():
    for old, new in (
        ("SpendsAgain", errors.RepeatedSpendWarning),
        ("Unforeseen", errors.FailedWork),
        ("OverCap", errors.RefusedRelease),
    ):
        with pytest.warns(DeprecationWarning, match=f"{old} is called {new.__name__} now"):
            assert getattr(dpviz.errors, old) is new


# --- every class of error and warning is met from outside: in Python, on the command line or on a page


class KilledWorkers(Executor):
    """Every process of it is killed."""

    def submit(self, *asked, **more):
        future = Future()
        future.set_exception(BrokenProcessPool())
        return future


def in_work_of_a_page(error):
    """What a page shows after work that raised `error`."""

    def work(progress, stop):
        raise error

    job = Job(work)
    job.run()
    raise job.error


def counted(learner):
    FRAME.to_parquet("rows.parquet")
    with dpviz.encode_large("rows.parquet", SCHEMA) as rows:
        return dpviz.fit(learner, rows, epsilon=1, seed=0)


def booked(schema=SCHEMA, **answers):
    register = dpviz.Register("register.db")
    if "clinic" not in [found.name for found in register.data_sets()]:
        register.declare("clinic", epsilon_cap=1.5, unit="one patient")
    answers = {"add_rows": True, "accept_rows": True, **answers}
    return register.release("clinic", "pf-tree", FRAME, schema=schema, epsilon=1.0, depth=1, **answers)


def not_a_register():
    with open("notes.txt", "w", encoding="utf-8") as file:
        file.write("dear diary " * 100)
    dpviz.Register("notes.txt").data_sets()


def twice():
    booked()
    booked(add_rows=False)


def missing_package(monkeypatch):
    FRAME.to_parquet("rows.parquet")
    monkeypatch.setattr("dpviz.installation.find_spec", lambda name: None)
    dpviz.read_table("rows.parquet")


def part_of_the_rows():
    part, _ = dpviz.encode(FRAME, SCHEMA).split(0.2, seed=0)
    return dpviz.fit("pf-tree", part, epsilon=1)


def private_estimator(cell=0.5, **asked):
    declared = {"bounds": (0, 1), "classes": ("n", "p"), "n_public": 4, "accept_rows": True}
    return PrivateTreeClassifier(**{"random_state": 0, **declared, **asked}).fit([[cell], [0.2], [0.4], [0.9]], list("npnp"))


def on_numbers(learner):
    schema = dpviz.Schema(FEATURES[:1], dpviz.NumericTarget("rent", 0, 10), n_public=300)
    return dpviz.fit(learner, FRAME, schema=schema, epsilon=1, seed=0)


def with_wrong_rows():
    return FRAME.assign(age=["?"] * 200 + [30] * 100)


#: Class -> (how it is met, a word of what it says).
MET = {
    "TableError": (lambda: dpviz.read_table(b"a,a\n1,2\n"), "same name"),
    "TableError, frame": (lambda: private_estimator(bounds=None, cell="x"), "not a number"),
    "SchemaError": (lambda: dpviz.ClassTarget("y", ("a",)), "y: "),
    "ParameterError": (lambda: fitted(epsilon=0), "'epsilon' parameter of fit must be a number in"),
    "UnknownName": (lambda: fitted("pf-tre"), "Did you mean 'pf-tree'"),
    "UnsupportedError, target": (
        lambda: on_numbers("majority"),
        "but the target 'rent' is declared as a number",
    ),
    "UnsupportedError, counts": (lambda: counted("s-gbdt-published"), "needs the rows themselves"),
    "UnsupportedError, form": (lambda: fitted("logistic").export("python"), "is no tree"),
    "UnsupportedError, chances": (lambda: on_numbers("dp-mean").predict_proba(FRAME), "holds no probabilities of classes"),
    "UnsupportedError, distribution": (lambda: dpviz.verify("bdpt"), "by sampling"),
    "DocumentError": (lambda: dpviz.model_from_json("[]"), "got a list"),
    "RegisterError": (not_a_register, "This file is not a release register"),
    "RefusedRelease": (lambda: booked(dpviz.propose_schema(FRAME)), "nothing that was read from the data"),
    "RefusedRelease, noise": (lambda: fitted("privatree", seed=None), "has no exact sampler"),
    "RefusedRelease, rows": (part_of_the_rows, "Nothing can be released from these rows"),
    "RefusedRelease, cap": (twice, "is left of the cap of 1.5"),
    "UnansweredRows": (lambda: booked(add_rows=False), "not assigned"),
    "TableError, engine": (
        lambda: dpviz.open_table("postgresql://me:secret@clinic/rows?table=t", SCHEMA),
        r"password(?!.*secret)",
    ),
    "Cancelled": (lambda: dpviz.verify("majority", stop=lambda: True), "Stopped on request"),
    "FailedWork": (
        lambda: dpviz.sweep(["majority"], FRAME, schema=SCHEMA, epsilon=[1.0], folds=2, repeats=1, workers=KilledWorkers()),
        "A worker process ended",
    ),
    "FailedWork, memory": (lambda: in_work_of_a_page(MemoryError()), "not enough memory"),
    "FailedWork, internal": (lambda: in_work_of_a_page(ValueError("cell 66000")), r"an error in dpviz itself(?!.*66000)"),
    "DpvizError": (missing_package, "pip install 'dpviz"),
    "ReadingWarning": (lambda: dpviz.encode(b"age,rent,y\n30,2,yes\n30,2,n\xf6\n", SCHEMA), "not UTF-8"),
    "PublicValuesWarning": (lambda: private_estimator(bounds=None), "were read from the rows"),
    "RepeatedSpendWarning": (lambda: private_estimator().set_params(random_state=None).__sklearn_clone__(), "epsilon 1 again"),
    "SettingWarning": (lambda: fitted(delta=1e-6), "delta has no effect"),
    "SettingWarning, level_shares": (
        lambda: fitted(depth=2, level_shares=(1, 2)),
        "level_shares has no effect: its 2 levels are chosen together",
    ),
    "SettingWarning, max_depth": (
        lambda: fitted("s-gbdt", max_depth=8),
        "max_depth = 8 has no effect: 's-gbdt' takes . levels at most by its rule. depth=8 fixes",
    ),
    "SettingWarning, replaced": (
        lambda: fitted("s-gbdt", epsilon=0.1, initial_share=0.1, delta=1e-6),
        "initial_share = 0.1 was replaced",
    ),
    "FewRowsWarning": (lambda: fitted(rows=with_wrong_rows()), "Fewer than 50% of the rows can be used"),
    "FewRowsWarning, answers": (lambda: fitted("cart").predict(with_wrong_rows()), "of the rows have no answer"),
}
#: Classes above others, which nothing raises.
ABOVE = {"DpvizWarning"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dpviz.errors.DpvizWarning")
@pytest.mark.parametrize("name", MET)
def test_every_class_is_met_from_outside_and_says_what_is_wrong(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    meet, says = MET[name]
    kind = getattr(errors, name.partition(",")[0])
    if issubclass(kind, Warning):
        with pytest.warns(kind, match=says):
            meet()
        return
    with pytest.raises(kind, match=f"(?s){says}") as met:
        meet(monkeypatch) if meet is missing_package else meet()
    assert met.type is kind
    assert met.value.what
    assert f"{met.value.what} {met.value.remedy}".strip() in str(met.value)


def test_no_class_is_left_out():
    found = {name for name, one in vars(errors).items() if isclass(one) and one.__module__ == errors.__name__}
    assert found == {*(name.partition(",")[0] for name in MET), *ABOVE}
