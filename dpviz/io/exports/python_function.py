"""A Python function that imports nothing."""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from unicodedata import normalize

from dpviz.io.exports.conditions import Condition, identifiers, number
from dpviz.io.exports.contract import Exportable, WrittenForm
from dpviz.io.exports.function import End, Function, Step
from dpviz.table.cells import MISSING_MARKS, Declared, decimal_of
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget, Schema

_TAKEN = {
    "row",
    "predict",
    "leaf",
    "sums",
    "cell",
    "value",
    "total",
    "totals",
    "number_in",
    "plain",
    "ungrouped",
    "is_grouped",
    "plain_text",
    "text_in",
    "MISSING",
}
_TAKEN |= {"uncoded", "date_in", "max", "min", "sum", "float", "str", "any", "isinstance", "hasattr", "abs", "int", "repr"}
#: The functions that read cells as `dpviz.table.cells` does: missing marks, a decimal comma, and no 1_000. Infinity meets no
#: condition, as an unreadable number must not; nor does not-a-number, unless it has a stand-in. The last two are for columns with
#: codes of missing cells, and for dates.
*_CELLS, _UNCODED, _DATES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").rstrip().split("\n\n\n")


def _write(given: Exportable) -> str:
    function = given.function
    names = identifiers(function.schema.feature_names, taken=(*_TAKEN, *(f"tree_{k}" for k in range(len(function.trees)))))
    lines = [*(f"# {fact}" for fact in given.facts), "", "", *"\n\n\n".join(_helpers(function.schema)).splitlines(), "", ""]
    if not function.is_one_tree:
        for place, tree in enumerate(function.trees):
            lines += [*_tree(function, place, tree, names), "", ""]
    return "\n".join([*lines, *_reached(function, names), "", "", *_predict(function), *_probabilities(function)]) + "\n"


def _reached(function: Function, names: list[str]) -> Iterator[str]:
    """What a row comes to: the leaf of a single tree, or the sums over all trees."""
    yield f"def {'leaf' if function.is_one_tree else 'sums'}(row):"
    for name, declared in zip(names, function.schema.features, strict=True):
        yield f"    {name} = {_read(declared, f'row[{declared.name!a}]', function.schema.decimal)}"
    yield f"    if {' or '.join(_has_no_answer(*pair) for pair in zip(names, function.schema.features, strict=True))}:"
    nothing = ", ".join(['float("nan")'] * len(function.names or ()))
    yield f"        return {f'None, ({nothing},)' if function.chances == 'leaf' else 'None'}"
    if function.is_one_tree:
        yield from _steps(function.trees[0], names, 1, lambda end: _leaf(function, end))
        return
    yield f"    totals = [{', '.join(map(number, function.start))}]"
    for k, tree in enumerate(function.trees):
        call = f"tree_{k}({', '.join(names[f] for f in function.features_of(tree))})"
        many = f"[total + value for total, value in zip(totals, {call})]"
        yield f"    totals{f'[0] += {call}' if len(function.start) == 1 else f' = {many}'}"
    yield "    return totals"


def _has_no_answer(name: str, declared: Feature) -> str:
    """What is true of cells with which `encode` drops their row."""
    if isinstance(declared, CategoricalFeature):
        known = "" if declared.unknown_as is not None else f"{name} is not None and {name} not in {_set(declared.category_of)}"
        missing = "" if declared.missing_as is not None else f"{name} is None"
        return " or ".join(filter(None, (missing, known))) or "False"
    return f'{name} == float("inf")' if declared.missing_as is not None else f'not {name} < float("inf")'


def _read(declared: Feature, cell: str, decimal: str | None) -> str:
    """What reads a cell of this column."""
    mark = "" if decimal is None else f", {decimal!r}"
    if isinstance(declared, CategoricalFeature):
        return f"text_in({cell}, {', '.join(_names(declared))})"
    if declared.missing_codes and isinstance(declared, DateFeature):
        cell = f"None if text_in({cell}, {', '.join(_names(declared))}) is None else {cell}"
    elif declared.missing_codes:
        cell = f"uncoded({cell}, {_tuple(declared.missing_codes)}{mark})"
    if isinstance(declared, DateFeature):
        start = dt.date.fromisoformat(declared.since).toordinal()
        return f"date_in({cell}, {declared.order!r}, {declared.part!r}, {start})"
    return f"number_in({cell}{mark})"


