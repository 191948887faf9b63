"""Whoever counts rows of PostgreSQL or Spark is killed, or Spark itself.

`python -m tests.support.killing_clients postgresql ADDRESS` tells how many times something is asked while the rows there are
read; then, for every number of such a step on a line of its input, a child is killed at it, and for 0 while it waits for a
lock; told is how the child ended. `... spark FOLDER STEP` counts the rows of a file there and is killed at that step; told is
what stood on the disk at every step. `... jvm FOLDER STEP STEP` kills Spark before each of these steps, one after the other, then
counts once more; told is what the client saw, what stands on the disk, and a tree of the same rows at last.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa

import dpviz
from dpviz.errors import EngineError
from dpviz.rows import databases
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.crashing import in_child

SCHEMA = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=600)
CANARY = "zebra-4711"
WAITING = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'dpviz' AND wait_event_type = 'Lock'"
#: A cell that Spark stores can be seen: nothing of it is packed.
SETTINGS = """
spark.master local[1]
spark.ui.enabled false
spark.sql.shuffle.partitions 1
spark.shuffle.compress false
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""


def rows() -> pa.Table:
    """Rows with a key that can be recognised wherever it turns up."""
    columns = {"x": [k % 97 / 97 for k in range(600)], "y": ["a" if k % 3 else "b" for k in range(600)]}
    return pa.table(columns | {"id": [f"{CANARY}-{k:03d}" for k in range(600)]})


def count(address: str) -> None:
    """A digest for the register and a tree."""
    with dpviz.open_table(f"{address}&order=id", SCHEMA) as found:
        assert found.identity
        dpviz.fit("pf-tree", found, epsilon=1.0, depth=2, seed=1)


def kill() -> None:
    signal.raise_signal(signal.SIGKILL)


# --- PostgreSQL


def stepping(step: Callable[[], None]) -> None:
    """Call `step` before and after every statement of this process."""
    asked = databases.asked

    def between(ask: Callable[[], Any], cancel: Callable[[], None]) -> Any:
        step()
        answer = asked(ask, cancel)
        step()
        return answer

    databases.asked = between


def killed_at(address: str, step: int) -> int:
    """Begin to count, and end there."""
    left = iter(range(step - 1, -1, -1))
    stepping(lambda: None if next(left) else kill())
    count(address)
    return 0


def killed_while_it_waits(address: str) -> int:
    """Somebody else has locked the table."""

    def watch() -> None:
        from adbc_driver_postgresql import dbapi

        base = dbapi.connect(f"host={os.environ['PGHOST']} user=dpviz dbname=postgres", autocommit=True)
        cursor = base.cursor()
        while not cursor.execute(WAITING).fetchone():
            pass
        os.kill(os.getpid(), signal.SIGKILL)

    Thread(target=watch, daemon=True).start()
    count(address)
    return 0


def in_postgresql(address: str) -> None:
    count(address)  # everything is imported and warm
    told, tell = os.pipe()

    def steps() -> int:
        taken = list[None]()
        stepping(lambda: taken.append(None))
        count(address)
        os.write(tell, str(len(taken)).encode())
        return 0

    assert in_child(steps) == 0
    print(os.read(told, 20).decode(), flush=True)
    for step in map(int, sys.stdin):
        print(in_child(lambda step=step: killed_at(address, step) if step else killed_while_it_waits(address)), flush=True)


# --- Spark

#: Where a step ends.
STEPS = ("map_batches", "sum_batches")


def on_disk(folder: Path) -> tuple[int, bool]:
    """(bytes, whether a cell can be read among them): what a kill of Spark leaves."""
    found = list[bytes]()
    for path in folder.rglob("*"):
        with suppress(OSError):  # a folder, or gone by now
            found.append(path.read_bytes())
    return sum(map(len, found)), any(CANARY.encode() in content for content in found)


def configure(folder: Path) -> None:
    """Spark works there, and finds the rows as the table `given`."""
    (folder / "spark-defaults.conf").write_text(f"{SETTINGS}spark.local.dir {folder}/local\n")
    os.environ["SPARK_CONF_DIR"] = str(folder)
    from dpviz.rows.spark import SparkTable

    schema = SparkTable.schema

    def with_table(session: Any, table: Any) -> Any:
        session.session.sql(f"CREATE TABLE IF NOT EXISTS given USING parquet LOCATION '{folder}/rows.parquet'")
        return schema(session, table)

    SparkTable.schema = with_table  # type: ignore[method-assign]


def around(before: Callable[[], None], after: Callable[[], None]) -> None:
    """Call these at every step."""

    def stepped(own: Callable[..., Any]) -> Callable[..., Any]:
        def stepping(session: Any, *given: Any, **named: Any) -> Any:
            before()
            answer = own(session, *given, **named)
            after()
            return answer

        return stepping

    from dpviz.rows.spark import SparkSource

    for name in STEPS:
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
    around(strike, lambda: None)
    for step in steps:
        left[:] = [step]
        try:
            count("spark:///?table=given")
        except EngineError as error:
            print(json.dumps([error.code, str(error), *on_disk(folder / "local")]), flush=True)
    left[:] = [0]
    count("spark:///?table=given")
    print(json.dumps(-left[0]), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["postgresql", address]:
            in_postgresql(address)
        case ["jvm", folder, *steps]:
            killed_spark(Path(folder), list(map(int, steps)))
        case [_, folder, step]:
            in_spark(Path(folder), int(step))
