"""The poll of a fragment does not take the session from a run whose last messages are still in line for the browser."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.fragment import MemoryFragmentStorage

import dpviz.app.background  # noqa: F401 - makes polls wait

POLL = ClientState(fragment_id="poll", is_auto_rerun=True)


class _Runner:
    """Takes requests while it runs."""

    def __init__(self, asked: list[Any], *, runs: bool) -> None:
        self._asked, self._runs = asked, runs

    def request_rerun(self, asked: Any) -> bool:
        if self._runs:
            self._asked.append(asked)
        return self._runs

    def request_stop(self) -> None:
        self._runs = False


class _Session(AppSession):
    """One that has no server to leave."""

    def __del__(self) -> None: ...


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A session without a server; `asked` is what its runners were asked for."""
    asked: list[Any] = []
    one = object.__new__(_Session)
    one._state, one._fragment_storage, one.asked = AppSessionState.APP_IS_RUNNING, MemoryFragmentStorage(), asked  # type: ignore[attr-defined]
    one._fragment_storage.register("poll", lambda: None)

    def new_runner(**about: Any) -> Any:
        asked.append(about["initial_rerun_data"])
        return SimpleNamespace(on_event=SimpleNamespace(connect=lambda _: None), start=lambda: None)

    names = ("id", "_script_data", "_uploaded_file_mgr", "_script_cache", "_session_state", "_user_info", "_pages_manager")
    for name in (*names, "_on_script_error", "_local_sources_watcher", "_script_event_loop"):
        value = SimpleNamespace(main_script_path="", is_closed=lambda: False)
        setattr(one, name, value)
    monkeypatch.setattr("streamlit.runtime.app_session.ScriptRunner", new_runner)
    monkeypatch.setattr(AppSession, "_unsettle", lambda _: None)
    return one


def story(session: Any, *steps: Any) -> None:
    """Each step changes the session, and a moment passes."""

    async def told() -> None:
        session._event_loop = asyncio.get_running_loop()
        for step in steps:
            step()
            await asyncio.sleep(0.05)

    asyncio.run(told())


def ran_by(session: Any, *, runs: bool) -> None:
    session._scriptrunner = _Runner(session.asked, runs=runs)


def test_a_poll_waits_for_the_messages_of_the_run_that_ended_and_a_whole_run_never_waits(session: Any) -> None:
    ran_by(session, runs=False)
    ended = session._scriptrunner

    def taken() -> None:
        assert session._scriptrunner is ended  # so that its messages count
        assert session.asked == []
        session._scriptrunner = None  # its last message has been taken

    story(session, lambda: session.request_rerun(POLL), taken)
    assert [one.fragment_id for one in session.asked] == ["poll"]
    ran_by(session, runs=False)
    session.request_rerun(ClientState())
    assert len(session.asked) == 2


def test_a_poll_that_waited_is_asked_of_the_next_run_and_dropped_with_its_fragment(session: Any) -> None:
    def gone() -> None:
        ran_by(session, runs=False)
        session.request_rerun(POLL)
        session._fragment_storage.clear()
        session._scriptrunner = None

    ran_by(session, runs=False)
    story(session, lambda: (session.request_rerun(POLL), ran_by(session, runs=True)), gone)
    assert [one.fragment_id for one in session.asked] == ["poll"]


@pytest.mark.parametrize("is_poll", [True, False])
def test_a_poll_that_waited_brings_nothing_back_that_was_changed_since_but_a_click_is_kept(session: Any, is_poll: bool) -> None:
    states = WidgetStates(widgets=[WidgetState(id="name", string_value="old")])
    asked = ClientState(fragment_id="poll", is_auto_rerun=is_poll, widget_states=states)
    ran_by(session, runs=False)
    story(session, lambda: (session.request_rerun(asked), ran_by(session, runs=True)))
    assert [one.widget_states for one in session.asked] == [None if is_poll else states]
