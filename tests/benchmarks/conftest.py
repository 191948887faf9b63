"""The command line of the benchmarks, on the table of the commands' tests."""

import pytest

from benchmarks.__main__ import main
from tests.support.commands import refused, table  # noqa: F401


@pytest.fixture
def run(capsys):
    """run("speed", ...) -> (exit code, stdout, stderr)."""

    def run(*argv):
        code = main([str(word) for word in argv])
        return code, *capsys.readouterr()

    return run
