"""The house rules, read from the source: imports go down, rooms keep to themselves, functions stay small, names are explained.

A rule is a function from one `Source` to complaints. `test_every_rule_bites` runs each on a small offender, so that no rule
can fall asleep.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]

FRONT = "the public names"
#: What pages and app.py leave to the rooms; `pyproject.toml` says where a room may import it.
NOT_ON_SCREENS = {"benchmarks", "plotly", "opendp", "sqlglot", "adbc_driver_postgresql", "pyspark"}
RANDOM_TYPES = {"Generator", "BitGenerator"}
UNSAFE = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
#: Of joblib only what sends work to processes this one has started, and what removes their folders.
SAFE = {"joblib.Parallel", "joblib.delayed", "joblib.disk", "joblib.parallel.get_active_backend"}

NETWORK = {"urllib", "http", "socket", "ssl", "ftplib", "smtplib", "telnetlib", "xmlrpc", "socketserver", "webbrowser"}
NETWORK |= {"requests", "httpx", "aiohttp", "urllib3", "websockets", "boto3", "paramiko", "pooch"}
#: Taking an address apart asks nobody.
#: `dpviz docs` hands a file of this computer to its browser.
NO_NETWORK = {"webbrowser.open"} | {f"urllib.parse.{name}" for name in ("urlencode", "urlsplit", "quote", "unquote", "parse_qsl")}
#: A line between two processes of ours, which has no address.
NO_NETWORK |= {f"socket.{name}" for name in ("AF_UNIX", "SOCK_STREAM", "fromfd", "recv_fds", "send_fds", "socketpair")}

#: A colour written out: #rgb, #rrggbb, rgb(...), hsl(...).
COLOUR = re.compile(r"(?<![&\w])#(?:[0-9a-fA-F]{3,4}){1,2}\b|\b(?:rgb|hsl)a?\(")

#: Events that cost something, and who may say that a step costs nothing.
EVENTS = "dpviz.accounting.events"
COSTS = {"Approximate", "RandomParts", "GaussianRounds", "Noise", "Select"}
SAY_NO_COST = {"dpviz/training/growing.py", "dpviz/training/forests/forest.py"}

#: What pages and app may make a path of: their own place, and a file the release register names.
KNOWN_PATHS = {"__file__", "entry.file"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file: its path inside the clone and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def n_lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def is_page(self) -> bool:
        return self.path.startswith("pages/")

    @property
    def room(self) -> str:
        parts = PurePosixPath(self.path).with_suffix("").parts
        if parts[0] != "dpviz":
            return "benchmarks" if parts[0] == "benchmarks" else "screens"
        return FRONT if parts[1] == "__init__" else parts[1]

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """Everything imported anywhere in the file, as dotted names; `from a import b` gives a.b."""
        return tuple(name for node in self.nodes for name in _imported(node, self.path))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(node for node in self.nodes if isinstance(node, Function))


def _imported(node: ast.AST, path: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = PurePosixPath(path).parts[: -node.level] if node.level else ()
        module = ".".join((*above, *filter(None, [node.module])))
        yield from (f"{module}.{alias.name}" for alias in node.names)


def _roots(source: Source) -> set[str]:
    return {name.split(".")[0] for name in source.imports}


# --- rules on imports


def screens_leave_work_to_the_rooms(source: Source) -> Iterator[str]:
    """Pages and app.py draw, count and measure nothing themselves. (Rooms: tests/test_layers.py.)"""
    if source.room == "screens":
        yield from (f"imports {name}" for name in sorted(_roots(source) & NOT_ON_SCREENS))


def randomness_has_one_source(source: Source) -> Iterator[str]:
    """No generator is made, and no other source of chance used, outside dpviz/randomness.py."""
    if source.path == "dpviz/randomness.py":
        return
    for name in source.imports:
        root, *rest = name.split(".")
        from_numpy = name.startswith("numpy.random.") and rest[-1] not in RANDOM_TYPES
        if root in {"random", "secrets"} or name == "os.urandom" or from_numpy:
            yield f"imports {name}"
    for node in source.nodes:
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            from_numpy = owner in {"np.random", "numpy.random"} and node.attr not in RANDOM_TYPES
            if from_numpy or node.attr in {"default_rng", "urandom"}:
                yield f"line {node.lineno}: {owner}.{node.attr}"


def nothing_is_unpickled(source: Source) -> Iterator[str]:
    """No pickle, under any of its names."""
    yield from (f"imports {name}" for name in source.imports if name.split(".")[0] in UNSAFE and name not in SAFE)
    for node in source.nodes:
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and not _is_false(node.value):
            yield f"line {node.value.lineno}: allow_pickle"
        if isinstance(node, ast.Attribute) and node.attr in {"read_pickle", "to_pickle"}:
            yield f"line {node.lineno}: {node.attr}"


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def only_openml_uses_the_network(source: Source) -> Iterator[str]:
    """No module of the network, and of scikit-learn's fetchers only in the file that asks OpenML."""
    for name in source.imports:
        asks = name.split(".")[0] in NETWORK and name not in NO_NETWORK
        fetches = name.startswith("sklearn.") and ".fetch_" in name
        if asks or (fetches and source.path != "dpviz/io/openml.py"):
            yield f"imports {name}"
    for node in source.nodes:
        if isinstance(node, ast.Call) and re.search(r"\bread_(csv|json|html|table|parquet)$", ast.unparse(node.func)):
            yield from (f"line {node.lineno}: reads an address" for found in ast.walk(node) if _is_address(found))


