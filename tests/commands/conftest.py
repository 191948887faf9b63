"""Fixtures of the command line."""

import pytest

from dpviz.__main__ import main
from tests.support.commands import SCHEMA, csv_text


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(csv_text(), encoding="utf-8")
    return path


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "table.schema.json"
    SCHEMA.save(path)
    return path


@pytest.fixture
def run(capsys):
    """run("train", ...) -> (exit code, stdout, stderr)."""

    def run(*argv):
        code = main([str(word) for word in argv])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def refused(run):
    """The one line on stderr with which bad input is refused."""

    def refused(*argv):
        code, out, err = run(*argv)
        assert (code, out) == (2, "")
        assert err.startswith("dpviz: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        return err

    return refused
