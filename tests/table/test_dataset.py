"""Encoded rows: fingerprint, parts, splits, folds."""

import gc
import pickle
from dataclasses import replace
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from dpviz.errors import DpvizError, ParameterError
from dpviz.learners import fit
from dpviz.randomness import generator
from dpviz.table import dataset as module
from dpviz.table.dataset import EncodedDataset, Memo
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.tables import schema_of, table

SCHEMA = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", ("a", "b", "d"))), ClassTarget("y", ("n", "p")), 1000)
NUMERIC = replace(SCHEMA, target=NumericTarget("y", 0, 1))


def dataset(n_rows=100, seed=0, schema=SCHEMA):
    rng = generator(seed)
    target = rng.integers(0, 2, n_rows).astype(np.uint8) if isinstance(schema.target, ClassTarget) else rng.random(n_rows)
    return EncodedDataset(schema, (rng.random(n_rows), rng.integers(0, 3, n_rows).astype(np.uint8)), target)


def numbered(n_rows):
    """Rows that know their position."""
    schema = Schema((NumericFeature("row", 0, 1e6),), SCHEMA.target, 1000)
    return EncodedDataset(schema, (np.arange(n_rows, dtype=float),), np.zeros(n_rows, np.uint8))


def rows(data):
    """Rows as a sorted list of tuples."""
    return sorted(zip(*(column.tolist() for column in data.columns), data.target.tolist(), strict=True))


def with_cell(data, column, row, value):
    """A copy with one cell changed."""
    arrays = [array.copy() for array in (*data.columns, data.target)]
    arrays[column][row] = value
    return EncodedDataset(data.schema, tuple(arrays[:-1]), arrays[-1])


def test_one_changed_cell_among_many_or_another_schema_changes_the_fingerprint():
    data = dataset(600_000)
    assert data.fingerprint == dataset(600_000).fingerprint
    for row in (0, 299_999, 599_999):
        assert with_cell(data, 1, row, (data.columns[1][row] + 1) % 3).fingerprint != data.fingerprint
        assert with_cell(data, 0, row, 2.0).fingerprint != data.fingerprint
        assert with_cell(data, 2, row, 1 - data.target[row]).fingerprint != data.fingerprint
    assert EncodedDataset(SCHEMA.declare("x", high=2), data.columns, data.target).fingerprint != data.fingerprint


def test_the_fingerprint_is_the_one_that_registers_hold():
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("n", "p")), 10)
    data = EncodedDataset(schema, (np.arange(4) / 4,), np.array([0, 1, 0, 1], np.uint8))
    assert data.fingerprint == "176a1e307c1bbd491c239817b501e29d3112fb083402107af36b8a6ac7a58dc1"


# --- splits and folds, for evaluation


@given(st.integers(2, 10), st.integers(10, 60), st.integers(0, 5), st.sampled_from([SCHEMA, NUMERIC]))
def test_folds_partition_the_rows_and_share_out_every_class(count, n_rows, seed, schema):
    data = dataset(n_rows, schema=schema)
    folds = data.folds(count, seed=seed)
    assert len(folds) == count
    assert sorted(row for _, test in folds for row in rows(test)) == rows(data)
    assert all(sorted(rows(train) + rows(test)) == rows(data) for train, test in folds)
    assert [rows(test) for _, test in folds] == [rows(test) for _, test in data.folds(count, seed=seed)]
    if schema is SCHEMA:
        assert (np.ptp([test.class_counts() for _, test in folds], axis=0) <= 1).all()


