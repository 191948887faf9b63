"""A change that would break privacy, and the tests that must fail when it is made.

A change is anchored to a function, not to lines: it replaces one expression, or a run of statements, wherever in the function it
stands and however it is formatted. What happens elsewhere in the file does not touch it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Attributes
    ----------
    what : str
        What it breaks, in words.
    where : str
        Module and qualified name of a function or class, as in "dpviz.privacy.source:Simulation.draw"; a module alone for what
        stands outside of both. A file that is no Python by its path.
    old, new : str
        `old` is an expression or a run of statements that occurs once there; `new` takes its place. In a file that is no Python
        both are texts.
    tests : tuple of str
        Ids of tests without parameters (or with those of one case), each of which must fail.
    """

    what: str
    where: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_python(self) -> bool:
        """False for a file that is matched as text."""
        return "/" not in self.where

    @property
    def file(self) -> str:
        """Path inside the repository."""
        return f"{self._module.replace('.', '/')}.py" if self.is_python else self.where

    @property
    def _module(self) -> str:
        return self.where.partition(":")[0]

    @property
    def _name(self) -> str:
        return self.where.partition(":")[2]

    def count(self, text: str) -> int:
        """How often `old` occurs in its place in the file's `text`; 0 where there is no such place. Raises SyntaxError."""
        if not self.is_python:
            return text.count(self.old)
        scope = _scope(_tree(text), self._name)
        return 0 if scope is None else sum(1 for _ in _places(scope, self._code()[0]))

    def applied_to(self, text: str) -> str:
        """The file's `text` with the change; its layout is lost. Raises SyntaxError for a change that is no Python."""
        if not self.is_python:
            return text.replace(self.old, self.new)
        tree, (old, new) = ast.parse(text), self._code()
        for owner, field, place in list(_places(_scope(tree, self._name) or ast.Module([], []), old)):
            if place is None:
                setattr(owner, field, new[0])
            else:
                getattr(owner, field)[place : place + len(old)] = new
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def _code(self) -> tuple[list[ast.AST], list[ast.AST]]:
        """(old, new): two expressions, else two runs of statements."""
        old, new = (ast.parse(code).body for code in (self.old, self.new))
        if len(old) == len(new) == 1 and isinstance(old[0], ast.Expr) and isinstance(new[0], ast.Expr):
            return [old[0].value], [new[0].value]
        return [*old], [*new]


@lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module:
    """To be read only."""
    return ast.parse(text)


def _scope(tree: ast.Module, name: str) -> ast.AST | None:
    """The function or class of this qualified name; the module itself without one."""
    found: ast.AST = tree
    for part in filter(None, name.split(".")):
        inside = [node for node in _own(found) if isinstance(node, _SCOPES) and node.name == part]
        if not inside:
            return None
        found = inside[-1]
    return found


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Everything in a scope, without what stands in functions and classes inside it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _own(node)


def _places(scope: ast.AST, wanted: list[ast.AST]) -> Iterator[tuple[ast.AST, str, int | None]]:
    """(node, field, place in the field's list or None) wherever the expression, or the run of statements, occurs."""
    dumped = [ast.dump(node) for node in wanted]
    for owner in ast.walk(scope):
        for field, value in ast.iter_fields(owner):
            if isinstance(value, list):
                ends = range(len(value) - len(wanted) + 1)
                yield from ((owner, field, place) for place in ends if _are(value[place : place + len(wanted)], wanted, dumped))
            elif _are([value], wanted, dumped):
                yield owner, field, None


def _are(nodes: list[ast.AST], wanted: list[ast.AST], dumped: list[str]) -> bool:
    """Types are compared first, which is quick."""
    alike = len(nodes) == len(wanted) and all(type(one) is type(other) for one, other in zip(nodes, wanted, strict=True))
    return alike and [ast.dump(node) for node in nodes] == dumped


def problems(mutants: Iterable[Mutant], root: Path) -> Iterator[str]:
    """What is wrong with the list, in words: code that is gone or ambiguous, a change that changes nothing, an unknown test."""
    seen: set[tuple[str, str, str]] = set()
    for mutant in mutants:
        yield from (f"{mutant.what}: {wrong}" for wrong in _misplaced(mutant, root))
        if mutant.old == mutant.new or (mutant.where, mutant.old, mutant.new) in seen:
            yield f"{mutant.what}: changes nothing, or is listed twice"
        seen.add((mutant.where, mutant.old, mutant.new))
        if not mutant.tests:
            yield f"{mutant.what}: names no test"
        yield from (f"{mutant.what}: there is no test {test}" for test in mutant.tests if not _exists(test, root))


def _misplaced(mutant: Mutant, root: Path) -> Iterator[str]:
    text = (root / mutant.file).read_text(encoding="utf-8") if (root / mutant.file).is_file() else ""
    try:
        count = mutant.count(text)
    except SyntaxError:
        yield f"this is no Python: {mutant.old!r} or {mutant.new!r}"
        return
    if count != 1:
        yield f"this occurs {count} times in {mutant.where}, not once: {mutant.old!r}"


def _exists(test: str, root: Path) -> bool:
    file, _, name = test.partition("::")
    return name.partition("[")[0] in _functions(root / file)


@cache
def _functions(file: Path) -> frozenset[str]:
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
