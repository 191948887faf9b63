"""Fixtures of the command line."""

from tests.support.commands import refused, run, schema, table  # noqa: F401
