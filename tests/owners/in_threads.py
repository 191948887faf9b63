"""Owners in threads of this process: what `OwnerProcess` gets from a process it starts, without the second the start takes."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread
from typing import Any, TextIO

from dpviz.owners.data_owner import serve


class OwnerInThread:
    """Stands for `subprocess.Popen`: two pipes, and an owner who serves at their other ends."""

    def __init__(self, *_: Any, **__: Any) -> None:
        (asked, asking), (hearing, said) = os.pipe(), os.pipe()
        self.stdin, self.stdout = open(asking, "w", encoding="utf-8"), open(hearing, encoding="utf-8")  # noqa: SIM115
        ends = open(asked, encoding="utf-8"), open(said, "w", encoding="utf-8")  # noqa: SIM115
        self._thread = Thread(target=self._serve, args=ends, daemon=True)
        self._thread.start()

    @staticmethod
    def _serve(asked: TextIO, said: TextIO) -> None:
        with asked, said:
            serve(asked, said)

    def communicate(self) -> None:
        """Close its input and wait for its end."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        self._thread.join()
        self.stdout.close()
