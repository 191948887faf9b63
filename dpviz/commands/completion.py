"""What completes a half-written command line in a shell: made by shtab from the parsers of all commands."""

from argparse import Action, ArgumentParser, _SubParsersAction

import shtab

from dpviz.learners import learner_names
from dpviz.results.exports import export_names

#: What an argument's place in the usage says of it, where that is the name of a file.
_FILES = frozenset(("FILE", "DATA", "MODEL", "MODEL.json", "RELEASE.json"))


def script_for(parser: ArgumentParser, shell: str) -> str:
    """The script for "bash" or "zsh": commands, topics, options, names of learners and of exports, and files.

    >>> eval "$(dpviz --completion bash)"
    """
    _mark(parser)
    script: str = shtab.complete(parser, shell=shell)
    return script


def _mark(parser: ArgumentParser) -> None:
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for topic in action.choices.values():
                _mark(topic)
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        else:
            _name(parser, action)


def _name(parser: ArgumentParser, action: Action) -> None:
    """Names that are known in advance."""
    command = parser.prog.split()[-1]
    if action.dest == "learner" or (command, action.dest) in (("verify", "learners"), ("learners", "name")):
        action.choices = learner_names()
    elif (command, action.dest) == ("export", "to"):
        action.choices = export_names()
