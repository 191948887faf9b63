"""What must not pass in silence: hardly a usable row, and values that a rule replaces or does not use."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.errors import DpvizWarning, FewRowsWarning, ReadingWarning, SettingWarning
from dpviz.learners import FitRequest, learner_names
from dpviz.learners.request import few_usable, remarks, remarks_on_settings
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

FEATURES = (NumericFeature("a", 0, 1), NumericFeature("b", 0, 1), CategoricalFeature("c", ("u", "v", "w")))


def schema_of(classes: int, n_public: int = 200) -> Schema:
    target = NumericTarget("y", 0, 1) if not classes else ClassTarget("y", tuple("pqrs"[:classes]))
    return Schema(FEATURES, target, n_public=n_public)


def frame(usable: int, *, n_rows: int = 100, spoiled: str = "c") -> pd.DataFrame:
    """The first `usable` rows can be used; in the others one column holds what is not declared, or nothing."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"a": rng.uniform(0, 1, n_rows), "b": rng.uniform(0, 1, n_rows), "c": "u", "y": "p"})
    made.loc[usable:, spoiled] = np.nan if spoiled in "ab" else "other"
    return made


def heard_of(*args, **given) -> list[warnings.WarningMessage]:
    """What a fit says of itself; which cells could not be read is said by encoding them."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        dpviz.fit(*args, **given)
    return [one for one in heard if one.category is not ReadingWarning]


@pytest.mark.parametrize("name", ["pf-tree", "majority", "pf-forest", "cart"])
def test_a_seeded_fit_says_that_hardly_a_row_can_be_used(name):
    for usable, words in [(0, "No row is used."), (49, "Fewer than 50% of the rows can be used"), (50, "")]:
        for spoiled in ["a", "c", "y"]:
            given = {"schema": schema_of(2, 100), "epsilon": 1, "seed": 0, "max_depth": 2}
            heard = heard_of(name, frame(usable, spoiled=spoiled), **given)
            assert [str(one.message).startswith(words) for one in heard] == [True] * bool(words)
            assert all(one.category is FewRowsWarning and one.filename == __file__ for one in heard)
            assert not any(digit in str(one.message).replace("50%", "") for one in heard for digit in "0123456789")
            assert not heard_of(name, frame(usable, spoiled=spoiled), **given, accept_rows=True)


def test_rows_that_are_clipped_or_over_a_persons_limit_are_usable():
    clipped = frame(100).assign(a=5.0)
    assert not few_usable(dpviz.encode(clipped, schema_of(2)))
    whose = frame(100).assign(who="one person")
    assert not few_usable(dpviz.encode(whose, schema_of(2), person="who", rows_per_person=1))


def rows(classes: int, n_rows: int) -> EncodedDataset:
    rng = np.random.default_rng(0)
    columns = rng.uniform(0, 1, n_rows), rng.uniform(0, 1, n_rows), rng.integers(0, 3, n_rows).astype(np.uint8)
    target = columns[0] if not classes else (columns[0] * classes).astype(np.uint8)
    return EncodedDataset(schema_of(classes, n_rows), columns, target)


#: Classes (0: a number), learner, rows, epsilon, what is asked for.
REPLACED = [
    (2, "s-gbdt", 100, 0.1, {"initial_share": 0.1}),
    (2, "s-gbdt", 100, 1.0, {"initial_share": 0.01}),
    (0, "s-gbdt", 100, 0.5, {"initial_share": 0.3}),
    (3, "s-gbdt", 5000, 1.0, {"initial_share": 0.3}),
    (2, "pf-forest", 100, 1.0, {"depth": 12, "trees": 1000}),
    (2, "jpw-forest", 100, 1.0, {"depth": 12, "trees": 1000}),
    (2, "smooth-forest", 100, 1.0, {"depth": 12, "trees": 1000}),
    (2, "s-gbdt-published", 100, 0.01, {}),
    (2, "privatree", 200, 0.1, {"max_leaf_error": 0.001}),
    (2, "privatree-corrected", 200, 0.1, {"max_leaf_error": 0.001}),
    (2, "privatree-star", 200, 0.1, {"max_leaf_error": 0.001}),
    (3, "s-gbdt-published", 5000, 1.0, {"initial_share": 0.3}),
    (2, "dpboost", 5000, 1.0, {"initial_share": 0.3}),
    (2, "s-gbdt", 5000, 1.0, {"multiscale": 0.1}),
    (0, "s-gbdt", 5000, 1.0, {"newton": False}),
    (4, "s-gbdt", 5000, 1.0, {"newton": False}),
]


@pytest.mark.slow
def test_what_a_rule_replaces_or_does_not_use_is_said_by_name_in_plan_and_warning():
    for classes, name, n_rows, epsilon, asked in REPLACED:
        request = FitRequest.of(name, epsilon=epsilon, seed=0, **asked)
        said = request.plan(schema_of(classes, n_rows)).replaced
        assert said
        assert set(said) <= set(request.plan(schema_of(classes, n_rows)).notes)
        assert any(parameter in sentence for sentence in said for parameter in asked or ("filter",))
        assert [str(one) for one in remarks_on_settings(request, schema_of(classes, n_rows))][: len(said)] == list(said)
        if n_rows == 100 and "trees" not in asked:
            heard = heard_of(name, rows(classes, n_rows), epsilon=epsilon, seed=0, **asked)
            assert [str(one.message) for one in heard if one.category is SettingWarning] == list(said)


def test_nothing_is_said_of_defaults():
    for name in learner_names():
        for n_rows in [200, 20_000]:
            for classes in [0, 2, 3]:
                schema = schema_of(classes, n_rows)
                if ("classes" if classes else "number") in FitRequest.of(name).spec.tasks:
                    assert remarks_on_settings(FitRequest.of(name, epsilon=1.0), schema) == ()
    assert remarks_on_settings(FitRequest.of("pf-tree", max_depth=12), schema_of(2)) == ()  # its rule goes as deep


def test_remarks_are_warnings_of_dpviz_and_the_private_one_comes_first():
    data = dpviz.encode(frame(3), schema_of(2, 100))
    found = remarks(FitRequest.of("s-gbdt", epsilon=0.1, initial_share=0.1, delta=1e-6, seed=0), data)
    assert [type(one) for one in found] == [FewRowsWarning, SettingWarning]
    assert all(isinstance(one, DpvizWarning) for one in found)
    assert [type(one) for one in remarks(FitRequest.of("majority", delta=1e-6), data, accepted=True)] == [SettingWarning]
    assert remarks(FitRequest.of("majority"), replace(data, report=None)) == ()
