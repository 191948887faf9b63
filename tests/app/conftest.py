"""Tests that open pages get threads of their own here too."""

from tests.pages.conftest import own_threads  # noqa: F401 - a fixture
