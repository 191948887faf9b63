"""A model from a file on the Tree page: looked at, asked about one person, compared. Nothing is trained, no row is needed."""

from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.app.held_out import parts_of, private_test
from dpviz.app.parts import plain, upload
from dpviz.app.state import Loaded
from dpviz.app.tree.forest import effects_screen, one_tree
from dpviz.app.tree.person import person_screen
from dpviz.app.tree.screen import chosen_in
from dpviz.app.tree_parts import disclosures, noise_line, verdict_box
from dpviz.app.tree_view import tree_view
from dpviz.app.trees import Trained, last_tree
from dpviz.errors import DpvizError
from dpviz.evaluation.compare.comparison import METRICS
from dpviz.evaluation.compare.metrics import metrics
from dpviz.figures.compare.measure_text import measure_text
from dpviz.figures.tree.svg import tree_svg
from dpviz.figures.tree.text import rule_list
from dpviz.figures.wording import capital
from dpviz.io.results import result_from_json
from dpviz.learners import get_learner
from dpviz.models.base import require_same_columns
from dpviz.models.constant import as_tree
from dpviz.training.contract import FitResult
from dpviz.training.honest.folding import folded

_OPENED = "_opened_result"
_MOST_MEGABYTES = 50
_VIEW = "opened-view"


def ask_model_file() -> FitResult | None:
    """The model of the file that is open, if any."""
    with st.sidebar.expander("Open a model file", icon=":material/file_open:", expanded=_OPENED in st.session_state):
        upload("JSON written by dpviz", "model-file", _open, type="json", max_upload_size=_MOST_MEGABYTES)
        if _OPENED in st.session_state:
            st.button("Close the file", icon=":material/close:", on_click=lambda: st.session_state.pop(_OPENED, None))
    return st.session_state.get(_OPENED)


def _open(file: Any) -> None:
    st.session_state[_OPENED] = with_our_verdict(result_from_json(file.getvalue()))


def with_our_verdict(result: FitResult) -> FitResult:
    """What is known of its learner's claim here, not what the file says about it."""
    return replace(result, claim=get_learner(result.learner).claim(result.plan, result.params, result.schema))


def opened_screen(result: FitResult, loaded: Loaded) -> None:
    """The model, what is said about it, one person, and the tree of the settings beside it."""
    words = "A model from a file. Its ledger was added up again; that its steps were taken is the word of whoever wrote it."
    st.info(words, icon=":material/file_open:")
    verdict_box(result, released=result.released)
    noise_line(result)
    _picture(result)
    person_screen(result.model, as_tree(result.model))
    if result.test_report is not None:
        private_test(result.test_report, None)
    _compared(result, loaded)
    disclosures(result)


def _picture(result: FitResult) -> None:
    model, tree = result.model, as_tree(result.model)
    if tree is None:
        effects_screen(model)
        if getattr(model, "trees", ()):
            st.header("Tree by tree", anchor=False)
            one_tree(model, lambda number: "")  # type: ignore[attr-defined]
        return
    shown = folded(tree, result.plan)
    chosen, _ = chosen_in(_VIEW, shown)
    style: dict[str, Any] = {"widths": None, "selected": chosen, "title": get_learner(result.learner).title}
    wide, narrow = (tree_svg(shown, narrow=narrow, **style) for narrow in (False, True))
    tree_view(wide, narrow, selected=chosen, key=_VIEW)
    with st.expander("The same tree as text", icon=":material/notes:"):
        st.markdown("\n".join(f"{number}. {plain(line.text)}" for number, line in enumerate(rule_list(shown), start=1)))


def _compared(result: FitResult, loaded: Loaded) -> None:
    """Both models on the same rows, where the rows in use fit the file and may be read."""
    try:
        require_same_columns(result.model.schema, loaded.schema)
    except DpvizError:
        st.caption("To compare it, use rows with the same columns on the Data page.")
        return
    parts = parts_of(loaded.data) if loaded.role.may_read else None
    if parts is None:
        return
    st.header("Beside the tree of the settings in use", anchor=False)
    beside = last_tree(loaded)
    rows = measured_rows(result, beside, *parts)
    st.dataframe(rows, hide_index=True, alt="Measures of both models on the same rows.")
    st.caption(
        f"On {parts[1].n_rows:,} of the rows in use. A model that was trained on them looks better here than it is. "
        + ("" if beside else "Close the file once to train a tree with the settings in use.")
    )


def measured_rows(result: FitResult, beside: Trained | None, train: Any, test: Any) -> list[dict[str, str]]:
    """One line per measure: the model of the file, and the tree of the settings as it is on screen."""
    found = metrics(result.model, train, test)
    names = [name for name in METRICS if name in found]
    lines = [{"measure": capital(METRICS[name]), "from the file": _text(found, name)} for name in names]
    if beside is None:
        return lines
    other, title = metrics(beside.result.model, train, test), get_learner(beside.result.learner).title
    return [line | {f"{title}, now": _text(other, name)} for line, name in zip(lines, names, strict=True)]


def _text(found: dict[str, float], name: str) -> str:
    return "–" if found[name] != found[name] else measure_text(found[name], name)
