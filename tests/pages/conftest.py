"""What tests of pages rely on."""

import pytest

from dpviz.app.work import cached


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A tree that should be there at once is waited for, however busy the machine is."""
    monkeypatch.setattr(cached, "SHORT", 60.0)
