"""A table read in pieces is the table: the same rows, the same report, the same fingerprint and, for a seed, the same tree."""

from __future__ import annotations

import gc
import gzip
import itertools
import math
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import dpviz
from dpviz.errors import Cancelled, DpvizError, SchemaError, TableError, UnsupportedError
from dpviz.io import worker
from dpviz.io.options import ReadOptions
from dpviz.randomness import generator
from dpviz.rows import sources, text
from dpviz.rows.files import batches_of
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training import nodes

FEATURES = (
    NumericFeature("income", 0, 1000),
    NumericFeature("age", 0, 99, whole=True, missing_as=40),
    CategoricalFeature("town", ("Rio", "São Paulo", "other"), unknown_as="other", groups=(("rio", "Rio"),)),
)
SCHEMA = Schema(FEATURES, ClassTarget("ok", ("no", "yes")), n_public=1000)
NUMBERS = Schema(FEATURES[1:], NumericTarget("income", 0, 1000), n_public=1000)
INCOMES = (None, float("nan"), float("inf"), -float("inf"), -5.0, 0.0, -0.0, 0.1, 250.5, 1000.0, 1e9)
AGES = (None, -3, 0, 17, 45, 99, 120)
TOWNS = (None, "Rio", "rio", "RIO", "Rio  ", " São Paulo", "Oslo", "", "NA", "a,b", 'x"y')
ANSWERS = (None, "yes", "no", "no ", "maybe")


def drawn(n_rows: int, seed: int = 1) -> dict[str, list]:
    rng = generator(seed)
    columns = {"note": ("k", None), "income": INCOMES, "age": AGES, "town": TOWNS, "ok": ANSWERS}
    return {name: [values[at] for at in rng.integers(len(values), size=n_rows)] for name, values in columns.items()}


linux = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux says which files a process has open")
TYPES = {"note": pa.string(), "income": pa.float64(), "age": pa.int64(), "town": pa.string(), "ok": pa.string()}


KINDS = ("parquet", "feather", "csv", "csv.gz", "folder")


def write(kind: str, rows: dict[str, list], path: Path) -> Path:
    """The rows as such a file, in pieces where it has any, or as a folder of files."""
    given = pa.table({name: pa.array(values, TYPES.get(name)) for name, values in rows.items()})
    if kind == "folder":
        path.mkdir()
        for part, start in enumerate(range(0, max(given.num_rows, 1), 150)):
            parquet.write_table(given.slice(start, 150), path / f"part-{part:05}.parquet", row_group_size=70)
        (path / "_SUCCESS").touch()
        return path
    path = path.with_suffix(f".{kind}")
    match kind:
        case "parquet":
            parquet.write_table(given, path, row_group_size=70)
        case "feather":
            feather.write_feather(given, path, chunksize=40)
        case "csv":
            csv.write_csv(given, path)
        case _:
            with gzip.open(path, "wb") as packed:
                csv.write_csv(given, packed)
    return path


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """So that a few hundred rows are many pieces."""
    monkeypatch.setattr(nodes, "CHUNK_ROWS", 64)
    monkeypatch.setattr(text, "_CHUNK_SIZE", 1000)


def in_memory(rows: dict[str, list], tmp_path: Path, kind: str, schema: Schema = SCHEMA):
    """What `read_table` and `encode` make of the same file, or of a file of the same typed rows."""
    whole = write("csv" if kind.startswith("csv") else "parquet", rows, tmp_path / "whole")
    return dpviz.encode(dpviz.read_table(whole), schema)


