"""OpenML, without a network: scikit-learn's fetcher is replaced."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import pytest

from dpviz.errors import Cancelled, DpvizError, TableError
from dpviz.io.openml import fetch_openml, is_offline


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments scikit-learn is called with; it answers with a small frame."""
    import pandas as pd

    seen: list[dict[str, Any]] = []
    frame = pd.DataFrame({"age": [39, 50], "work": pd.Categorical(["a, b", None]), "class": ["x", "y"]})

    def fetch(name: str, **options: Any) -> SimpleNamespace:
        seen.append({"name": name, **options})
        return SimpleNamespace(frame=frame, target_names=["class"])

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return seen


def answer(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fetch(name: str, **_: Any) -> None:
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)


def test_a_table_arrives_as_text_with_missing_cells_and_a_suggested_target(calls: list[dict[str, Any]]) -> None:
    table = fetch_openml("adult", version=2)
    assert table.names == ("age", "work", "class")
    assert table.column("age").texts == ("39", "50")
    assert table.column("work").texts == ("a, b",)
    assert table.column("work").codes.tolist() == [0, -1]
    assert table.source == "adult"
    assert table.notes[-1] == "OpenML suggests 'class' as the target."
    assert calls[0]["version"] == 2


def test_nothing_is_kept_on_disk(calls: list[dict[str, Any]]) -> None:
    fetch_openml("adult")
    assert calls[0]["cache"] is False


@pytest.mark.parametrize("error", [URLError("no route"), TimeoutError("late"), ConnectionResetError()])
def test_without_a_network_it_says_so(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    answer(monkeypatch, error)
    message = r"^OpenML, 'adult': OpenML could not be reached\. Check that this computer is online"
    with pytest.raises(DpvizError, match=message) as caught:
        fetch_openml("adult")
    assert caught.value.__cause__ is error


def test_an_unknown_name_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, ValueError("No known dataset"))
    with pytest.raises(DpvizError, match=r"^OpenML, 'adlt': There is no such table, or it cannot be read\. Check the name"):
        fetch_openml("adlt")


def test_an_unusable_table_is_a_csv_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    bunch = SimpleNamespace(frame=pd.DataFrame({"only": [1, 2]}), target_names=[])
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *_, **__: bunch)
    with pytest.raises(TableError, match="one column"):
        fetch_openml("thin")


def test_a_stop_before_the_download_makes_no_request(calls: list[dict[str, Any]]) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        fetch_openml("adult", stop=stop)
    assert calls == []


def test_a_stop_during_the_download_discards_it(calls: list[dict[str, Any]]) -> None:
    with pytest.raises(Cancelled):
        fetch_openml("adult", stop=lambda: bool(calls))
    assert len(calls) == 1


def test_nothing_is_fetched_when_the_network_is_switched_off(monkeypatch):
    monkeypatch.setenv("DPVIZ_OFFLINE", "1")
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *args, **more: pytest.fail("it was asked"))
    with pytest.raises(DpvizError, match="The network is switched off"):
        fetch_openml("adult")


@pytest.mark.parametrize(("value", "off"), [("", False), ("0", False), ("1", True), ("yes", True)])
def test_the_switch_is_an_environment_variable(monkeypatch, value, off):
    monkeypatch.setenv("DPVIZ_OFFLINE", value)
    assert is_offline() is off
