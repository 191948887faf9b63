"""Limits follow the memory there is, and can be said before anything is read."""

from __future__ import annotations

import pytest

from dpviz.errors import Cancelled, TableError
from dpviz.io import limits
from dpviz.io.tables.read import read_table
from tests.support.table_files import WRITERS, drawn_rows


def test_the_memory_of_a_control_group_counts_where_it_is_less(tmp_path):
    (group := tmp_path / "memory.max").write_text("1000000\n")
    (none := tmp_path / "none").write_text("max\n")
    (huge := tmp_path / "huge").write_text(f"{1 << 62}\n")
    machine = limits.memory(())
    assert limits.memory((group,)) == limits.memory((none, group, huge)) == 1_000_000
    assert limits.memory((none, huge, tmp_path / "missing")) == machine > 1 << 28


def test_limits_are_shares_of_the_memory_that_can_be_remembered_and_an_error_says_so():
    for most, share in ((limits.MAX_BYTES, 8), (limits.MAX_ROWS, 1_600)):
        assert 0.85 * limits.memory() / share < most <= limits.memory() / share
        assert str(most)[2:].strip("0") == ""
    assert f"{limits.MAX_ROWS:,} rows" in limits.in_words()
    limits.require_rows(limits.MAX_ROWS, limits.MAX_ROWS)
    limits.require_bytes("It", limits.MAX_BYTES, limits.MAX_BYTES)
    for refused in (
        lambda: limits.require_rows(limits.MAX_ROWS + 1, limits.MAX_ROWS),
        lambda: limits.require_bytes("It", limits.MAX_BYTES + 1, limits.MAX_BYTES),
    ):
        with pytest.raises(TableError, match=r"the most for [\d.,]+ GB of memory\."):
            refused()
    with pytest.raises(TableError, match=r"more than 5 rows\."):
        limits.require_rows(6, 5)


@pytest.mark.slow
def test_every_reader_says_how_far_it_is_and_stops(tmp_path):
    for kind in WRITERS:
        content, told = WRITERS[kind](drawn_rows(3, 40), tmp_path), []
        table = read_table(content, progress=told.append)
        assert table.n_rows > 30
        assert told == sorted(told)
        assert told
        assert 0 <= told[0] <= told[-1] <= 1
        with pytest.raises(Cancelled):
            read_table(content, stop=lambda: True)


def test_progress_follows_the_lines_and_nothing_in_them():
    told: dict[bytes, list[float]] = {}
    for line in (b"1,x", b"999,a much longer line", b"NA,?"):
        read_table(b"a,b\n" + (line + b"\n") * 5_000, progress=told.setdefault(line, []).append)
    first, *others = told.values()
    assert len(first) == 5
    assert all(shares == first for shares in others)
