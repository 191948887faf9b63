"""Killed while it counts rows that are not in memory: `python -m tests.support.killing FOLDER KILLS`; prints what was left.

As `tests.support.crashing` does it: a child counts what Python does and sends itself SIGKILL at a chosen count.
"""

import json
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
from pyarrow import parquet

import dpviz
from dpviz.io import worker
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.crashing import counting, in_child

SCHEMA = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=1000)
ASKED = {"epsilon": 1.0, "max_depth": 2, "depth": 2, "seed": 1}


def out_of_core(folder: Path) -> None:
    with dpviz.encode_large(folder / "rows.parquet", SCHEMA) as rows:
        dpviz.fit("pf-tree", rows, **ASKED)


def in_engine(folder: Path) -> None:
    with dpviz.open_table(f"duckdb:///{folder / 'rows.duckdb'}?table=rows", SCHEMA) as rows:
        dpviz.fit("pf-tree", rows, **ASKED)


def killed(work: Callable[[Path], None], folder: Path, temporary: Path, kills: int) -> dict[str, int]:
    """Kills at places all over the work: how many there were, and how many files or bytes were left after any."""
    told = folder / "events"

    def tell() -> int:
        told.write_text(json.dumps(sum(counting(lambda: work(folder), None))))
        return 0

    def at(event: int) -> int:
        left = event

        def note(frame, kind, argument):
            nonlocal left
            left -= 1
            if left <= 0:
                signal.raise_signal(signal.SIGKILL)

        sys.setprofile(note)
        work(folder)
        return 0

    assert in_child(tell) == 0
    events, facts = json.loads(told.read_text()), {"kills": 0, "files": 0, "folders": 0}
    for number in range(kills):
        code = in_child(lambda number=number: at(1 + events * number // kills))
        facts["kills"] += code == -signal.SIGKILL
        facts["files"] = max(facts["files"], sum(path.is_file() for path in temporary.rglob("*")))
        facts["folders"] = max(facts["folders"], sum(path.is_dir() for path in temporary.rglob("*")))
    return facts


if __name__ == "__main__":
    place = Path(sys.argv[1])
    temporary = place / "temporary"
    temporary.mkdir(mode=0o700)
    tempfile.tempdir = str(temporary)
    given = pa.table({"x": [k % 97 / 97 for k in range(600)], "y": ["a" if k % 3 else "b" for k in range(600)]})
    parquet.write_table(given, place / "rows.parquet")
    with duckdb.connect(str(place / "rows.duckdb")) as base:
        base.execute("CREATE TABLE rows AS SELECT * FROM given")
    worker.end()
    works = {"out of core": out_of_core, "in an engine": in_engine}
    print(json.dumps({name: killed(work, place, temporary, int(sys.argv[2])) for name, work in works.items()}))
