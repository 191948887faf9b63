"""`dpviz COMMAND`, or `python -m dpviz COMMAND`: runs the command and turns bad input into one line and exit code 2."""

import errno
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from inspect import getdoc
from io import TextIOWrapper
from types import ModuleType
from typing import NoReturn

from dpviz import interrupts
from dpviz.cli import COMMANDS, console, current, load
from dpviz.errors import DpvizError, FailedWork
from dpviz.version import VERSION

BAD_INPUT = 2


class Parser(ArgumentParser):
    """Says in one line what is wrong, instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        """Raise DpvizError, which `main` prints."""
        raise DpvizError(f"{message[:1].upper()}{message[1:]}.", remedy=f"See `{self.prog} --help`.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name; default: that of the shell) and return its exit code.

    0: done. 2: the input cannot be used; one line on stderr says what, where and what to do. 130: stopped with Ctrl-C.
    """
    return finish(_run, argv)


def finish(run: Callable[[list[str]], int], argv: Sequence[str] | None = None) -> int:
    """What `run` returns for these words (default: those of the shell), or the exit code of `main` for what it raises."""
    _never_fail_to_print()
    with interrupts.watch_interrupts() as was_interrupted:
        try:
            code = run(list(sys.argv[1:] if argv is None else argv))
            sys.stdout.flush()
            return code
        except DpvizError as error:
            console.error(str(error))
        except MemoryError:
            console.error(str(FailedWork("memory")))
        except BrokenPipeError:  # the reader of a pipe has seen enough
            _write_no_more()
            return 0
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            _write_no_more()
            console.error("The output cannot be written: no space is left.")
        except BaseException as error:
            # a library may turn Ctrl-C into an error of its own, such as one of its import
            if not isinstance(error, KeyboardInterrupt) and not (isinstance(error, Exception) and was_interrupted()):
                raise
            console.error("Stopped.")
            return interrupts.EXIT_CODE
    return BAD_INPUT


def _run(words: list[str]) -> int:
    words, changes = current(words)
    try:
        args = parser(words).parse_args(words)
    except SystemExit as end:  # argparse has printed help or the version
        return int(end.code or 0)
    if args.completion is not None:
        import shtab

        print(shtab.complete(parser(list(COMMANDS)), shell=args.completion))
        return 0
    if args.command is None:
        raise DpvizError("A command is needed.", remedy="See `dpviz --help`.")
    _require_text(args)
    for old, new in changes:
        console.warn(f"`{old}` is called `{new}` now; the old name works in this version only.")
    with console.results(to_stderr=getattr(args, "out", None) == console.STDOUT, as_json=getattr(args, "json", False)):
        code: int = args.run(args)
    return code


def _require_text(args: Namespace) -> None:
    """File names are bytes; every other argument is text, and may end up in a file or in the register."""
    for name, value in vars(args).items():
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str) and not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
                where = f"--{name.replace('_', '-')}"
                raise DpvizError("This is no text in the encoding of this terminal.", where=where, remedy="Write it in UTF-8.")


def _write_no_more() -> None:
    """Let what is left in the buffer of stdout go nowhere, so that Python does not fail on it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser(words: Sequence[str] = ()) -> ArgumentParser:
    """The parser of this command line. Only commands that `words` name are loaded, so that help and mistakes are quick."""
    top = Parser(prog="dpviz", description="Differentially private decision trees. `dpviz app` opens the dashboard.")
    top.add_argument("--version", action="version", version=f"dpviz {VERSION}")
    complete = "print what completes words in bash or zsh"
    top.add_argument("--completion", choices=("bash", "zsh"), metavar="SHELL", help=complete)
    choices = top.add_subparsers(metavar="COMMAND", dest="command", title="commands")
    for name, (_, about) in COMMANDS.items():
        own = choices.add_parser(name, help=about, formatter_class=RawDescriptionHelpFormatter)
        if name in words:
            _declare(own, name, load(name))
    return top


def _declare(parser: ArgumentParser, name: str, file: ModuleType) -> None:
    from dpviz.cli.options import declare

    run, options = getattr(file, f"run_{name}"), file.OPTIONS[name]
    parser.description = getdoc(run)
    parser.set_defaults(run=run)
    if not all(isinstance(about, tuple) for about in options.values()):
        declare(parser, options)
        return
    choices = parser.add_subparsers(metavar="TOPIC", required=True, title="topics")
    for topic, (about, own, work) in options.items():
        of_topic = choices.add_parser(topic, help=about)
        declare(of_topic, own)
        of_topic.set_defaults(topic=work)


def _never_fail_to_print() -> None:
    """Let a terminal that lacks a letter (≤, ε) show "?" instead of stopping the program; what is closed stays empty."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
