"""The programs that exports are made for read them: a name from a file is a text there, and nothing else.

SQLite, DuckDB, a bare Python and a workbook; `tests/browser/test_rendered.py` has those that need a browser.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from io import StringIO

import duckdb
import pytest
from hypothesis import example, given
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from pandas import DataFrame

from dpviz.errors import SchemaError, UnsupportedModel
from dpviz.io.csv_text import csv_text, frame_csv
from dpviz.io.exports.sql import TABLE, identifier
from tests.support.examples import examples
from tests.support.hostile_exports import written
from tests.support.nasty_names import NAMES, SYNTAX

#: Names into which all pieces of syntax are put.
TOGETHER = 40


def for_many_names(form: str, check: Callable[[str, str], None], count: int = 60) -> None:
    """`check(name, export)` for every piece of syntax, and for made-up names; some may stand in no schema or no such file."""

    def checked(name: str) -> bool:
        try:
            text = written(name, form)
        except (UnsupportedModel, SchemaError):
            return False
        check(name, text)
        return True

    @examples(count)
    @given(NAMES)
    @example("a&amp;b")
    def made_up(name: str) -> None:
        checked(name)

    together = ["".join(SYNTAX[start::TOGETHER]) for start in range(TOGETHER)]
    assert sum(map(checked, together)) > 0.9 * TOGETHER
    made_up()


@pytest.mark.slow
def test_sqlite_reads_and_does_nothing_else() -> None:
    base = sqlite3.connect(":memory:")
    done: set[tuple[int, str | None]] = set()

    def note(action: int, *about: str | None) -> int:
        done.add((action, about[1] if action == sqlite3.SQLITE_FUNCTION else None))
        return sqlite3.SQLITE_OK

    def does(name: str, text: str) -> set[tuple[int, str | None]]:
        base.execute(f"CREATE TABLE {TABLE} ({identifier(f'{name} of')})")
        done.clear()
        base.set_authorizer(note)
        rows = base.execute(text).fetchall()
        base.set_authorizer(None)
        assert rows == []
        base.execute(f"DROP TABLE {TABLE}")
        return set(done)

    plain = does("plain", written("plain", "sqlite"))

    def check(name: str, text: str) -> None:
        assert does(name, text) <= plain

    for_many_names("sqlite", check)


@pytest.mark.slow
def test_duckdb_finds_one_query() -> None:
    def check(name: str, text: str) -> None:
        (statement,) = duckdb.extract_statements(text)
        assert statement.type == duckdb.StatementType.SELECT

    for_many_names("duckdb", check)


#: Runs exported functions, and prints what Python's audit hooks tell of each: events such as import, open, exec, os.system.
BARE = """
import json, sys
texts, told = json.load(sys.stdin), []
sys.addaudithook(lambda event, about: told[-1].add(event) if told else None)
for column, text in texts:
    told.append(set())
    inside = {"__name__": "exported"}
    exec(compile(text, "exported", "exec"), inside)
    inside["predict"]({column: "b"})
print(json.dumps([sorted(events) for events in told]))
"""


@pytest.mark.slow
def test_a_bare_python_runs_nothing_but_the_function() -> None:
    texts = [("plain of", written("plain", "python"))]
    for_many_names("python", lambda name, text: texts.append((f"{name} of", text)))
    command = [sys.executable, "-I", "-c", BARE]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    plain, *others = map(set, json.loads(done.stdout))
    assert "compile" in plain
    assert [text for (_, text), events in zip(texts[1:], others, strict=True) if not events <= plain] == []


@pytest.mark.slow
@given(NAMES)
@example("\x0b=1+1")
@example("a\rb")
def test_a_workbook_takes_no_cell_of_a_table_for_a_formula(name: str) -> None:
    table = [[name, 1], [f" {name}", -2.5]]
    texts = (csv_text([name, "number"], table), frame_csv(DataFrame(table, columns=[name, "number"])))
    cell = Workbook().active.cell(1, 1)
    for text in texts:
        lines = list(csv.reader(StringIO(text, newline="")))
        assert [len(line) for line in lines] == [2, 2, 2]
        for found, asked in zip(lines, (name, name, f" {name}"), strict=True):
            assert found[0] in (asked, f"'{asked}")
            cell.value = ILLEGAL_CHARACTERS_RE.sub("", found[0])
            assert cell.data_type == "s"
