"""What is installed: files that come with dpviz, optional packages of its extras, and what a package offers to lower ones."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from dpviz.errors import DpvizError

#: In a wheel: the top level of the repository, as far as the dashboard and the samples need it (see pyproject.toml).
_IN_WHEEL = Path(__file__).resolve().parent / "_bundled"
#: Set by `dpviz app --lessons` for its server, which strangers may reach.
LESSONS_ONLY = "DPVIZ_LESSONS_ONLY"
_MODULES: dict[str, tuple[str, ...]] = {}


def lessons_only() -> bool:
    """True in a server that shows lessons to a class: no tables, no register."""
    return bool(os.environ.get(LESSONS_ONLY))


def manual() -> Path:
    """First page of the documentation. Raises DpvizError where it was not built: wheels have it, a clone after `make docs`."""
    found = Path(__file__).with_name("manual") / "index.html"
    if not found.is_file():
        raise DpvizError("The documentation was not built here.", where=str(found.parent), remedy="Run `make docs` in the clone.")
    return found


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
    """Raise DpvizError when one of `packages`, which `what` needs and `extra` installs, is absent."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        what = f"{what} needs packages that are not installed: {', '.join(missing)}."
        raise DpvizError(what, remedy=f"Run: pip install 'dpviz[{extra}]'")


def offer(what: str, *modules: str) -> None:
    """Say which modules hold something that lower packages ask for; `dpviz/__init__.py` does, above all."""
    _MODULES[what] = modules


def offered_modules(what: str) -> list[ModuleType]:
    """Those modules, imported when they are first asked for."""
    return [import_module(name) for name in _MODULES.get(what, ())]
