"""What many evaluations require of their arguments."""

from numbers import Integral

from dpviz.errors import NeedsClasses, ParameterError
from dpviz.table.schema import NumericTarget, Schema


def require_classes(schema: Schema, what: str) -> None:
    """Raise NeedsClasses for a numeric target; `what` begins the sentence ("A poisoning guarantee")."""
    if isinstance(schema.target, NumericTarget):
        raise NeedsClasses(what, schema.target.name)


def require_count(owner: str, name: str, value: int, least: int = 1) -> None:
    """Raise ParameterError unless `value` is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(owner, name, value, f"a whole number of at least {least}")


def require_between_0_and_1(owner: str, name: str, value: float) -> None:
    """Raise ParameterError unless 0 < `value` < 1."""
    if not 0 < value < 1:
        raise ParameterError(owner, name, value, "a number between 0 and 1, both excluded")
