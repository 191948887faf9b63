"""A learner with parameters set, as one text: written and read again it is the same, and nothing else is taken."""

from __future__ import annotations

import pytest

from dpviz.errors import ParameterError, UnknownName
from dpviz.figures.compare import line_styles
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


SET = [
    (name, {key: _another(about, getattr(get_learner(name).Params(), key))})
    for name in learner_names()
    for key, about in controls_of(get_learner(name).Params).items()
]


def test_every_parameter_of_every_learner_is_read_as_it_was_written() -> None:
    for name, given in SET:
        text = variant(name, given)
        assert parse_variant(text) == (name, given)
        assert variant_of_title(variant_title(text)) == variant_of_title(text) == text


def test_a_name_alone_sets_nothing() -> None:
    for name in learner_names():
        assert parse_variant(name) == (name, {})
        assert variant_title(name) == get_learner(name).title
        assert variant_of_title(get_learner(name).title) == name


def test_several_parameters_stand_between_semicolons() -> None:
    assert parse_variant("pf-tree(lookahead=1;  leaves = labels)") == ("pf-tree", {"lookahead": "1", "leaves": "labels"})


def test_what_a_learner_does_not_take_is_refused_in_words() -> None:
    for text, error in [
        ("pf-tree(lookahead=1", ParameterError),
        ("pf-tree(lookahead=7)", ParameterError),
        ("pf-tree(level_shares=1/two)", ParameterError),
        ("pf-tree(lookahaed=1)", UnknownName),
        ("pf-tree()", UnknownName),
        ("pf-trea", UnknownName),
    ]:
        with pytest.raises(error):
            parse_variant(text)


def test_a_variant_stands_behind_its_learner_and_looks_unlike_it() -> None:
    names = ["pf-tree(lookahead=1)", "cart", "pf-tree", "privatree"]
    assert sorted(names, key=place_of) == ["pf-tree", "pf-tree(lookahead=1)", "privatree", "cart"]
    styles = line_styles(dict.fromkeys(names, "holds"))
    other_name = "pf-tree(lookahead=1)"
    plain, other = styles["pf-tree"], styles[other_name]
    assert plain == line_styles({"pf-tree": "holds"})["pf-tree"]
    assert other.symbol not in {style.symbol for name, style in styles.items() if name != other_name}
    assert plain.colour != other.colour
    assert other.title == "PF-tree (lookahead=1)"