LEARNERS = (
    ("pf-tree", {"depth": 3}),
    ("majority", {}),
    ("diffprivlib-tree", {}),
    ("pf-forest", {"trees": 4}),
    ("pf-forest", {"trees": 3, "disjoint": False}),
    ("pf-tree", {"epsilon": 30.0, "max_depth": 9, "depth": 9}),
)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [0, 1, 700])
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_the_whole_to_the_last_bit(kind, n_rows, tmp_path):
    """Also nodes of more numbers and bins than a byte holds, forests of shared rows, and a number to predict."""
    rows, shares = drawn(n_rows), list[float]()
    whole, path = in_memory(rows, tmp_path, kind), write(kind, rows, tmp_path / "table")
    with dpviz.encode_large(path, SCHEMA) as large:
        assert large.data.fingerprint == whole.fingerprint
        assert large.names == tuple(rows)
        ours, theirs = large.report, whole.report
        assert (ours.rows_kept, ours.unchanged, ours.clipped) == (theirs.rows_kept, theirs.unchanged, theirs.clipped)
        for name, given in LEARNERS if n_rows else LEARNERS[:3]:
            here, there = (
                dpviz.fit(name, data, **{"epsilon": 1.0, "max_depth": 3, "seed": 4} | given) for data in (whole, large)
            )
            assert here.to_json() == there.to_json(), name
        with pytest.raises(UnsupportedError, match="s-gbdt"):
            dpviz.fit("s-gbdt", large, epsilon=1.0, seed=1)
    whole = in_memory(rows, tmp_path, kind, NUMBERS)
    with dpviz.encode_large(path, NUMBERS, progress=shares.append) as large:
        for name, given in [("pf-tree", {"depth": 2}), ("dp-mean", {"count_rows": True})]:
            here, there = (dpviz.fit(name, data, epsilon=1.0, seed=4, **given) for data in (whole, large))
            assert here.to_json() == there.to_json(), name
    assert shares == sorted(shares)
    assert n_rows < 700 or 0.5 < shares[-1] <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decimal", "said"), [(None, None), (".", [1.234, 1234, 1.5, 1234.5, 17]), (",", [1234, 1.234, 1.5, 1234.5, 17])]
)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_marks_in_numbers_mean_in_pieces_what_the_schema_says(kind, decimal, said, tmp_path):
    """In cells of text: 1.234 and 1,234 are not the same number under each mark."""
    texts = ["1.234", "1,234", "1.5", "1,5", "1,234.5", "1.234,5", "17", None] * 40
    rows = drawn(len(texts)) | {"note": texts, "ok": ["yes"] * len(texts)}
    schema = Schema((NumericFeature("note", 0, 5000),), SCHEMA.target, n_public=1000, decimal=decimal)
    whole = in_memory(rows, tmp_path, kind, schema)
    with dpviz.encode_large(write(kind, rows, tmp_path / "table"), schema) as large:
        assert large.data.columns[0].tolist() == whole.columns[0].tolist()
        assert large.report.dropped_unknown == whole.report.dropped_unknown
    assert said is None or whole.columns[0].tolist() == said * 40


def test_a_report_names_columns_in_their_order_wherever_a_cell_was_changed_first(tmp_path):
    n_rows = 3 * nodes.CHUNK_ROWS
    rows = {"note": ["k"] * n_rows, "income": [*[1.0] * (n_rows - 1), 2e3], "age": [120, *[3] * (n_rows - 1)]}
    rows |= {"town": ["Rio"] * n_rows, "ok": ["no"] * n_rows}
    with dpviz.encode_large(write("parquet", rows, tmp_path / "table"), SCHEMA) as large:
        assert large.report.clipped == (("income", 1), ("age", 1))


@pytest.mark.slow
def test_a_piece_of_text_may_end_anywhere(tmp_path, monkeypatch):
    """In the middle of a character, between a carriage return and a line feed, in a quote that is never closed."""
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeffage,town,income,ok\r\n45,"São Paulo",1,yes\r\n30,"Rio,2,no\n\n1,2\n17,Rio,"3",no'.encode())
    for cut in (*range(1, 12), *range(12, 60, 5)):
        monkeypatch.setattr(text, "_CHUNK_SIZE", cut)
        with dpviz.encode_large(path, SCHEMA) as large:
            assert [column.tolist() for column in large.data.columns] == [[1.0, 3.0], [45, 17], [1, 0]], cut
            assert large.report.malformed == 2


