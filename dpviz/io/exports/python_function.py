"""A Python function that imports nothing. Checked in a bare interpreter: no packages, no site, no environment."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition, Row
from dpviz.io.exports.contract import Exportable, Target
from dpviz.io.exports.function import End, Function, Step
from dpviz.io.exports.spelling import identifiers, number
from dpviz.table.schema import CategoricalFeature, NumericTarget, Schema

_SECONDS = 60
_TAKEN = ("row", "predict", "cell", "value", "total", "totals", "number_in", "text_in", "max", "min")
#: Infinity meets no condition, as an unreadable number must not; nor does not-a-number, unless it has a stand-in.
_CELLS = '''
def number_in(cell):
    """A number; not-a-number for a missing cell, infinity for a text that is no number."""
    if cell is None or isinstance(cell, str) and not cell.strip():
        return float("nan")
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("inf")
    return float("inf") if value == float("-inf") else value


def text_in(cell):
    """A text; None for a missing cell."""
    if cell is None or cell == "" or cell != cell:
        return None
    return cell if isinstance(cell, str) else str(cell)
'''
_RUNNER = """

import json, sys
names, rows = json.load(sys.stdin)
json.dump([predict(dict(zip(names, row))) for row in rows], sys.stdout)
"""


def _write(given: Exportable) -> str:
    function = given.function
    names = identifiers(function.schema.feature_names, taken=(*_TAKEN, *(f"tree_{k}" for k in range(len(function.trees)))))
    lines = [*(f"# {fact}" for fact in given.facts), "", *_CELLS.splitlines(), "", ""]
    if not function.is_one_tree:
        for place, tree in enumerate(function.trees):
            lines += [*_tree(function, place, tree, names), "", ""]
    return "\n".join([*lines, *_predict(function, names)]) + "\n"


def _predict(function: Function, names: list[str]) -> Iterator[str]:
    yield "def predict(row):"
    yield '    """The prediction for a row, a mapping from column names to cells. Missing: None, not-a-number or blank."""'
    used = sorted({feature for tree in function.trees for feature in function.features_of(tree)})
    for feature in used:
        declared = function.schema.features[feature]
        reader = "text_in" if isinstance(declared, CategoricalFeature) else "number_in"
        yield f"    {names[feature]} = {reader}(row[{declared.name!a}])"
    if function.is_one_tree:
        yield from _steps(function.trees[0], names, 1, lambda end: _literal(function.answer(end)))
    else:
        yield from _decide(function, names)


def _decide(function: Function, names: list[str]) -> Iterator[str]:
    calls = [f"tree_{k}({', '.join(names[f] for f in function.features_of(tree))})" for k, tree in enumerate(function.trees)]
    if len(function.start) > 1:
        yield f"    totals = [{', '.join(map(number, function.start))}]"
        for call in calls:
            yield f"    totals = [total + value for total, value in zip(totals, {call})]"
        yield f"    return {_tuple(function.schema.classes)}[totals.index(max(totals))]"
        return
    yield f"    total = {number(function.start[0])}"
    yield from (f"    total += {call}" for call in calls)
    target = function.schema.target
    if isinstance(target, NumericTarget):
        yield f"    return min(max(total, {target.low!r}), {target.high!r})"
    else:
        yield f"    return {target.classes[1]!a} if total > 0 else {target.classes[0]!a}"


def _tree(function: Function, place: int, tree: Step, names: list[str]) -> Iterator[str]:
    yield f"def tree_{place}({', '.join(names[feature] for feature in function.features_of(tree))}):"
    yield from _steps(tree, names, 1, _amounts)


def _amounts(end: End) -> str:
    return number(end.amounts[0]) if len(end.amounts) == 1 else f"({', '.join(map(number, end.amounts))})"


def _steps(step: Step, names: list[str], depth: int, say: Callable[[End], str]) -> Iterator[str]:
    """The no side follows at the same depth, because the yes side always returns."""
    pad = "    " * depth
    while not isinstance(step, End):
        yield f"{pad}if {_condition(step.condition, names[step.condition.feature])}:"
        yield from _steps(step.yes, names, depth + 1, say)
        step = step.no
    yield f"{pad}return {say(step)}"


def _condition(asked: Condition, name: str) -> str:
    if asked.is_number:
        test = f"{name} {'<=' if asked.with_high else '<'} {number(asked.high)}"
        return f"{test} or {name} != {name}" if asked.missing else test
    if asked.among is None:
        test = f"{name} not in {_tuple(asked.but or ())}"
        return test if asked.missing else f"{name} is not None and {test}"
    test = f"{name} in {_tuple(asked.among)}"
    return f"{name} is None or {test}" if asked.missing else test


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(map(ascii, names))}{',' if len(names) == 1 else ''})"


def _literal(answer: str | float) -> str:
    return ascii(answer) if isinstance(answer, str) else repr(answer)


def _run(content: str, schema: Schema, rows: Sequence[Row]) -> list[Any]:
    """`-I -S`: no folder of the user's, no installed packages, no variables of the environment."""
    with TemporaryDirectory(prefix="dpviz-") as folder:
        script = Path(folder) / "exported.py"
        script.write_text(content + _RUNNER, encoding="utf-8")
        command = [sys.executable, "-I", "-S", str(script)]
        given = json.dumps([schema.feature_names, rows])
        done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", timeout=_SECONDS, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise NotExported(f"The Python function does not run in a bare interpreter: {why[:200]}", remedy="Export it as JSON.")
    return json.loads(done.stdout)


_PYTHON = Target(
    name="python",
    title="Python function",
    suffix=".py",
    mime="text/x-python",
    about="One function, no imports, any Python 3. Missing: None, not-a-number or a blank text.",
    write=_write,
    run=_run,
    ran_in=lambda: f"a bare Python {platform.python_version()}",
    language="python",
    order=20,
)
TARGETS = (_PYTHON,)
