"""How time and memory of a fit grow with rows, columns, categories and depth, one of them at a time.

Random rows of a target that depends on the first column. Seconds are of the processor, for a fit and what it bins; memory is the
most that NumPy and Python hold at once beyond the rows. An exponent is that of the step from the line before: 1 is proportional.
"""

from __future__ import annotations

import math
import tracemalloc
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.arguments import add_repeats
from dpviz.cli import console
from dpviz.learners import FitRequest
from dpviz.randomness import generator
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, Schema

if TYPE_CHECKING:
    import pandas as pd

LEARNERS = ("pf-tree", "s-gbdt", "smooth-forest")
EPSILON = 1.0


@dataclass(frozen=True)
class Size:
    """Of a table and of the trees grown on it; no categories: columns of numbers."""

    rows: int = 100_000
    columns: int = 10
    categories: int = 0
    depth: int = 4


USUAL = Size()
AXES: dict[str, tuple[int, ...]] = {
    "rows": (10_000, 100_000, 1_000_000, 10_000_000, 20_000_000),
    "columns": (5, 20, 50, 100, 200, 500),
    "categories": (2, 10, 50, 200, 1000, 5000),
    "depth": (1, 2, 4, 6, 8, 10, 12),
}


def add_arguments(parser: ArgumentParser) -> None:
    """How often, and how large."""
    add_repeats(parser, 3, "fits to take the median of; one at more than a million rows")
    parser.add_argument("--most", type=float, default=math.inf, metavar="N", help="no axis beyond this number (default: all)")


def measure(args: Namespace) -> pd.DataFrame:
    """Columns learner, axis, the four of `Size`, seconds, megabytes, and the exponents of both from the line before."""
    import pandas as pd

    lines = []
    for axis, values in AXES.items():
        for value in (value for value in values if value <= args.most):
            size = replace(USUAL, **{axis: value})
            console.status(f"Measuring {value:,} {axis}")
            for name, seconds, megabytes in _measurements(size, args.repeats if size.rows <= 1_000_000 else 1):
                lines.append({"learner": name, "axis": axis, **asdict(size), "seconds": seconds, "megabytes": megabytes})
    found = pd.DataFrame(lines).sort_values(["axis", "learner"], kind="stable", ignore_index=True)
    places = np.log([row[row["axis"]] for row in found.to_dict("records")])
    step = pd.Series(places).groupby([found.axis, found.learner]).diff()
    for name in ("seconds", "megabytes"):
        found[f"{name}_exponent"] = np.log(found[name]).groupby([found.axis, found.learner]).diff() / step
    return found


def _measurements(size: Size, repeats: int) -> Iterator[tuple[str, float, float]]:
    data = rows_of(size)
    for name in LEARNERS:
        fit = FitRequest.of(name, epsilon=EPSILON, depth=size.depth, max_depth=size.depth, seed=0).fit
        tracemalloc.start()
        fit(_fresh(data))
        megabytes = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        times = []
        for _ in range(repeats):
            fresh, start = _fresh(data), process_time()
            fit(fresh)
            times.append(process_time() - start)
        yield name, median(times), megabytes


def _fresh(data: EncodedDataset) -> EncodedDataset:
    """The same rows with nothing remembered."""
    return EncodedDataset(data.schema, data.columns, data.target)


def rows_of(size: Size) -> EncodedDataset:
    """Random rows of this size."""
    rng = generator(0)
    names = [f"x{place + 1}" for place in range(size.columns)]
    kinds: tuple[Feature, ...]
    columns: tuple[np.ndarray, ...]
    if size.categories:
        kinds = tuple(CategoricalFeature(name, tuple(map(str, range(size.categories)))) for name in names)
        columns = tuple(rng.integers(0, size.categories, size.rows).astype(np.int32) for _ in names)
    else:
        kinds = tuple(NumericFeature(name, 0, 1) for name in names)
        columns = tuple(rng.random(size.rows) for _ in names)
    share = columns[0] / (size.categories or 1)
    target = (rng.random(size.rows) < 0.2 + 0.6 * share).astype(np.uint8)
    return EncodedDataset(Schema(kinds, ClassTarget("y", ("no", "yes")), n_public=size.rows), columns, target)
