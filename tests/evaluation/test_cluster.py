"""Work on a Dask cluster: the results of one process, to the bit, whoever is killed."""

import asyncio
import os
import signal
import sys
import time
from functools import partial
from itertools import count
from types import ModuleType

import joblib
import pytest
from pandas.testing import assert_frame_equal

import dpviz
from dpviz.errors import DpvizError, ParameterError, WorkersEnded
from dpviz.evaluation import cluster as clusters
from dpviz.evaluation.workers import spread
from dpviz.progress import steps
from tests.evaluation.tables import rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal"),
    pytest.mark.filterwarnings("ignore"),  # of distributed's own threads and loops
]

NAMES = ["pf-tree", "s-gbdt", "cart"]
ASKED = {"epsilon": [0.5, 5.0], "max_depth": [2], "folds": 2, "repeats": 3, "params": {"s-gbdt": {"rounds": 10}}}


@pytest.fixture(scope="module")
def cluster():
    """Two processes with two threads each on this computer."""
    distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")
    how = {"n_workers": 2, "threads_per_worker": 2, "host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # Streamlit's tests leave a page, which workers would run
        with distributed.LocalCluster(**how) as local, distributed.Client(local):
            yield local


@pytest.fixture
def on_it(cluster):
    with joblib.parallel_config(backend="dask"):
        yield cluster


def test_a_sweep_and_a_curve_are_those_of_one_process_to_the_bit(on_it):
    train, test = rows().split(seed=0)
    curve = {"epsilon": 0.5, "max_depth": 2, "draws": 120}
    here = dpviz.sweep(NAMES, rows(), **ASKED), dpviz.poisoning_curve("pf-tree", train, test, **curve)
    there = (
        dpviz.sweep(NAMES, rows(), **ASKED, workers=2),
        dpviz.poisoning_curve("pf-tree", train, test, **curve, workers=2),
    )
    for one, other in zip(here, there, strict=True):
        assert_frame_equal(one, other, check_exact=True)


def where(task):
    return os.getpid()


def test_the_work_is_done_by_the_cluster(on_it):
    assert os.getpid() not in set(spread(where, range(8), 2))


def killed_once(folder, number):
    """The first process to come to task 3 is killed in the middle of it."""
    if number == 3:
        try:
            (folder / "killed").touch(exist_ok=False)
        except FileExistsError:
            return 2 * number
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def test_what_a_killed_worker_had_to_do_is_done_by_another(on_it, tmp_path):
    assert list(spread(partial(killed_once, tmp_path), range(12), 2)) == list(range(0, 24, 2))
    assert (tmp_path / "killed").exists()


def lost(client, *_, **__):
    """A task whose rows are gone."""
    future = client.scatter(0, hash=False)
    client.cancel(future, force=True)
    return future


def test_rows_that_were_lost_with_their_workers_are_sent_again_and_not_for_ever(on_it, monkeypatch):
    from distributed import Client

    submit, send, number, sent = Client.submit, clusters._send, count(), []
    monkeypatch.setattr(clusters, "_send", lambda client, work: sent.append(work) or send(client, work))
    monkeypatch.setattr(Client, "submit", lambda *given, **more: (submit if next(number) else lost)(*given, **more))
    assert list(spread(abs, range(12), 2)) == list(range(12))
    assert len(sent) == 2
    monkeypatch.setattr(Client, "submit", lost)
    with pytest.raises(WorkersEnded):
        list(spread(abs, range(2), 2))
    assert len(sent) == 2 + 1 + clusters._MOST_LOSSES


def killed(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_kills_every_worker_is_given_up_with_a_way_on(on_it, monkeypatch):
    monkeypatch.setattr(on_it.scheduler, "allowed_failures", 0)
    with pytest.raises(WorkersEnded, match=r"A worker process ended before its work was done.* Start the work again"):
        list(spread(killed, range(2), 2))
    assert len(list(spread(where, range(4), 2))) == 4


def test_a_stop_keeps_what_is_done(on_it):
    asked = []
    tasks = steps(range(10_000), None, lambda: len(asked) == 6 or asked.append(1))
    assert list(spread(abs, tasks, 2)) == list(range(6))


def test_a_caller_who_leaves_leaves_neither_work_nor_rows_behind(on_it):
    before = set(on_it.scheduler.tasks)  # an error of another test
    results = spread(abs, range(10_000), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    results.close()
    deadline = time.monotonic() + 60
    while (left := set(on_it.scheduler.tasks) - before) and time.monotonic() < deadline:
        on_it.sync(asyncio.sleep, 0.05)  # the scheduler hears of it on its own loop
    assert not left


def refuse(_):
    raise ParameterError("somebody", "something", 3, "a number below 3")


def test_an_error_arrives_as_it_was(on_it):
    with pytest.raises(ParameterError, match=r"'something' parameter of somebody must be a number below 3. Got 3"):
        list(spread(refuse, range(3), 2))


def test_a_cluster_without_workers_is_said(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")
    monkeypatch.setattr(clusters, "_PATIENCE", 0.2)
    nobody = distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None, silence_logs=50)
    said = pytest.raises(DpvizError, match=r"The cluster had no worker for 0.2 seconds. Start workers")
    with nobody, distributed.Client(nobody, set_as_default=False) as client, said:
        list(clusters.on_cluster(client, where, range(2)))
