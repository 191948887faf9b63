"""The history on the Publish page: releases with interrupted ones, explorations apart, files to take away."""

import streamlit as st

from dpviz.app.explorations import unnoted
from dpviz.app.exports import offer_export
from dpviz.app.held_out import Exact, private_test
from dpviz.app.parts import error
from dpviz.app.prose import prose
from dpviz.app.publish.released import released_tree, text_of
from dpviz.app.state import Loaded
from dpviz.app.widgets import download, on_demand, rows_table
from dpviz.errors import DpvizError
from dpviz.evaluation.compare.metrics import metric_intervals, metrics
from dpviz.figures.publish.account import look_rows
from dpviz.figures.publish.release import history_rows
from dpviz.figures.wording import counted
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import test_result_of
from dpviz.models.base import Model, require_same_columns
from dpviz.models.document import model_from_json
from dpviz.release.records import Balance, State, n_uses
from dpviz.release.register import Register
from dpviz.results.verdict import Unit, short_text
from dpviz.table.role import DataRole


def history(book: Register, balance: Balance | None, loaded: Loaded) -> None:
    """Everything that was begun on this data set, and what was only looked at."""
    st.header("History", anchor=False)
    if balance is not None and balance.releases:
        rows_table(history_rows(balance), "Every release of this data set with the running total.")
        if any(entry.state is State.STARTED for entry in balance.releases):
            st.caption(prose("publish", "interrupted"))
        _files(balance, loaded)
    else:
        st.caption("No release of these rows yet.")
    _explorations(book, loaded)


def _files(balance: Balance, loaded: Loaded) -> None:
    """One file at a time, newest first; read when it is asked for, and only if it is what the register knows."""
    released, unit = [entry for entry in reversed(balance.releases) if entry.state is State.RELEASED], balance.data_set.protects
    if not released:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = {entry.number: f"Number {entry.number}, {entry.learner}, {short_text(entry.loss, unit)}" for entry in released}
        chosen = st.selectbox("Released file", list(titles), format_func=titles.__getitem__, key="publish-file", width=400)
        entry = next((item for item in released if item.number == chosen), released[0])
        text = text_of(entry)
        name = f"{entry.learner}-release-{entry.number}.json"
        download("Download release (JSON)", text, name, "application/json", disabled=not text)
    if not text:
        st.caption(":material/error: Its file is no longer where it was released to, or was changed. It stays spent.")
    st.caption(f"SHA-256 of the file: `{entry.sha256}`")
    if text:
        st.caption(f"{prose('publish', 'sign')} `ssh-keygen -Y sign -f KEY -n dpviz-release {name}`")
        with on_demand("The released tree", icon=":material/account_tree:") as box:
            if box.open:
                released_tree(text, unit, key="history-tree")
        _test_result(text, unit, loaded)
    free = {"key": "publish-forms", "help": "Made from the released file; costs nothing."}
    if text and st.toggle("Download in another format", **free):
        offer_export(text, name.removesuffix(".json"), key=f"released-{entry.number}", unit=unit)


def _test_result(text: str, unit: Unit, loaded: Loaded) -> None:
    """What the released file says about how good its model is, beside the rows in use where they are not private."""
    given = Exportable(text, unit)
    report = test_result_of(given.document, given.schema)
    if report is not None:
        exact = exact_on(model_from_json(text), loaded)
        private_test(
            report, given.verdict.unit, exact, "all rows in use", "The model grew from most of these: there it may look better."
        )


def exact_on(model: Model, loaded: Loaded) -> Exact | None:
    """Measures on all rows in use; None for private rows, and where they do not fit the model."""
    if loaded.role is DataRole.PRIVATE or not loaded.data.n_rows:
        return None
    try:
        require_same_columns(model.schema, loaded.schema)
    except DpvizError:
        return None
    return metrics(model, loaded.data, loaded.data), metric_intervals(model, loaded.data)


def _explorations(book: Register, loaded: Loaded) -> None:
    problem = unnoted()
    if problem is not None:
        error(problem, kept="Some explorations of these rows in this session are missing from the register.")
    found = book.uncovered_uses(loaded.data.identity)
    if not found:
        return
    looks = counted(n_uses(found), "look")
    with st.expander(f"Explorations of these rows ({looks}), {found[0].status}", icon=":material/visibility_lock:"):
        st.warning("What was explored is covered by no guarantee. Keep it to yourself.", icon=":material/lock:")
        st.dataframe(look_rows(found), hide_index=True, alt="What was looked at on these rows without releasing it.")
