"""The session as a file on the Data page: save it, open one, and take the models of an opened one away again."""

from typing import Any

import streamlit as st

from dpviz.app import parts
from dpviz.app.exports import offer_export
from dpviz.app.session.file import OPENED, open_session, session_now
from dpviz.app.state import loaded
from dpviz.app.widgets import download
from dpviz.io.exports.contract import Exportable
from dpviz.io.session import session_from_json, session_to_json
from dpviz.table.role import DataRole

_MOST_MEGABYTES = 50
_HOLDS = "Settings, schema, a draft being declared, the model on screen and curves computed on the Compare page. Never rows."
_HOLDS_PRIVATE = "Of private rows: the declared schema, the draft and the settings. No model, no curve, no rows."


def ask_session_file() -> None:
    """Save this session, or open one that was saved."""
    with st.expander("Session as a file", icon=":material/inventory_2:"):
        st.caption(_HOLDS_PRIVATE if loaded().role is DataRole.PRIVATE else _HOLDS)
        now = session_now()  # here: whoever makes the file when it is asked for sees no session
        download("Save session", lambda: session_to_json(now), "session.dpviz.json", "application/json")
        options = {"type": "json", "max_upload_size": _MOST_MEGABYTES}
        parts.upload("Session saved by dpviz", "session", _open, kept="Everything is as it was.", **options)
    _offer_models()


def _open(file: Any) -> None:
    open_session(session_from_json(file.getvalue()))
    st.toast("Session opened.", icon=":material/check:")


def _offer_models() -> None:
    """The models of an opened file can be taken away even where their rows are not here."""
    texts = st.session_state.get(OPENED, ())
    if not texts or loaded().role is DataRole.PRIVATE:
        return
    with st.expander(f"Models of the opened session ({len(texts)})", icon=":material/account_tree:"):
        number = st.selectbox("Model", range(len(texts)), format_func=lambda place: _title(texts[place]), key="opened-model")
        offer_export(texts[number], f"model-{number + 1}", key="opened")


def _title(text: str) -> str:
    given = Exportable(text)
    return f"{given.document.get('learner', {}).get('name', 'a model')}, predicts {given.schema.target.name}"
