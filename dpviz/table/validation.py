"""What passes for a number: one check of every epsilon, delta, cap, count, seed and share, wherever it comes from.

Numbers of NumPy are fine, and 3.0 is a whole number. Texts, True and False, infinity, and not-a-number are none.
"""

import math
from numbers import Real
from typing import Any

import numpy as np

from dpviz.errors import ParameterError


def is_number(value: Any) -> bool:
    """Whether this is a finite number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of more than 308 digits
        return False


def is_whole(value: Any) -> bool:
    """Whether this is a whole number."""
    return is_number(value) and value == int(value)


def validate_number(
    owner: str, name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, allowed: str, exclusive: bool = False
) -> float:
    """`value` as a float, if it is a number from `low` to `high`, both excluded where `exclusive`.

    Raises ParameterError, which says that the parameter `name` of `owner` must be what `allowed` says.
    """
    if is_number(value):
        number = float(value)  # compared with bounds that a NumPy type of few bits could not hold
        if low < number < high if exclusive else low <= number <= high:
            return number
    raise ParameterError(owner, name, value, allowed)


def is_loss(value: Any) -> bool:
    """Whether this is a number of at least 0, or infinity."""
    return (is_number(value) or (isinstance(value, Real) and value == math.inf)) and value >= 0


def validate_loss(owner: str, name: str, value: Any) -> float:
    """`value` as a float, if it is a number of at least 0 or infinity, as an epsilon or a log ratio is; raises ParameterError.

    Not-a-number compares as neither more nor less than a bound, so every verdict would hold.
    """
    if not is_loss(value):
        raise ParameterError(owner, name, value, "a number of at least 0, or infinity")
    return float(value)


def validate_delta(owner: str, name: str, value: Any) -> float:
    """`value` as a float, if it is a number from 0 to 1; raises ParameterError."""
    return validate_number(owner, name, value, low=0, high=1, allowed="a number from 0 to 1")


def validate_fraction(owner: str, name: str, value: Any) -> float:
    """`value` as a float between 0 and 1, both excluded; raises ParameterError."""
    return validate_number(owner, name, value, low=0, high=1, exclusive=True, allowed="a number between 0 and 1, both excluded")


def is_flag(value: Any) -> bool:
    """Whether this is True or False, of Python or NumPy. The text "no" would count as yes."""
    return isinstance(value, (bool, np.bool_))


def validate_flag(owner: str, name: str, value: Any) -> None:
    """Raise ParameterError for what is neither True nor False."""
    if not is_flag(value):
        raise ParameterError(owner, name, value, "True or False")


def validate_count(owner: str, name: str, value: Any, low: int = 1, high: float = math.inf, *, allowed: str = "") -> int:
    """`value` as an int, if it is a whole number from `low` to `high`; raises ParameterError."""
    if not is_whole(value) or not low <= int(value) <= high:
        between = f"of at least {low:,}" if math.isinf(high) else f"from {low:,} to {high:,}"
        raise ParameterError(owner, name, value, allowed or f"a whole number {between}")
    return int(value)
