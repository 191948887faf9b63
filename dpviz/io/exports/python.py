"""A Python function that needs the standard library alone."""

import builtins
import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator

from dpviz.io.exports.contract import ExportInput, WrittenForm
from dpviz.io.exports.function import MISSING, End, Function, Split, Step, Test, steps
from dpviz.io.exports.reading import source
from dpviz.io.exports.words import identifiers, number
from dpviz.table.cells import Declared, Marks, clean
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget, Schema

_TAKEN = {"row", "predict", "predict_proba", "leaf", "sums", "cells", "found", "total", "totals", "value"}


def _write(given: ExportInput) -> str:
    function, schema = given.function, given.schema
    readers = source({"number_in", *map(_reader, schema.features), *(["softmax"] if function.probabilities == "odds" else [])})
    taken = {*dir(builtins), *_TAKEN, *re.findall(r"[A-Za-z_]\w*", readers), *(f"tree_{k}" for k in range(len(function.trees)))}
    names = identifiers(schema.feature_names, taken)
    texts = identifiers((f"{name}_texts" for name in names), {*taken, *names})
    parts = [readers, *(f"{name} = {_texts_of(feature)}" for name, feature in zip(texts, schema.features, strict=True))]
    parts += ["\n".join(_cells(schema, names, texts))]
    if not function.is_one_tree:
        parts += ["\n".join(_tree(function, place, tree, names)) for place, tree in enumerate(function.trees)]
    parts += ["\n".join(_sums(function, names)), *(part.strip() for part in _predict(function))]
    head = "\n".join(f"# {fact}" for fact in given.facts)
    return "\n\n\n".join([f"{head}\n\n{parts[0]}", *filter(None, (part.rstrip() for part in parts[1:]))]) + "\n"


# --- cells


def _reader(feature: Feature) -> str:
    if isinstance(feature, CategoricalFeature):
        return "category_in"
    return "date_in" if isinstance(feature, DateFeature) else "number_in"


def _texts_of(feature: Feature) -> str:
    """Which text is which category, None for a missing cell, as `Declared` finds it; of a number its codes of missing cells."""
    if _reader(feature) == "number_in":
        return f"{tuple(map(clean, feature.missing_codes))!a}"
    categories = feature.categories if isinstance(feature, CategoricalFeature) else ()
    groups = feature.category_of if isinstance(feature, CategoricalFeature) else {}
    codes = dict.fromkeys(feature.missing_codes, MISSING) | {text: categories.index(name) for text, name in groups.items()}
    found = Declared(codes)
    written = (
        {text: None if code == MISSING else categories[code] for text, code in one.items()}
        for one in (found.exact, found.numbers, found.truths)
    )
    return f"({', '.join(map(ascii, written))})"


def _cells(schema: Schema, names: list[str], texts: list[str]) -> Iterator[str]:
    yield "def cells(row):"
    yield '    """The cells of a row as the model reads them; None where the row has no answer."""'
    marks = f"Marks.{Marks(schema.decimal or '').name}"
    yield "    found = ("
    for known, declared in zip(texts, schema.features, strict=True):
        more = [marks] if _reader(declared) == "number_in" else []
        more.append(known)
        if isinstance(declared, DateFeature):
            start = dt.date.fromisoformat(declared.since).toordinal()
            more += [repr(declared.order), repr(declared.part), repr(start)]
        more.append(repr(declared.missing_as) if isinstance(declared.missing_as, float | int) else ascii(declared.missing_as))
        if isinstance(declared, CategoricalFeature):
            more.append(ascii(declared.unknown_as))
        yield f"        {_reader(declared)}(row[{declared.name!a}], {', '.join(more)}),"
    yield "    )"
    yield "    return None if None in found else found"


# --- trees


def _tree(function: Function, place: int, tree: Step, names: list[str]) -> Iterator[str]:
    yield f"def tree_{place}({', '.join(_asked(tree, names))}):"
    one = len(function.start) == 1
    yield from _lines(
        function, tree, names, lambda end: number(end.amounts[0]) if one else f"({', '.join(map(number, end.amounts))})"
    )


def _asked(tree: Step, names: list[str]) -> list[str]:
    return [names[place] for place in sorted({step.test.feature for step in steps(tree) if isinstance(step, Split)})]