def test_records_whose_cells_hold_line_feeds_are_whole_wherever_a_piece_ends(tmp_path, monkeypatch):
    """Read for answers, one per record: a quote that is open at the end of a piece is read to its other one."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b\n1,"x\ny"\n2,"z"\n3,"u\n\n""v"\n4,w\n')
    for cut in range(1, 40):
        monkeypatch.setattr(text, "_CHUNK_SIZE", cut)
        tables = batches_of(path, ReadOptions("a", by_record=True)).read(lambda share: None)
        columns = [[column.value_texts[code] for code in column.value_codes] for table in tables for column in table.columns[1:]]
        assert [cell for cells in columns for cell in cells] == ["x\ny", "z", 'u\n\n"v', "w"], cut


def test_a_line_that_is_too_long_is_left_out_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_MAX_LINE_BYTES", 3000)
    path = tmp_path / "a.csv"
    path.write_bytes(b"age,town,income,ok\n45,Rio,1,yes\n" + b"x" * 9999 + b"\n30,Rio,2,no\n" + b"y" * 9999)
    with dpviz.encode_large(path, SCHEMA) as large:
        assert large.data.columns[1].tolist() == [45, 30]
        assert large.report.malformed == 2


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """The folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def open_in(folder: Path) -> int:
    """Files of this folder that the process holds open or mapped."""
    gc.collect()
    links = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    return sum(link.startswith(str(folder)) for link in links) + mapped.count(str(folder))


@pytest.mark.slow
@linux
def test_temporary_files_have_no_name_and_are_gone(temporary, tmp_path):
    source = write("parquet", drawn(500), tmp_path / "table")
    seen: list[list[Path]] = []
    with dpviz.encode_large(source, SCHEMA, progress=lambda share: seen.append(list(temporary.iterdir()))) as large:
        dpviz.fit("pf-tree", large, epsilon=1.0, seed=1)
        seen.append(list(temporary.iterdir()))
        assert open_in(temporary) > 0
    assert seen
    assert not any(seen)
    assert open_in(temporary) == 0
    with pytest.raises(DpvizError, match="closed"):
        dpviz.fit("majority", large, epsilon=1.0, seed=1)


@pytest.mark.slow
@linux
def test_a_stop_ends_reading_binning_and_counting_and_leaves_nothing(temporary, tmp_path):
    source = write("parquet", drawn(500), tmp_path / "table")

    def train(when: float) -> int:
        asked = itertools.count(1)
        with dpviz.encode_large(source, SCHEMA, stop=lambda: next(asked) >= when) as large:
            dpviz.fit("pf-tree", large, epsilon=1.0, seed=1, depth=3)
        return next(asked) - 1

    times = train(math.inf)
    assert times > 5
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        with pytest.raises(Cancelled):
            train(1 + share * (times - 1))
        assert open_in(temporary) == 0


@pytest.mark.slow
@linux
@pytest.mark.parametrize("kind", ["parquet", pytest.param("feather", marks=pytest.mark.verify)])
def test_a_worker_killed_in_any_pass_is_an_error_that_leaves_nothing_and_the_next_pass_is_whole(kind, temporary, tmp_path):
    """While the bins are read, and while the values that a forest needs: it, or the process that begins workers."""
    path = write(kind, drawn(6000), tmp_path / "table")
    asked = {"epsilon": 1.0, "seed": 1, "trees": 2}

    def struck(at: int, *, parent: bool = False) -> Iterator[None]:
        for number in itertools.count():
            if number == at:
                home = worker._WAITING[0][0].pid
                own = Path(f"/proc/{home}/task/{home}/children").read_text(encoding="ascii").split()
                os.kill(home if parent else int(own[0]), signal.SIGKILL)
            yield

    def outcome_of(strikes: Iterator[None]) -> str:
        try:
            with dpviz.encode_large(path, SCHEMA, progress=lambda share: next(strikes)) as large:
                return dpviz.fit("pf-forest", large, **asked).to_json()
        except TableError as died:
            return died.code

    told = list[float]()
    with dpviz.encode_large(path, SCHEMA, progress=told.append) as large:
        n_of_bins = len(told)
        for learner in ("pf-tree", "majority"):
            dpviz.fit(learner, large, epsilon=1.0, seed=1)
        assert len(told) == n_of_bins  # of which bins are enough
        first, wanted = (dpviz.fit("pf-forest", large, **asked).to_json() for _ in range(2))
        assert first == wanted
    assert 2 * n_of_bins == len(told) > 6  # values are read once
    for at, parent in ((0, False), (1, True), (n_of_bins - 2, False), (n_of_bins, False), (n_of_bins + 1, True)):
        outcome = outcome_of(struck(at, parent=parent))
        assert outcome == "crashed" or (at == n_of_bins - 2 and outcome == wanted)  # it may have handed over all
        assert open_in(temporary) == 0
        assert not list(temporary.iterdir())
    again = struck(n_of_bins)
    with dpviz.encode_large(path, SCHEMA, progress=lambda share: next(again)) as large:
        with pytest.raises(TableError):
            dpviz.fit("pf-forest", large, **asked)
        assert dpviz.fit("pf-forest", large, **asked).to_json() == wanted


