"""The command line: one file per command, named here so that help loads none of them."""

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Protocol, cast

#: Command -> what `dpviz --help` says about it, in the order in which people meet them.
COMMANDS = {
    "app": "open the dashboard in the browser",
    "schema": "propose a schema for a table",
    "train": "train a private tree and write it as JSON",
    "predict": "predict new rows with a model, as CSV",
    "evaluate": "measure a model on rows whose target is known",
    "export": "write a model as code, rules, a drawing or a report",
    "sweep": "accuracy or R² of learners over epsilon, depth and rows, as CSV",
    "poison": "how many poisoned rows a learner provably withstands",
    "verify": "check privacy claims on every small data set",
    "owners": "train on rows that stay with several owners, or arrive late",
    "learners": "list the learners and what holds of their claims",
    "register": "list what was released and spent; set caps",
}


class Command(Protocol):
    """What a command's file defines. Its docstring is the description that --help shows."""

    __doc__: str | None

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, args: Namespace) -> int:
        """Do the work and return the exit code. Raises DpvizError for what the user can correct."""


def load(name: str) -> Command:
    """The command called `name`, one of COMMANDS."""
    return cast(Command, import_module(f"{__name__}.{name}"))
