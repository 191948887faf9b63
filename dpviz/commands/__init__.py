"""The command line: one file per command. A file here that defines NAME is a command; `dpviz.__main__` finds it by itself."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Protocol, cast


class Command(Protocol):
    """What a command's file defines. Its docstring is the description that --help shows."""

    NAME: str
    HELP: str
    __doc__: str | None

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, args: Namespace) -> int:
        """Do it and return the exit code; DpvizError for what the user can mend."""


@cache
def commands() -> Mapping[str, Command]:
    """Name -> command, by name."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = [cast(Command, module) for module in modules if hasattr(module, "NAME")]
    return MappingProxyType({command.NAME: command for command in sorted(found, key=lambda command: command.NAME)})
