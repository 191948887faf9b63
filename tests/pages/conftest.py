"""What tests of pages rely on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpviz.app import background, table_files, training, widgets
from dpviz.app.widgets import on_demand
from dpviz.evaluation import paths
from dpviz.release.register import Register
from tests.support.page_fixtures import installed_components, own_threads  # noqa: F401 - fixtures
from tests.support.paths import SOON


@pytest.fixture(scope="module", autouse=True)
def own_register(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What other files released is not on these pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPVIZ_REGISTER", str(tmp_path_factory.mktemp("register") / "releases.db"))
        yield


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Register:
    """One of its own for a test."""
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    return Register()


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A tree or a small file that should be there at once is waited for, however busy the machine is."""
    monkeypatch.setattr(training, "SHORT", SOON)
    monkeypatch.setattr(table_files, "_SECONDS", SOON)


@pytest.fixture(autouse=True)
def open_tables(monkeypatch):
    """The table below every chart is open, to be looked into; other boxes are as they come, also on a page read only now."""
    table = {"opened": True}
    monkeypatch.setattr(
        widgets, "on_demand", lambda label, **more: on_demand(label, **more | (table if label == "As a table" else {}))
    )


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """What worker processes do is tested with the engine; here one thread is enough."""
    monkeypatch.setattr(background, "WORKERS", 1)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """The Tree page draws its tree again by itself, also at other epsilons."""
    monkeypatch.setattr(training, "DRAWS", 4)
    monkeypatch.setattr(paths, "EPSILONS", (0.1, 1.0))
