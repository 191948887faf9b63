"""Ctrl-C on the command line, from the first import on: exit code 130 and one line. Imports nothing of dpviz."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

_STOPPED = 130


def _while_importing() -> None:
    """End at once on Ctrl-C, if this process is the program `dpviz`: nothing was begun that would have to be put away."""
    program = os.path.basename(sys.argv[0]) if sys.argv else ""
    is_ours = program == "dpviz" or (program == "-m" and "dpviz" in sys.orig_argv[1:4])
    if is_ours and current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    try:
        os.write(2, b"dpviz: Stopped.\n")
    finally:
        os._exit(_STOPPED)


@contextmanager
def noticed() -> Iterator[Callable[[], bool]]:
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


_while_importing()