def _is_address(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(("http:", "https:", "ftp:"))


def screens_touch_no_file(source: Source) -> Iterator[str]:
    """No path comes from a browser: pages and app open, write and remove no file; paths of their own start at __file__."""
    if source.room not in {"app", "screens"}:
        return
    for node in source.nodes:
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            writes = called.split(".")[-1] in {
                "write_text",
                "write_bytes",
                "unlink",
                "rename",
                "replace_file",
                "mkdir",
                "rmdir",
                "symlink_to",
            }
            if called in {"open", "io.open", "os.open", "os.remove", "os.rename", "os.replace"} or writes:
                yield f"line {node.lineno}: {called}"
            if called == "Path" and ast.unparse(node.args[0] if node.args else node) not in KNOWN_PATHS:
                yield f"line {node.lineno}: Path({', '.join(map(ast.unparse, node.args))})"


def exports_cannot_see_exact_counts(source: Source) -> Iterator[str]:
    """The line between raw and released: models, io and release know nothing of exact traces."""
    if source.room not in {"models", "io", "release"}:
        return
    names = {node.attr for node in source.nodes if isinstance(node, ast.Attribute)}
    names |= {part for name in source.imports for part in name.split(".")}
    yield from (f"knows {name}" for name in sorted(names & {"exact_trace", "ExactTrace", "trace", "forest_trace", "ForestTrace"}))


def events_come_from_mechanisms(source: Source) -> Iterator[str]:
    """What costs something is stated where it is done: privacy and accounting make these events, others pass them on.

    Composition and `NonPrivate` may be written anywhere: neither can make anything look cheaper than it is. That a step costs
    nothing is said by mechanisms, and for random trees and enumerated decisions.
    """
    if source.room in {"privacy", "accounting"}:
        return
    guarded = COSTS if source.path in SAY_NO_COST else {*COSTS, "NoCost"}
    names = dict(_event_names(source))
    for node in source.nodes:
        if isinstance(node, ast.Call):
            *owner, last = ast.unparse(node.func).split(".")
            made = last if ".".join(owner) in names else names.get(last) if not owner else None
            if made in guarded:
                yield f"line {node.lineno}: {ast.unparse(node.func)}(...)"


def _event_names(source: Source) -> Iterator[tuple[str, str]]:
    """(name in this file, event type) of everything imported from the events, and (name, "") of the module itself."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, "") for alias in node.names if alias.name == EVENTS)
        elif isinstance(node, ast.ImportFrom):
            for alias, dotted in zip(node.names, _imported(node, source.path), strict=True):
                if dotted == EVENTS or dotted.rpartition(".")[0] == EVENTS:
                    yield alias.asname or alias.name, "" if dotted == EVENTS else alias.name


def streamlit_is_used_by_its_public_names(source: Source) -> Iterator[str]:
    """Private names of Streamlit stand in two files, which say why."""
    if source.path not in ("dpviz/app/frame.py", "dpviz/app/work/in_turn.py"):
        yield from (f"imports {name}" for name in source.imports if name.startswith("streamlit.runtime."))
        for node in source.nodes:
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "st.runtime":
                yield f"line {node.lineno}: st.runtime"


def what_capabilities_share_knows_none_of_them(source: Source) -> Iterator[str]:
    """A file beside the folders of app, evaluation or figures imports from none of them. (Each other: tests/test_layers.py.)"""
    place = PurePosixPath(source.path).parts
    if len(place) != 3 or place[1] not in {"app", "evaluation", "figures"}:
        return
    for name in source.imports:
        _, _, folder, *_ = (*name.split("."), "", "", "")
        if name.startswith(f"dpviz.{place[1]}.") and folder != "work" and (ROOT / "dpviz" / place[1] / folder).is_dir():
            yield f"imports {name}"


def fields_are_set_by_their_own_class(source: Source) -> Iterator[str]:
    """No class is subclassed around its fields: none writes into its `__dict__` what its parent's constructor would set."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"vars(self).update", "self.__dict__.update"}:
            yield f"line {node.lineno}: {ast.unparse(node.func)}"


def the_app_has_one_poller(source: Source) -> Iterator[str]:
    """Work under way is polled, and the page drawn again, by `dpviz/app/work/watch.py` alone."""
    if source.path == "dpviz/app/work/watch.py":
        return
    for node in source.nodes:
        if isinstance(node, ast.keyword) and node.arg == "run_every":
            yield f"line {node.value.lineno}: run_every"


# --- rules on pages and files


def no_learner_is_named(source: Source) -> Iterator[str]:
    """Pages and figures treat all learners alike."""
    if not (source.is_page or source.room == "figures"):
        return
    for node in source.nodes:
        if isinstance(node, ast.Constant) and node.value in _learner_names():
            yield f"line {node.lineno}: {node.value!r}"


@cache
def _learner_names() -> frozenset[str]:
    from dpviz.learners import registry

    return frozenset(registry())


def colours_are_in_the_theme(source: Source) -> Iterator[str]:
    """Figures and the dashboard take their colours from dpviz/figures/theme.py."""
    if source.room not in {"figures", "app", "screens"} or source.path == "dpviz/figures/theme.py":
        return
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (f"line {node.lineno}: {found}" for found in COLOUR.findall(node.value))


def pages_are_thin(source: Source) -> Iterator[str]:
    """At most 100 lines, six imports from dpviz and Streamlit, no function over 15 lines, nothing that computes or draws."""
    if not source.is_page:
        return
    if source.n_lines > 100:
        yield f"{source.n_lines} lines, at most 100"
    statements = [node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = [node for node in statements if any(n.split(".")[0] in {"dpviz", "streamlit"} for n in _imported(node, source.path))]
    if len(ours) > 6:
        yield f"{len(ours)} imports from dpviz and streamlit, at most 6"
    yield from (f"imports {name}" for name in sorted(_roots(source) & {"numpy", "pandas", "plotly", "scipy", "sklearn"}))
    for function in source.functions:
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        if length > 15:
            yield f"{function.name} has {length} lines, at most 15"


def no_room_is_a_drawer(source: Source) -> Iterator[str]:
    """Nothing is called utils, helpers or common."""
    parts = PurePosixPath(source.path).with_suffix("").parts
    yield from (f"is called {part}" for part in parts if part in {"utils", "helpers", "common"})


# --- rules on what is public


def public_names_are_explained(source: Source) -> Iterator[str]:
    """Modules, and public functions, classes and methods have docstrings."""
    if not source.path.startswith("dpviz/"):
        return
    if not ast.get_docstring(source.tree):
        yield "the module has no docstring"
    for name, node in _public(source.tree):
        if not ast.get_docstring(node):
            yield f"line {node.lineno}: {name} has no docstring"


def public_functions_are_typed(source: Source) -> Iterator[str]:
    """Every parameter and every return value."""
    if not source.path.startswith("dpviz/"):
        return
    for name, node in _public(source.tree):
        if isinstance(node, Function):
            bare = [argument.arg for argument in _parameters(node) if argument.annotation is None]
            if bare or node.returns is None:
                yield f"line {node.lineno}: {name} leaves untyped: {', '.join(bare) or 'its return value'}"


def _public(body: ast.Module | ast.ClassDef, owner: str = "") -> Iterator[tuple[str, Function | ast.ClassDef]]:
    for node in body.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            name = f"{owner}{node.name}"
            if not _says_it_elsewhere(node):
                yield name, node
            if isinstance(node, ast.ClassDef):
                yield from _public(node, f"{name}.")


def _says_it_elsewhere(node: Function | ast.ClassDef) -> bool:
    """Overloads and setters, which are explained once."""
    return any(re.search(r"(overload|\.setter)$", ast.unparse(decorator)) for decorator in node.decorator_list)


def _parameters(node: Function) -> list[ast.arg]:
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return [argument for argument in every if argument.arg not in {"self", "cls"}]


# --- running them

Rule = Callable[[Source], Iterator[str]]

#: Each rule with offenders: (path, text), each of which must be complained about.
RULES: dict[Rule, list[tuple[str, str]]] = {
    screens_leave_work_to_the_rooms: [("app.py", "import plotly"), ("pages/x.py", "from benchmarks import speed")],
    randomness_has_one_source: [
        ("dpviz/learners/x.py", "import numpy as np\nrng = np.random.default_rng(0)"),
        ("dpviz/learners/x.py", "import numpy as np\nrng = np.random.RandomState(0)"),
        ("dpviz/learners/x.py", "import numpy\nnumpy.random.seed(0)"),
        ("dpviz/app/x.py", "from numpy.random import default_rng"),
        ("dpviz/privacy/x.py", "import random"),
        ("pages/x.py", "from secrets import randbits"),
        ("dpviz/app/x.py", "import os\nos.urandom(8)"),
        ("dpviz/app/x.py", "from os import urandom"),
    ],
    nothing_is_unpickled: [
        ("dpviz/io/x.py", "import pickle"),
        ("dpviz/io/x.py", "from joblib import dump"),
        ("dpviz/io/x.py", "import numpy as np\nnp.load('a', allow_pickle=True)"),
        ("pages/x.py", "import pandas as pd\npd.read_pickle('a')"),
    ],
    only_openml_uses_the_network: [
        ("dpviz/app/x.py", "import requests"),
        ("dpviz/io/x.py", "from urllib.request import urlopen"),
        ("dpviz/io/x.py", "def f():\n    import socket"),
        ("dpviz/io/x.py", "from sklearn.datasets import fetch_openml"),
        ("pages/x.py", "import pandas as pd\npd.read_csv('https://example.org/x.csv')"),
    ],
    screens_touch_no_file: [
        ("dpviz/app/x.py", "def f(name):\n    return open(name)"),
        ("dpviz/app/x.py", "from pathlib import Path\ndef f(name):\n    return Path(name)"),
        ("pages/x.py", "def f(path):\n    path.write_text('a')"),
    ],
    exports_cannot_see_exact_counts: [
        ("dpviz/models/document.py", "from dpviz.training.exact_trace import exact_trace"),
        ("dpviz/io/x.py", "from dpviz.training import exact_trace"),
        ("dpviz/models/packed_text.py", "from dpviz.training.forests import trace"),
        ("dpviz/io/x.py", "def f(result):\n    return result.exact_trace"),
    ],
    events_come_from_mechanisms: [
        ("dpviz/learners/x.py", "from dpviz.accounting.events import Noise\nevent = Noise(1.0, 'geometric', 'leaf')"),
        ("dpviz/learners/x.py", "from dpviz.accounting.events import Select as S\ndef f(e):\n    return S(e, 'm', 'node')"),
        ("dpviz/training/x.py", "from dpviz.accounting import events\nevent = events.GaussianRounds(1, 0, 1, 1, 1, None, '')"),
        ("dpviz/training/x.py", "import dpviz.accounting.events\nx = dpviz.accounting.events.Approximate(1, 0, 'm', 'p')"),
        ("dpviz/owners/x.py", "from ..accounting.events import Noise\nevent = Noise(1.0, 'geometric', 'leaf')"),
        ("dpviz/learners/x.py", "from dpviz.accounting.events import NoCost\nevent = NoCost('leaf')"),
    ],
    streamlit_is_used_by_its_public_names: [
        ("dpviz/app/x.py", "from streamlit.runtime.pages_manager import PagesManager"),
        ("pages/x.py", "import streamlit as st\nst.runtime.exists()"),
    ],
    what_capabilities_share_knows_none_of_them: [
        ("dpviz/app/x.py", "from dpviz.app.data.draft import SchemaDraft"),
        ("dpviz/figures/x.py", "def f():\n    from dpviz.figures.robustness import text"),
    ],
    fields_are_set_by_their_own_class: [("dpviz/io/x.py", "def __init__(self, name):\n    vars(self).update(name=name)")],
    the_app_has_one_poller: [
        ("dpviz/app/tree/x.py", "import streamlit as st\n@st.fragment(run_every=1)\ndef f() -> None: ..."),
        ("pages/x.py", "st.fragment(f, run_every=interval)"),
    ],
    no_learner_is_named: [("pages/x.py", "fit('pf-tree')"), ("dpviz/figures/x.py", "if name == 'cart':\n    pass")],
    colours_are_in_the_theme: [
        ("dpviz/figures/x.py", "BLUE = '#2f86c1'"),
        ("dpviz/figures/budget/theme.py", "line = {'color': '#FFF'}"),
        ("dpviz/app/x.py", "def f(x):\n    return f'<p style=\"color:#0a1417;width:{x}\">'"),
        ("dpviz/app/x.py", "fill = 'rgba(0,0,0,.5)'"),
        ("pages/x.py", "css = 'a{color:hsl(1 2% 3%)}'"),
    ],
    pages_are_thin: [
        ("pages/x.py", "\n" * 101),
        ("pages/x.py", "from dpviz.app import a\n" * 7),
        ("pages/x.py", "import numpy as np"),
        ("pages/x.py", "import pandas as pd"),
        ("pages/x.py", "import plotly"),
        ("pages/x.py", "def f():\n" + "    x = 1\n" * 15),
    ],
    no_room_is_a_drawer: [("dpviz/utils/x.py", ""), ("dpviz/io/helpers.py", "")],
    public_names_are_explained: [
        ("dpviz/io/x.py", "x = 1"),
        ("dpviz/io/x.py", '"""A."""\ndef f() -> None: ...'),
        ("dpviz/io/x.py", '"""A."""\nclass A:\n    x = 1'),
        ("dpviz/io/x.py", '"""A."""\nclass A:\n    """B."""\n    def f(self) -> None: ...'),
    ],
    public_functions_are_typed: [
        ("dpviz/io/x.py", "def f(x) -> None: ..."),
        ("dpviz/io/x.py", "def f(x: int): ..."),
        ("dpviz/io/x.py", "def f(*x, **y: int) -> None: ..."),
        ("dpviz/io/x.py", "class A:\n    def f(self, *, x) -> None: ..."),
    ],
}
OFFENDERS = [
    pytest.param(rule, *offender, id=f"{rule.__name__}-{number}")
    for rule, offenders in RULES.items()
    for number, offender in enumerate(offenders)
]

#: What no rule may complain about.
INNOCENT = [
    ("dpviz/table/x.py", '"""A."""\nfrom dpviz.errors import SchemaError\nfrom dpviz.table import raw\nfrom . import schema\n'),
    ("dpviz/privacy/x.py", '"""A."""\nimport numpy as np\ndef f(rng: np.random.Generator) -> None:\n    """B."""\n'),
    ("dpviz/commands/x.py", '"""A."""\nfrom dpviz.io.csv import read_csv\nfrom dpviz.evaluation import redraws\n'),
    ("dpviz/__main__.py", '"""A."""\nfrom dpviz.commands import train\n'),
    ("dpviz/figures/x.py", '"""A."""\ndef _f(x):\n    import plotly\n'),
    (
        "dpviz/learners/x.py",
        '"""A."""\nfrom dpviz.accounting.events import Noise, NonPrivate, Sequential\nfrom dpviz.models.x import Select\n'
        "e = Sequential((NonPrivate('r', 'p'), Select()))\nfits = isinstance(e, Noise)\n",
    ),
    ("pages/x.py", "import streamlit as st\nimport dpviz\nfrom dpviz.app import parts\n"),
    ("dpviz/app/tree/x.py", '"""A."""\nfrom dpviz.app import parts\nfrom dpviz.app.work.watch import watch\n'),
    ("dpviz/app/x.py", '"""A."""\nfrom urllib.parse import urlencode\n'),
    ("dpviz/figures/theme.py", '"""A."""\nBLUE = "#2f86c1"\n'),
    ("dpviz/figures/x.py", '"""Row #12 of `#rrggbb` &#123;"""\nCSS = "fill:var(--dp-ink)"\n'),
]


@cache
def _sources() -> tuple[Source, ...]:
    rooms = (sorted((ROOT / room).rglob("*.py")) for room in ("pages", "dpviz", "benchmarks"))
    files = [ROOT / "app.py", *chain.from_iterable(rooms)]
    return tuple(Source(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")) for file in files if file.exists())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    complaints = [f"{source.path}: {complaint}" for source in _sources() for complaint in rule(source)]
    assert not complaints, f"{rule.__doc__}\n" + "\n".join(complaints)


@pytest.mark.parametrize(("rule", "path", "text"), OFFENDERS)
def test_every_rule_bites(rule: Rule, path: str, text: str) -> None:
    assert list(rule(Source(path, text)))


@pytest.mark.parametrize(("path", "text"), INNOCENT)
def test_no_rule_bites_the_innocent(path: str, text: str) -> None:
    assert [complaint for rule in RULES for complaint in rule(Source(path, text))] == []


def test_style_sheets_of_the_dashboard_take_their_colours_from_the_theme() -> None:
    files = [file for file in (ROOT / "dpviz" / "app").rglob("*") if file.suffix in {".css", ".js"}]
    assert files
    assert {file.name: found for file in files if (found := COLOUR.findall(file.read_text(encoding="utf-8")))} == {}


# --- no circles


def circles(sources: Iterable[Source]) -> list[tuple[str, ...]]:
    """Modules that import each other, directly or through others, wherever in the file the import stands."""
    modules = {PurePosixPath(source.path).with_suffix("").as_posix().replace("/", "."): source for source in sources}
    imports = {
        name: {part for dotted in source.imports for part in _modules_in(dotted, modules)} for name, source in modules.items()
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [tuple(error.args[1])]
    return []


def _modules_in(dotted: str, modules: Collection[str]) -> Iterator[str]:
    """The module that an imported name is, or is in."""
    for name in (dotted, dotted.rpartition(".")[0]):
        found = name if name in modules else f"{name}.__init__"
        if found in modules:
            yield found
            return


def test_no_module_imports_itself_through_others() -> None:
    assert circles(_sources()) == []


def test_a_circle_through_a_function_would_be_noticed() -> None:
    one = Source("dpviz/table/one.py", "def f():\n    from dpviz.table.two import g")
    two = Source("dpviz/table/two.py", "from dpviz.table import three")
    three = Source("dpviz/table/three.py", "import dpviz.table.one")
    assert len(circles([one, two, three])) == 1
    assert circles([one, two]) == []


def test_every_room_has_an_init_file() -> None:
    rooms = {file.parent for file in (ROOT / "dpviz").rglob("*.py")}
    assert [room.name for room in sorted(rooms) if not (room / "__init__.py").exists()] == []


def test_a_page_says_which_questions_its_pictures_answer() -> None:
    """One at least for every chart."""
    for room in (ROOT / "dpviz" / "app").iterdir():
        files = sorted(room.rglob("*.py"))
        charts = sum(len(re.findall(r"(?<![\w.])chart\(", file.read_text(encoding="utf-8"))) for file in files)
        if charts:
            questions = (room / "__init__.py").read_text(encoding="utf-8").count("?")
            assert questions >= charts, room.name


# --- what importing dpviz costs


def test_importing_dpviz_loads_no_heavy_package() -> None:
    """A name's module is imported when the name is used: `import dpviz` alone takes a tenth of a second, and rows no pandas."""
    heavy = ["streamlit", "plotly", "opendp", "sklearn", "pandas", "pyarrow", "matplotlib", "joblib", "openpyxl", "scipy"]
    assert _loaded("import dpviz", [*heavy, "numpy", "msgspec", "sqlite3", "dpviz.learners"]) == []
    assert _loaded("import dpviz; [getattr(dpviz, name) for name in dpviz.__all__]", [*heavy, "pyreadstat"]) == []


def _loaded(code: str, names: list[str]) -> list[str]:
    """Which of `names` are modules after `code`."""
    code += f"\nimport sys; print(*[name for name in {names} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
