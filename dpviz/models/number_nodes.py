"""What a tree of numbers holds in the JSON document: leaves with an interval, branches with a released median."""

from typing import Any

from dpviz.models.tree import Halves, NumberLeaf
from dpviz.table.schema import NumericTarget, Schema
from dpviz.table.strict_json import read_entry, wrong


def write_number(leaf: NumberLeaf) -> dict[str, Any]:
    """A leaf as a node of the document."""
    return {"value": leaf.value, **({} if leaf.interval is None else {"interval": list(leaf.interval)})}


def read_number(item: dict[str, Any], schema: Schema, where: str) -> NumberLeaf:
    """What `write_number` wrote; `where` is its path. Raises DocumentError."""
    if not isinstance(schema.target, NumericTarget):
        raise wrong("This leaf must predict a class: the target is not a number.", where)
    value = read_entry(float, item, "value", where)
    if "interval" not in item:
        return NumberLeaf(value)
    low, high = read_entry(tuple[float, float], item, "interval", where)
    if low > high:
        raise wrong("The ends of the interval must be in order.", f"{where}.interval")
    return NumberLeaf(value, (low, high))


def write_halves(halves: Halves | None) -> dict[str, Any]:
    """What a branch says about the halves it parts."""
    return {} if halves is None else {"median": halves.median, "low_half": "left" if halves.low_left else "right"}


def read_halves(item: dict[str, Any], schema: Schema, where: str) -> Halves | None:
    """What `write_halves` wrote. Raises DocumentError."""
    if "median" not in item or not isinstance(schema.target, NumericTarget):
        return None
    side = read_entry(str, item, "low_half", where)
    if side not in ("left", "right"):
        raise wrong("This must be 'left' or 'right'.", f"{where}.low_half")
    return Halves(read_entry(float, item, "median", where), side == "left")
