"""The command line: every command, and which file here has it. They are named here so that help loads none of them.

A file has `run_COMMAND(args)`, which returns the exit code and raises DpvizError for what the user can correct; its docstring is
what --help shows, with an example. `OPTIONS` maps each command to its options, or a command with topics to
topic -> (help, options, function).
"""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

#: Command -> (its file, what `dpviz --help` says about it), in the order in which people meet them.
COMMANDS = {
    "app": ("app", "open the dashboard in the browser"),
    "schema": ("train", "propose a schema for a table"),
    "train": ("train", "train a private tree and write it as JSON"),
    "predict": ("models", "predict new rows with a model, as CSV"),
    "evaluate": ("models", "measure a model on rows whose target is known"),
    "export": ("models", "write a model as code, rules, a drawing or a report"),
    "sweep": ("studies", "accuracy or R² over epsilon, depth and rows, as CSV"),
    "robustness": ("studies", "how many poisoned rows a learner provably withstands"),
    "verify": ("learners", "check privacy claims on every small table"),
    "audit": ("learners", "attack code that is not ours, by its outputs"),
    "learners": ("learners", "list the learners and what holds of their claims"),
    "check": ("register", "check a released file against the register, without rows"),
    "register": ("register", "list what was released and spent; set caps"),
    "docs": ("app", "open the documentation, which needs no network"),
}
#: What a command line began with one version ago -> what it begins with now; the same for options.
FORMER_COMMANDS = {
    ("poison",): ("robustness",),
    ("register", "restored"): ("register", "resume"),
    ("verify", "--outputs"): ("audit",),
}
FORMER_OPTIONS = {"--again": "--confirm-cap", "--assign": "--add-rows"}


def current(words: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """A command line in today's names, and every (old, new) that was put in its place."""
    words, changes = list(words), list[tuple[str, str]]()
    for old, new in FORMER_COMMANDS.items():
        if tuple(words[: len(old)]) == old:
            words[: len(old)] = new
            changes.append((" ".join(old), " ".join(new)))
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in FORMER_OPTIONS:
            words[place] = f"{FORMER_OPTIONS[option]}{equals}{value}"
            changes.append((option, FORMER_OPTIONS[option]))
    return words, changes


def load(name: str) -> ModuleType:
    """The file that has the command called `name`, one of COMMANDS."""
    return import_module(f"{__name__}.{COMMANDS[name][0]}")