def _lines(function: Function, step: Step, names: list[str], say: Callable[[End], str], depth: int = 1) -> Iterator[str]:
    """The no side follows at the same depth, because the yes side always returns."""
    pad = "    " * depth
    while not isinstance(step, End):
        yield f"{pad}if {_test(function.schema, step.test, names)}:"
        yield from _lines(function, step.yes, names, say, depth + 1)
        step = step.no
    yield f"{pad}return {say(step)}"


def _test(schema: Schema, test: Test, names: list[str]) -> str:
    name = names[test.feature]
    if test.sign != "in":
        return f"{name} {test.sign} {number(test.mark)}"
    others = test.inverse(schema)
    is_shorter = len(others.codes) < len(test.codes)
    categories = schema.features[test.feature].categories  # type: ignore[union-attr]
    named = _tuple(categories[code] for code in (others if is_shorter else test).codes)
    return f"{name} {'not ' if is_shorter else ''}in {named}"


def _sums(function: Function, names: list[str]) -> Iterator[str]:
    """What a row comes to: what the leaf of a single tree says, or the sums over all trees; None where it has no answer."""
    yield f"def {'leaf' if function.is_one_tree else 'sums'}(row):"
    yield "    found = cells(row)"
    yield "    if found is None:"
    yield "        return None"
    yield f"    {', '.join(names)}{',' if len(names) == 1 else ''} = found"
    if function.is_one_tree:
        yield from _lines(function, function.trees[0], names, lambda end: _leaf(function, end))
        return
    yield f"    totals = [{', '.join(map(number, function.start))}]"
    for place, tree in enumerate(function.trees):
        call = f"tree_{place}({', '.join(_asked(tree, names))})"
        many = f"[total + value for total, value in zip(totals, {call})]"
        yield f"    totals{f'[0] += {call}' if len(function.start) == 1 else f' = {many}'}"
    yield "    return totals"


def _leaf(function: Function, end: End) -> str:
    answer = ascii(function.answer(end))
    return f"{answer}, ({', '.join(map(repr, end.shares))})" if function.probabilities == "leaf" else answer


# --- answers

_PREDICT = '''
def predict(row):
    """The prediction for a row, a mapping from column names to cells; None where there is no answer."""
    found = {found}(row)
    return None if found is None else {answer}
'''
_PREDICT_PROBA = '''
def predict_proba(row):
    """The probability of every class for a row, as a mapping; not-a-number where there is no answer."""
    found = {found}(row)
    return dict(zip({classes}, [math.nan] * {n_classes} if found is None else {shares}))
'''


def _predict(function: Function) -> Iterator[str]:
    """The functions that a caller uses."""
    target, classes, count = function.schema.target, _tuple(function.names), len(function.trees)
    found = "leaf" if function.is_one_tree else "sums"
    if function.is_one_tree:
        answer = "found[0]" if function.probabilities == "leaf" else "found"
    elif isinstance(target, NumericTarget):
        answer = f"min(max(found[0], {target.low!r}), {target.high!r})"
    else:
        answer = f"{classes}[{'found[0] > 0' if function.how == 'sign' else 'found.index(max(found))'}]"
    yield _PREDICT.format(found=found, answer=answer)
    if function.probabilities == "none":
        return
    votes = f"[total / {count} for total in found]"
    shares = {"leaf": "found[1]", "votes": votes, "odds": "softmax(found)"}[function.probabilities]
    if function.how == "sign":  # of one sum, which the second class pulls up; a vote moves it by one to either side
        halves = f"[({count} - found[0]) / 2 / {count}, ({count} + found[0]) / 2 / {count}]"
        shares = halves if function.probabilities == "votes" else "softmax([0.0, found[0]])"
    yield _PREDICT_PROBA.format(found=found, classes=classes, n_classes=len(function.names), shares=shares)


def _tuple(names: Iterable[str]) -> str:
    written = [*map(ascii, names)]
    return f"({', '.join(written)}{',' if len(written) == 1 else ''})"


PYTHON = WrittenForm(
    name="python",
    title="Python function",
    suffix=".py",
    media_type="text/x-python",
    about="One function of the standard library, Python 3.10 or newer. It reads cells by dpviz's own code; no answer: None.",
    write=_write,
    language="python",
    order=20,
)
