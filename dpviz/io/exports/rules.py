"""A tree as rules, one per leaf: the tests on its path, merged into one condition per column."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dpviz.io.exports.contract import ExportInput, number, spelled
from dpviz.io.exports.function import Function, Leaf, Met, Node, both, meets
from dpviz.models.tree import Leaf as ClassLeaf
from dpviz.results.exports import Form
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema


@dataclass(frozen=True, slots=True)
class Rule:
    """One leaf: it predicts `answer` for the rows that meet every condition, one line of words each; `end` has the rest."""

    conditions: tuple[str, ...]
    answer: str | float
    end: Leaf


def rules_of(function: Function) -> Iterator[Rule]:
    """The rules of a single tree, left to right."""
    yield from _rules(function, function.trees[0], {})


def _rules(function: Function, node: Node, met: dict[int, Met]) -> Iterator[Rule]:
    """Those below a node whose rows meet the tests in `met`, by column."""
    schema = function.schema
    if isinstance(node, Leaf):
        words = (_words(schema, feature, found) for feature, found in met.items())
        yield Rule(tuple(filter(None, words)), function.answer(node), node)
        return
    for test, below in ((node.test, node.yes), (node.test.inverse(schema), node.no)):
        found = both(met.get(test.feature), test)
        assert found is not None  # else `function_of` has left the split out
        yield from _rules(function, below, {**met, test.feature: found})


# --- in words


def _words(schema: Schema, feature: int, met: Met) -> str:
    """On one line: "20 < age <= 37.5", "housing is one of rent, own or missing"; empty where nothing is asked."""
    declared = schema.features[feature]
    name = spelled(declared.name)
    if isinstance(declared, CategoricalFeature):
        assert isinstance(met, frozenset)
        return _category_words(declared, name, met)
    assert isinstance(declared, NumericFeature)
    assert isinstance(met, tuple)
    low, high = met
    below = f" {high.sign} {number(high.mark)}" if high is not None else ""
    if low is None:
        text = f"{name}{below}"
    elif high is None:
        text = f"{name} {low.sign} {number(low.mark)}"
    else:
        text = f"{number(low.mark)} {low.sign.replace('>', '<')} {name}{below}"
    instead = declared.missing_as
    is_met = instead is not None and all(meets(float(instead), test) for test in met)
    return f"{text} or missing" if is_met else text


def _category_words(declared: CategoricalFeature, name: str, met: frozenset[int]) -> str:
    inside = [category for code, category in enumerate(declared.categories) if code in met]
    outside = [category for code, category in enumerate(declared.categories) if code not in met]
    if not outside:
        return ""
    tail = [word for word, instead in (("missing", declared.missing_as), ("unknown", declared.unknown_as)) if instead in inside]
    if len(outside) < len(inside) and declared.unknown_as not in outside and declared.missing_as not in outside:
        which = f"{'none of' if len(outside) > 1 else 'not'} {_listed(outside)}"
        return f"{name} is {' or '.join([*tail, which])}"
    which = f"one of {_listed(inside)}" if len(inside) > 1 else _listed(inside)
    return f"{name} is {' or '.join([which, *tail])}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(spelled, names))


# --- the file: every condition on its own line

_LABELS = ("if", "and", "then", "always", "with", "rows")
_INDENT = 2 + max(map(len, _LABELS)) + 1
_NOTE = (
    "A rule applies when all its lines do; exactly one applies to a row that has an answer: none has one with a cell that is "
    "unreadable, or missing or unknown where the schema does not say what it counts as."
)


def _write(given: ExportInput) -> str:
    function = given.function
    head = [*given.facts, _NOTE]
    if function.probabilities == "leaf":
        head.append(f"Probabilities and rows are in this order: {_listed(function.names)}. Rows are counts with noise.")
    lines = [f"# {line}" for line in head]
    for place, rule in enumerate(rules_of(function), start=1):
        lines += ["", f"Rule {place}"]
        lines += [_line("and" if first else "if", words) for first, words in enumerate(rule.conditions)]
        answer = spelled(rule.answer) if isinstance(rule.answer, str) else number(rule.answer)
        lines.append(_line("then" if rule.conditions else "always", answer))
        if function.probabilities == "leaf":
            lines.append(_line("with", " ".join(map(repr, rule.end.shares))))
        if isinstance(rule.end.leaf, ClassLeaf) and rule.end.leaf.counts is not None:
            counts = rule.end.leaf.counts
            lines.append(_line("rows", f"{sum(counts)} = {' + '.join(map(str, counts))}".replace("+ -", "- ")))
    return "\n".join(lines) + "\n"


def _line(label: str, rest: str) -> str:
    return f"{'  ' + label:<{_INDENT}}{rest}"


RULES = Form(
    name="rules",
    title="Rules",
    suffix=".txt",
    media_type="text/plain",
    about="One rule per leaf, numbers in full, with its probabilities and the noisy number of its rows.",
    write=_write,
    group="words",
    one_tree=True,
    most_ends=2_000,
    order=50,
)
