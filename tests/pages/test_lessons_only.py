"""A server with the lessons only: which pages it has, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.__main__ import main
from dpviz.cli.app import LESSONS_SCRIPT
from dpviz.errors import RegisterError
from dpviz.installation import LESSONS_ONLY
from dpviz.release.register import Register
from tests.support.paths import ROOT


@pytest.fixture
def lessons_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LESSONS_ONLY, "1")


def served(**url: str) -> AppTest:
    at = AppTest.from_file(str(LESSONS_SCRIPT), default_timeout=60)
    for name, value in url.items():
        at.query_params[name] = value
    return at.run()


# --- the command


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that would have become the server. What a start changes in this process is put back."""
    lines: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, words: lines.append(words))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(Path.cwd())
    return lines


@pytest.mark.parametrize(
    ("address", "origin"),
    [(None, None), ("192.168.1.20", "http://192.168.1.20"), ("fd00::2", "http://[fd00::2]")],
)
def test_a_server_for_lessons_takes_no_upload_and_asks_nobody(started: list[list[str]], address: str, origin: str) -> None:
    assert main(["app", "--lessons", *(("--address", address, "--port", "8600") if address else ())]) is None
    config = {"server.maxUploadSize": 0} | ({"server.port": 8600, "server.address": address} if address else {})
    assert started[0][-1].endswith(f"serve({str(LESSONS_SCRIPT)!r}, {origin!r}, {config!r})")
    assert os.environ[LESSONS_ONLY] == "1"
    assert Path(".streamlit/config.toml").is_file()


@pytest.mark.parametrize("address", ["school", "0.0.0.0", "::", "1.2.3", "", "192.168.1.20"])
def test_neither_an_address_that_no_link_can_hold_nor_one_of_the_whole_dashboard_is_served(capsys, started, address) -> None:
    assert main(["app", *(["--lessons"] if address != "192.168.1.20" else []), "--address", address]) == 2
    assert "--address" in capsys.readouterr().err
    assert started == []
    assert LESSONS_ONLY not in os.environ


# --- the pages


def test_the_script_does_not_run_as_a_whole_dashboard() -> None:
    at = served()
    assert len(at.exception) == 1
    assert not at.title


@pytest.mark.usefixtures("lessons_only")
def test_it_starts_with_the_first_lesson_leads_nowhere_else_and_has_no_register(tmp_path: Path) -> None:
    at = served()
    assert not at.exception
    assert at.title[0].value == "Learn"
    at.radio[0].set_value("right").run()
    assert at.success
    assert not at.get("link_button")  # "Open this on a sample": there is no such page here
    assert not at.get("file_uploader")
    others = [file for file in sorted((ROOT / "pages").glob("*.py")) if file.stem != "learn"]
    assert len(others) >= 5
    for file in others:
        with pytest.raises(ValueError, match=r"(?i)page"):
            at.switch_page(str(file)).run()
    for use in (lambda book: book.data_sets(), lambda book: book.declare("x", epsilon_cap=1.0)):
        with pytest.raises(RegisterError) as problem:
            use(Register(tmp_path / "releases.db"))
        assert problem.value.code == "lessons"
    assert list(tmp_path.iterdir()) == []
