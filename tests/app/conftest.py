"""Tests that open pages rely on the same here."""

from tests.support.page_fixtures import installed_components, own_threads  # noqa: F401 - fixtures
