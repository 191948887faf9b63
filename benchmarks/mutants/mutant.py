"""A change of one line that would break privacy, and the tests that must fail when it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Attributes
    ----------
    what : str
        What it breaks, in words.
    file : str
        Path inside the repository.
    old, new : str
        `old` occurs exactly once in the file and is replaced by `new`.
    tests : tuple of str
        Ids of tests without parameters (or with those of one case), each of which must fail.
    """

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied_to(self, text: str) -> str:
        """The file's `text` with the change."""
        return text.replace(self.old, self.new)


def problems(mutants: Iterable[Mutant], root: Path) -> Iterator[str]:
    """What is wrong with the list, in words: a text that is gone or ambiguous, a change that changes nothing, an unknown test."""
    seen: set[tuple[str, str, str]] = set()
    for mutant in mutants:
        text = (root / mutant.file).read_text(encoding="utf-8") if (root / mutant.file).is_file() else ""
        if text.count(mutant.old) != 1:
            yield f"{mutant.what}: the text occurs {text.count(mutant.old)} times in {mutant.file}, not once: {mutant.old!r}"
        if mutant.old == mutant.new or (mutant.file, mutant.old, mutant.new) in seen:
            yield f"{mutant.what}: changes nothing, or is listed twice"
        seen.add((mutant.file, mutant.old, mutant.new))
        if not mutant.tests:
            yield f"{mutant.what}: names no test"
        yield from (f"{mutant.what}: there is no test {test}" for test in mutant.tests if not _exists(test, root))


def _exists(test: str, root: Path) -> bool:
    file, _, name = test.partition("::")
    return name.partition("[")[0] in _functions(root / file)


@cache
def _functions(file: Path) -> frozenset[str]:
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
