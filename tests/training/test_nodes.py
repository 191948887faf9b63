"""Counts of nodes against counting by hand, wherever the rows are; what fits share is bounded and changes no model."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.io.samples import load_sample
from dpviz.table.candidates import equal_width_grid, multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training import nodes
from dpviz.training.counted_rows import counter_of
from dpviz.training.nodes import CountedNode, NodeCache, left_counts
from dpviz.training.two_levels import distinct_pairs, fit_into_memory
from tests.support.elsewhere import OneByOne
from tests.support.oracles import counts
from tests.support.tables import schema_of, table
from tests.support.two_levels import all_pair_counts

GRIDS = {"multiscale": multiscale_grid, "equal width": lambda schema: equal_width_grid(schema, 10)}
SOURCES = {
    "memory": lambda data: data,
    "shared": EncodedDataset.with_cached_counts,
    "source": OneByOne,
}


def root_of(data, make=multiscale_grid) -> CountedNode:
    return counter_of(data).root(make(data.schema))


@pytest.mark.parametrize("make", GRIDS.values(), ids=GRIDS)
def test_counts_of_a_root_are_those_of_its_rows(make):
    data = table(schema_of("mixed", 3), 40)
    root = root_of(data, make)
    rules = counts.rules_of(root.grid)
    np.testing.assert_array_equal(root.histogram, counts.histogram(root.grid, data, range(40)))
    assert root.histogram.sum() == 40 * data.n_features
    np.testing.assert_array_equal(root.left_counts, counts.left_counts(rules, data, range(40)))
    assert root.left_counts.dtype == np.int64
    halves = root.histogram / 2
    np.testing.assert_array_equal(left_counts(root.grid, halves) * 2, root.left_counts)
    np.testing.assert_array_equal(all_pair_counts(root), counts.pairs(root.grid, data, range(40)))
    pairs, stands = distinct_pairs(root)
    found = pairs[:, stands][..., stands]
    assert found.shape == (3, len(rules), len(rules))
    for first in (0, len(rules) // 3, len(rules) - 1):
        rows = [row for row in range(40) if counts.goes_left(rules[first], data.columns[rules[first].feature][row])]
        np.testing.assert_array_equal(found[:, first].T, counts.left_counts(rules, data, rows))


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(0, 40),
    with_parts=st.booleans(),
    asked=st.lists(st.sampled_from(["class_counts", "histogram", "pair_counts", "left_counts", ""]), min_size=4, max_size=4),
    source=st.sampled_from(sorted(SOURCES)),
    schema=st.sampled_from([schema_of("mixed", 3), Schema(schema_of("numbers").features[:1], schema_of().target, 30)]),
)
def test_whatever_is_asked_in_whatever_order_counts_are_those_of_the_rows(schema, seed, n_rows, with_parts, asked, source):
    """Of some nodes of a level several things are asked, of some nothing; a few of them are not divided."""
    rng, data = np.random.default_rng(seed), table(schema, n_rows, seed)
    root = root_of(SOURCES[source](data))
    grid, parts = root.grid, rng.integers(0, 2, n_rows).astype(np.uint8)
    oracles = {
        "class_counts": lambda rows: counts.class_counts(data, rows),
        "histogram": lambda rows: counts.histogram(grid, data, rows),
        "pair_counts": lambda rows: counts.pairs(grid, data, rows),
        "left_counts": lambda rows: counts.left_counts(counts.rules_of(grid), data, rows),
    }
    level = [(root.without(parts), np.flatnonzero(parts == 0)) if with_parts else (root, np.arange(n_rows))]
    for depth, usual in enumerate(asked):
        below = []
        for number in rng.permutation(len(level)):
            node, rows = level[number]
            assert node.level == depth
            for what in {usual, *rng.choice([*oracles, ""], 1)} - {""}:
                found = all_pair_counts(node) if what == "pair_counts" else getattr(node, what)
                np.testing.assert_array_equal(found, oracles[what](rows))
            if rng.random() < 0.8:
                candidate = int(rng.integers(grid.n_candidates))
                feature, index = grid.locate(candidate)
                rule = counts.rules_of(grid)[candidate]
                goes_left = np.array([counts.goes_left(rule, data.columns[feature][row]) for row in rows], dtype=bool)
                sides = node.children(feature, grid.features[feature].left_bins(index))
                below += zip(sides, (rows[goes_left], rows[~goes_left]), strict=True)
        level = below[:4]


def test_rows_of_several_pieces_are_counted_once(monkeypatch):
    data = table(schema_of("mixed", 2), 300)
    expected = root_of(data)
    whole = (
        expected.histogram,
        all_pair_counts(expected),
        expected.children(0, np.arange(expected.grid.features[0].n_bins) < 20)[0].histogram,
    )
    monkeypatch.setattr(nodes, "CHUNK_ROWS", 64)
    root = root_of(table(schema_of("mixed", 2), 300))
    again = root.histogram, all_pair_counts(root), root.children(0, np.arange(expected.grid.features[0].n_bins) < 20)[0].histogram
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_many_bins_and_classes_do_not_wrap_around():
    # 65 thresholds x 2 features in 16 bits; 1500 categories x 50 classes need 32
    schema = Schema((CategoricalFeature("c", tuple(map(str, range(1500)))),), ClassTarget("y", tuple(map(str, range(50)))))
    codes = np.arange(1500, dtype=np.uint16)
    data = EncodedDataset(schema, (codes,), (codes % 50).astype(np.uint8))
    histogram = root_of(data).histogram
    assert histogram.shape == (1500, 50)
    assert (histogram[codes, codes % 50] == 1).all()
    assert histogram.sum() == 1500


def test_the_schema_and_the_depth_say_whether_pairs_are_counted():
    numbers = [NumericFeature(f"n{place}", 0, 1) for place in range(60)]
    target = ClassTarget("y", ("a", "b"))
    few = multiscale_grid(Schema(tuple(numbers[:14]), target))
    assert fit_into_memory(few, 2, 6)
    assert not fit_into_memory(few, 2, 8)  # 64 nodes at once
    assert not fit_into_memory(multiscale_grid(Schema(tuple(numbers), target)), 2, 4)
    switches = [CategoricalFeature(f"c{place}", ("no", "yes")) for place in range(100)]
    assert fit_into_memory(multiscale_grid(Schema(tuple(switches[:40]), target)), 2, 4)
    assert not fit_into_memory(multiscale_grid(Schema(tuple(switches), target)), 2, 4)
    wide = tuple(CategoricalFeature(f"c{place}", tuple("abcdefghij")) for place in range(6))
    assert not fit_into_memory(multiscale_grid(Schema(wide, target)), 2, 4)


# --- what fits on the same rows share

DATA = dpviz.encode(*load_sample("clinic"))


@pytest.fixture
def caches(monkeypatch: pytest.MonkeyPatch) -> weakref.WeakKeyDictionary:
    """Those of a process of its own, with so little room that three tables drive each other out of it."""
    found: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
    monkeypatch.setattr(NodeCache, "_recent", found)
    monkeypatch.setattr(NodeCache, "max_bytes", 480_000)
    return found


def nbytes(caches: weakref.WeakKeyDictionary) -> int:
    """What is held; what each cache holds is what it says."""
    for cache in caches:
        assert cache.nbytes == sum(array.nbytes for arrays in cache._arrays.values() for array in arrays.values())
    return sum(cache.nbytes for cache in caches)


def models(data: EncodedDataset) -> list[object]:
    return [dpviz.fit("pf-tree", data, epsilon=epsilon, seed=4, max_depth=4).model for epsilon in (0.3, 1.0, 3.0)]


@pytest.mark.slow
def test_a_full_cache_changes_no_model_and_is_never_exceeded(caches, monkeypatch):
    folds = [train for train, _ in DATA.folds(3, seed=0)]
    plain, cached, most = list(map(models, folds)), [fold.with_cached_counts() for fold in folds], []
    for _ in range(2):
        for fold, expected in zip(cached, plain, strict=True):
            assert models(fold) == expected
            most.append(nbytes(caches))
    assert len(caches) == 3
    assert 0 < max(most) <= NodeCache.max_bytes
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(models, cached * 2)) == plain * 2
    assert nbytes(caches) <= NodeCache.max_bytes
    monkeypatch.setattr(NodeCache, "max_bytes", 10**9)
    list(map(models, cached))
    assert nbytes(caches) > 480_000  # there was more to keep than room


@pytest.mark.slow
def test_counts_go_with_the_rows_they_were_made_from(caches):
    data = DATA.take(np.arange(DATA.n_rows), share=1.0).with_cached_counts()
    models(data)
    assert len(caches) == 1
    del data
    gc.collect()
    assert not caches
