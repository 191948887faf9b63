"""Curves of the Compare page for a session file, and back from one."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dpviz.app.compare.ask import VIEWS, CompareRequest
from dpviz.app.compare.run import SLOT, compare_task, key_of, origin_of
from dpviz.app.state import Loaded
from dpviz.app.work.session import Shown, last_shown, put
from dpviz.errors import DocumentError
from dpviz.evaluation.compare.grid import SweepGrid, columns_of
from dpviz.evaluation.compare.sweep import as_frame
from dpviz.io.session import Curves
from dpviz.table.role import DataRole


def kept_curves(loaded: Loaded) -> tuple[Curves, ...]:
    """The curves shown last along each axis; none of private rows."""
    if loaded.role is DataRole.PRIVATE:
        return ()
    shown = (last_shown(SLOT, (loaded.data.fingerprint, along)) for along in VIEWS)
    return tuple(_curves_of(item) for item in shown if item is not None)


def _curves_of(shown: Shown) -> Curves:
    request: CompareRequest = shown.asked
    frame = as_frame(shown.values)
    about = {
        "along": request.along,
        "metric": request.metric,
        "n_train": request.n_train,
        "grid": json.loads(json.dumps(asdict(request.grid))),
    }
    return Curves(about, tuple(frame.columns), tuple(map(tuple, frame.astype(object).to_numpy().tolist())))


def request_of(curves: Curves) -> CompareRequest:
    """What saved curves answer. Raises DocumentError, and DpvizError for learners and settings there are not."""
    try:
        grid = SweepGrid(**_tuples(curves.about["grid"]))
        along, metric, n_train = (curves.about[name] for name in ("along", "metric", "n_train"))
    except (KeyError, TypeError, AttributeError) as error:
        raise DocumentError("These curves lack what they are about.", where="curves", remedy="Remove them.") from error
    if not isinstance(along, str) or along not in VIEWS or set(curves.columns) != set(columns_of(curves.columns)):
        raise DocumentError("These curves have other columns than a comparison.", where="curves", remedy="Remove them.")
    if not isinstance(metric, str) or metric not in curves.columns or not isinstance(n_train, int):
        raise DocumentError("These curves do not say what they show.", where="curves", remedy="Remove them.")
    return CompareRequest(along, metric, grid, n_train)


def _tuples(grid: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in grid.items()}


def put_back(request: CompareRequest, curves: Curves, loaded: Loaded) -> None:
    """Keep rows of the table in use as if they had been computed here."""
    rows = (dict(zip(curves.columns, row, strict=True)) for row in curves.rows)
    origin = origin_of(loaded, request.grid)
    put(compare_task(request, loaded), {key_of(origin, row): row for row in rows})
