"""What is installed: the files that come with dpviz, and the optional packages of its extras."""

import os
from importlib.util import find_spec
from pathlib import Path

from dpviz.errors import DpvizError, MissingExtra

#: In a wheel: the top level of the repository, as far as the dashboard and the samples need it (see pyproject.toml).
_IN_WHEEL = Path(__file__).resolve().parent / "_bundled"
#: Set by `dpviz app --lessons` for its server, which strangers may reach.
LESSONS_ONLY = "DPVIZ_LESSONS_ONLY"


def lessons_only() -> bool:
    """True in a server that shows lessons to a class: no tables, no register."""
    return bool(os.environ.get(LESSONS_ONLY))


def bundled(path: str) -> Path:
    """The file or folder at `path` of the repository ("app.py", "data/loans.csv.gz"), in a clone and in an installed wheel.

    Raises DpvizError when it is missing.
    """
    top = _IN_WHEEL if _IN_WHEEL.is_dir() else _IN_WHEEL.parents[1]
    found = top / path
    if not found.exists():
        raise DpvizError("A file of dpviz is missing.", where=str(found), remedy="Install dpviz again.")
    return found


def require_extra(extra: str, what: str, *packages: str) -> None:
    """Raise MissingExtra when one of `packages`, which `what` needs and `extra` installs, is absent."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingExtra(extra, what, missing)