def test_a_full_disk_is_an_error_that_says_where(tmp_path, monkeypatch):
    source = write("parquet", drawn(50), tmp_path / "table")

    class Full:
        def write(self, content):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(sources, "TemporaryFile", lambda prefix: Full())
    with pytest.raises(DpvizError, match=r"No space left on device\. .*TMPDIR"):
        dpviz.encode_large(source, SCHEMA)


def test_what_cannot_be_read_says_so(tmp_path):
    (tmp_path / "empty").mkdir()
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    write("csv", drawn(1), mixed / "a"), write("parquet", drawn(1), mixed / "b")
    other = tmp_path / "other"
    other.mkdir()
    write("csv", drawn(1), other / "a"), write("csv", {"x": [1], "y": [2]}, other / "b")
    (tmp_path / "nested" / "year=2020").mkdir(parents=True)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 spoiled")
    (tmp_path / "a.duckdb").write_bytes(b"spoiled")
    (tmp_path / "a.csv.gz").write_bytes(b"\x1f\x8b spoiled")
    (tmp_path / "a.xlsx").touch()
    for name, code in [
        ("none.parquet", "not-a-file"),
        ("empty", "not-a-file"),
        ("mixed", "several-files"),
        ("other", "several-files"),
        ("nested", "several-files"),
        ("a.parquet", "damaged"),
        ("a.duckdb", "not-in-pieces"),
        ("a.csv.gz", "gzip"),
        ("a.xlsx", "not-in-pieces"),
    ]:
        with pytest.raises(TableError) as caught:
            dpviz.encode_large(tmp_path / name, SCHEMA)
        assert caught.value.code == code, name


def test_a_spoiled_archive_quotes_neither_bytes_nor_checksums(tmp_path):
    for spoil in [lambda packed: packed + b"no", lambda packed: packed[:-8] + bytes(4) + packed[-4:]]:
        for read in [lambda path: dpviz.encode_large(path, SCHEMA), lambda path: dpviz.read_table(path.read_bytes())]:
            path = write("csv.gz", drawn(50), tmp_path / "table")
            path.write_bytes(spoil(path.read_bytes()))
            with pytest.raises(TableError) as caught:
                read(path)
            assert "b'" not in str(caught.value)
            assert "0x" not in str(caught.value)
            assert caught.value.__suppress_context__


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_column_is_named_and_files_that_hold_names_take_no_others(kind, tmp_path):
    rows = drawn(3)
    path = write(kind, rows, tmp_path / "whole")
    del rows["town"]
    with pytest.raises(SchemaError, match="town"):
        dpviz.encode_large(write(kind, rows, tmp_path / "table"), SCHEMA)
    if not kind.startswith("csv"):
        with pytest.raises(TableError, match="none can be given"):
            dpviz.encode_large(path, SCHEMA, names=("income", "age", "town", "ok"))
