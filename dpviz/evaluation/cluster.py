"""Work on a Dask cluster, which joblib's Dask backend names: `with joblib.parallel_config(backend="dask")`.

The tasks are handed over here and not by joblib, which would hand over everything at once, send the rows along with every task,
and wait for ever for a task whose workers are killed. The cluster starts a task again on another worker when its own is lost, and
gives it up after a few losses.

Rows travel to the cluster's workers: they must be as trustworthy as this computer, and the connection is encrypted only if the
cluster is set up for it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import call
from typing import Any, TypeVar

from dpviz.errors import DpvizError, WorkersEnded

T = TypeVar("T")
R = TypeVar("R")

#: Seconds that a cluster may take to start its first worker.
_PATIENCE = 30
#: So often rows that were lost with their workers are sent again.
_MOST_LOSSES = 3


def active_cluster() -> Any | None:
    """The client of the Dask cluster that joblib's active backend works on; None on any other backend."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def on_cluster(client: Any, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
    """Yield the result of `work` on each task, in order; tasks are taken a little ahead of the cluster's workers.

    Raises WorkersEnded where a task was given up, or where all workers that held the rows were lost again and again; DpvizError
    where no worker has come up.
    """
    from distributed import CancelledError, KilledWorker

    def start(task: T) -> tuple[T, Any]:
        return task, client.submit(call, sent, task, pure=False)

    sent, under_way, losses = _send(client, work), deque[tuple[T, Any]](), 0
    try:
        most, left = 2 * sum(client.ncores().values()), iter(tasks)
        while True:
            under_way += map(start, islice(left, most - len(under_way)))
            if not under_way:
                return
            try:
                found = under_way[0][1].result()
            except CancelledError:  # the cluster keeps fewer copies of the rows than it has workers: the last one was lost
                losses += 1
                if losses > _MOST_LOSSES:
                    raise
                client.cancel([sent, *(future for _, future in under_way)])
                sent = _send(client, work)
                under_way = deque(map(start, [task for task, _ in under_way]))
                continue
            under_way.popleft()
            yield found
    except (CancelledError, KilledWorker) as error:
        raise WorkersEnded from error
    finally:
        client.cancel([sent, *(future for _, future in under_way)])  # an error's traceback would keep the rows on the cluster


def _send(client: Any, work: Callable[[T], R]) -> Any:
    """Once to every worker, with the rows in it."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        what = f"The cluster had no worker for {_PATIENCE} seconds."
        raise DpvizError(what, remedy="Start workers that reach its scheduler, or leave the cluster out.") from error
    return client.scatter(work, broadcast=True, hash=False)
