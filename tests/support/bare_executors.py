"""Counts on executors in processes of their own: `python -m tests.support.bare_executors FOLDER [EXECUTORS [ROWS [PARTS...]]]`.

Their Python has NumPy and Arrow, and no dpviz. Told are whether the tree is that of memory and what the executors have;
with a number of rows also seconds and bytes that come to the driver, for each number of parts. `FOLDER killed` kills an executor
before every step of a fit, one after the other, and tells whether the tree of each was that of memory.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import venv
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyspark
from pyarrow import parquet

import dpviz
from dpviz.rows.spark import SparkSource, SparkTable
from dpviz.table.schema import ClassTarget, NumericFeature, Schema


def bare_python(folder: Path) -> Path:
    """A Python that has NumPy and Arrow alone."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    theirs = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs", "pyarrow", "pyarrow.libs"):
        if (theirs / name).exists():
            (site / name).symlink_to(theirs / name)
    return folder / "bin/python"


def own_home(folder: Path) -> Path:
    """A home of Spark in which its workers may write."""
    folder.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (folder / part.name).symlink_to(part)
    return folder


def session_of(folder: Path, executors: int) -> Any:
    """A cluster of this many executors, each a process."""
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": str(bare_python(folder / "bare")), "SPARK_HOME": str(own_home(folder / "spark"))}
    os.environ.pop("PYTHONPATH", None)
    asked = SparkSession.builder.master(f"local-cluster[{executors},1,1024]").appName("dpviz tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "ERROR",
    }
    for name, value in settings.items():
        asked = asked.config(name, value)
    return asked.getOrCreate()


def has_dpviz(batches: Any) -> Any:
    """Whether a Python finds dpviz before it is sent."""
    from importlib.util import find_spec

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"found": [find_spec("dpviz") is not None]})


def executors_of(session: Any) -> list[int]:
    """Processes of its executors."""
    mine, found = f"--app-id {session.sparkContext.applicationId}", list[int]()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            if mine in path.read_bytes().replace(b"\0", b" ").decode() and path.parent.name != str(os.getpid()):
                found.append(int(path.parent.name))
    return found


def result_bytes(session: Any) -> int:
    """What tasks sent to the driver so far, with what Spark itself says of each."""
    jvm, nothing = session.sparkContext._jvm, session.sparkContext._jvm.java.util.ArrayList()
    numbers = session.sparkContext._gateway.new_array(jvm.double, 0)
    stages = session.sparkContext._jsc.sc().statusStore().stageList(nothing, False, False, numbers, nothing)
    return sum(stages.apply(place).resultSize() for place in range(stages.size()))


def table(folder: Path, n_rows: int) -> Schema:
    """A file of random rows, and what is public of them."""
    rng = np.random.default_rng(1)
    columns = {f"x{place}": rng.normal(size=n_rows) for place in range(14)}
    label = np.where(columns["x0"] + columns["x1"] ** 2 + rng.normal(size=n_rows) > 1, "yes", "no")
    given = pa.table({**columns, "y": label, "id": np.arange(n_rows)})
    parquet.write_table(given, folder / "rows.parquet", row_group_size=max(n_rows // 8, 1))
    return Schema(tuple(NumericFeature(name, -3.0, 3.0) for name in columns), ClassTarget("y", ("no", "yes")), n_public=n_rows)


#: Of a fit.
ASKED: dict[str, Any] = {"epsilon": 1.0, "seed": 3}
ADDRESS = "spark:///?table=given&order=id"


def begun(folder: Path, executors: int) -> Any:
    """A session that finds the rows as the table `given`."""
    session = session_of(folder, executors)
    session.sql(f"CREATE TABLE given USING parquet LOCATION '{folder / 'rows.parquet'}'")
    return session


def main(folder: Path, executors: int = 2, n_rows: int = 20_000, *n_parts: int) -> None:
    """Train here and there."""
    schema, session = table(folder, n_rows), begun(folder, executors)
    found = session.table("given").select("id").limit(1).mapInArrow(has_dpviz, "found boolean").collect()
    with dpviz.encode_large(folder / "rows.parquet", schema) as rows:
        wanted = dpviz.fit("pf-tree", rows, **ASKED).to_json()
    counts, asked_for = list[int](), list[int]()
    sum_batches = SparkSource.sum_batches

    def counting(self: Any, function: Any) -> Any:
        counts.append((cells := sum_batches(self, function)).nbytes)
        return cells

    def in_parts(self: Any, *about: Any) -> Any:
        self.session.conf.set("spark.sql.shuffle.partitions", asked_for[-1])
        self.session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", False)
        return frame(self, *about)

    SparkSource.sum_batches = counting  # type: ignore[method-assign]
    frame, SparkTable.frame = SparkTable.frame, in_parts  # type: ignore[method-assign]
    for number in n_parts or (4,):
        asked_for.append(number)
        counts.clear()
        before, start = result_bytes(session), time.monotonic()
        with dpviz.open_table(ADDRESS, schema) as rows:
            told = {"is_same": dpviz.fit("pf-tree", rows, **ASKED).to_json() == wanted}
            n_rows_of_parts = len(rows._starts)
        told |= {"has_dpviz": bool(found[0][0]), "executors": executors}
        if len(sys.argv) > 3:
            told |= {"rows": n_rows, "seconds": round(time.monotonic() - start, 1), "parts": n_rows_of_parts}
            told |= {"bytes of counts": sum(counts), "bytes of tasks": result_bytes(session) - before}
        print(json.dumps(told), flush=True)
    session.stop()


def killed(folder: Path) -> None:
    """An executor is killed before a step, at each once."""
    schema, session = table(folder, 5000), begun(folder, 2)
    with dpviz.encode_large(folder / "rows.parquet", schema) as rows:
        wanted = dpviz.fit("pf-tree", rows, **ASKED).to_json()
    steps, strikes = list[int](), [0]

    def struck(own: Any) -> Any:
        def step(self: Any, *given: Any) -> Any:
            steps.append(len(steps) + 1)
            if steps[-1] == strikes[0]:
                os.kill(executors_of(session)[0], signal.SIGKILL)
            return own(self, *given)

        return step

    for name in ("map_batches", "sum_batches"):
        setattr(SparkSource, name, struck(getattr(SparkSource, name)))
    n_steps = 0
    while strikes[0] <= n_steps:
        steps.clear()
        with dpviz.open_table(ADDRESS, schema) as rows:
            is_same = dpviz.fit("pf-tree", rows, **ASKED).to_json() == wanted
        n_steps = n_steps or len(steps)
        print(json.dumps({"killed at": strikes[0], "is_same": is_same, "steps": len(steps)}), flush=True)
        strikes[0] += 1
    kept = session.sparkContext._jsc.getPersistentRDDs().size()
    print(json.dumps({"steps": n_steps, "kept": kept}), flush=True)
    session.stop()


if __name__ == "__main__":
    if sys.argv[2:] == ["killed"]:
        killed(Path(sys.argv[1]))
    else:
        main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
