"""What completes a half-written command line in a shell: made by shtab from the parsers of all commands."""

from argparse import ArgumentParser, _SubParsersAction

import shtab

from dpviz.learners import learner_names
from dpviz.results.exports import export_names

#: An argument's place in the usage, where that is the name of a file; (command, argument) whose values are known in advance.
_FILES = frozenset(("FILE", "DATA", "MODEL", "MODEL.json", "RELEASE.json"))
_LEARNERS, _EXPORTS = (("verify", "learners"), ("learners", "name")), ("export", "to")


def script_for(parser: ArgumentParser, shell: str) -> str:
    """The script for "bash" or "zsh": commands, topics, options, names of learners and of exports, and files.

    >>> eval "$(dpviz --completion bash)"
    """
    _mark(parser)
    script: str = shtab.complete(parser, shell=shell)
    return script


def _mark(parser: ArgumentParser) -> None:
    for action in parser._actions:
        name = (parser.prog.split()[-1], action.dest)
        if isinstance(action, _SubParsersAction):
            for topic in action.choices.values():
                _mark(topic)
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.dest == "learner" or name in _LEARNERS:
            action.choices = learner_names()
        elif name == _EXPORTS:
            action.choices = export_names()
