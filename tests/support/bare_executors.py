"""Counts on executors in processes of their own: `python -m tests.support.bare_executors FOLDER [EXECUTORS [ROWS]]`.

Their Python has NumPy and Arrow, and no dpviz. Told are whether the tree is that of memory and what the executors have;
with a number of rows also seconds.
"""

from __future__ import annotations

import json
import os
import sys
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyspark
from pyarrow import parquet

import dpviz
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


def main(folder: Path, executors: int = 2, n_rows: int = 20_000) -> None:
    """Train here and there."""
    rng = np.random.default_rng(1)
    columns = {f"x{place}": rng.normal(size=n_rows) for place in range(14)}
    label = np.where(columns["x0"] + columns["x1"] ** 2 + rng.normal(size=n_rows) > 1, "yes", "no")
    given = pa.table({**columns, "y": label, "id": np.arange(n_rows)})
    parquet.write_table(given, folder / "rows.parquet", row_group_size=max(n_rows // 8, 1))
    schema = Schema(tuple(NumericFeature(name, -3.0, 3.0) for name in columns), ClassTarget("y", ("no", "yes")), n_public=n_rows)
    session = session_of(folder, executors)
    session.sql(f"CREATE TABLE given USING parquet LOCATION '{folder / 'rows.parquet'}'")
    found = session.table("given").select("id").limit(1).mapInArrow(has_dpviz, "found boolean").collect()
    asked = {"epsilon": 1.0, "seed": 3}
    with dpviz.encode_large(folder / "rows.parquet", schema) as rows:
        wanted = dpviz.fit("pf-tree", rows, **asked).to_json()
    start = time.monotonic()
    with dpviz.open_table("spark:///?table=given&order=id", schema) as rows:
        told = {"is_same": dpviz.fit("pf-tree", rows, **asked).to_json() == wanted}
    seconds = time.monotonic() - start
    told |= {"has_dpviz": bool(found[0][0]), "executors": executors}
    if len(sys.argv) > 3:
        told |= {"rows": n_rows, "seconds": round(seconds, 1)}
    print(json.dumps(told), flush=True)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
