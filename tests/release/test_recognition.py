"""A table that a register knows is not released once more under another data set, by whatever door it comes."""

import pickle
import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.errors import DpvizError, ParameterError, RefusedRelease, UnansweredRows, UnknownName
from dpviz.learners import FitRequest
from dpviz.release.records import INSPECTION_WARNING
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.commands import run  # noqa: F401

N = 200


def frame_of(seed: int = 0, n_rows: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {"x": rng.uniform(0, 1, n_rows), "z": rng.normal(0, 1, n_rows).round(3), "c": rng.choice(["u", "v"], n_rows)}
    return pd.DataFrame({**columns, "who": [f"p{k}" for k in range(n_rows)], "y": rng.choice(["a", "b"], n_rows)})


FRAME = frame_of()


def schema(high=1.0, *, classes=("a", "b"), n_public=N, leave=(), **names) -> Schema:
    features = (NumericFeature("x", 0, high), NumericFeature("z", -4, 4), CategoricalFeature("c", ("u", "v")))
    kept = (one for one in features if one.name not in leave)
    named = (type(one)(names.get(one.name, one.name), *_rest(one)) for one in kept)
    return Schema(tuple(named), ClassTarget("y", classes), n_public=n_public)


def _rest(one) -> tuple:
    return (one.low, one.high) if isinstance(one, NumericFeature) else (one.categories,)


@pytest.fixture
def register(tmp_path):
    found = dpviz.open_register(tmp_path / "releases.db")
    for name in ("one", "two"):
        found.declare(name, epsilon_cap=0.5)
    return found


def release(register, name, rows, by=None, **more):
    asked = {"epsilon": 0.5, "max_depth": 1, "add_rows": True, "accept_rows": True} | more
    return register.release(name, asked.pop("learner", "majority"), rows, schema=by, **asked)


#: Door -> rows and schema of the same table.
DOORS = {
    "the same": lambda folder: (FRAME, schema()),
    "another range": lambda folder: (FRAME, schema(1.0000001)),
    "a narrower range": lambda folder: (FRAME, schema(0.7)),
    "shuffled": lambda folder: (FRAME.sample(frac=1, random_state=1), schema()),
    "columns reordered": lambda folder: (FRAME[FRAME.columns[::-1]], schema()),
    "features reordered": lambda folder: (FRAME, Schema(schema().features[::-1], schema().target, n_public=N)),
    "a feature less": lambda folder: (FRAME, schema(leave=("x", "c"))),
    "a column dropped": lambda folder: (FRAME.drop(columns=["x"]), schema(leave=("x",))),
    "a column renamed": lambda folder: (FRAME.rename(columns={"x": "amount"}), schema(x="amount")),
    "every column renamed": lambda folder: (
        FRAME.rename(columns={"x": "k", "z": "l", "c": "m", "y": "n"}),
        Schema((NumericFeature("k", 0, 1), NumericFeature("l", -4, 4)), ClassTarget("n", ("a", "b"))),
    ),
    "another target": lambda folder: (
        FRAME,
        Schema((CategoricalFeature("y", ("a", "b")),), NumericTarget("x", 0, 1), n_public=N),
    ),
    "no column in common": lambda folder: (
        FRAME.assign(age=np.arange(N)),
        Schema((NumericFeature("age", 0, N),), ClassTarget("who", ("p0", "p1"))),
    ),
    "classes in another order": lambda folder: (FRAME, schema(classes=("b", "a"))),
    "one class undeclared": lambda folder: (FRAME, schema(classes=("a", "z"))),
    "another row count": lambda folder: (FRAME, schema(n_public=180)),
    "a person column": lambda folder: (dpviz.encode(FRAME, schema(), person="who", rows_per_person=1), None),
    "a part": lambda folder: (dpviz.encode(FRAME, schema()).parts(0.5)[0], None),
    "a part of a part": lambda folder: (dpviz.encode(FRAME, schema(0.9)).parts(0.5)[1].parts(0.2)[1], None),
    "float32": lambda folder: (FRAME.astype({"x": np.float32}), schema()),
    "a CSV file": lambda folder: (written(folder / "t.csv", lambda path: FRAME.to_csv(path, index=False)), schema()),
    "other marks in CSV": lambda folder: (FRAME.to_csv(index=False, sep=";", decimal=",").encode(), schema()),
    "a Parquet file": lambda folder: (written(folder / "t.parquet", FRAME.to_parquet), schema()),
    "a folder of Parquet": lambda folder: (in_two(folder / "parts"), schema()),
    "Arrow": lambda folder: (pa.Table.from_pandas(FRAME), schema()),
    "made by hand": lambda folder: (by_hand(dpviz.encode(FRAME, schema())), None),
    "out of a pickle": lambda folder: (pickle.loads(pickle.dumps(dpviz.encode(FRAME, schema()))), None),
    "DuckDB": lambda folder: (counted(folder, FRAME, schema()), None),
    "DuckDB, shuffled": lambda folder: (counted(folder, FRAME.sample(frac=1, random_state=2), schema(2)), None),
    "DuckDB, renamed": lambda folder: (counted(folder, FRAME.rename(columns={"x": "k"}), schema(x="k")), None),
    "DuckDB, a column less": lambda folder: (counted(folder, FRAME.drop(columns=["x"]), schema(leave=("x",))), None),
}


def written(path, write):
    write(path)
    return path


def in_two(folder):
    folder.mkdir()
    FRAME[:70].to_parquet(folder / "a.parquet")
    FRAME[70:].to_parquet(folder / "b.parquet")
    return folder


def by_hand(data):
    return EncodedDataset(data.schema, data.columns, data.target)


def counted(folder, frame, by):
    with closing(duckdb.connect(str(folder / "t.duckdb"))) as base:
        base.register("frame", frame)
        base.execute("CREATE TABLE t AS SELECT * FROM frame")
    return dpviz.open_table(f"duckdb:///{folder}/t.duckdb?table=t", by)


@pytest.mark.parametrize(
    ("door", "known_by"),
    [*((door, "frame") for door in DOORS), *((door, "DuckDB") for door in ("the same", "a part", "DuckDB", "DuckDB, shuffled"))],
)
def test_a_known_table_is_asked_about_at_every_door_and_a_refusal_costs_nothing(register, tmp_path, door, known_by):
    if known_by == "frame":
        release(register, "one", FRAME, schema())
    else:
        (tmp_path / "before").mkdir()
        with counted(tmp_path / "before", FRAME, schema()) as rows:
            release(register, "one", rows)
    rows, by = DOORS[door](tmp_path)
    learner = "dp-mean" if door == "another target" else "majority"
    with (
        closing(rows) if hasattr(rows, "close") else nullcontext(),
        pytest.raises(RefusedRelease, match=r"(rows of|assigned to) 'one'"),
    ):
        release(register, "two", rows, by, learner=learner)
    assert register.balance("two").left.epsilon == 0.5
    assert len(register.releases()) == 1


@pytest.mark.parametrize("door", ["shuffled", "float32", "a CSV file", "another range", "a part", "DuckDB"])
def test_a_known_table_needs_no_word_under_its_own_data_set(register, tmp_path, door):
    register.change_caps("one", epsilon_cap=2, reason="a test", made_by="a test")
    release(register, "one", FRAME, schema())
    other, by = DOORS[door](tmp_path)
    with other if door == "DuckDB" else nullcontext():
        record = release(register, "one", other, by, add_rows=False)
    assert record.data_set == "one"
    said = "rows came from a database to the computer that trained" in Path(record.file).read_text(encoding="utf-8")
    assert said == (door == "DuckDB")


@pytest.mark.slow
def test_other_rows_of_the_same_columns_and_count_are_not_asked_about(register):
    release(register, "one", FRAME, schema())
    register.change_caps("two", epsilon_cap=5, reason="a test", made_by="a test")
    for other in (*map(frame_of, range(1, 6)), FRAME[:-1]):  # an edited copy is not recognised, as is said
        with pytest.raises(UnansweredRows) as asked:
            release(register, "two", other, schema(), add_rows=False)
        assert asked.value.code == "unassigned"
        assert release(register, "two", other, schema()).data_set == "two"


@pytest.mark.slow
@pytest.mark.parametrize("door", ["shuffled", "a part", "DuckDB", "no column in common"])
def test_the_answer_is_kept(register, tmp_path, door, request):
    register.declare("three", epsilon_cap=0.5)
    release(register, "one", FRAME, schema())
    register.change_caps("two", epsilon_cap=2, reason="a test", made_by="a test")
    other, by = DOORS[door](tmp_path)
    if door == "DuckDB":
        request.addfinalizer(other.close)
    with pytest.raises(UnansweredRows) as asked:
        release(register, "two", other, by)
    assert (asked.value.code, asked.value.data_sets) == ("recognised", ("one",))
    release(register, "two", other, by, disjoint_from="one")
    release(register, "two", other, by, add_rows=False)
    with pytest.raises(RefusedRelease):
        release(register, "three", other, by, disjoint_from=["one"])
    with pytest.raises(UnknownName):
        release(register, "two", frame_of(7), schema(), disjoint_from=["nobody"])


def test_a_table_of_few_distinct_cells_is_recognised_by_two_columns(register):
    """Two of three are enough, one is not."""
    frame = pd.DataFrame({"c": FRAME.c, "d": ["l", "r"] * (N // 2), "y": FRAME.y})
    features = CategoricalFeature("c", ("u", "v")), CategoricalFeature("d", ("l", "r"))
    by = Schema(features, ClassTarget("y", ("a", "b")), n_public=N)
    release(register, "one", frame, by)
    other = frame.sample(frac=1, random_state=0).assign(d=["l"] * (N - 7) + ["r"] * 7)
    for rows in (frame.sample(frac=1, random_state=0), other):
        with pytest.raises(UnansweredRows, match="look like rows of 'one'"):
            release(register, "two", rows, by)
    release(register, "two", other.assign(c=["u"] * (N - 9) + ["v"] * 9), by)


def test_an_assignment_without_sums_is_known_by_its_names_or_asked_about(register):
    register.assign("an old fingerprint", "one", columns=("x", "other"))
    with pytest.raises(UnansweredRows, match="look like rows of 'one'"):
        release(register, "two", FRAME, schema())
    release(register, "two", FRAME, schema(), disjoint_from=("one",))


def test_rows_known_from_before_there_were_sums_are_recognised_once_they_are_released_again(register):
    data = dpviz.encode(FRAME, schema())
    register.assign(data.identity, "one")
    release(register, "one", data, add_rows=False)
    with pytest.raises(UnansweredRows, match="look like rows of 'one'"):
        release(register, "two", FRAME.sample(frac=1, random_state=0), schema())


def test_neither_file_nor_register_nor_error_holds_a_sum_and_two_registers_keep_different_digests(register, tmp_path):
    data, kept, other = dpviz.encode(FRAME, schema()), list[set[str]](), dpviz.open_register(tmp_path / "other.db")
    other.declare("one", epsilon_cap=0.5)
    sums = [*(one.text for one in data.table_sums.columns), str(data.table_sums.columns[0].first)]
    for book in (register, other):
        text = Path(release(book, "one", data).file).read_text(encoding="utf-8")
        with closing(sqlite3.connect(book.path)) as base:
            text += "\n".join(base.iterdump())
            kept.append({one for (one,) in base.execute("SELECT fingerprint FROM fingerprint")})
        assert not [one for one in sums if one in text]
    assert not kept[0] & kept[1]
    assert len(kept[0]) > 4
    with pytest.raises(UnansweredRows) as asked:
        release(register, "two", FRAME.sample(frac=1, random_state=0), schema())
    assert not [one for one in (*sums, str(N)) if one in str(asked.value)]


# --- what is asked for


def test_keywords_are_checked_and_a_seed_is_refused(register):
    """Nothing is taken beside a request, nothing unknown beside a name."""
    request, more = FitRequest.of("pf-tree", epsilon=0.5), {"schema": schema(), "add_rows": True}
    for given in ({"nonsense": 3}, {"epsilon": 0.1}, {"max_depth": 2}, {"seed": None}, {"delta": None}, {"assigned": 1}):
        with pytest.raises(ParameterError, match=next(iter(given))):
            register.release("one", request, FRAME, **more, **given)
    for given in ({"nonsense": 3}, {"epsilom": 0.1}, {"source": None}, {"schema_": None}):
        with pytest.raises(DpvizError):
            register.release("one", "pf-tree", FRAME, **more, **{"epsilon": 0.5} | given)
    for given in ({"add_rows": "no"}, {"accept_rows": "no"}, {"disjoint_from": 5}, {"disjoint_from": None}, {"file": 5}):
        with pytest.raises(ParameterError, match=next(iter(given))):
            register.release("one", "pf-tree", FRAME, **more | {"epsilon": 0.5} | given)
    for seed in (0, 7):
        for learner, asked in ((FitRequest.of("majority", seed=seed), {}), ("majority", {"seed": seed, "epsilon": 0.5})):
            with pytest.raises(RefusedRelease, match="A seeded run protects nobody"):
                register.release("one", learner, FRAME, **more, **asked)
    assert register.releases() == ()


def test_a_release_warns_of_what_a_rule_replaced(register):
    with pytest.warns(dpviz.errors.SettingWarning, match="delta has no effect"):
        register.release("one", "majority", FRAME, schema=schema(), add_rows=True, epsilon=0.1, delta=1e-6)


def test_that_few_rows_can_be_used_is_noted_of_private_rows(register):
    spoiled = FRAME.assign(y="neither")
    with pytest.raises(RefusedRelease, match=r"No row is used\..*pass accept_rows=True"):
        release(register, "one", spoiled, schema(), accept_rows=False)
    assert [look.what for look in register.uncovered_uses()] == [INSPECTION_WARNING]
    assert register.releases() == ()


# --- the same on the command line


@pytest.mark.slow
def test_the_command_line_asks_the_same(run, tmp_path):  # noqa: F811
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.sample(frac=1, random_state=1).to_parquet(tmp_path / "t.parquet")
    schema().save(tmp_path / "s.json")
    schema(1.5, n_public=190).save(tmp_path / "other.json")
    at = ("--register", tmp_path / "r.db")
    for name in ("one", "two"):
        run("register", "declare", name, "--epsilon-cap", "0.5", "--unit", "one row", "--rows-per-unit", "1", *at)

    def train(table, name, by, *more):
        asked = ("--learner", "majority", "--epsilon", "0.5", "--max-depth", "1", "--add-rows", *at)
        return run("train", tmp_path / table, "--schema", tmp_path / by, *asked, "--data-set", name, "--out", *more)

    assert train("t.csv", "one", "s.json", tmp_path / "a.json")[0] == 0
    code, _, said = train("t.parquet", "two", "other.json", tmp_path / "b.json")
    assert (code, "look like rows of 'one'" in said, "--disjoint-from 'one'" in said) == (2, True, True)
    assert "disjoint_from" not in said
    assert dpviz.open_register(at[1]).balance("two").left.epsilon == 0.5
    assert train("t.parquet", "two", "other.json", tmp_path / "b.json", "--disjoint-from", "one")[0] == 0
    assert dpviz.load_result(tmp_path / "b.json").released
