"""Processor time and anonymous memory of a tree on a Parquet file, beside one Arrow pass that only counts equal-width bins.

Both read the same file in the same batches, in processes of their own that take turns: other work on the machine slows down all
of them alike, and processor seconds leave out what the others use.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from threading import Event, Thread

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpviz
from dpviz.randomness import generator
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

ROOT = Path(__file__).parents[2]
EPSILON = 1.0
#: Turns that both take.
TURNS = 3
#: Bins of the pass that is compared with.
BINS = 64
_AT_ONCE = 1 << 16
_ROWS_OF_A_GROUP = 1 << 20


@dataclass(frozen=True)
class Cost:
    """Of one process: processor seconds of its own code and of the system for it, and the most anonymous memory, in bytes."""

    own: float
    system: float
    memory: int

    @property
    def seconds(self) -> float:
        """All processor seconds."""
        return self.own + self.system


@dataclass(frozen=True)
class Shape:
    """A table of so many rows and numbers, and how deep its tree is."""

    n_rows: int
    features: int = 14
    depth: int = 4


#: The chart shows those of one width and depth; the aims hold for the largest of them.
SHAPES = (
    *map(Shape, (100_000, 1_000_000, 5_000_000, 20_000_000)),
    Shape(20_000_000, depth=8),
    Shape(20_000_000, features=100),
)


@dataclass(frozen=True)
class Measured:
    """What a table cost: one Arrow pass with bincount, encoding into files, and a tree on these."""

    shape: Shape
    reading: Cost
    encoding: Cost
    training: Cost

    @property
    def ratio(self) -> float:
        """Encoding and training, in passes."""
        return (self.encoding.seconds + self.training.seconds) / self.reading.seconds


def schema_of(shape: Shape) -> Schema:
    """Numbers and two classes."""
    features = tuple(NumericFeature(f"x{place}", -4, 4) for place in range(shape.features))
    return Schema(features, ClassTarget("y", ("0", "1")), n_public=shape.n_rows)


def write_rows(path: Path, shape: Shape) -> None:
    """Normal numbers, some beyond the range, and a class that leans on three of them."""
    kinds = pa.schema([*((f"x{place}", pa.float64()) for place in range(shape.features)), ("y", pa.int8())])
    rng = generator(1)
    with pq.ParquetWriter(path, kinds) as file:
        for start in range(0, shape.n_rows, _ROWS_OF_A_GROUP):
            x = rng.normal(size=(shape.features, min(_ROWS_OF_A_GROUP, shape.n_rows - start)))
            y = x[0] + x[1] * x[2] / 2 + rng.normal(size=x.shape[1]) > 0
            file.write_table(pa.table([*x, y.astype(np.int8)], schema=kinds))


def measure(path: Path, shape: Shape, turns: int = TURNS) -> Measured:
    """The median of each cost over the turns."""
    found = [[cost for job in JOBS for cost in _in_a_process(job, path, shape)] for _ in range(turns)]
    return Measured(shape, *(min(costs, key=lambda cost: _from_median(cost, costs)) for costs in zip(*found, strict=True)))


def _from_median(cost: Cost, costs: tuple[Cost, ...]) -> float:
    return abs(cost.seconds - median(other.seconds for other in costs))


def _in_a_process(job: str, path: Path, shape: Shape) -> list[Cost]:
    command = [sys.executable, "-m", "benchmarks.outofcore.measure", job, str(path), *map(str, astuple(shape))]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return [Cost(*cost) for cost in json.loads(done.stdout)]


def _one_pass(path: Path, shape: Shape) -> list[Cost]:
    counts = np.zeros((shape.features, 2 * BINS), dtype=np.int64)
    pa.array([0.0]).to_numpy()  # imports pandas
    with _watched() as costs, pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(_AT_ONCE, [group], use_threads=False):
                target = batch.column("y").to_numpy().view(np.uint8)
                for place in range(shape.features):
                    bins = np.clip((batch.column(place).to_numpy() + 4) * (BINS / 8), 0, BINS - 1).astype(np.uint8)
                    counts[place] += np.bincount(bins * np.uint8(2) + target, minlength=2 * BINS)
    assert counts.sum() == shape.features * shape.n_rows
    return costs


def _tree(path: Path, shape: Shape) -> list[Cost]:
    schema = schema_of(shape)
    dpviz.learner_names()  # imports every learner
    with _watched() as encoding:
        rows = dpviz.encode_large(path, schema)
    with rows, _watched() as training:
        dpviz.fit("pf-tree", rows, epsilon=EPSILON, depth=shape.depth, seed=1)
    return encoding + training


@contextmanager
def _watched() -> Iterator[list[Cost]]:
    """The cost of the block, once it is left."""
    ended, peak, costs = Event(), [_anonymous()], list[Cost]()

    def look() -> None:
        while not ended.wait(0.02):
            peak.append(max(peak.pop(), _anonymous()))

    watcher, before = Thread(target=look), getrusage(RUSAGE_SELF)
    watcher.start()
    try:
        yield costs
    finally:
        after = getrusage(RUSAGE_SELF)  # in microseconds; `os.times` counts hundredths of a second
        ended.set()
        watcher.join()
    costs.append(Cost(after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, peak[0]))


def _anonymous() -> int:
    """Bytes of memory that are no part of a file (RssAnon)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))


JOBS = {"one pass": _one_pass, "tree": _tree}

if __name__ == "__main__":
    print(json.dumps([astuple(cost) for cost in JOBS[sys.argv[1]](Path(sys.argv[2]), Shape(*map(int, sys.argv[3:])))]))
