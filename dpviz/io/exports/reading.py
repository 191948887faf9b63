"""How the exported Python function reads a cell: the rules of `dpviz.table.cells`, which it holds as they stand there.

What is here imports the standard library alone once `source` has written it down, and runs in any Python from 3.10 on.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Iterable
from functools import cache
from typing import Any

from dpviz.io.exports import reading
from dpviz.table import cells
from dpviz.table.cells import MARKS, Marks, clean, date_of, number_of, other_meaning, plain_value, text_of

_MODULES = (cells, reading)
_IMPORTS = (
    "from __future__ import annotations",
    "import datetime as dt",
    "import math",
    "import re",
    "from decimal import Context, Decimal",
    "from unicodedata import normalize",
)


def number_in(cell: Any, codes: tuple[str, ...], missing_as: float | None, marks: Marks) -> float | None:
    """The number of a cell, `missing_as` where it is missing; None where its row has no answer."""
    text, value = clean(text_of(cell)), plain_value(cell)
    if text in MARKS or text in codes:
        return missing_as
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    number = number_of(text, Marks.UNKNOWN if is_number else marks)
    if any(number == number_of(code) for code in codes):
        return missing_as
    return None if math.isnan(number) else number


def category_in(cell: Any, texts: tuple[Any, Any, Any], missing_as: str | None, unknown_as: str | None) -> str | None:
    """The category of a cell. `texts` says which text is which: as it stands, as a short number, as a truth value."""
    text, (exact, numbers, truths) = clean(text_of(cell)), texts
    found = exact[text] if text in exact else other_meaning(text, numbers, truths)
    if found == -1:
        return missing_as if text in MARKS else unknown_as
    return missing_as if found is None else found


def date_in(cell: Any, texts: tuple[Any, Any, Any], missing_as: float | None, order: str, part: str, start: int) -> float | None:
    """The number of a date; `texts` are those of missing cells, `start` the day that counts as 0."""
    text = clean(text_of(cell))
    if category_in(cell, texts, None, "") is None:
        return missing_as
    day = date_of(text, order)
    if day is None:
        return None
    return {"year": day.year, "month": day.month, "weekday": day.isoweekday()}.get(part, day.toordinal() - start)


def softmax(sums: list[float]) -> list[float]:
    """Probabilities by the sums of classes."""
    top = max(sums)
    weights = [math.exp(total - top) for total in sums]
    return [weight / sum(weights) for weight in weights]


def source(names: Iterable[str]) -> str:
    """These functions and all that they need, as Python that imports the standard library alone."""
    parts, required, queue = _parts(), set[str](), list(names)
    while queue:
        name = queue.pop()
        if name in parts and name not in required:
            required.add(name)
            queue += parts[name][1]
    sources = dict.fromkeys(text for name, (text, _) in parts.items() if name in required)  # two names of one assignment: once
    return "\n".join(_IMPORTS) + "\n\n" + "\n\n\n".join(sources)


@cache
def _parts() -> dict[str, tuple[str, set[str]]]:
    """By name what stands in these files, as text, and the names in it."""
    parts: dict[str, tuple[str, set[str]]] = {}
    for module in _MODULES:
        text = inspect.getsource(module)
        for node in ast.parse(text).body:
            for name in _names_of(node):
                names_used = {name_node.id for name_node in ast.walk(node) if isinstance(name_node, ast.Name)}
                parts.setdefault(name, (ast.get_source_segment(text, node) or "", names_used))
    parts["Marks"] = "\n".join(["class Marks:", *(f"    {mark.name} = {mark.value!r}" for mark in Marks)]), set()
    return parts


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
