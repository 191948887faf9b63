"""What every test that opens pages relies on."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from dpviz.app import background


@pytest.fixture(scope="session", autouse=True)
def installed_components() -> Iterator[None]:
    """AppTest looks through all installed packages for components at every run, most of its time; here it looks once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def own_threads(monkeypatch):
    """A server's threads for every test: work that a page began by itself ends with the test instead of delaying others."""
    pool, results = background.Pool(), {}
    monkeypatch.setattr(background, "shared_pool", lambda: pool)
    monkeypatch.setattr(background, "shared_results", lambda: results)
    yield pool
    pool.close()
