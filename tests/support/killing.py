"""Whoever counts rows that are not in memory is killed, or Spark, or an executor: `python -m tests.support.killing WHAT ...`.

`files FOLDER KILLS`: a child counts what Python does and sends itself SIGKILL at a chosen count, as `tests.support.crashing` does
it; told is what was left of a Parquet and of a DuckDB file. `spark FOLDER STEP`: killed at this step; told is what stood on the
disk at every step. `jvm FOLDER STEP STEP`: Spark is killed before each of these steps, then it is counted once more; told is what
the client saw and what stands on the disk. `executors FOLDER`: two executors, processes whose Python has NumPy and Arrow and no
dpviz; told is whether the tree is that of memory, then the same where either is killed before a step, at each once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import venv
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

import dpviz
from dpviz.errors import TableError
from dpviz.io import worker
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.crashing import answer_of_child, counting, in_children
from tests.support.servers import SPARK

SCHEMA = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=600)
CANARY = "zebra-4711"


def rows() -> pa.Table:
    """Rows with a key that can be recognised wherever it turns up."""
    columns = {"x": [k % 97 / 97 for k in range(600)], "y": ["a" if k % 3 else "b" for k in range(600)]}
    return pa.table(columns | {"id": [f"{CANARY}-{k:03d}" for k in range(600)]})


def tree_of(found: Any) -> str:
    with found:
        return dpviz.fit("pf-tree", found, epsilon=1.0, depth=2, seed=1).to_json()


def count(address: str) -> str:
    """A digest for the register and a tree."""
    found = dpviz.open_table(f"{address}&order=id", SCHEMA)
    assert found.identity
    return tree_of(found)


def kill() -> None:
    signal.raise_signal(signal.SIGKILL)


def killed_at(step: int) -> Callable[[], None]:
    """Called so many times, it kills."""
    left = iter(range(step - 1, -1, -1))
    return lambda: None if next(left) else kill()


# --- files


def killed(work: Callable[[], Any], temporary: Path, kills: int) -> dict[str, int]:
    """Kills at places all over the work: how many there were, and how many files or folders were left after any."""

    def at(event: int) -> None:
        strike = killed_at(event)
        sys.setprofile(lambda *_: strike())
        work()

    events, facts = sum(answer_of_child(partial(counting, work, None))), {"kills": 0, "files": 0, "folders": 0}
    for number in range(kills):
        (code,) = in_children(partial(at, 1 + events * number // kills))
        left = [path.is_dir() for path in temporary.rglob("*")]
        facts["kills"] += code == -signal.SIGKILL
        facts["files"] = max(facts["files"], left.count(False))
        facts["folders"] = max(facts["folders"], left.count(True))
    return facts


def in_files(folder: Path, kills: int) -> None:
    temporary = folder / "temporary"
    temporary.mkdir(mode=0o700)
    tempfile.tempdir = str(temporary)
    given = rows()
    parquet.write_table(given, folder / "rows.parquet")
    with duckdb.connect(str(folder / "rows.duckdb")) as base:
        base.execute("CREATE TABLE rows AS SELECT * FROM given")
    worker.end()
    for work in (
        lambda: tree_of(dpviz.encode_large(folder / "rows.parquet", SCHEMA)),
        lambda: tree_of(dpviz.open_table(f"duckdb:///{folder / 'rows.duckdb'}?table=rows", SCHEMA)),
    ):
        print(json.dumps(killed(work, temporary, kills)))


# --- Spark


def on_disk(folder: Path) -> tuple[int, bool]:
    """(bytes, whether a cell can be read among them): what a kill of Spark leaves."""
    found = list[bytes]()
    for path in folder.rglob("*"):
        with suppress(OSError):  # a folder, or gone by now
            found.append(path.read_bytes())
    return sum(map(len, found)), any(CANARY.encode() in content for content in found)


def configure(folder: Path, master: str = "local[1]", partitions: int = 1) -> None:
    """Spark works there, packs nothing, and finds the rows as the table `given`."""
    settings = {
        **SPARK,
        "spark.master": master,
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.shuffle.compress": "false",
        "spark.executor.memory": "1g",
        "spark.local.dir": folder / "local",
        "spark.sql.warehouse.dir": folder / "warehouse",
    }
    (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    parquet.write_table(rows(), folder / "rows.parquet")
    os.environ["SPARK_CONF_DIR"] = str(folder)
    from dpviz.rows.spark import SparkTable

    schema = SparkTable.schema

    def with_table(session: Any, table: Any) -> Any:
        session.session.sql(f"CREATE TABLE IF NOT EXISTS given USING parquet LOCATION '{folder}/rows.parquet'")
        return schema(session, table)

    SparkTable.schema = with_table  # type: ignore[method-assign]


def around(before: Callable[[], Any], after: Callable[[], Any] = lambda: None) -> None:
    """Call these at every step."""

    def stepped(own: Callable[..., Any]) -> Callable[..., Any]:
        def step(session: Any, *given: Any, **named: Any) -> Any:
            before()
            answer = own(session, *given, **named)
            after()
            return answer

        return step

    from dpviz.rows.spark import SparkSource

    for name in ("map_batches", "sum_batches"):
        setattr(SparkSource, name, stepped(getattr(SparkSource, name)))


def in_spark(folder: Path, step: int) -> None:
    seen = list[tuple[int, bool]]()

    def look() -> None:
        seen.append(on_disk(folder / "local"))
        if len(seen) == step:
            print(json.dumps(seen), flush=True)
            kill()

    configure(folder)
    around(lambda: None, look)
    count("spark:///?table=given")


def killed_spark(folder: Path, steps: Sequence[int]) -> None:
    left = list[int]()

    def strike() -> None:
        from pyspark import SparkContext

        left[0] -= 1
        if left[0] == 0:
            spark = SparkContext._gateway.proc
            spark.kill()
            spark.wait()

    configure(folder)
    around(strike)
    for step in steps:
        left[:] = [step]
        try:
            count("spark:///?table=given")
        except TableError as error:
            print(json.dumps([error.code, str(error), *on_disk(folder / "local")]), flush=True)
    left[:] = [0]
    count("spark:///?table=given")
    print(json.dumps(-left[0]), flush=True)


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
    import pyspark

    folder.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (folder / part.name).symlink_to(part)
    return folder


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


def on_executors(folder: Path) -> None:
    from pyspark.sql import SparkSession

    configure(folder, "local-cluster[2,1,1024]", 4)
    os.environ |= {"PYSPARK_PYTHON": str(bare_python(folder / "bare")), "SPARK_HOME": str(own_home(folder / "spark"))}
    os.environ.pop("PYTHONPATH", None)
    wanted = tree_of(dpviz.encode_large(folder / "rows.parquet", SCHEMA))
    session = SparkSession.builder.appName("dpviz tests").getOrCreate()
    given = session.read.parquet(str(folder / "rows.parquet"))
    found = given.select("id").limit(1).mapInArrow(has_dpviz, "found boolean").collect()
    steps, strikes = list[None](), [(0, 0)]  # before the first step nothing is killed

    def strike() -> None:
        steps.append(None)
        at, which = strikes[0]
        if len(steps) == at:
            running = executors_of(session)
            os.kill(running[which % len(running)], signal.SIGKILL)

    around(strike)
    n_steps = 0
    while strikes:
        steps.clear()
        is_same = tree_of(dpviz.open_table("spark:///?table=given&order=id", SCHEMA)) == wanted
        if not n_steps:
            n_steps = len(steps)
            strikes += [(at, which) for at in range(1, n_steps + 1) for which in (0, 1)]
        print(json.dumps({"is_same": is_same, "steps": len(steps)}), flush=True)
        del strikes[0]
    kept = session.sparkContext._jsc.getPersistentRDDs().size()
    print(json.dumps({"has_dpviz": bool(found[0][0]), "steps": n_steps, "kept": kept}), flush=True)
    session.stop()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["files", folder, kills]:
            in_files(Path(folder), int(kills))
        case ["spark", folder, step]:
            in_spark(Path(folder), int(step))
        case ["jvm", folder, *steps]:
            killed_spark(Path(folder), list(map(int, steps)))
        case ["executors", folder]:
            on_executors(Path(folder))
