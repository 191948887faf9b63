"""Addresses name a place and a table; a password in one is refused and repeated nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dpviz
from dpviz.__main__ import main
from dpviz.errors import TableError
from dpviz.rows.address import Address, is_address, parse_address
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

pytestmark = pytest.mark.slow

SECRET = "hunter2"
SCHEMA = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=1000)


def test_parts_of_an_address() -> None:
    for text, address in (
        ("postgresql://me@host:5433/db?table=t", Address("postgresql", ("t",), "", "me", "host", 5433, "db")),
        ("postgres://host/db?table=s.t&order=id", Address("postgresql", ("s", "t"), "id", "", "host", None, "db")),
        ("postgresql:///db?table=t", Address("postgresql", ("t",), database="db")),
        ("duckdb:///folder/file.db?table=t", Address("duckdb", ("t",), database="folder/file.db")),
        ("duckdb:////folder/a%20file.db?table=a%3Fb", Address("duckdb", ("a?b",), database="/folder/a file.db")),
        ("spark:///?table=c.s.t", Address("spark", ("c", "s", "t"))),
    ):
        assert is_address(text)
        assert parse_address(text) == address


def test_what_is_no_address_is_refused_and_names_of_files_are_none() -> None:
    for text in (
        *("postgresql://host/db", "postgresql://host/db?table=", "postgresql://host/db?table=t&table=u"),
        *(
            "postgresql://host/db?table=t&sslmode=disable",
            "postgresql://host:port/db?table=t",
            "postgresql://host/db?table=a.b.c.d",
        ),
        *("postgresql://host/db?table=t#u", "mysql://host/db?table=t", "duckdb://host/file?table=t", "duckdb:///?table=t"),
        *("spark://host:7077/?table=t", "spark:///somewhere?table=t"),
    ):
        with pytest.raises(TableError) as refused:
            parse_address(text)
        assert (refused.value.code, bool(refused.value.remedy)) == ("address", True), text
    with pytest.raises(TableError, match="must name one table"):
        parse_address("postgresql://host/db")
    files = ("data.csv", "C:\\data.csv", "https://example.org/data.csv", "postgresql", "folder/duckdb:x")
    assert not any(map(is_address, files))


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://me:{SECRET}@host/db?table=t",
        f"postgresql://host/db?table=t&password={SECRET}",
        f"postgresql://host/db?sslpassword={SECRET}&table=t",
        f"spark:///?table=t&token={SECRET}",
        f"postgresql://me:@host/db?table={SECRET}",
    ],
)
def test_a_password_is_refused_and_not_repeated(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TableError) as refused:
        parse_address(text)
    assert refused.value.code == "password"
    assert SECRET not in str(refused.value)
    SCHEMA.save(tmp_path / "s.json")
    (tmp_path / "model.json").write_text(dpviz.fit("majority", _rows_of(3), epsilon=1, seed=1).to_json())
    for asked in (
        ("train", text, "--schema", "s.json", "--epsilon", "1", "--out", "tree.json"),
        ("evaluate", "model.json", text),
        ("predict", "model.json", text, "--out", "answers.csv"),
    ):
        assert main([str(tmp_path / word) if word.endswith((".json", ".csv")) else word for word in asked]) != 0
        said = "".join(capsys.readouterr())
        assert "may not hold a password" in said
        assert SECRET not in said


def _rows_of(n_rows: int) -> dpviz.EncodedDataset:
    lines = ["x,y", *(f"{row / 1000},{'ab'[row % 3 > 0]}" for row in range(n_rows))]
    return dpviz.encode(dpviz.read_table("\n".join(lines).encode()), SCHEMA)


# --- the command line


def test_train_counts_in_the_engine_writes_the_tree_of_memory_and_refuses_what_an_engine_cannot_do(
    stored: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    label, tree = "CASE WHEN range % 3 = 0 THEN 'a' ELSE 'b' END", tmp_path / "tree.json"
    address = stored(f"CREATE TABLE t AS SELECT range / 1000.0::DOUBLE AS x, {label} AS y FROM range(1000)") + "t"
    SCHEMA.save(tmp_path / "schema.json")
    train = ["train", address, "--schema", str(tmp_path / "schema.json"), "--epsilon", "1", "--out", str(tree)]
    assert main([*train, "--seed", "3"]) == 0
    assert "Read duckdb: t: 1,000 rows" in capsys.readouterr().err
    assert tree.read_text() == dpviz.fit("pf-tree", _rows_of(1000), epsilon=1, seed=3).to_json() + "\n"
    tree.unlink()
    for more, said in (
        (("--person", "x"), "cannot be a feature"),
        (("--rows-per-person", "2"), "rows_per_person"),
        (("--target", "y"), "--target"),
        (("--learner", "privatree"), "needs the rows themselves"),
    ):
        assert main([*train, *more]) != 0
        assert said in capsys.readouterr().err
        assert not tree.exists()
