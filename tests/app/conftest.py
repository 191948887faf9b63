"""Tests that open pages rely on the same here."""

from tests.pages.conftest import installed_components, own_threads  # noqa: F401 - fixtures
