"""One form of what is to be trained, from every place that asks for it."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import dpviz
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import ParameterError, UnknownName
from dpviz.evaluation.audit.planned import typical
from dpviz.learners import FitRequest, get_learner, learner_names
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.table.strict_json import parse_json
from tests.support.release_rows import SCHEMA, small_numbers, small_rows

REQUEST = FitRequest.of("pf-tree", epsilon=0.5, max_depth=3, level_shares=(1, 2, 3), seed=7)


def test_what_is_made_of_arguments_gives_them_back():
    for name in learner_names():
        made = FitRequest.of(name, epsilon=0.3, max_depth=2, depth=2, delta=1e-9, test_share=0.1)
        assert made.arguments == {"epsilon": 0.3, "max_depth": 2, "depth": 2, "delta": 1e-9, "test_share": 0.1}
        assert made.given == {}
        assert FitRequest.of(name, **made.arguments) == made


def test_what_is_left_at_its_default_and_what_says_the_default_are_one_request():
    said = FitRequest.of("privatree", epsilon=1, bins=get_learner("privatree").Params().bins, delta=None)
    assert said == FitRequest.of("privatree")
    assert said.key == FitRequest.of("privatree", seed=3).key
    assert len({REQUEST.key, REQUEST.at(epsilon=1.0).key, REQUEST.at(level_shares=None).key, FitRequest.of("cart").key}) == 4


def test_a_source_that_calls_itself_a_release_is_none():
    source = Simulation(3)
    source.name, source.seed = ExactNoise.name, None
    result = FitRequest.of("pf-tree").fit(small_rows(), source)
    assert (result.released, result.not_released_because) == (False, "A simulation, not a release.")


def test_a_cap_that_nobody_gave_is_the_learners_own_and_is_written_as_a_number():
    for name in learner_names():
        usual = 8 if name == "pf-tree" else 4
        made = FitRequest.of(name)
        assert made.arguments["max_depth"] == usual
        assert made == FitRequest.of(name, max_depth=None) == FitRequest.of(name, max_depth=usual)


def test_an_ordinary_tree_beside_it_has_as_many_levels_or_as_many_as_are_usual():
    few, many = (replace(SCHEMA, n_public=rows) for rows in (10, 10**9))
    asked = FitRequest.of("pf-tree")
    assert [asked.depth_beside(schema) for schema in (few, many)] == [4, 8]
    assert [asked.at(max_depth=most).depth_beside(few) for most in (3, 6)] == [3, 4]
    assert [asked.at(max_depth=depth, depth=depth).depth_beside(few) for depth in (2, 7)] == [2, 7]


def test_it_is_read_back_as_it_was_written_and_goes_to_other_processes():
    written = json.dumps({"learner": REQUEST.learner, "seed": REQUEST.seed, **REQUEST.arguments})
    assert FitRequest.of(**parse_json(written)) == REQUEST
    assert pickle.loads(pickle.dumps(REQUEST)) == REQUEST


def test_it_is_checked_when_it_is_made_and_when_it_is_changed():
    for given, problem in [
        ({"epsilon": -1}, ParameterError),
        ({"depth": 0.5}, ParameterError),
        ({"bins": -1}, ParameterError),
        ({"binns": 1}, UnknownName),
        ({"seed": 0.5}, ParameterError),
        ({"seed": True}, ParameterError),
    ]:
        with pytest.raises(problem):
            FitRequest.of("privatree", **given)
        with pytest.raises(problem):
            FitRequest.of("privatree").at(**given)


def test_parameters_made_without_a_check_are_checked_too():
    unchecked = replace(get_learner("privatree").Params(), bins=-1)
    with pytest.raises(ParameterError, match="bins"):
        FitRequest("privatree", params=unchecked)
    assert FitRequest.of("privatree", bins=np.int64(7)).key == FitRequest.of("privatree", bins=7).key


def test_the_request_and_the_function_train_the_same_model():
    asked = {"epsilon": 0.5, "max_depth": 2}
    trained = FitRequest.of("pf-tree", seed=3, **asked).fit(small_rows())
    assert trained.to_json() == dpviz.fit("pf-tree", small_rows(), seed=3, **asked).to_json()


@pytest.mark.parametrize("name", learner_names())
def test_what_a_plan_says_of_risk_is_what_a_fit_tells_or_more(name):
    """Without a row: fs-tree, whose steps depend on the rows, gets the bound of any algorithm with its epsilon."""
    for epsilon in [0.1, 1.0, 3.0]:
        request, rows = FitRequest.of(name, epsilon=epsilon, max_depth=3, seed=1), small_rows()
        if get_learner(name).task == "number":
            rows = small_numbers()
        claim = request.claim(rows.schema)
        if claim.is_sound:
            planned, run = request.risk(rows.schema), request.fit(rows).risk
            for of_one_person in (1, 3):
                assert planned.for_rows(of_one_person).guesses() >= run.for_rows(of_one_person).guesses() - 1e-12
            assert planned.guesses() <= PrivacyLoss(claim.epsilon, claim.delta).guesses_right + 1e-6


def test_the_risk_of_a_plan_is_that_of_its_mechanisms():
    assert 100 * FitRequest.of("s-gbdt", epsilon=1).risk(replace(SCHEMA, n_public=30_000)).guesses() < 55
    tree = FitRequest.of("pf-tree", epsilon=1, max_depth=3, depth=3, leaves="labels").risk(small_rows().schema)
    assert 100 * tree.guesses() < 66


def test_an_audit_says_of_steps_that_depend_on_the_rows_what_they_cost_at_most():
    assert typical("fs-tree", epsilon=1.0).composed_on_any().epsilon == 1.0
    assert typical("pf-tree", epsilon=1.0).composed_on_any().epsilon == 1.0
