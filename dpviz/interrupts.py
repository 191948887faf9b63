"""Ctrl-C on the command line, from the first import on: exit code 130 and one line. Imports nothing of dpviz."""

# What is needed to take Ctrl-C comes first, and was loaded when Python began: to import `signal` itself takes ten milliseconds.
import _signal  # type: ignore[import-not-found]
import os
import sys

EXIT_CODE = 130


def _end(number: int, frame: object) -> None:
    try:
        os.write(2, b"dpviz: Stopped.\n")
    finally:
        os._exit(EXIT_CODE)


def _exit_at_interrupt() -> None:
    """End at once on Ctrl-C, if this process is the program `dpviz`: nothing was begun that would have to be put away."""
    program = os.path.basename(sys.argv[0]) if sys.argv else ""
    is_ours = program == "dpviz" or (program == "-m" and "dpviz" in sys.orig_argv[1:4])
    if is_ours and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        try:
            _signal.signal(_signal.SIGINT, _end)
        except ValueError:  # not the main thread, which alone takes signals
            return


_exit_at_interrupt()

import signal  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from threading import current_thread, main_thread  # noqa: E402
from types import FrameType  # noqa: E402


@contextmanager
def watch_interrupts() -> Iterator[Callable[[], bool]]:
    """Ctrl-C raises KeyboardInterrupt as usual; the function says whether there was one. Afterwards everything is as before."""
    seen: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or before not in (signal.default_int_handler, _end):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)
