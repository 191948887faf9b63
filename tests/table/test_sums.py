"""A table is told again in any order and form, by sums over its cells that depend on nothing else."""

import copy
import io
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.table.dataset import EncodedDataset
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

N = 300
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "x": RNG.normal(0, 1, N).round(6),
        "k": RNG.integers(0, 90, N),
        "c": RNG.choice(["ja", "nein", "vielleicht"], N),
        "when": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 500, N), unit="D"),
        "who": [f"Person {k % 120}" for k in range(N)],
        "y": RNG.choice(["p", "q"], N),
    }
)
GAPS = FRAME.assign(x=FRAME.x.where(FRAME.index % 7 > 0), c=FRAME.c.where(FRAME.index % 5 > 0))


def schema(low=-5.0, high=5.0, *, classes=("p", "q"), n_public=N, whole=True, **more) -> Schema:
    dates = DateFeature("when", 0, 900, part="days", since="2020-01-01") if "dates" in more else None
    features = (
        NumericFeature("x", low, high, **({"missing_as": more["missing_as"]} if "missing_as" in more else {})),
        NumericFeature("k", 0, 100, whole=whole),
        CategoricalFeature("c", ("ja", "nein", "vielleicht")),
        *([dates] if dates else []),
    )
    return Schema(features, ClassTarget("y", classes), n_public=n_public)


def told(rows, by: Schema, **more) -> tuple:
    sums = dpviz.encode(rows, by, **more).table_sums
    return sums.n_rows, {one.name: (one.text, one.is_wide) for one in sums.columns}


def as_csv(frame: pd.DataFrame, **how) -> bytes:
    return frame.to_csv(index=False, **how).encode()


def as_parquet(frame: pd.DataFrame) -> pa.Table:
    kept = io.BytesIO()
    frame.to_parquet(kept)
    return pd.read_parquet(kept)


