"""Sums over the rows of a target that is a number, as SQL: `dpviz/training/estimate/measures.py`, operation by operation.

Doubles are subtracted, multiplied and divided one operation at a time, as IEEE 754 settles them to the last bit in all three
engines; a row's units are whole numbers that add up to one row whatever rounding did, and their sums are exact. A quotient so
small that PostgreSQL would call it an underflow is 0 instead, which changes no unit: an error would tell of the row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import singledispatch

from dpviz.engines.expressions import double
from dpviz.engines.statements import VALUE
from dpviz.training.counted_rows import Measure
from dpviz.training.estimate.measures import BernsteinUnits, Errors, RowsOutsideRange, Steps
from dpviz.training.estimate.window import Window, widths

#: Quotients below this are 0.
_TINY = 2.0**-100


def summing(encoded: str, measure: Measure, leaf: str, part: int | None) -> str:
    """SELECT (leaf, sums of the measure) over the rows of a part; None: over all usable rows, which have no parts."""
    chosen = "NOT k IS NULL" if part is None else f"part = {part}"
    rows, cells = _cells(measure, f"SELECT {leaf} AS leaf, {VALUE} FROM {encoded} WHERE {chosen} OFFSET 0")
    sums = ", ".join(f"CAST(SUM({cell}) AS BIGINT)" for cell in cells)
    return f"SELECT leaf, {sums} FROM ({rows}) AS r GROUP BY leaf"


@singledispatch
def _cells(measure: Measure, rows: str) -> tuple[str, list[str]]:
    """(rows with the columns that the cells use, what a row adds to each cell)."""
    raise TypeError(measure)


@_cells.register
def _(measure: Steps, rows: str) -> tuple[str, list[str]]:
    place = _place(f"{VALUE} - {_number(measure.middle)}", measure.half)
    return rows, [f"CAST(FLOOR({place} * {measure.steps} + 0.5) AS BIGINT)"]


@_cells.register
def _(measure: RowsOutsideRange, rows: str) -> tuple[str, list[str]]:
    distance = f"ABS({VALUE} - {_number(measure.centre)})"
    beyond = (f"CASE WHEN {distance} > {_number(width)} THEN 1 ELSE 0 END" for width in widths(measure.target).tolist())
    return rows, [*beyond, "1"]


@_cells.register
def _(measure: BernsteinUnits, rows: str) -> tuple[str, list[str]]:
    rows = _spread(rows, {"x": _share(measure.window)}, measure.degree, measure.units)
    return rows, [f"x{j}" for j in range(measure.degree + 1)]


@_cells.register
def _(measure: Errors, rows: str) -> tuple[str, list[str]]:
    predicted = " ".join(f"WHEN {leaf} THEN {_number(value)}" for leaf, value in enumerate(measure.values))
    rows = _select([VALUE, f"{VALUE} - CASE leaf {predicted} END AS off"], rows)
    error = f"ABS({_place('off', measure.window.width)})"
    rows = _spread(rows, {"e": error, "x": _share(measure.window)}, measure.degree, measure.units)
    powers = range(measure.degree + 1)
    return rows, [f"e{i} * x{j}" for i in powers for j in powers]


def _spread(rows: str, places: Mapping[str, str], degree: int, units: int) -> str:
    """`masses` of each place, from 0 to 1, as columns name0, name1, ...: the first of the largest takes what rounding leaves."""
    powers = range(degree + 1)

    def cell(x: str, j: int) -> str:
        up, down = " * ".join([x] * j) or "1", " * ".join([f"(1 - {x})"] * (degree - j)) or "1"
        return f"CAST(FLOOR({math.comb(degree, j)} * ({up}) * ({down}) * {units}) AS BIGINT) AS {x}{j}"

    def rest(x: str) -> str:
        cells = [f"{x}{j}" for j in powers]
        first = " ".join(f"WHEN {one} THEN {j}" for j, one in enumerate(cells))
        left = f"{units} - ({' + '.join(cells)}) AS {x}_rest"
        return f"{', '.join(cells)}, {left}, CASE GREATEST({', '.join(cells)}) {first} END AS {x}_largest"

    def settled(x: str, j: int) -> str:
        return f"{x}{j} + CASE WHEN {x}_largest = {j} THEN {x}_rest ELSE 0 END AS {x}{j}"

    rows = _select((f"{place} AS {x}" for x, place in places.items()), rows)
    rows = _select((cell(x, j) for x in places for j in powers), rows)
    rows = _select(map(rest, places), rows)
    return _select((settled(x, j) for x in places for j in powers), rows)


def _select(columns: Iterable[str], rows: str) -> str:
    """Fenced: PostgreSQL would put a column's expression in the place of its name, at every use."""
    return f"SELECT leaf, {', '.join(columns)} FROM ({rows}) AS r OFFSET 0"


def _share(window: Window) -> str:
    return f"({_place(f'{VALUE} - {_number(window.centre)}', window.width)} + 1) / 2"


def _place(distance: str, width: float) -> str:
    """distance / width, at least -1 and at most 1."""
    ends = f"WHEN {distance} >= {_number(width)} THEN 1 WHEN {distance} <= {_number(-width)} THEN -1"
    return f"CASE {ends} WHEN ABS({distance}) < {_number(width * _TINY)} THEN 0 ELSE ({distance}) / {_number(width)} END"


def _number(value: float) -> str:
    return double(value).sql("duckdb")
