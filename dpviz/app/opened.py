"""A model from a file on the Tree page: looked at, asked about one person, compared. Nothing is trained, no row is needed."""

from typing import Any

import streamlit as st

from dpviz.app import parts
from dpviz.app.guarantee_line import guarantee_of, noise_line
from dpviz.app.held_out import parts_of, private_test
from dpviz.app.many_trees import effects_screen, one_tree
from dpviz.app.parts import upload
from dpviz.app.person import person_screen
from dpviz.app.state import Loaded
from dpviz.app.training import Trained, last_tree
from dpviz.app.tree_view import chosen_in, show_tree
from dpviz.app.widgets import on_demand, rows_table
from dpviz.charts.compare import measure_text
from dpviz.charts.wording import capital
from dpviz.errors import DpvizError
from dpviz.evaluation.comparison import METRICS
from dpviz.evaluation.metrics import metrics
from dpviz.io.results import result_from_json, with_our_verdict
from dpviz.learners import get_learner
from dpviz.models.base import require_same_columns
from dpviz.models.constant import as_tree
from dpviz.results.result import FitResult
from dpviz.training.estimate.collapse import collapse_leaves

_OPENED, _NAME = "_opened_result", "_opened_name"
_MOST_MEGABYTES = 50
_VIEW = "opened-view"


def file_in_use() -> FitResult | None:
    """The model of the file that is open, if any."""
    return st.session_state.get(_OPENED)


def file_name() -> str:
    """What the file is called."""
    return str(st.session_state.get(_NAME, "model.json"))


def data_line(loaded: Loaded) -> None:
    """The line on top of the Tree page: the file that is open, else the table in use."""
    found = file_in_use()
    if found is None:
        parts.data_line(loaded)
    else:
        words = f"{get_learner(found.learner).title} · predicts {found.schema.target.name}"
        parts.file_line(file_name(), words)


def ask_model_file() -> None:
    """A place to open one."""
    with on_demand("Open a model file", icon=":material/file_open:") as box:
        if box.open:
            upload("JSON written by dpviz", "model-file", _open, type="json", max_upload_size=_MOST_MEGABYTES)


def _open(file: Any) -> None:
    st.session_state[_OPENED] = with_our_verdict(result_from_json(file.getvalue()))
    st.session_state[_NAME] = file.name


def opened_screen(result: FitResult, loaded: Loaded) -> None:
    """The model, what is said about it, one person, and the tree of the settings beside it."""
    words = "A model from a file. Its costs were added up again; that its steps were taken rests on the word of its author."
    st.info(words, icon=":material/file_open:")
    st.button("Close the file", icon=":material/close:", on_click=lambda: st.session_state.pop(_OPENED, None))
    guarantee_of(result, released=result.released)
    noise_line(result)
    _picture(result)
    person_screen(result.model, as_tree(result.model))
    if result.test_report is not None:
        private_test(result.test_report, result.unit, None)
    _compared(result, loaded)


def _picture(result: FitResult) -> None:
    model, tree = result.model, as_tree(result.model)
    if tree is None:
        effects_screen(model)
        if getattr(model, "trees", ()):
            st.header("Tree by tree", anchor=False)
            one_tree(model, lambda number: "")  # type: ignore[attr-defined]
        return
    shown = collapse_leaves(tree, result.plan)
    chosen, _ = chosen_in(_VIEW, shown)
    show_tree(shown, title=get_learner(result.learner).title, key=_VIEW, selected=chosen)


def _compared(result: FitResult, loaded: Loaded) -> None:
    """Both models on the same rows, where the rows in use fit the file and may be read."""
    try:
        require_same_columns(result.model.schema, loaded.schema)
    except DpvizError:
        st.caption("To compare it, use rows with the same columns on the Data page.")
        return
    split = parts_of(loaded.data) if loaded.role.may_read else None
    if split is None:
        return
    st.header("Beside the tree of the settings in use", anchor=False)
    beside = last_tree(loaded)
    rows = measured_rows(result, beside, *split)
    rows_table(rows, "Measures of both models on the same rows.")
    st.caption(
        f"On {split[1].n_rows:,} of the rows in use. A model that was trained on them looks better here than it is. "
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
