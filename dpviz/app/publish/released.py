"""The tree of a released file where it was released, and what its private test says it is worth."""

from pathlib import Path

import streamlit as st

from dpviz.app.held_out import group_screen
from dpviz.app.parts import plain
from dpviz.app.tree_view import chosen_node, tree_view
from dpviz.errors import DpvizError
from dpviz.figures.publish.report import drawn_tree
from dpviz.figures.publish.test_result import accuracy_sentence, beside_always, is_better_than_always
from dpviz.figures.tree.svg import draw_tree
from dpviz.figures.wording import capital
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import test_result_of
from dpviz.release.files import released_text
from dpviz.release.records import ReleaseRecord
from dpviz.results.verdict import Unit


def text_of(entry: ReleaseRecord) -> str:
    """The released file; empty where it is gone or was changed."""
    try:
        return released_text(Path(entry.file), entry.sha256)
    except DpvizError:
        return ""


def released_tree(text: str, unit: Unit, *, key: str) -> None:
    """How good the model is beside always saying one class, green only where it is better; then its tree, if it is one."""
    given = Exportable(text, unit)
    report = test_result_of(given.document, given.schema)
    if report is not None:
        better = is_better_than_always(report)
        said = f"**{plain(capital(accuracy_sentence(report)))}.** {plain(beside_always(report))}"
        (st.success if better else st.warning)(said, icon=":material/check:" if better else ":material/trending_flat:")
        group_screen(report, key=f"{key}-groups")
    tree = drawn_tree(given)
    if tree is not None:
        title = f"The released tree of {given.schema.target.name}"
        wide, narrow = (draw_tree(tree, title=title, narrow=narrow).standalone() for narrow in (False, True))
        tree_view(wide, narrow, selected=chosen_node(key), key=key)
