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


def active_cluster() -> Any | None:
    """The client of the Dask cluster that joblib's active backend works on; None on any other backend."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def on_cluster(client: Any, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
    """Yield the result of `work` on each task, in order; tasks are taken a little ahead of the cluster's workers.

    Raises WorkersEnded where a task was given up, or all workers that held the rows were lost; DpvizError where no worker has
    come up.
    """
    from distributed import CancelledError, KilledWorker

    _wait_for_workers(client)
    under_way: deque[Any] = deque()
    sent = client.scatter(work, broadcast=True, hash=False)  # once to every worker, with the rows in it
    try:
        most, left = 2 * sum(client.ncores().values()), iter(tasks)
        while True:
            under_way += [client.submit(call, sent, task, pure=False) for task in islice(left, most - len(under_way))]
            if not under_way:
                return
            yield under_way.popleft().result()
    except (CancelledError, KilledWorker) as error:
        raise WorkersEnded from error
    finally:
        client.cancel([sent, *under_way])  # an error's traceback would keep the rows on the cluster


def _wait_for_workers(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        what = f"The cluster had no worker for {_PATIENCE} seconds."
        raise DpvizError(what, remedy="Start workers that reach its scheduler, or leave the cluster out.") from error
