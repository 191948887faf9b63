"""What is remembered of earlier fits has one limit per process, and never changes a model."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import dpviz
from dpviz.io.samples import load_sample
from dpviz.table.dataset import EncodedDataset
from dpviz.training import node_cache
from dpviz.training.node_cache import Budget, NodeCache

DATA = dpviz.encode(*load_sample("clinic"))
EPSILONS = (0.3, 1.0, 3.0)


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> Budget:
    """Of a process of its own, so small that three tables drive each other out of it."""
    small = Budget(60_000)
    monkeypatch.setattr(NodeCache.__init__, "__defaults__", (small,))
    return small


def _caches(budget: Budget) -> list[NodeCache[Any]]:
    return list(budget._caches)


def _models(data: EncodedDataset) -> list[object]:
    return [dpviz.fit("pf-tree", data, epsilon=epsilon, seed=4, max_depth=4).model for epsilon in EPSILONS]


def test_a_full_budget_changes_no_model_and_is_never_exceeded(budget: Budget) -> None:
    folds = [train for train, _ in DATA.folds(3, seed=0)]
    plain = [_models(fold) for fold in folds]
    cached = [fold.with_cached_counts() for fold in folds]
    most = []
    for _ in range(2):
        for fold, expected in zip(cached, plain, strict=True):
            assert _models(fold) == expected
            most.append(sum(cache.held for cache in _caches(budget)))
    assert len(_caches(budget)) == 3
    assert 0 < max(most) <= budget.numbers_held
    wanted = Budget(10**9)
    for cache in _caches(budget):
        cache._budget = wanted
    for fold in cached:
        _models(fold)
    assert sum(cache.held for cache in _caches(budget)) > budget.numbers_held  # there was more to remember than room


def test_several_threads_on_a_full_budget_get_the_models_of_one(budget: Budget) -> None:
    folds = [train for train, _ in DATA.folds(3, seed=0)]
    plain, cached = [_models(fold) for fold in folds], [fold.with_cached_counts() for fold in folds]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(_models, cached * 2)) == plain * 2
    assert sum(cache.held for cache in _caches(budget)) <= budget.numbers_held


def test_what_was_used_longest_ago_makes_room_and_its_first_nodes_stay_longest(budget: Budget) -> None:
    first, second = (train.with_cached_counts() for train, _ in DATA.folds(2, seed=0))
    _models(first)
    [older] = _caches(budget)
    before, kept = older.held, list(older._known)
    budget.numbers_held = before + 5_000
    _models(second)
    assert _caches(budget)[0] is older
    assert older.held < before
    assert list(older._known) == kept[: len(older._known)]
    sizes = sum(node.size for pair in older._known.values() for node in pair)
    assert older.held == sizes + sum(node.size for node in older._roots.values())


@pytest.mark.slow
def test_counts_go_with_the_rows_they_were_made_from(budget: Budget) -> None:
    data = DATA.take(np.arange(DATA.n_rows), share=1.0).with_cached_counts()
    _models(data)
    [cache] = _caches(budget)
    gone = weakref.ref(cache)
    del cache, data
    gc.collect()
    assert gone() is None
    assert not _caches(budget)


def test_a_process_has_one_budget() -> None:
    assert NodeCache()._budget is NodeCache()._budget is node_cache.BUDGET
