"""Every source that is here, each with a way to put a table into it; a DuckDB file made by statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from tests.support.servers import CASES, ENGINES, Engine


@pytest.fixture
def stored(tmp_path: Path) -> Callable[..., str]:
    """Runs statements in a DuckDB file, and gives its address up to the name of a table."""

    def run(*statements: str) -> str:
        with duckdb.connect(str(tmp_path / "rows.duckdb")) as base:
            for statement in statements:
                base.execute(statement)
        return f"duckdb:///{tmp_path / 'rows.duckdb'}?table="

    return run


@pytest.fixture(scope="module", params=CASES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Files, DuckDB, PostgreSQL or Spark."""
    with ENGINES[request.param](Path(tmp_path_factory.mktemp(request.param))) as made:
        yield made
