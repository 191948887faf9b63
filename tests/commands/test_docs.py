"""`dpviz docs` opens what was built, and says what to do where nothing was."""

from pathlib import Path

import pytest

from dpviz import installation
from dpviz.commands import docs
from dpviz.errors import DpvizError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the package would be."""
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "installation.py"))
    return tmp_path


@pytest.fixture
def built(package: Path) -> Path:
    """A first page."""
    page = package / "manual" / "index.html"
    page.parent.mkdir()
    page.write_text("<h1>dpviz</h1>", encoding="utf-8")
    return page


def test_it_opens_a_file_of_this_computer(built, run, monkeypatch):
    opened = []
    monkeypatch.setattr(docs, "show", lambda address: opened.append(address) or True)
    assert run("docs") == (0, "", "")
    assert opened == [built.as_uri()]


def test_without_a_browser_it_says_where_the_page_is(built, run):
    code, out, _ = run("docs", "--no-browser")
    assert (code, out) == (0, f"documentation  {built.as_uri()}\n")


def test_where_it_was_not_built_the_remedy_is_said(package, refused):
    with pytest.raises(DpvizError, match="not built"):
        installation.manual()
    assert "Run `make docs` in the clone." in refused("docs")
