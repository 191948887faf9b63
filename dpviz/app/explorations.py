"""Looking at private rows: only after a question is answered, once for all pages, and noted in the release register.

Before, pages show rows simulated from the schema. What was explored is covered by no guarantee, and noted apart from releases.
"""

from typing import Any

import streamlit as st

from dpviz.app import frame
from dpviz.app.parts import error
from dpviz.app.prose import prose
from dpviz.app.state import DataInUse, data_in_use
from dpviz.errors import DpvizError
from dpviz.evaluation.simulate import synthetic_rows
from dpviz.release.register import Register
from dpviz.table.dataset import EncodedDataset
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

_PROBLEM = "_exploration_problem"
#: Holds the identity of the private rows that may be looked at.
CONSENT = "_explore_private"
_MAX_ROWS = 50_000
_ROWS = 1_000


def display_data() -> DataInUse:
    """The data in use; of private rows nobody has agreed to look at, rows simulated from their schema. Says which, and asks."""
    now = data_in_use()
    if now.role is not DataRole.PRIVATE:
        return now
    if st.session_state.get(CONSENT) == now.data.identity:
        with _line("looking", ":material/lock_open:"):
            st.button("Back to simulated rows", type="tertiary", on_click=st.session_state.pop, args=(CONSENT, None))
        return now
    try:
        data = _stand_in(now.schema.key, now.schema)
    except DpvizError as problem:
        error(problem)
        _ask(now)
        st.stop()
    _ask(now)
    return DataInUse(DataRole.SIMULATED, f"{now.title}, simulated", None, RawTable(()), data.schema, data, is_made_up=True)


def _ask(now: DataInUse) -> None:
    """Offer the private rows; what that costs is said before."""
    agreed = ({CONSENT: now.data.identity},)
    with _line("simulated", ":material/science:"), st.popover("Explore the private rows", type="tertiary"):
        st.markdown(prose("private", "explore"))
        st.button("Look at them and record it", icon=":material/lock_open:", on_click=st.session_state.update, args=agreed)


def _line(words: str, icon: str) -> Any:
    """Whose rows are on screen; what is added stands on the same line."""
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key=frame.WHOSE)
    line.markdown(f"{icon} {prose('private', words)}", width="content")
    return line


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _stand_in(key: str, _schema: Schema) -> EncodedDataset:
    return synthetic_rows(_schema, n_rows=min(_schema.n_public or _ROWS, _MAX_ROWS), seed=1)


def note(in_use: DataInUse, what: str, learner: str, settings: dict[str, Any], *, times: int = 1) -> DpvizError | None:
    """Note `times` fits of private rows, nothing for other rows. Returns why that failed."""
    if in_use.role is not DataRole.PRIVATE:
        return None
    try:
        Register().note_use(in_use.data.identity, what=what, learner=learner, settings=settings, times=times)
    except DpvizError as problem:
        return problem
    return None


def keep_unnoted(problem: DpvizError | None) -> None:
    """Keep for the Publish page that an exploration of this session could not be noted; nothing for None."""
    if problem is not None:
        st.session_state[_PROBLEM] = problem


def unnoted() -> DpvizError | None:
    """Why an exploration of this session could not be noted; None when all were."""
    return st.session_state.get(_PROBLEM)
