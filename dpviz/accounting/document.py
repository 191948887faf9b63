"""A ledger as entries of a JSON document, and back: what a file says was done is composed again, not believed."""

import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from itertools import groupby
from typing import Any, get_args

from dpviz.accounting.events import Event, Parallel, Sequential, Spend, walk
from dpviz.accounting.ledger import Ledger
from dpviz.table.strict_json import read, read_entry, read_kind, with_infinity, wrong

_KINDS: dict[str, type[Spend]] = {kind.kind: kind for kind in get_args(Spend)}
_STEP = re.compile(r"\.?(\d+)|([a-z])|(\[\d+\])")
_DEEPEST = 200


def ledger_entries(ledger: Ledger) -> list[dict[str, Any]]:
    """One entry per step: its line of the ledger, and what else its cost follows from."""
    return [asdict(row) | _details(step) for row, (_, step) in zip(ledger.rows(), walk(ledger.event), strict=True)]


def _details(step: Spend) -> dict[str, Any]:
    """`note` already holds the reason."""
    return {name: value for name, value in asdict(step).items() if name != "reason"}


def ledger_from(entries: Sequence[Any], where: str) -> Ledger:
    """The ledger of these entries. Raises DocumentError for one that is no step, or lacks what its cost follows from."""
    steps = [(_place(entry, f"{where}[{k}]"), _step(entry, f"{where}[{k}]")) for k, entry in enumerate(entries)]
    return Ledger(_nested(steps, 0, where))


def _step(entry: Any, where: str) -> Spend:
    kind = read_kind(_KINDS, entry, where)
    named = with_infinity(entry, "epsilon") | {"reason": entry.get("note", "")}
    return read(kind, {item.name: named[item.name] for item in fields(kind) if item.name in named}, where)


def _place(entry: Any, where: str) -> tuple[str, ...]:
    """The parts of a path such as "2b.1"."""
    path = read_entry(str, entry, "path", where)
    if not re.fullmatch(rf"(?:{_STEP.pattern})+", path) or len(path) > _DEEPEST:
        raise wrong("This is no path of a step.", f"{where}.path")
    return tuple(number or letter or more for number, letter, more in _STEP.findall(path))


def _nested(steps: Sequence[tuple[tuple[str, ...], Spend]], depth: int, where: str) -> Event:
    if len(steps) == 1 and len(steps[0][0]) == depth:
        return steps[0][1]
    if any(len(place) == depth for place, _ in steps) or len({place[depth].isdigit() for place, _ in steps}) > 1:
        raise wrong("The paths of the steps contradict each other.", where)
    inside = tuple(_nested(list(group), depth + 1, where) for _, group in groupby(steps, key=lambda step: step[0][depth]))
    return Sequential(inside) if not steps or steps[0][0][depth].isdigit() else Parallel(inside)
