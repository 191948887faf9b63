"""The one form of numbers: "84.8%", "12,000", "a to b". `dpviz/figures/wording.py` writes it; here other forms are found."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

#: A blank before the sign (unless it divides), a dash between numbers, thousands by anything but a comma.
_FAULTS = re.compile(r"\d[ \u00a0\u202f]%(?! ?\d)|\d%?–\d|\b[1-9]\d{0,2}(?:['’ \u00a0\u202f]\d{3})+\b(?! ?[:/])")


def number_faults(text: str) -> list[str]:
    """What `text` writes in another form."""
    return _FAULTS.findall(text)


def strings_of(path: Path) -> Iterator[str]:
    """The texts in a file of Python, with 7 where a value would stand."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value
