"""Rows on their way to workers."""

import os
import stat

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