OTHER_FORMS = {
    "shuffled": lambda frame: frame.sample(frac=1, random_state=3),
    "columns in another order": lambda frame: frame[frame.columns[::-1]],
    "csv": as_csv,
    "csv with semicolons and decimal commas": lambda frame: as_csv(frame, sep=";", decimal=","),
    "csv in capitals": lambda frame: as_csv(frame.assign(c=frame.c.str.upper(), y=frame.y)),
    "csv with another mark for missing": lambda frame: as_csv(frame, na_rep="NA"),
    "arrow": lambda frame: pa.Table.from_pandas(frame),
    "parquet": as_parquet,
    "float32": lambda frame: frame.astype({"x": np.float32}),
    "whole numbers as floats": lambda frame: frame.astype({"k": float}),
    "categories of pandas": lambda frame: frame.astype({"c": "category", "y": "category"}),
    "a column more": lambda frame: frame.assign(more=1),
    "read as a raw table": lambda frame: dpviz.read_table(as_csv(frame)),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_another_order_or_form_has_the_same_sums(form):
    for frame in (FRAME, GAPS):
        assert told(OTHER_FORMS[form](frame), schema()) == told(frame, schema())


OTHER_SCHEMAS = {
    "range": schema(-1, 1),
    "another range": schema(-5, 5.0000001),
    "classes in another order": schema(classes=("q", "p")),
    "a class less": schema(classes=("p", "z")),
    "n_public": schema(n_public=17),
    "fractions": schema(whole=False),
    "gaps replaced": schema(missing_as=0.5),
}


def test_another_declaration_has_the_same_sums_though_other_rows_are_dropped_or_clipped():
    for frame in (FRAME, GAPS):
        assert {name for name, other in OTHER_SCHEMAS.items() if told(frame, other) != told(frame, schema())} == set()


def test_a_person_a_name_and_the_form_of_a_date_change_no_sum():
    plain, (n_rows, persons) = told(FRAME, schema()), told(FRAME, schema(), person="who", rows_per_person=1)
    assert (n_rows, {name: sum for name, sum in persons.items() if name != "who"}) == plain
    assert persons["who"][1]
    assert told(as_csv(FRAME), schema(), person="who", rows_per_person=2) == (n_rows, persons)
    numbered = [FRAME.assign(who=[f"{row % 120:{width}}" for row in range(N)]) for width in ("", "03")]
    assert len({told(rows, schema(), person="who", rows_per_person=1)[1]["who"] for rows in numbered}) == 2, "keys are texts"
    by = Schema((NumericFeature("z", -5, 5),), ClassTarget("y", ("p", "q")), n_public=N)
    assert told(FRAME.rename(columns={"x": "z"}), by)[1]["z"] == plain[1]["x"]
    (_, one), (_, other) = told(FRAME, schema(dates=1)), told(as_csv(FRAME), schema(dates=1))
    assert one == other
    assert one["when"][1]


def test_one_other_cell_gives_another_sum_of_its_column_alone():
    first = FRAME.loc[5]
    others = {"x": 0.123, "k": (first.k + 1) % 90, "c": "nein" if first.c == "ja" else "ja", "y": "q" if first.y == "p" else "p"}
    before = told(FRAME, schema())[1]
    for column, cell in others.items():
        edited = FRAME.copy()
        edited.loc[5, column] = cell
        after = told(edited, schema())[1]
        assert [name for name in before if before[name] != after[name]] == [column]


def test_a_column_is_wide_from_about_fifty_distinct_cells_on():
    for distinct in (1, 2, 40, 60, 1000):
        frame = pd.DataFrame({"x": np.arange(2000) % distinct, "y": "p"})
        found = dpviz.encode(frame, Schema((NumericFeature("x", 0, 2000),), ClassTarget("y", ("p", "q")))).table_sums.columns
        assert [one.is_wide for one in found] == [distinct > 50, False]
        assert [one.is_constant for one in found] == [distinct == 1, True]


def test_parts_and_rows_made_by_hand_are_told_as_the_whole_table():
    data = dpviz.encode(FRAME, schema(), person="who", rows_per_person=1)
    parts = [*data.parts(0.3), data.take(slice(0, 10), share=0.1), data.folds(3, seed=0)[0][0], data.with_cached_counts()]
    assert all(part.table_sums is data.table_sums for part in (*parts, data.parts(0.5)[0].parts(0.5)[1]))
    data = dpviz.encode(FRAME, schema())
    by_hand = EncodedDataset(data.schema, data.columns, data.target)
    assert {one.name: one.text for one in by_hand.table_sums.columns} == {one.name: one.text for one in data.table_sums.columns}
    assert by_hand.parts(0.5)[0].table_sums.n_rows == N


def test_sums_are_neither_shown_nor_pickled_and_what_comes_back_says_so():
    data = dpviz.encode(FRAME, schema())
    text = data.table_sums.columns[0].text
    assert data.table_sums.is_known
    for shown in (repr(data), repr(data.table_sums), repr(data.table_sums.columns), str(data.report)):
        assert text not in shown
    assert repr(data.table_sums) == "TableSums()"
    for kept in (pickle.dumps(data), pickle.dumps(data.table_sums), pickle.dumps(data.parts(0.5))):
        assert text.encode() not in kept
        assert data.table_sums.columns[0].first.to_bytes(8, "little") not in kept
    for lost in (pickle.loads(pickle.dumps(data)), copy.deepcopy(data)):
        assert not lost.table_sums.is_known
        assert not lost.parts(0.5)[0].table_sums.is_known


def test_a_table_that_is_read_in_pieces_is_told_as_one_in_memory(tmp_path):
    for place, part in enumerate((GAPS[:100], GAPS[100:])):
        part.to_parquet(tmp_path / f"{place}.parquet", row_group_size=40)
    with dpviz.encode_large(tmp_path, schema()) as rows:
        found = rows.table_sums
        assert (found.n_rows, {one.name: (one.text, one.is_wide) for one in found.columns}) == told(GAPS, schema())


@pytest.mark.slow
def test_many_random_tables_share_no_sum():
    """By their sums the register knows tables of sources."""
    schema, found = Schema((NumericFeature("x", -9, 9),), NumericTarget("y", 0, 1)), list[str]()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = dpviz.encode(pd.DataFrame({"x": rng.normal(0, 1, 50), "y": rng.uniform(0, 1, 50)}), schema)
        found += [column.text for column in rows.table_sums.columns]
    assert len(set(found)) == len(found)
