"""Parameters: what is accepted, what is said otherwise, and in which type a value is kept."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from dpviz.errors import ParameterError, UnknownName
from dpviz.learners import get_learner
from dpviz.training import params
from dpviz.training.params import make_params


@dataclass(frozen=True)
class Params:
    number: float = params.number(0.5, "N", "n", low=0, high=1)
    whole: int = params.whole(3, "W", "w", low=1, high=9)
    flag: bool = params.flag(False, "F", "f")
    choice: str = params.choice(("a", "b"), "C", "c")
    shares: tuple[float, ...] | None = params.share_weights("S", "s", parts=("x", "y"))
    levels: tuple[float, ...] | None = params.share_weights("L", "l")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"number": 1}, 1.0),
        ({"number": np.float32(0.25)}, 0.25),
        ({"whole": 4.0}, 4),
        ({"whole": np.int64(9)}, 9),
        ({"flag": True}, True),
        ({"choice": "b"}, "b"),
        ({"shares": [1, 0]}, (1.0, 0.0)),
        ({"shares": None}, None),
        ({"levels": (1, 2, 3)}, (1.0, 2.0, 3.0)),
    ],
)
def test_a_value_is_kept_in_one_plain_type(given, kept):
    params = make_params(Params, "coin", given)
    (name,) = given
    assert getattr(params, name) == kept
    assert type(getattr(params, name)) is type(kept)


@pytest.mark.parametrize(
    ("name", "values", "allowed"),
    [
        ("number", [-0.1, 1.1, math.nan, math.inf, "1", None, True, [0.5]], "a number in [0, 1]"),
        ("whole", [0, 10, 2.5, math.nan, math.inf, "3", None, False], "a whole number in [1, 9]"),
        ("flag", [1, 0, "yes", None], "True or False"),
        ("choice", ["c", 1, None], "one of 'a', 'b'"),
        ("shares", [(1,), (1, 2, 3), (0, 0), (1, -1), (1, math.inf), (1, math.nan), "ab", 3], "None or a sequence of 2 "),
        ("levels", [(), (0,), ("a",)], "None or a sequence of non-negative numbers, not all 0"),
    ],
)
def test_a_bad_value_is_answered_with_what_is_allowed(name, values, allowed):
    for value in values:
        with pytest.raises(ParameterError) as problem:
            make_params(Params, "coin", {name: value})
        assert f"The {name!r} parameter of coin must be {allowed}" in str(problem.value)
        assert str(problem.value).endswith(f"Got {value!r}.")


def test_an_unknown_parameter_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"There is no parameter of 'coin' called 'share'\. Did you mean 'shares'\?"):
        make_params(Params, "coin", {"share": 1})
    with pytest.raises(UnknownName, match=r"Known: none\."):
        make_params(get_learner("majority").Params, "majority", {"share": 1})
