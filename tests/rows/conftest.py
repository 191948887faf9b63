"""Every source that is here, each with a way to put a table into it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers import CASES, ENGINES, Engine


@pytest.fixture(scope="module", params=CASES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Files, DuckDB, PostgreSQL or Spark."""
    with ENGINES[request.param](Path(tmp_path_factory.mktemp(request.param))) as made:
        yield made


@pytest.fixture(scope="module")
def duckdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """DuckDB, which needs no server."""
    with ENGINES["duckdb"](tmp_path_factory.mktemp("duckdb")) as made:
        yield made


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A PostgreSQL server of its own."""
    with ENGINES["postgresql"](tmp_path_factory.mktemp("postgresql")) as made:
        yield made


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A session of Spark."""
    with ENGINES["spark"](tmp_path_factory.mktemp("spark")) as made:
        yield made
