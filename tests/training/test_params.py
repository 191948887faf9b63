"""Parameters: what is accepted, what is said otherwise, and in which type a value is kept."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from dpviz.errors import ParameterError, UnknownName, value_text
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


#: Name, (value, what is kept of it), values that are refused, what is allowed.
CASES = [
    (
        "number",
        [(1, 1.0), (np.float32(0.25), 0.25)],
        [-0.1, 1.1, math.nan, math.inf, "1", None, True, [0.5]],
        "a number in [0, 1]",
    ),
    ("whole", [(4.0, 4), (np.int64(9), 9)], [0, 10, 2.5, math.nan, math.inf, "3", None, False], "a whole number in [1, 9]"),
    ("flag", [(True, True)], [1, 0, "yes", None], "True or False"),
    ("choice", [("b", "b")], ["c", 1, None], "one of 'a', 'b'"),
    (
        "shares",
        [([1, 0], (1.0, 0.0)), (None, None)],
        [(1,), (1, 2, 3), (0, 0), (1, -1), (1, math.inf), (1, math.nan), "ab", 3],
        "None or a sequence of 2 ",
    ),
    ("levels", [((1, 2, 3), (1.0, 2.0, 3.0))], [(), (0,), ("a",)], "None or a sequence of non-negative numbers, not all 0"),
]


@pytest.mark.parametrize(("name", "good", "bad", "allowed"), CASES)
def test_a_value_is_kept_in_one_plain_type_or_answered_with_what_is_allowed(name, good, bad, allowed):
    for given, kept in good:
        found = getattr(make_params(Params, "coin", {name: given}), name)
        assert (found, type(found)) == (kept, type(kept))
    for value in bad:
        with pytest.raises(ParameterError) as problem:
            make_params(Params, "coin", {name: value})
        assert f"The {name!r} parameter of coin must be {allowed}" in str(problem.value)
        assert str(problem.value).endswith(f"Got {value_text(value)}.")
    assert value_text((0, "Maria")) == "a tuple"  # which may be a row


def test_an_unknown_parameter_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"There is no parameter of 'coin' called 'share'\. Did you mean 'shares'\?"):
        make_params(Params, "coin", {"share": 1})
