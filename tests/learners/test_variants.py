"""A learner with parameters set, as one text: written and read again it is the same, and nothing else is taken."""

from __future__ import annotations

import pytest

from dpviz.errors import ParameterError, UnknownName
from dpviz.learners import get_learner, learner_names
from dpviz.learners.variants import parse_variant, place_of, variant, variant_of_title, variant_title
from dpviz.training.params import Control, controls_of


def _another(about: Control, default: object) -> object:
    """A value that is allowed and not the default."""
    match about.kind:
        case "flag":
            return not default
        case "choice":
            return next(option for option in about.options if option != default)
        case "whole":
            return int(about.low if default != about.low else about.high)
        case "number":
            return float(about.low if default != about.low else about.high)
        case _:
            return (1.0, 2.5, *[1.0] * (len(about.parts) - 2))


@pytest.mark.parametrize("name", learner_names())
def test_every_parameter_is_read_as_it_was_written(name) -> None:
    others = {
        key: _another(about, getattr(get_learner(name).Params(), key))
        for key, about in controls_of(get_learner(name).Params).items()
    }
    for given in ({}, others):
        text = variant(name, given)
        assert parse_variant(text) == (name, given)
        assert variant_of_title(variant_title(text)) == variant_of_title(text) == text
    assert variant_title(name) == get_learner(name).title


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
