"""`python -m dpviz COMMAND`: finds the command, runs it, and turns what the user got wrong into one line and exit code 2."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

from dpviz.commands import commands
from dpviz.commands.console import complain
from dpviz.errors import DpvizError
from dpviz.version import VERSION

BAD_INPUT = 2
STOPPED = 130


class Parser(ArgumentParser):
    """Says what is wrong in one line instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        """Raise DpvizError, which `finish` prints."""
        raise DpvizError(f"{message[:1].upper()}{message[1:]}.", remedy=f"See `{self.prog} --help`.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name) and return its exit code.

    0: done. 2: the input cannot be used; one line on stderr says what, where and what to do. 130: stopped from the keyboard.
    """
    return finish(parser(), argv)


def finish(parser: ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Parse, call `run` of what was chosen, and return the exit code; problems become one line on stderr."""
    _never_fail_to_print()
    try:
        args = parser.parse_args(argv)
        code = args.run(args)
        sys.stdout.flush()
        return code
    except DpvizError as error:
        complain(str(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        complain("Stopped.")
        return STOPPED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as done:  # argparse has printed help or the version
        return int(done.code or 0)


def parser() -> ArgumentParser:
    """The parser of all commands."""
    top = Parser(prog="python -m dpviz", description="Differentially private decision trees. Open the dashboard with `make run`.")
    top.add_argument("--version", action="version", version=f"dpviz {VERSION}")
    choices = top.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for name, command in commands().items():
        own = choices.add_parser(
            name, help=command.HELP, description=command.__doc__, formatter_class=RawDescriptionHelpFormatter
        )
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    return top


def _never_fail_to_print() -> None:
    """A terminal that lacks a letter (≤, ε) shows "?" instead of stopping the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
