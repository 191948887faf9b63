"""What every test that opens pages relies on."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner

from dpviz.app import background


@pytest.fixture(scope="session", autouse=True)
def installed_components() -> Iterator[None]:
    """AppTest looks through all installed packages for components at every run, most of its time; here it looks once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


class OwnPool(background.Pool):
    """One that can be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[background.Job] = []

    def submit(self, *asked: Any) -> background.Job:
        self.jobs.append(super().submit(*asked))
        return self.jobs[-1]

    def close(self) -> None:
        """Stop everything and let the threads end."""
        for job in self.jobs:
            job.stop()
        for priority, line in self.lines.items():
            for _ in range(background.THREADS[priority]):
                line.put(None)


@pytest.fixture(autouse=True)
def own_threads(monkeypatch):
    """A server's threads for every test: work that a page began by itself ends with the test instead of delaying others."""
    pool, results = OwnPool(), {}
    monkeypatch.setattr(background, "shared_pool", lambda: pool)
    monkeypatch.setattr(background, "shared_results", lambda: results)
    yield pool
    pool.close()
