"""What is remembered of earlier fits has one limit per process, and never changes a model."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dpviz
from dpviz.io.samples import load_sample
from dpviz.table.dataset import EncodedDataset
from dpviz.training.counting.remembered import Limit, Remembered

DATA = dpviz.encode(*load_sample("clinic"))
EPSILONS = (0.3, 1.0, 3.0)


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    """Of a process of its own, so small that three tables drive each other out of it."""
    small = Limit(60_000)
    monkeypatch.setattr(Remembered.__init__, "__defaults__", (small,))
    return small


def _used(limit: Limit) -> list[Remembered]:
    """Those used last stand last; what each holds is what it says."""
    found = list(limit._used)
    for one in found:
        assert one.held == sum(-(-array.nbytes // 8) for known in one._known.values() for array in known.values())
    return found


def _models(data: EncodedDataset, **asked: object) -> list[object]:
    return [dpviz.fit("pf-tree", data, epsilon=epsilon, seed=4, max_depth=4, **asked).model for epsilon in EPSILONS]


@pytest.mark.slow
def test_a_full_budget_changes_no_model_and_is_never_exceeded(limit: Limit) -> None:
    folds = [train for train, _ in DATA.folds(3, seed=0)]
    plain = [_models(fold) for fold in folds]
    cached = [fold.with_cached_counts() for fold in folds]
    most = []
    for _ in range(2):
        for fold, expected in zip(cached, plain, strict=True):
            assert _models(fold) == expected
            most.append(sum(one.held for one in _used(limit)))
    assert len(_used(limit)) == 3
    assert 0 < max(most) <= limit.numbers
    enough, limit.numbers = limit.numbers, 10**9
    for fold in cached:
        _models(fold)
    assert sum(one.held for one in _used(limit)) > enough  # there was more to remember than room


@pytest.mark.slow
def test_several_threads_on_a_full_budget_get_the_models_of_one(limit: Limit) -> None:
    folds = [train for train, _ in DATA.folds(3, seed=0)]
    plain, cached = [_models(fold) for fold in folds], [fold.with_cached_counts() for fold in folds]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(_models, cached * 2)) == plain * 2
    assert sum(one.held for one in _used(limit)) <= limit.numbers


@pytest.mark.slow
def test_counts_go_with_the_rows_they_were_made_from(limit: Limit) -> None:
    data = DATA.take(np.arange(DATA.n_rows), share=1.0).with_cached_counts()
    _models(data)
    [one] = _used(limit)
    gone = weakref.ref(one)
    del one, data
    gc.collect()
    assert gone() is None
    assert not _used(limit)
