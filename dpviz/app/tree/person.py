"""One person tried on a model: a small form, the path lit up in the drawing, the answer in one sentence.

What is typed stays in this session: it is in no link, no file and no register. The answer follows from the model alone, so it
costs no epsilon.
"""

import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.tree.screen import SELECTED
from dpviz.app.widgets import on_demand
from dpviz.figures.tree.person import Cells, answer_sentence, leaf_reached
from dpviz.figures.tree.text import path_in_words
from dpviz.models.base import Model
from dpviz.models.tree import Branch, Tree
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature

#: The model that was asked last; another one answers when it is asked itself, so that path and answer belong together.
_TRIED = "_tried"
#: A day as it is written in each order.
_A_DAY = {"ymd": "2024-03-01", "dmy": "01.03.2024", "mdy": "3/1/2024"}
#: More columns than this are not asked for one by one.
_MOST_ASKED = 60


def person_screen(model: Model, tree: Tree | None) -> None:
    """The form and its answer. `tree` is the model as one tree, whose path lights up; None for other models."""
    asked = _asked(model, tree)
    if len(asked) > _MOST_ASKED:
        return
    tried = st.session_state.get(_TRIED) is model
    with on_demand("Try one person", icon=":material/person_search:", opened=tried) as box:
        if box.open:
            _form(asked, model, tree)
            if tried:
                _answer(model, tree)
            st.caption("What is typed here is kept nowhere, and the answer follows from the model alone: it costs no ε.")


def _form(asked: tuple[Feature, ...], model: Model, tree: Tree | None) -> None:
    with st.form("person", border=False):
        for start in range(0, len(asked), 3):
            for place, feature in zip(st.columns(3), asked[start : start + 3], strict=False):
                with place:
                    _ask(feature)
                    if feature.missing_as is not None:
                        st.checkbox(plain(f"{feature.name} is missing"), key=_missing_key(feature))
        st.form_submit_button("Show the answer", icon=":material/arrow_forward:", on_click=_light, args=(model, tree))


def _asked(model: Model, tree: Tree | None) -> tuple[Feature, ...]:
    """The features that the tree asks for; all of a model that is no tree."""
    if tree is None:
        return model.schema.features
    used = {placed.node.rule.feature for placed in tree.nodes() if isinstance(placed.node, Branch)}
    return tuple(feature for place, feature in enumerate(tree.schema.features) if place in used)


def _ask(feature: Feature) -> None:
    key = _key(feature)
    if isinstance(feature, DateFeature):
        st.text_input(plain(f"{feature.name}, a date"), _A_DAY[feature.order], key=key)
        return
    if isinstance(feature, CategoricalFeature):
        st.selectbox(plain(feature.name), feature.categories, index=0, key=key)
        return
    label = plain(f"{feature.name}, {feature.unit}" if feature.unit else feature.name)
    middle = (feature.low + feature.high) / 2
    if feature.whole:
        st.number_input(label, value=round(middle), step=1, key=key)
    else:
        st.number_input(label, value=middle, format="%g", key=key)


def _key(feature: Feature) -> str:
    return f"person {feature.name}"


def _missing_key(feature: Feature) -> str:
    return f"person lacks {feature.name}"


def _cells(model: Model, tree: Tree | None) -> Cells:
    """What was typed; a feature that the tree does not ask for gets a value that changes nothing."""
    return {feature.name: _unasked(feature) for feature in model.schema.features} | {
        feature.name: None if st.session_state.get(_missing_key(feature)) else st.session_state.get(_key(feature))
        for feature in _asked(model, tree)
    }


def _unasked(feature: Feature) -> str | float:
    if isinstance(feature, DateFeature):
        return _A_DAY[feature.order]
    return feature.categories[0] if isinstance(feature, CategoricalFeature) else feature.low


def _light(model: Model, tree: Tree | None) -> None:
    """Before the page is drawn again: choose the leaf this person reaches, so that its path is drawn as chosen."""
    st.session_state[_TRIED] = model
    path = None if tree is None else leaf_reached(tree, _cells(model, tree))
    if path is not None:
        st.session_state[SELECTED] = ".".join(("root", *path))


def _answer(model: Model, tree: Tree | None) -> None:
    cells = _cells(model, tree)
    st.markdown(f":material/arrow_right_alt: **{plain(answer_sentence(model, cells))}**")
    path = None if tree is None else leaf_reached(tree, cells)
    if tree is not None and path:
        st.caption(f"Because {plain(path_in_words(tree, path))}. The path is marked in the drawing above.")