def _helpers(schema: Schema) -> Iterator[str]:
    """The functions that read cells, as far as they are needed."""
    yield from (text.replace("MARKS", repr(sorted(MISSING_MARKS))) for text in _CELLS)
    if any(feature.missing_codes for feature in schema.features):
        yield _UNCODED
    if any(isinstance(feature, DateFeature) for feature in schema.features):
        yield _DATES


def _leaf(function: Function, end: End) -> str:
    said = function.answer(end)
    answer = ascii(said) if isinstance(said, str) else repr(said)
    return f"{answer}, ({', '.join(map(repr, end.shares))})" if function.chances == "leaf" and end.shares else answer


def _predict(function: Function) -> Iterator[str]:
    yield "def predict(row):"
    yield '    """The prediction for a row, a mapping from column names to cells; None where there is no answer."""'
    target = function.schema.target
    if function.is_one_tree:
        yield f"    return leaf(row){'[0]' if function.chances == 'leaf' else ''}"
        return
    yield "    totals = sums(row)"
    yield "    if totals is None:"
    yield "        return None"
    if isinstance(target, NumericTarget):
        yield f"    return min(max(totals[0], {target.low!r}), {target.high!r})"
    elif function.how == "sign":
        yield f"    return {target.classes[1]!a} if totals[0] > 0 else {target.classes[0]!a}"
    else:
        yield f"    return {_tuple(target.classes)}[totals.index(max(totals))]"


def _probabilities(function: Function) -> Iterator[str]:
    if function.chances == "none":
        return
    yield from ("", "", "def predict_proba(row):", '    """The probability of every class for a row, as a mapping."""')
    if function.chances == "leaf":
        yield "    shares = leaf(row)[1]"
    else:
        yield "    totals = sums(row)"
        yield "    if totals is None:"
        nothing = ", ".join(['float("nan")'] * len(function.schema.classes))
        yield f"        return dict(zip({_tuple(function.schema.classes)}, ({nothing},)))"
        yield from _of_votes(function) if function.chances == "votes" else _of_odds(function)
    yield f"    return dict(zip({_tuple(function.schema.classes)}, shares))"


def _of_votes(function: Function) -> Iterator[str]:
    """Two classes have one sum, which every tree moves by one to either side."""
    count = len(function.trees)
    if len(function.start) == 1:
        yield f"    totals = [({count} - totals[0]) / 2, ({count} + totals[0]) / 2]"
    yield f"    shares = [total / {count} for total in totals]"


def _of_odds(function: Function) -> Iterator[str]:
    if len(function.start) == 1:
        yield "    totals = [0.0, totals[0]]"
    yield "    top = max(totals)"
    yield f"    weights = [{math.e!r} ** (total - top) for total in totals]"
    yield "    shares = [weight / sum(weights) for weight in weights]"


def _names(declared: CategoricalFeature | DateFeature) -> Iterator[str]:
    """Which declared text a cell's text is (None for a missing code), as `Declared` finds it, if that is more than the text."""
    known = tuple(declared.category_of) if isinstance(declared, CategoricalFeature) else ()
    texts: list[str | None] = [*known, *[None] * len(declared.missing_codes)]
    found = Declared({text: place for place, text in enumerate((*known, *declared.missing_codes))})
    exact = found.exact | {normalize("NFD", text): place for text, place in reversed(found.exact.items())} | found.exact
    is_more = {text for text, place in exact.items() if text != texts[place] or text in MISSING_MARKS}
    numbers, truths = found.numbers, found.truths
    is_more |= {text for text in exact if decimal_of(text) is not None or text.lower() in truths}
    for own in ({text: exact[text] for text in exact if text in is_more}, numbers, truths):
        yield f"{{{', '.join(f'{text!a}: {texts[place]!a}' for text, place in own.items())}}}"


def _tree(function: Function, place: int, tree: Step, names: list[str]) -> Iterator[str]:
    yield f"def tree_{place}({', '.join(names[feature] for feature in function.features_of(tree))}):"
    one = len(function.start) == 1
    yield from _steps(tree, names, 1, lambda end: number(end.amounts[0]) if one else f"({', '.join(map(number, end.amounts))})")


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


def _set(names: Iterable[str]) -> str:
    return f"{{{', '.join(map(ascii, names))}}}"


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(map(ascii, names))}{',' if len(names) == 1 else ''})"


PYTHON = WrittenForm(
    name="python",
    title="Python function",
    suffix=".py",
    media_type="text/x-python",
    about="One function, no imports, any Python 3. Reads cells as dpviz does, typed ones too; no answer: None.",
    write=_write,
    language="python",
    order=20,
)
