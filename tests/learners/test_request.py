"""What is to be trained, in one form from every place that asks for it, and as one text that is read as it was written."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import dpviz
from dpviz.errors import ParameterError, UnknownName
from dpviz.learners import FitRequest, get_learner, learner_names
from dpviz.learners.variants import parse_variant, place_of, variant, variant_of_title, variant_title
from dpviz.table.strict_json import parse_json
from dpviz.training.params import controls_of
from tests.support.fits import other_values
from tests.support.release_rows import SCHEMA, small_rows

REQUEST = FitRequest.of("pf-tree", epsilon=0.5, max_depth=3, level_shares=(1, 2, 3), seed=7)


def test_what_is_made_of_arguments_gives_them_back():
    given = {"epsilon": 0.3, "max_depth": 2, "depth": 2, "delta": 1e-9, "test_share": 0.1}
    for name in learner_names():
        made = FitRequest.of(name, **given)
        assert (made.arguments, made.given) == (given, {})
        assert FitRequest.of(name, **made.arguments) == made
        usual = 8 if name == "pf-tree" else 4  # a cap that nobody gave is the learner's own
        assert FitRequest.of(name).arguments["max_depth"] == usual
        assert FitRequest.of(name) == FitRequest.of(name, max_depth=None) == FitRequest.of(name, max_depth=usual)


def test_a_request_is_its_values_however_they_were_given():
    said = FitRequest.of("privatree", epsilon=1, bins=get_learner("privatree").Params().bins, delta=None)
    assert said == FitRequest.of("privatree")
    assert said.key == FitRequest.of("privatree", seed=3).key
    assert len({REQUEST.key, REQUEST.at(epsilon=1.0).key, REQUEST.at(level_shares=None).key, FitRequest.of("cart").key}) == 4
    assert FitRequest.of("privatree", bins=np.int64(7)).key == FitRequest.of("privatree", bins=7).key
    written = json.dumps({"learner": REQUEST.learner, "seed": REQUEST.seed, **REQUEST.arguments})
    assert FitRequest.of(**parse_json(written)) == REQUEST
    assert pickle.loads(pickle.dumps(REQUEST)) == REQUEST  # to other processes
    trained = FitRequest.of("pf-tree", seed=3, epsilon=0.5, max_depth=2).fit(small_rows())
    assert trained.to_json() == dpviz.fit("pf-tree", small_rows(), seed=3, epsilon=0.5, max_depth=2).to_json()


def test_an_ordinary_tree_beside_it_has_as_many_levels_or_as_many_as_are_usual():
    few, many = (replace(SCHEMA, n_public=rows) for rows in (10, 10**9))
    asked = FitRequest.of("pf-tree")
    assert [asked.comparison_depth(schema) for schema in (few, many)] == [4, 8]
    assert [asked.at(max_depth=most).comparison_depth(few) for most in (3, 6)] == [3, 4]
    assert [asked.at(max_depth=depth, depth=depth).comparison_depth(few) for depth in (2, 7)] == [2, 7]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        *(({name: value}, ParameterError) for name, value in (("epsilon", -1), ("depth", 0.5), ("bins", -1), ("seed", 0.5))),
        ({"seed": True}, ParameterError),
        ({"binns": 1}, UnknownName),
    ],
)
def test_it_is_checked_when_it_is_made_and_when_it_is_changed(given, problem):
    with pytest.raises(problem):
        FitRequest.of("privatree", **given)
    with pytest.raises(problem):
        FitRequest.of("privatree").at(**given)
    with pytest.raises(ParameterError, match="bins"):  # parameters made without a check
        FitRequest("privatree", params=replace(get_learner("privatree").Params(), bins=-1))


def test_every_parameter_is_read_as_it_was_written() -> None:
    for name in learner_names():
        spec = get_learner(name)
        others = {key: other_values(about, getattr(spec.Params(), key))[0] for key, about in controls_of(spec.Params).items()}
        for given in ({}, others):
            text = variant(name, given)
            assert parse_variant(text) == (name, given)
            assert variant_of_title(variant_title(text)) == variant_of_title(text) == text
        assert variant_title(name) == spec.title


def test_several_parameters_stand_between_semicolons_and_anything_else_is_refused() -> None:
    assert parse_variant("pf-tree(lookahead=1;  leaves = labels)") == ("pf-tree", {"lookahead": "1", "leaves": "labels"})
    for text in ("pf-tree(lookahead=1", "pf-tree(lookahead=7)", "pf-tree(level_shares=1/two)"):
        with pytest.raises(ParameterError):
            parse_variant(text)
    for text in ("pf-tree(lookahaed=1)", "pf-tree()", "pf-trea"):
        with pytest.raises(UnknownName):
            parse_variant(text)


def test_a_variant_stands_behind_its_learner() -> None:
    names = ["pf-tree(lookahead=1)", "cart", "pf-tree", "privatree"]
    assert sorted(names, key=place_of) == ["pf-tree", "pf-tree(lookahead=1)", "privatree", "cart"]
