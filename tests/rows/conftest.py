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
