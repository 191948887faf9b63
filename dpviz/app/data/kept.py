"""The draft on disk, so that a reload, another page or the end of the server loses nothing.

It lies beside the release register, for its owner alone, under a random key that only the address of the page names: who does
not know the address finds no draft. Of private rows nothing is kept before their owner has said that the names are names.
"""

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.draft_json import KeptDraft, draft_to_json, folder
from dpviz.app.data.prepared import Prepared, in_use, prepare, prepared
from dpviz.app.state import DRAFT
from dpviz.errors import DpvizError
from dpviz.io.drafts import DAYS_KEPT, new_key

_LAST, _PROBLEM = "_draft_kept", "_draft_problem"
_WHAT = "Column names and what you declare are kept in a file that only you can read; rows never are."


def document_of(work: Prepared) -> KeptDraft | None:
    """What of the table at hand may be kept: nothing of a sample as it was delivered, or of names nobody vouched for."""
    if work.draft is None or work.draft == work.delivered or not (work.role.may_read or work.names_confirmed):
        return None
    return KeptDraft(work.role, work.draft, work.sample)


def ask_to_keep(work: Prepared) -> None:
    """For private rows, whether the names are names: before that nothing is kept."""
    if work.draft is not None and not (work.role.may_read or work.names_confirmed or work.draft == work.delivered):
        st.button("These are column names, not somebody's row: keep the draft", on_click=_confirm, icon=":material/save:")
        st.caption(f"Nothing of it is kept yet: a reload would lose it. {_WHAT}")


def say_kept(work: Prepared) -> None:
    """That a draft is kept, and how to forget it."""
    if document_of(work) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Forget this draft", on_click=_forget, icon=":material/delete:")
        until = f"until it has not been opened for {DAYS_KEPT} days"
        st.caption(
            f"This draft is kept under the address of this page, through reloads and restarts, {until}. {_WHAT}", width="stretch"
        )


def _confirm() -> None:
    prepared().names_confirmed = True


def _forget() -> None:
    work = prepared()
    try:
        _remove(work)
    except DpvizError as problem:
        work.problem = problem
    else:
        work.remember_look()
        prepare(in_use(work.looked))


def keep(work: Prepared) -> None:
    """Bring the file up to date, last of all on the page. Problems are shown; they keep nobody from going on."""
    document = document_of(work)
    try:
        if document is None:
            _remove(work)  # what was kept of this table in another role may not stay
        elif st.session_state.get(_LAST) != (document, work.key):
            work.key = work.key or new_key()
            folder().keep(work.key, draft_to_json(document))
            st.session_state[_LAST] = (document, work.key)
    except DpvizError as problem:
        parts.error(problem, kept="You can go on, but a reload would lose the draft.")
    st.session_state[DRAFT] = work.key


def _remove(work: Prepared) -> None:
    if work.key is not None:
        folder().forget(work.key)
        work.key = None
