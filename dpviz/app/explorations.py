"""Looks at private rows are noted in the release register, apart from releases: no guarantee covers them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.app.state import Loaded
from dpviz.errors import DpvizError
from dpviz.release.register import ReleaseRegister
from dpviz.table.role import DataRole

_PROBLEM = "_exploration_problem"


def note_look(loaded: Loaded, what: str, learner: str, settings: dict[str, Any], *, times: int = 1) -> None:
    """Note that so many fits of private rows were shown; nothing for rows anyone may see. A problem is kept for the page."""
    if loaded.role is not DataRole.PRIVATE:
        return
    try:
        ReleaseRegister().note_exploration(loaded.data.fingerprint, what=what, learner=learner, settings=settings, times=times)
    except DpvizError as problem:
        st.session_state[_PROBLEM] = problem


def unnoted() -> DpvizError | None:
    """Why some look of this session could not be noted; None when all were."""
    return st.session_state.get(_PROBLEM)