@pytest.mark.parametrize("share", [0.05, 0.2, 0.37])
def test_a_split_has_its_share_of_every_class_and_of_the_public_count(share):
    data = dataset(1000)
    train, test = data.split(share, seed=4)
    assert test.n_rows == round(1000 * share)
    assert sorted(rows(train) + rows(test)) == rows(data)
    assert np.abs(test.class_counts() - share * data.class_counts()).max() <= 1
    assert (train.schema.n_public, test.schema.n_public) == (round(1000 * (1 - share)), round(1000 * share))
    assert train.fingerprint == data.split(share, seed=4)[0].fingerprint != data.split(share, seed=5)[0].fingerprint
    for array in (*train.columns, train.target):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_what_cannot_be_divided_is_refused_without_the_number_of_rows():
    for share in (0, 1, -0.1, 1.5):
        with pytest.raises(ParameterError, match="test_share"):
            dataset().split(share, seed=0)
    for n_rows, share in ((0, 0.5), (1, 0.5), (2, 0.2), (2, 0.9)):  # all in one part
        with pytest.raises(DpvizError, match="too few rows to hold some out"):
            dataset(n_rows).split(share, seed=0)
    for count in (1, 38):
        with pytest.raises(ParameterError, match="count") as problem:
            dataset(37).folds(count, seed=0)
        assert "37" not in str(problem.value)


@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(0, 60))
def test_every_beginning_of_a_stratified_order_has_its_share_of_every_class(seed, n_rows):
    data = table(schema_of("numbers", 3), n_rows, seed % 1000)
    order = data.stratified_order(np.random.default_rng(seed))
    assert sorted(order) == list(range(n_rows))
    shares = data.class_counts() / max(n_rows, 1)
    for size in range(n_rows + 1):
        found = np.bincount(data.target[order[:size]], minlength=3)
        assert (np.abs(found - size * shares) < 2).all()


def test_a_stratified_order_is_random_within_a_class():
    data = table(schema_of("numbers"), 200)
    first = [data.stratified_order(np.random.default_rng(seed))[:2].tolist() for seed in range(40)]
    assert len({row for found in first for row in found}) > 50


# --- what is kept with rows


@pytest.mark.slow
def test_what_is_worked_out_from_rows_is_made_once_per_key_and_goes_with_them():
    data, other, memo, made = dataset(), dataset(), Memo(), []
    for which, key in ((data, "a"), (data, "a"), (data, "b"), (other, "a")):
        memo.of(which, key, lambda: made.append(1) or np.zeros(3))
    assert len(made) == 3
    gone = ref(memo.of(data, "c", lambda: np.zeros(3)))
    del data, which
    gc.collect()
    assert gone() is None


def test_rows_that_were_fitted_on_go_to_another_process_without_their_counts():
    data = dataset().with_cached_counts()
    fit("pf-tree", data, epsilon=1.0, max_depth=2, seed=0)
    there = pickle.loads(pickle.dumps(data))
    assert len(pickle.dumps(data)) < 2 * len(pickle.dumps(dataset()))
    assert there.fingerprint == data.fingerprint
    here, away = (fit("pf-tree", which, epsilon=1.0, max_depth=2, seed=0).model for which in (data, there))
    assert here == away


# --- parts that may be released from


def test_every_row_is_assigned_to_its_part_by_itself(monkeypatch):
    data = numbered(20_000)
    rest, chosen = data.parts(0.25)
    assert sorted([*rest.columns[0].tolist(), *chosen.columns[0].tolist()]) == data.columns[0].tolist()
    assert binomtest(chosen.n_rows, data.n_rows, 0.25).pvalue > 1e-6
    assert binomtest(chosen.n_rows, data.n_rows, 0.3).pvalue < 1e-4, "a test of the test"
    assert {data.parts(0.25)[1].n_rows for _ in range(20)} != {chosen.n_rows}, "the coins are new each time"
    coins = generator(0).random(101)  # held fixed: a row that is added leaves every other row in its part
    monkeypatch.setattr(module, "secure_uniforms", lambda size: coins[:size])
    for before, after in zip(numbered(100).parts(0.3), numbered(101).parts(0.3), strict=True):
        assert [row for row in after.columns[0].tolist() if row != 100] == before.columns[0].tolist()


def test_parts_may_be_released_from_and_permuted_splits_may_not():
    data = numbered(40)
    assert [part.not_row_wise for part in data.parts(0.5)] == ["", ""]
    for part in (*data.split(seed=0), *data.folds(2, seed=0)[0], data.take(np.arange(3), share=1.0)):
        assert "depend on other rows" in part.not_row_wise
    assert [part.not_row_wise for part in replace(data, not_row_wise="a reason").parts(0.5)] == ["a reason"] * 2
