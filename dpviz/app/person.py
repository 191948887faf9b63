"""One person tried on a model: a small form, the path lit up in the drawing, the answer in one sentence.

What is typed stays in this session: it is in no link, no file and no register. The answer follows from the model alone, so it
costs no epsilon.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from dpviz.app.parts import escape_markdown
from dpviz.app.prose import prose
from dpviz.app.tree_view import SELECTED
from dpviz.app.widgets import on_demand
from dpviz.charts.tree.text import path_in_words
from dpviz.charts.wording import percent
from dpviz.errors import UnsupportedError
from dpviz.models.base import Model, VoteMixin
from dpviz.models.new_rows import answers_of, probabilities_of
from dpviz.models.tree import Branch, SubsetRule, ThresholdRule, Tree, declared_precision, format_value
from dpviz.table.columns import Column
from dpviz.table.dates import DateFeature
from dpviz.table.encode import NewRows, encode_new
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, NumericTarget, Schema

#: Column -> what was typed; None for a missing cell.
Cells = Mapping[str, str | float | None]
#: A day as it is written in each order.
_A_DAY = {"ymd": "2024-03-01", "dmy": "01.03.2024", "mdy": "3/1/2024"}
#: More columns than this are not asked for one by one.
_MAX_COLUMNS = 60


def person_screen(model: Model, tree: Tree | None) -> None:
    """The form and its answer. `tree` is the model as one tree, whose path lights up; None for other models."""
    features = _features_used(model, tree)
    if len(features) > _MAX_COLUMNS:
        return
    with on_demand("Try one person", icon=":material/person_search:") as box:
        if box.open:
            first = {} if tree is None else first_person(tree)
            for start in range(0, len(features), 4):
                for place, feature in zip(st.columns(4), features[start : start + 4], strict=False):
                    with place:
                        _ask(feature, first.get(feature.name), model, tree)
            _answer(model, tree)
            st.caption(prose("tree", "one person"))


def _features_used(model: Model, tree: Tree | None) -> tuple[Feature, ...]:
    """The features that the tree asks for; all of a model that is no tree."""
    if tree is None:
        return model.schema.features
    used = {placed.node.rule.feature for placed in tree.nodes() if isinstance(placed.node, Branch)}
    return tuple(feature for place, feature in enumerate(tree.schema.features) if place in used)


def _ask(feature: Feature, first: str | float | None, model: Model, tree: Tree | None) -> None:
    more: dict[str, Any] = {"key": _key(feature), "on_change": _light, "args": (model, tree)}
    if isinstance(feature, DateFeature):
        st.text_input(escape_markdown(f"{feature.name}, a date"), _A_DAY[feature.order], **more)
    elif isinstance(feature, CategoricalFeature):
        index = feature.categories.index(str(first)) if first is not None else 0
        st.selectbox(escape_markdown(feature.name), feature.categories, index=index, **more)
    else:
        label = escape_markdown(f"{feature.name}, {feature.unit}" if feature.unit else feature.name)
        value = (feature.low + feature.high) / 2 if first is None else float(first)
        if feature.whole:
            st.number_input(label, value=round(value), step=1, **more)
        else:
            st.number_input(label, value=value, format="%g", **more)
    if feature.missing_as is not None:
        label = escape_markdown(f"{feature.name} is missing")
        st.checkbox(label, key=_missing_key(feature), on_change=_light, args=(model, tree))


def _key(feature: Feature) -> str:
    return f"person {feature.name}"


def _missing_key(feature: Feature) -> str:
    return f"person lacks {feature.name}"


def _cells(model: Model, tree: Tree | None) -> Cells:
    """What was typed; a feature that the tree does not ask for gets a value that changes nothing."""
    return {feature.name: _usual_value(feature) for feature in model.schema.features} | {
        feature.name: None if st.session_state.get(_missing_key(feature)) else st.session_state.get(_key(feature))
        for feature in _features_used(model, tree)
    }


def _usual_value(feature: Feature) -> str | float:
    if isinstance(feature, DateFeature):
        return _A_DAY[feature.order]
    return feature.categories[0] if isinstance(feature, CategoricalFeature) else feature.low


def _light(model: Model, tree: Tree | None) -> None:
    """Before the page is drawn again: choose the leaf this person reaches, so that its path is drawn as chosen."""
    path = None if tree is None else leaf_reached(tree, _cells(model, tree))
    if path is not None:
        st.session_state[SELECTED] = ".".join(("root", *path))


def _answer(model: Model, tree: Tree | None) -> None:
    cells = _cells(model, tree)
    st.markdown(f":material/arrow_right_alt: **{escape_markdown(answer_sentence(model, cells))}**")
    path = None if tree is None else leaf_reached(tree, cells)
    if tree is not None and path:
        st.caption(f"Because {escape_markdown(path_in_words(tree, path))}.")


# --- the model's side


def first_person(tree: Tree) -> dict[str, str | float]:
    """A value for every feature that the tree asks about, from no row: the uppermost threshold, or a category that is in.

    Thresholds lie where rows are common; declared ranges reach far beyond.
    """
    cells: dict[str, str | float] = {}
    for placed in sorted(tree.nodes(), key=lambda placed: len(placed.path)):
        if isinstance(placed.node, Branch):
            rule, feature = placed.node.rule, tree.schema.features[placed.node.rule.feature]
            if isinstance(rule, SubsetRule) and isinstance(feature, CategoricalFeature):
                cells.setdefault(feature.name, feature.categories[rule.codes[0] if rule.codes else 0])
            elif isinstance(rule, ThresholdRule) and isinstance(feature, NumericFeature):
                value = max(feature.low, declared_precision(feature, rule.threshold))
                cells.setdefault(feature.name, float(math.floor(value)) if feature.whole else value)
    return cells


def _encode_person(schema: Schema, cells: Cells) -> NewRows:
    """One row, encoded."""
    columns = []
    for name in schema.feature_names:
        cell = cells.get(name)
        known = () if cell is None else (cell if isinstance(cell, str) else repr(cell),)
        columns.append(Column(name, known, np.array([len(known) - 1], dtype=np.int32)))
    return encode_new(RawTable(tuple(columns), "This person"), schema)


def leaf_reached(tree: Tree, cells: Cells) -> str | None:
    """The path of the leaf this person reaches; None where the schema drops such a row."""
    new = _encode_person(tree.schema, cells)
    leaves = [placed.path for placed in tree.nodes() if not isinstance(placed.node, Branch)]
    return leaves[int(tree.leaf_of_rows(new.data)[0])] if new.usable[0] else None


def answer_sentence(model: Model, cells: Cells) -> str:
    """What the model says about this person, with probabilities where it holds any. Names are not escaped."""
    schema, new = model.schema, _encode_person(model.schema, cells)
    [answer] = answers_of(model, new)
    if answer is None or answer != answer:
        return "No answer: a missing or undeclared value, and the schema leaves such rows out."
    if isinstance(schema.target, NumericTarget):
        return f"Predicted {schema.target.name}: {format_value(float(answer))}."
    try:
        [shares] = probabilities_of(model, new)
    except UnsupportedError:
        return f"Predicted {schema.target.name}: {answer}. This model holds no probabilities."
    what = "Shares of the votes" if isinstance(model, VoteMixin) else "Probabilities"
    odds = ", ".join(f"{name} {percent(share)}" for name, share in zip(schema.classes, shares.tolist(), strict=True))
    return f"Predicted {schema.target.name}: {answer}. {what}: {odds}."
