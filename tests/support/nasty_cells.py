"""A table of the cells that engines and readers disagree about, and a schema for it that uses every rule of encoding."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from itertools import cycle, islice

import numpy as np
import pyarrow as pa

from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

LOW, HIGH = 0.1, 1000.3
_NEAR = [math.nextafter(edge, way) for edge in (LOW, HIGH, 0.0, 999.0) for way in (-math.inf, math.inf)]
NUMBERS = [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 0.1, 0.5, 1.5, 2.5, 62.5125, 999.0]
NUMBERS += [LOW, HIGH, 1, 2, 3, 17, 500.2, *_NEAR, *(LOW + fraction / 16 * (HIGH - LOW) for fraction in range(17))]
WHOLE = [None, 0, -1, 1, 2, 7, 49, 50, 98, 99, 100, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
_DECIMALS = "0 -0.001 0.388 0.389 9.9 9.900 9.901 99.5 99.501 1e8 -999999999.999 999999999.999 49.75"
DECIMALS = [None, *map(Decimal, _DECIMALS.split())]
#: What no file may hold (NUL) is not in it.
TEXTS = [None, "", " ", "x", "X", " x", "x ", "\tx\n", "\u2003x\u3000", "\x1fx\x85", "x y", "y", "it's", "back\\slash", "\\"]
TEXTS += [
    "new\nline",
    "é",
    "e\u0301",
    "NA",
    " NA ",
    "na",
    "null",
    "?",
    "other",
    "k.A.",
    "'); DROP TABLE cells; --",
    "nan",
    "NaN",
    "xx",
]
TEXTS += ["`x`", '"x"', "🙂"]
BOOLEANS = [None, True, False]
DAYS = [None, *(dt.date(*day) for day in ((1, 1, 1), (9999, 12, 31), (1900, 1, 1), (1899, 12, 31), (1965, 12, 31), (1966, 1, 1)))]
DAYS += [dt.date(2000, 1, 1), dt.date(2000, 2, 29), dt.date(2030, 12, 31), *(dt.date(2024, 7, day) for day in range(1, 9))]

_CODES = ("999", "inf", "k.A.")
_TEXTS = ("x", "it's", "back\\slash", "new\nline", "é", "'); DROP TABLE cells; --")
_LABELS = ("1", "2.0", "0.5", "inf", "-0")
SCHEMA = Schema(
    (
        NumericFeature("double", LOW, HIGH, missing_as=5.5, missing_codes=_CODES),
        NumericFeature("Double Dropped", LOW, HIGH),
        NumericFeature("single", 0, 1, missing_codes=("0.5",)),
        NumericFeature("whole", 0, 99, whole=True, missing_as=50, missing_codes=("7", "9007199254740993")),
        NumericFeature("rounded", -1, 3.5, whole=True),
        NumericFeature("decimal", 0, 99.5, missing_codes=("9.9",)),
        CategoricalFeature("text", _TEXTS, "x", "é", (), ("k.A.",), (("y", "x"),)),
        CategoricalFeature('te"xt`', ("x", "\\", "NA", "x x", "🙂")),
        CategoricalFeature("labels", _LABELS, unknown_as="1", missing_as="inf", groups=(("17", "2.0"),)),
        CategoricalFeature("whole labels", ("1", "2.0", "7"), missing_codes=("50.0",)),
        CategoricalFeature("decimal labels", ("9.9", "0", "-0.001"), unknown_as="0"),
        CategoricalFeature("boolean", ("false", "true"), missing_as="true"),
        DateFeature("year", 1900, 2030, part="year", missing_codes=("1900-01-01", "-")),
        DateFeature("month", 2, 11, part="month", missing_as=3),
        DateFeature("weekday", 1, 7, part="weekday"),
        DateFeature("days", 0, 9000, part="days", since="2000-01-01", missing_as=17),
    ),
    ClassTarget("class", ("no", "yes"), groups=(("maybe", "no"),)),
)


def _single(number: float | None) -> float | None:
    """As a number of 32 bits."""
    return number if number is None or not math.isfinite(number) else float(np.float32(min(max(number, -3e38), 3e38)))


_VALUES = {
    "double": (pa.float64(), NUMBERS),
    "Double Dropped": (pa.float64(), NUMBERS),
    "single": (pa.float32(), [*map(_single, NUMBERS)]),
    "whole": (pa.int64(), WHOLE),
    "rounded": (pa.float64(), NUMBERS + [-1.5, -0.5, 0.49999999999999994, 3.4999999999999996, 3.5]),
    "decimal": (pa.decimal128(12, 3), DECIMALS),
    "text": (pa.string(), TEXTS),
    'te"xt`': (pa.string(), TEXTS),
    "labels": (pa.float64(), NUMBERS),
    "whole labels": (pa.int64(), WHOLE),
    "decimal labels": (pa.decimal128(12, 3), DECIMALS),
    "boolean": (pa.bool_(), BOOLEANS),
    "year": (pa.date32(), DAYS),
    "month": (pa.date32(), DAYS),
    "weekday": (pa.date32(), DAYS),
    "days": (pa.date32(), DAYS),
    "class": (pa.string(), ["no", "yes", "maybe", " yes ", None, "Yes"]),
}
N_ROWS = max(len(values) for _, values in _VALUES.values())


def cells() -> pa.Table:
    """Every value of every column at least once."""
    columns = {name: pa.array(list(islice(cycle(values), N_ROWS)), type=kind) for name, (kind, values) in _VALUES.items()}
    return pa.table(columns)


def shuffled(n_rows: int, seed: int) -> pa.Table:
    """Rows of such cells, drawn column by column."""
    rng, table = np.random.default_rng(seed), cells()
    draw = {name: table.column(name).take(pa.array(rng.integers(0, table.num_rows, n_rows))) for name in table.column_names}
    return pa.table(draw)
