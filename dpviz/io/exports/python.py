"""A Python function that needs the standard library alone: cells by the name of their column, trees as nested ifs."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator

from dpviz.io.exports.contract import ExportInput, number
from dpviz.io.exports.function import MISSING, Function, Leaf, Node, declared_texts, names_of
from dpviz.io.exports.reading import source
from dpviz.results.exports import Form
from dpviz.table.cells import Marks, clean
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget, Schema

_CELLS = '''
def cells(row):
    """The cells of a row as the model reads them, by column; None where the row has no answer."""
    found = {{
{cells}
    }}
    return None if None in found.values() else found
'''
_SUMS = '''
def sums(cell):
    """What the trees add up to."""
    totals = [{start}]
    for tree in ({trees},):
        totals = [total + value for total, value in zip(totals, tree(cell))]
    return totals
'''
_PREDICT = '''
def predict(row):
    """The prediction for a row, a mapping from column names to cells; None where there is no answer."""
    cell = cells(row)
    if cell is None:
        return None
    found = {found}(cell)
    return {answer}
'''
_PREDICT_PROBA = '''
def predict_proba(row):
    """The probability of every class for a row, as a mapping; not-a-number where there is no answer."""
    cell, classes = cells(row), {classes}
    if cell is None:
        return dict.fromkeys(classes, math.nan)
    found = {found}(cell)
    return dict(zip(classes, {shares}))
'''


def _write(model: ExportInput) -> str:
    function, schema = model.function, model.schema
    needs = {"number_in", *map(_reader, schema.features), *(["softmax"] if function.probabilities == "odds" else [])}
    texts = "".join(f"    {feature.name!a}: {_texts_of(feature)},\n" for feature in schema.features)
    parts = [source(needs), f"TEXTS = {{\n{texts}}}"]
    parts.append(_CELLS.format(cells="\n".join(f"        {_cell(schema, feature)}" for feature in schema.features)))
    if function.is_one_tree:
        parts.append("\n".join(["def leaf(cell):", *_lines(function, function.trees[0], lambda end: _leaf(function, end))]))
    else:
        calls = [f"tree_{place}" for place in range(len(function.trees))]
        for call, tree in zip(calls, function.trees, strict=True):
            parts.append("\n".join([f"def {call}(cell):", *_lines(function, tree, lambda end: _tuple(map(number, end.amounts)))]))
        parts.append(_SUMS.format(start=", ".join(map(number, function.start)), trees=", ".join(calls)))
    parts += _answers(function)
    facts = "\n".join(f"# {fact}" for fact in model.facts)
    return f"{facts}\n\n" + "\n\n\n".join(part.strip() for part in parts) + "\n"


# --- cells


def _reader(feature: Feature) -> str:
    if isinstance(feature, CategoricalFeature):
        return "category_in"
    return "date_in" if isinstance(feature, DateFeature) else "number_in"


def _texts_of(feature: Feature) -> str:
    """Which text is which category, None for a missing cell; of a number its codes of missing cells."""
    if _reader(feature) == "number_in":
        return ascii(tuple(map(clean, feature.missing_codes)))
    names: dict[int, str | None] = dict(enumerate(feature.categories)) if isinstance(feature, CategoricalFeature) else {}
    texts, names[MISSING] = declared_texts(feature), None
    meanings = texts.exact, texts.numbers, texts.truths
    return ascii(tuple({text: names[code] for text, code in codes.items()} for codes in meanings))


def _cell(schema: Schema, feature: Feature) -> str:
    if isinstance(feature, CategoricalFeature):
        more = ascii(feature.unknown_as)
    elif isinstance(feature, DateFeature):
        more = f"{feature.order!r}, {feature.part!r}, {dt.date.fromisoformat(feature.since).toordinal()}"
    else:
        more = f"Marks.{Marks(schema.decimal or '').name}"
    name = ascii(feature.name)
    return f"{name}: {_reader(feature)}(row[{name}], TEXTS[{name}], {feature.missing_as!a}, {more}),"


# --- trees


def _lines(function: Function, node: Node, answer_of: Callable[[Leaf], str], depth: int = 1) -> Iterator[str]:
    """The no side follows at the same depth, because the yes side always returns."""
    pad = "    " * depth
    while not isinstance(node, Leaf):
        feature, test = function.schema.features[node.test.feature], node.test
        is_others, names = names_of(function.schema, test)
        operator = "not in" if is_others else "in"
        comparison = f"{operator} {_tuple(map(ascii, names))}" if names else f"{test.sign} {number(test.mark)}"
        yield f"{pad}if cell[{feature.name!a}] {comparison}:"
        yield from _lines(function, node.yes, answer_of, depth + 1)
        node = node.no
    yield f"{pad}return {answer_of(node)}"


def _leaf(function: Function, end: Leaf) -> str:
    answer = ascii(function.answer(end))
    return f"{answer}, {_tuple(map(repr, end.shares))}" if function.probabilities == "leaf" else answer


# --- answers


def _answers(function: Function) -> Iterator[str]:
    """The functions that a caller uses."""
    target, classes, count = function.schema.target, _tuple(map(ascii, function.names)), len(function.trees)
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
    yield _PREDICT_PROBA.format(found=found, classes=classes, shares=shares)


def _tuple(items: Iterable[str]) -> str:
    texts = [*items]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


PYTHON = Form(
    name="python",
    title="Python function",
    suffix=".py",
    media_type="text/x-python",
    about="One function of the standard library, Python 3.10 or newer. It reads cells by dpviz's own code; no answer: None.",
    write=_write,
    language="python",
    order=20,
)
