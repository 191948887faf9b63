"""The command line: one file per command, named here so that help loads none of them."""

from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

#: Command -> what `dpviz --help` says about it, in the order in which people meet them.
COMMANDS = {
    "app": "open the dashboard in the browser",
    "schema": "propose a schema for a table",
    "train": "train a private tree and write it as JSON",
    "predict": "predict new rows with a model, as CSV",
    "evaluate": "measure a model on rows whose target is known",
    "export": "write a model as code, rules, a drawing or a report",
    "sweep": "accuracy or R² over epsilon, depth and rows, as CSV",
    "robustness": "how many poisoned rows a learner provably withstands",
    "verify": "check privacy claims on every small data set",
    "audit": "attack code that is not ours, by its outputs",
    "learners": "list the learners and what holds of their claims",
    "check": "check a released file against the register, without rows",
    "register": "list what was released and spent; set caps",
    "docs": "open the documentation, which needs no network",
}
#: What a command line began with one version ago -> what it begins with now; the same for options.
RENAMED = {
    ("poison",): ("robustness",),
    ("register", "restored"): ("register", "resume"),
    ("verify", "--outputs"): ("audit",),
}
RENAMED_OPTIONS = {"--again": "--confirm-cap", "--assign": "--add-rows"}


class Command(Protocol):
    """What a command's file defines. Its docstring is the description that --help shows, with an example.

    One with topics has `TOPICS`, which maps each to (help, options, function), instead of `OPTIONS`.
    """

    __doc__: str | None
    OPTIONS: dict[str, dict[str, Any]]

    def run(self, args: Namespace) -> int:
        """Do the work and return the exit code. Raises DpvizError for what the user can correct."""


def current(words: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """A command line in today's names, and every (old, new) that was put in its place."""
    found, changed = list(words), list[tuple[str, str]]()
    for old, new in RENAMED.items():
        if tuple(found[: len(old)]) == old:
            found[: len(old)] = new
            changed.append((" ".join(old), " ".join(new)))
    for place, word in enumerate(found):
        option, equals, value = word.partition("=")
        if option in RENAMED_OPTIONS:
            found[place] = f"{RENAMED_OPTIONS[option]}{equals}{value}"
            changed.append((option, RENAMED_OPTIONS[option]))
    return found, changed


def load(name: str) -> Command:
    """The command called `name`, one of COMMANDS."""
    return cast(Command, import_module(f"{__name__}.{name}"))
