"""The session as a file on the Data page: what of it is saved, how a saved one comes back, and the models of an opened one."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.app import parts
from dpviz.app.compare.saved import kept_curves, put_back, request_of
from dpviz.app.controls import DEPTHS, widgets_of
from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.draft_json import draft_from_dict, draft_to_dict
from dpviz.app.data.kept import document_of
from dpviz.app.data.prepared import Prepared, prepare, prepared, restored
from dpviz.app.exports import offer_export
from dpviz.app.state import loaded, use, use_sample
from dpviz.app.trees import Trained, last_tree
from dpviz.app.widgets import download
from dpviz.errors import DocumentError, DpvizError
from dpviz.io.exports.contract import Exportable
from dpviz.io.samples import load_sample, samples
from dpviz.io.session import Choices, Session, session_from_json, session_to_json
from dpviz.learners import get_learner
from dpviz.table.role import DataRole
from dpviz.training.params import Settings, controls_of

#: Where the models of a file that was opened are kept.
OPENED = "_opened_models"
_MOST_MEGABYTES = 50
_HOLDS = "Settings, schema, a draft being declared, the model on screen and curves computed on the Compare page. Never rows."
_HOLDS_PRIVATE = "Of private rows: the declared schema, the draft and the settings. No model, no curve, no rows."


def session_now() -> Session:
    """What is in use, and the draft of the table being declared. Of private rows what was declared and the settings alone."""
    now = loaded()
    trained = last_tree(now)
    asked = None if trained is None else trained.asked
    choices = None if asked is None else Choices(asked.learner, asked.settings, asked.params, asked.draw)
    kept = document_of(prepared())
    whole = Session(
        now.role,
        now.title,
        now.sample,
        now.schema,
        choices,
        _models(trained),
        now.person,
        now.data.rows_per_person,
        None if kept is None else draft_to_dict(kept),
        kept_curves(now),
    )
    return whole.shareable()


def _models(trained: Trained | None) -> tuple[str, ...]:
    """The tree on screen, then those of a file that was opened. A forest that would say where rows are stays out."""
    found = []
    if trained is not None:
        with suppress(DpvizError):  # the Tree page says why there is no file
            found.append(trained.result.to_json())
    return tuple(dict.fromkeys((*found, *st.session_state.get(OPENED, ()))))


# --- back from a file


def open_session(session: Session) -> None:
    """Put a session into use: its sample or, for another table, its schema as the draft; settings, models, curves.

    For a callback: widgets of the page must not have been drawn yet. Raises DpvizError before anything is changed.
    """
    curves = [(request_of(item), item) for item in session.curves]
    widgets = _widgets(session)
    draft = _draft_of(session)
    if session.sample is not None:
        _use_sample_of(session)
        role = session.role  # widgets of the Data page would keep what they showed before
        widgets |= {"role": role, f"sample-{role}": session.sample, f"way-{role}": "A sample"}
    if draft is not None:
        prepare(draft)
        widgets["role"] = draft.role
    for key, value in widgets.items():
        st.session_state[key] = value
    st.session_state[OPENED] = session.models
    if session.sample is not None:
        for request, item in curves:
            put_back(request, item, loaded())


def _use_sample_of(session: Session) -> None:
    """The sample with the file's schema; a sample that no longer is what it was keeps its own name for its own schema only."""
    name = str(session.sample)
    sample = next((item for item in samples() if item.name == name and item.role is session.role), None)
    if sample is None:
        raise DocumentError(f"There is no sample {name!r:.60} of {session.role} rows.", where="sample", remedy="Update dpviz.")
    table, delivered = load_sample(name)
    if session.schema == delivered:
        now = use_sample(name)
    else:
        now = use(session.role, sample.title, table, session.schema)
    prepared().role = now.role
    prepared().choose(now.title, now.table, SchemaDraft.of(now.schema, now.table.names), sample=now.sample)


def _draft_of(session: Session) -> Prepared | None:
    """The table that was being declared; of a session without a sample at least what was declared of the one in use.

    The file brings no rows, so whose they are is the user's to declare.
    """
    if session.draft is None and session.sample is not None:
        return None
    kept = None if session.draft is None else draft_from_dict(session.draft, "draft")
    role, now = kept.role if kept else session.role, prepared()
    if now.role is not role or (kept is None and now.table is None):
        what = f"The file is of {role} rows and does not bring them along."
        remedy = f"Choose {str(role).capitalize()!r}{'' if kept else ' and the table'} above, then open the session again."
        raise DocumentError(what, where="role" if now.role is not role else "schema", remedy=remedy)
    if kept is not None:
        return restored(kept, now)
    persons = {"person": session.person, "rows_per_person": session.rows_per_person}
    draft = SchemaDraft.of(session.schema, now.table.names, **persons)  # type: ignore[union-attr, arg-type]
    return replace(now, draft=draft, revision=now.revision + 1)


def _widgets(session: Session) -> dict[str, Any]:
    """Values of the sidebar's widgets; raises DocumentError for what the sidebar cannot show."""
    asked = session.choices
    if asked is None:
        return {}
    settings = Settings(**asked.settings)
    epsilon, depth = float(settings.epsilon), str(settings.depth)
    if not 1e-4 <= epsilon <= 100 or depth not in DEPTHS or (asked.draw is not None and not 1 <= asked.draw <= 1_000_000):
        what = "Its epsilon, depth or draw is outside what the sidebar offers."
        raise DocumentError(what, where="choices", remedy="Use the command line for such settings.")
    widgets: dict[str, Any] = {"learner": asked.learner, "epsilon": epsilon, "depth": depth}
    if asked.draw is not None and session.role is not DataRole.PRIVATE:
        widgets["draw"] = asked.draw
    for name, value in asked.params.items():
        about = controls_of(get_learner(asked.learner).Params)[name]
        widgets |= widgets_of(f"{asked.learner}.{name}", about, depth, about.settled(value))
    return widgets


# --- on the page


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
