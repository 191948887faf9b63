"""Which table: first whose rows, then a sample, a file, or a table on the server."""

import streamlit as st

from dpviz.app import frame, parts
from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.files.on_server import is_configured
from dpviz.app.data.files.uploading import ask_file, ask_on_server
from dpviz.app.data.prepared import Prepared, prepared
from dpviz.app.prose import prose
from dpviz.app.state import use_sample
from dpviz.app.widgets import one_of
from dpviz.io.samples import samples
from dpviz.table.role import DataRole

_SAMPLE, _FILE, _SERVER = "A sample", "A file", "On the server"
_WAYS = {DataRole.SIMULATED: (_SAMPLE, _FILE), DataRole.PUBLIC: (_SAMPLE, _FILE), DataRole.PRIVATE: (_FILE, _SERVER)}


def ask_role(work: Prepared) -> None:
    """Whose rows these are; the first question, because everything else depends on it."""
    roles = list(DataRole)
    captions = [parts.CONSEQUENCES[role] for role in roles]
    options = {"format_func": lambda role: str(role).capitalize(), "captions": captions, "on_change": _change_role}
    st.radio("Whose rows are these?", roles, roles.index(work.role), key="role", **options)
    wished = st.session_state["role"]
    if work.would_uncover(wished):
        st.warning(prose("private", "put aside", role=str(wished)), icon=":material/front_hand:")
        with st.container(horizontal=True):
            stay = {"on_click": st.session_state.update, "args": ({"role": DataRole.PRIVATE},)}
            st.button("Stay with private rows", icon=":material/lock:", **stay)
            st.button(f"Close it, and continue with {wished} rows", on_click=work.change_role, args=(wished,))
    if work.role is DataRole.PRIVATE and not frame.checks_requests():
        parts.error(frame.unchecked("Private rows"))
        st.stop()


def ask_table(work: Prepared) -> None:
    """A sample, a file or a table on the server, whichever the role allows. Problems leave the table there was."""
    ways = tuple(way for way in _WAYS[work.role] if way != _SERVER or is_configured())
    way = ways[0]
    if len(ways) > 1:
        first = _FILE if work.draft is not None and work.sample is None else ways[0]
        options = {"default": first, "on_change": _forget_problem, "persist_state": "session"}
        way = one_of("Which table?", ways, key=f"way-{work.role}", **options)
    {_SAMPLE: _ask_sample, _FILE: ask_file, _SERVER: ask_on_server}[way](work)
    if work.problem is not None:
        parts.error(work.problem, kept="Nothing below has changed." if work.draft else "The data in use are as they were.")


def _change_role() -> None:
    """At once, unless a private table would be shown: that is asked first, and changes nothing yet."""
    work, wished = prepared(), DataRole(st.session_state["role"])
    if not work.would_uncover(wished):
        work.change_role(wished)


def _forget_problem() -> None:
    prepared().problem = None


def _ask_sample(work: Prepared) -> None:
    offered = {sample.name: sample for sample in samples() if sample.role == work.role}
    names = list(offered)
    key, index = f"sample-{work.role}", names.index(work.sample) if work.sample in names else None
    help_text = "A sample comes with its schema and is used at once."
    options = {"placeholder": "Choose a sample", "help": help_text, "on_change": _use_sample, "args": (key,)}
    titles = {name: sample.title for name, sample in offered.items()}
    st.selectbox("Sample", names, index, key=key, format_func=lambda name: titles.get(name, name), **options)
    if work.sample in offered:
        st.caption(offered[work.sample].description)


def _use_sample(key: str) -> None:
    if st.session_state[key] is not None:
        now = use_sample(st.session_state[key])
        most = now.data.rows_per_person
        draft = SchemaDraft.of(now.schema, now.table.names, person=now.person, rows_per_person=most)
        prepared().choose(now.title, now.table, draft, sample=now.sample)
