"""Owners in their own processes, as the aggregator sees them: starting, introducing, asking and hearing them.

One line of JSON goes each way. An owner whose process ends has left; nothing waits for it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpviz.errors import FederationError
from dpviz.owners.data_owner import rows_to_text
from dpviz.owners.terms import Terms
from dpviz.table.dataset import EncodedDataset

_HOME = Path(__file__).parents[2]


class OwnerProcess:
    """An owner at the other end of two pipes. A request to an owner that has ended is dropped, and `hear` returns None."""

    def __init__(self) -> None:
        paths = os.pathsep.join(filter(None, (str(_HOME), os.environ.get("PYTHONPATH"))))
        self._ended = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dpviz.owners"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is for the process that started it, also while this one is still importing
        )

    def ask(self, request: dict[str, Any]) -> None:
        """Send one line."""
        assert self._process.stdin is not None
        if not self._ended:
            try:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                self.end()

    def hear(self) -> dict[str, Any] | None:
        """One line; None when the process has ended. Raises FederationError when the owner reports an error."""
        assert self._process.stdout is not None
        line = "" if self._ended else self._process.stdout.readline()
        if not line:
            return None
        answer = json.loads(line)
        if "error" in answer:
            raise FederationError("round", answer["error"], remedy="Start again.")
        return answer

    def end(self) -> None:
        """Close its input, upon which the owner ends, and wait for it."""
        if not self._ended:
            self._ended = True
            self._process.communicate()


def introduce(
    owners: Mapping[int, OwnerProcess], parts: Sequence[EncodedDataset], terms: Terms, seeds: Sequence[int | None]
) -> None:
    """Send every owner its rows, check that all agree on the terms, and pass round their public keys."""
    document = terms.to_dict()
    for number, owner in owners.items():
        owner.ask({"number": number, "terms": document, "rows": rows_to_text(parts[number]), "seed": seeds[number]})
    keys = {}
    for number, owner in owners.items():
        joined = _required(number, owner.hear())
        if joined["terms"] != terms.fingerprint:
            what = "It draws other trees, or means other settings."
            raise FederationError("plan", what, owner=number, remedy="Let all owners run the same version of dpviz.")
        keys[number] = joined["key"]
    for owner in owners.values():
        owner.ask({"keys": keys})
    for number, owner in owners.items():
        _required(number, owner.hear())


def _required(number: int, answer: dict[str, Any] | None) -> dict[str, Any]:
    if answer is None:
        raise FederationError("few", "It ended before the first round.", owner=number, remedy="Start again without it.")
    return answer
