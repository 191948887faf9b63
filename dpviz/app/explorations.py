"""What was explored on private rows, noted in the release register apart from releases: no guarantee covers it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.app.state import Loaded
from dpviz.errors import DpvizError
from dpviz.release.register import ReleaseRegister
from dpviz.table.role import DataRole

_PROBLEM = "_exploration_problem"


def note(loaded: Loaded, what: str, learner: str, settings: dict[str, Any], *, times: int = 1) -> DpvizError | None:
    """Note `times` fits of private rows, nothing for other rows. Returns why that failed."""
    if loaded.role is not DataRole.PRIVATE:
        return None
    try:
        ReleaseRegister().note_exploration(loaded.data.identity, what=what, learner=learner, settings=settings, times=times)
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
