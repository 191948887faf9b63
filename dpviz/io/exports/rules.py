"""A tree as rules, one per leaf: the tests on its path, merged into one condition per column."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dpviz.io.exports.contract import ExportInput, number, quote_name
from dpviz.io.exports.function import Function, Leaf, Node, Requirement, conjunction, meets
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


def _rules(function: Function, node: Node, requirements: dict[int, Requirement]) -> Iterator[Rule]:
    """Those below a node whose rows meet the tests in `requirements`, by column."""
    schema = function.schema
    if isinstance(node, Leaf):
        words = (_words(schema, feature, requirement) for feature, requirement in requirements.items())
        yield Rule(tuple(filter(None, words)), function.answer(node), node)
        return
    for test, child in ((node.test, node.yes), (node.test.inverse(schema), node.no)):
        requirement = conjunction(requirements.get(test.feature), test)
        assert requirement is not None  # else `function_of` has left the split out
        yield from _rules(function, child, {**requirements, test.feature: requirement})


# --- in words


def _words(schema: Schema, feature: int, requirement: Requirement) -> str:
    """On one line: "20 < age <= 37.5", "housing is one of rent, own or missing"; empty where nothing is asked."""
    declared = schema.features[feature]
    name = quote_name(declared.name)
    if isinstance(declared, CategoricalFeature):
        assert isinstance(requirement, frozenset)
        return _category_words(declared, name, requirement)
    assert isinstance(declared, NumericFeature)
    assert isinstance(requirement, tuple)
    low, high = requirement
    upper_bound = f" {high.sign} {number(high.mark)}" if high is not None else ""
    if low is None:
        text = f"{name}{upper_bound}"
    elif high is None:
        text = f"{name} {low.sign} {number(low.mark)}"
    else:
        text = f"{number(low.mark)} {low.sign.replace('>', '<')} {name}{upper_bound}"
    replacement = declared.missing_as
    is_met = replacement is not None and all(meets(float(replacement), test) for test in requirement)
    return f"{text} or missing" if is_met else text


def _category_words(declared: CategoricalFeature, name: str, codes: frozenset[int]) -> str:
    inside = [category for code, category in enumerate(declared.categories) if code in codes]
    outside = [category for code, category in enumerate(declared.categories) if code not in codes]
    if not outside:
        return ""
    replacements = {"missing": declared.missing_as, "unknown": declared.unknown_as}
    tail = [word for word, category in replacements.items() if category in inside]
    if len(outside) < len(inside) and declared.unknown_as not in outside and declared.missing_as not in outside:
        names_in_words = f"{'none of' if len(outside) > 1 else 'not'} {_name_list(outside)}"
        return f"{name} is {' or '.join([*tail, names_in_words])}"
    names_in_words = f"one of {_name_list(inside)}" if len(inside) > 1 else _name_list(inside)
    return f"{name} is {' or '.join([names_in_words, *tail])}"


def _name_list(names: Iterable[str]) -> str:
    return ", ".join(map(quote_name, names))


# --- the file: every condition on its own line

_LABELS = ("if", "and", "then", "always", "with", "rows")
_INDENT = 2 + max(map(len, _LABELS)) + 1
_NOTE = (
    "A rule applies when all its lines do; exactly one applies to a row that has an answer: none has one with a cell that is "
    "unreadable, or missing or unknown where the schema does not say what it counts as."
)


def _write(model: ExportInput) -> str:
    function = model.function
    head = [*model.facts, _NOTE]
    if function.probabilities == "leaf":
        head.append(f"Probabilities and rows are in this order: {_name_list(function.names)}. Rows are counts with noise.")
    lines = [f"# {line}" for line in head]
    for place, rule in enumerate(rules_of(function), start=1):
        lines += ["", f"Rule {place}"]
        lines += [_line("and" if first else "if", words) for first, words in enumerate(rule.conditions)]
        answer = quote_name(rule.answer) if isinstance(rule.answer, str) else number(rule.answer)
        lines.append(_line("then" if rule.conditions else "always", answer))
        if function.probabilities == "leaf":
            lines.append(_line("with", " ".join(map(repr, rule.end.shares))))
        if (counts := rule.end.counts) is not None:
            lines.append(_line("rows", f"{sum(counts)} = {' + '.join(map(str, counts))}".replace("+ -", "- ")))
    return "\n".join(lines) + "\n"


def _line(label: str, words: str) -> str:
    return f"{'  ' + label:<{_INDENT}}{words}"


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
