"""`dpviz COMMAND`, or `python -m dpviz COMMAND`: runs the command and turns bad input into one line and exit code 2."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

from dpviz.commands import COMMANDS, load
from dpviz.commands.console import complain
from dpviz.errors import DpvizError
from dpviz.version import VERSION

BAD_INPUT = 2
STOPPED = 130


class Parser(ArgumentParser):
    """Says in one line what is wrong, instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        """Raise DpvizError, which `finish` prints."""
        raise DpvizError(f"{message[:1].upper()}{message[1:]}.", remedy=f"See `{self.prog} --help`.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name) and return its exit code.

    0: done. 2: the input cannot be used; one line on stderr says what, where and what to do. 130: stopped with Ctrl-C.
    """
    words = sys.argv[1:] if argv is None else argv
    return finish(parser(words), words)


def finish(parser: ArgumentParser, words: Sequence[str] | None = None) -> int:
    """Parse `words` (default: those of the shell), run what was chosen, and return the exit code of `main`."""
    _never_fail_to_print()
    try:
        args = parser.parse_args(words)
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


def parser(words: Sequence[str] = ()) -> ArgumentParser:
    """The parser of this command line. Only commands that `words` name are loaded, so that help and mistakes are quick."""
    top = Parser(prog="dpviz", description="Differentially private decision trees. `dpviz app` opens the dashboard.")
    top.add_argument("--version", action="version", version=f"dpviz {VERSION}")
    choices = top.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for name, about in COMMANDS.items():
        own = choices.add_parser(name, help=about, formatter_class=RawDescriptionHelpFormatter)
        if name in words:
            command = load(name)
            own.description = command.__doc__
            command.add_arguments(own)
            own.set_defaults(run=command.run)
    return top


def _never_fail_to_print() -> None:
    """Let a terminal that lacks a letter (≤, ε) show "?" instead of stopping the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
