"""The one form of numbers: "84.8%", "12,000", "a to b". `dpviz/figures/wording.py` writes it; here other forms are found."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

#: A blank before the sign (unless it divides), a dash between numbers, thousands by anything but a comma.
_FAULTS = re.compile(r"\d[ \u00a0\u202f]%(?! ?\d)|\d%?–\d|\b[1-9]\d{0,2}(?:['’ \u00a0\u202f]\d{3})+\b(?! ?[:/])")


def number_faults(text: str) -> list[str]:
    """What `text` writes in another form."""
    return _FAULTS.findall(text)


def strings_of(path: Path, *, docstrings: bool = True) -> Iterator[str]:
    """The texts in a file of Python, with 7 where a value would stand; its docstrings too, unless they are not wanted."""
    return (text for text, is_docstring in _strings_of(path) if docstrings or not is_docstring)


@cache
def _strings_of(path: Path) -> tuple[tuple[str, bool], ...]:
    """(text, whether it is a docstring)."""
    nodes = tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return tuple((_text(node), id(node) in alone) for node in nodes if _is_text(node) and id(node) not in inside)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ""
