"""Processor seconds of each question that dpviz puts to DuckDB, PostgreSQL and Spark, on servers that it starts for itself.

Of PostgreSQL its server counts, of Spark its Java with one thread, of DuckDB this process. What is not installed is left out.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import dpviz
from benchmarks.arguments import add_repeats
from benchmarks.measured import means
from dpviz.commands import console
from dpviz.engines.opening import read_rows
from dpviz.evaluation.compare.metrics import answered_by_leaf
from dpviz.models.tree import Leaf, Tree
from dpviz.randomness import generator
from dpviz.table.candidates import multiscale_grid
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.source_nodes import Place

if TYPE_CHECKING:
    import pandas as pd

FEATURES, DEPTH, ROWS, ROUNDS = 14, 4, 200_000, 3
ENGINE_NAMES = ("duckdb", "postgresql", "spark")


def add_arguments(parser: ArgumentParser) -> None:
    """How many rows, and how often."""
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N", help=f"rows of the table (default: {ROWS:,})")
    add_repeats(parser, ROUNDS, "rounds, each with a process and a server of its own")


def measure(args: Namespace) -> pd.DataFrame:
    """Columns engine, rows, step, metric ("seconds", of the processor), mean, error, n: over rounds."""
    import pandas as pd

    lines = []
    for name in ENGINE_NAMES:
        console.doing(f"Measuring {name}")
        for place, found in enumerate(_rounds(name, args)):
            lines += [
                {"engine": name, "rows": args.rows, "step": step, "round": place, "seconds": seconds}
                for step, seconds in found.items()
            ]
    return means(pd.DataFrame(lines), ("engine", "rows", "step"), ["seconds"], over="round")


def _rounds(name: str, args: Namespace) -> Iterator[dict[str, float]]:
    """What each round cost, in a process that has compiled nothing yet."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as alone:
        for _ in range(args.repeats):
            round_costs = alone.submit(_costs_if_installed, name, args.rows).result()
            if not round_costs:
                return
            yield round_costs


def _costs_if_installed(name: str, n_rows: int) -> dict[str, float]:
    try:
        return costs(name, n_rows)
    except pytest.skip.Exception as reason:
        console.warn(str(reason))
        return {}


def costs(name: str, n_rows: int) -> dict[str, float]:
    """Step -> processor seconds of the engine."""
    from tests.support.servers import ENGINES, InPostgreSQL

    with TemporaryDirectory(prefix="dpviz-benchmark-") as folder, ENGINES[name](Path(folder)) as engine:
        address = engine.fill("cost", _rows(n_rows))
        server = int((engine.data / "postmaster.pid").read_text().split()[0]) if isinstance(engine, InPostgreSQL) else os.getpid()
        steps = [("", _seconds(server, is_own=name == "duckdb"))]
        for step in _steps(address, n_rows):
            steps.append((step, _seconds(server, is_own=name == "duckdb")))
    return {step: after - before for (_, before), (step, after) in pairwise(steps) if step}


def _steps(address: str, n_rows: int) -> Iterator[str]:
    """Does one thing after another, and names each when it is done; nothing is told of what has no name."""
    schema, grid = _schema(n_rows), multiscale_grid(_schema(n_rows))
    parts = generator(1).integers(0, 3, n_rows).astype(np.uint8)
    with dpviz.open_table(address, schema) as rows:
        yield ""
        rows.root(grid)
        assert rows.read_and_used == (n_rows, n_rows)
        yield "encode, once"
        rows.leaf_counts(Leaf(0), parts, 2)
        yield "join the coins, count one leaf"
        places = [Place()]
        for level in range(DEPTH):
            rows.count_level(grid, None, places, "bins")
            yield f"level {level + 1}"
            if level % 2 == 0:
                rows.count_level(grid, None, places, "pairs")
                yield f"levels {level + 1} and {level + 2} together"
            left = np.arange(grid.features[level].n_bins) < 20
            places = [Place(place, level, left, side) for place in places for side in (True, False)]
        assert rows.identity
        yield "digest for the register"
    with dpviz.open_table(address, schema) as rows:
        tree = dpviz.fit("pf-tree", rows, epsilon=5, depth=DEPTH, seed=1).model
    yield f"a tree of depth {DEPTH}, all in all"
    assert isinstance(tree, Tree)
    with dpviz.open_table(address, schema) as rows:
        answered_by_leaf(tree, rows)
    yield f"`dpviz evaluate`, a tree of depth {DEPTH}"
    with dpviz.open_table(address, _schema(n_rows, of_number=True)) as rows:
        dpviz.fit("pf-tree", rows, epsilon=5, depth=DEPTH, seed=1)
    yield f"a tree of numbers of depth {DEPTH}, all in all"
    assert sum(batch.num_rows for _, batch in read_rows(f"{address}&order=id", schema.feature_names)) == n_rows
    yield "read the rows for `dpviz predict`"


def _rows(n_rows: int) -> pa.Table:
    x = generator(1).normal(size=(FEATURES + 1, n_rows))
    number = x[0] + x[1] ** 2 + x[-1]
    named = {f"x{place}": column for place, column in enumerate(x[:-1])}
    return pa.table({**named, "z": number, "y": np.where(number > 1, "yes", "no"), "id": np.arange(n_rows)})


def _schema(n_rows: int, *, of_number: bool = False) -> Schema:
    features = tuple(NumericFeature(f"x{place}", -2.0, 2.0) for place in range(FEATURES))
    return Schema(features, NumericTarget("z", -4, 12) if of_number else ClassTarget("y", ("no", "yes")), n_public=n_rows)


def _seconds(pid: int, *, is_own: bool) -> float:
    """Processor seconds of a process, or of all that it started, those that have ended included."""
    own = sum(_ticks(pid)[:2])
    if is_own:
        return own / os.sysconf("SC_CLK_TCK")
    waiting, total = [pid], -own
    while waiting:
        one = waiting.pop()
        total += sum(_ticks(one))
        waiting += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
    return total / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> list[int]:
    """Of its own code, of the system for it, and of both for its children that have ended."""
    return list(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
