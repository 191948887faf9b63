"""Small files that would take a lot of memory, of every Arrow type and part of a workbook: what a process takes that reads them.

Each is read, at once and in pieces, by a process and the one that it sends the file to: together they may grow by as much as
`limits.py` allows for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpviz.errors import TableError
from dpviz.io.limits import MEMORY_PER_BYTE
from dpviz.io.tables.read import read_table
from tests.support.bombs import (
    AT_ONCE,
    BOMBS,
    IN_PIECES,
    MAX_BYTES,
    WORKBOOKS,
    needs_linux,
    of_workbook,
    read_by_a_process,
    taken_by_two_numbers,
)

#: One of each kind of file is asked for with every change.
FAST = ("parquet fixed-size binary", "arrow dictionary", "xlsx one shared text, many cells")
CASES = [pytest.param(name, marks=[] if name in FAST else pytest.mark.verify) for name in (*BOMBS, *WORKBOOKS)]


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_small_file_takes_no_more_memory_than_the_limit_allows(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"bomb.{name.split()[0]}"
    is_workbook = name in WORKBOOKS
    make, expected = WORKBOOKS[name] if is_workbook else (BOMBS[name], "")
    assert path.write_bytes(make()) < MAX_BYTES
    ways = (AT_ONCE,) if is_workbook or name in FAST else (AT_ONCE, IN_PIECES)
    outcomes, peak = read_by_a_process(path, ways)
    assert peak - taken_by_two_numbers(path.suffix, ways) < MEMORY_PER_BYTE * MAX_BYTES
    assert set(outcomes) <= ({expected} if is_workbook else {"read", "too-many-bytes", "too-many-rows"})


def test_shared_texts_are_charged_before_they_are_read() -> None:
    with pytest.raises(TableError) as refused:
        read_table(of_workbook(texts=b"<si/>" * 100_000), max_bytes=1_000_000)
    assert refused.value.code == "too-many-bytes"
