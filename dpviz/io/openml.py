"""Tables from OpenML, by name: the only part of dpviz that uses the network, and only when asked to.

scikit-learn fetches them. Nothing is kept on disk. With the environment variable DPVIZ_OFFLINE=1 nothing is fetched at all.
"""

import os
from typing import Any

from dpviz.errors import DpvizError
from dpviz.io.csv import read_csv
from dpviz.progress import Stop, watched
from dpviz.table.raw import RawTable

#: "1" keeps dpviz off the network whatever is clicked.
VARIABLE = "DPVIZ_OFFLINE"


def is_offline() -> bool:
    """True when the network is switched off for dpviz."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def fetch_openml(name: str, *, version: int | str = "active", stop: Stop | None = None) -> RawTable:
    """Download a table. A note says which column OpenML suggests as the target.

    Raises DpvizError without a network, where it is switched off, and for no such table; TableError for a table dpviz cannot use,
    a too large one for example; Cancelled once `stop` says so.

    `name`: its name on OpenML, such as "adult".
    `version`: int or "active"; a number, or the version OpenML marks as active.
    `stop`: checked before and after the download, which cannot be interrupted itself.
    """
    if is_offline():
        remedy = f"Unset {VARIABLE}, or choose a sample or a file instead."
        raise DpvizError("The network is switched off.", where=f"OpenML, {name!r}", remedy=remedy)
    step = watched(None, stop)
    step(0.0)
    bunch = _fetch(name, version)
    step(1.0)
    table = read_csv(bunch.frame.to_csv(index=False).encode(), name=name)
    targets = ", ".join(repr(str(target)) for target in bunch.target_names)
    note = f"OpenML suggests {targets} as the target." if targets else "OpenML suggests no target."
    return RawTable(table.columns, table.source, (*table.notes, note))


def _fetch(name: str, version: int | str) -> Any:
    from sklearn import datasets

    place = f"OpenML, {name!r}"
    try:
        return datasets.fetch_openml(name, version=version, as_frame=True, cache=False, parser="pandas", n_retries=1)
    except ValueError as error:  # scikit-learn's answer to an unknown name or version, and to a table that is no frame
        remedy = "Check the name and the version on OpenML, or download the table and upload it as CSV."
        raise DpvizError("There is no such table, or it cannot be read.", where=place, remedy=remedy) from error
    except OSError as error:  # URLError, timeouts and broken connections
        remedy = "Check that this computer is online, or choose a sample or a file instead."
        raise DpvizError("OpenML could not be reached.", where=place, remedy=remedy) from error
