"""Rows on their way to workers."""

import os
import signal
import stat

import pytest

from dpviz.errors import WorkersEnded
from dpviz.evaluation import workers


def test_rows_shared_with_workers_lie_where_only_this_user_may_look(monkeypatch, tmp_path):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    leave = []
    monkeypatch.setattr(workers.atexit, "register", lambda *what, **how: leave.append((what, how)))
    workers._keep_to_ourselves.__wrapped__(os.getpid())
    folder = os.environ["JOBLIB_TEMP_FOLDER"]
    assert os.path.dirname(folder) == str(tmp_path)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    ((remove, *arguments), how), *more = leave
    remove(*arguments, **how)
    assert not more
    assert not os.path.exists(folder)


def doubled(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_a_killed_worker_is_said_and_the_next_work_finds_new_ones():
    with pytest.raises(WorkersEnded, match="A worker process ended before its work was done; it was killed, or memory ran out"):
        list(workers.spread(doubled, range(8), 2))
    assert list(workers.spread(doubled, (1, 2), 2)) == [2, 4]
