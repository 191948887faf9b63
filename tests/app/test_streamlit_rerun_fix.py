"""The poll of a fragment does not take the session from a run whose last messages are still in line for the browser."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any
from unittest.mock import MagicMock

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState

import dpviz.app.background  # noqa: F401 - makes polls wait

STATES = WidgetStates(widgets=[WidgetState(id="name", string_value="old")])
POLL, CLICK = (ClientState(fragment_id="poll", is_auto_rerun=is_poll, widget_states=STATES) for is_poll in (True, False))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A session without a server; `asked` is what its runners were asked for, `fragments` are those there are."""
    asked: list[Any] = []
    one = MagicMock(asked=asked, fragments={"poll"}, _state=AppSessionState.APP_IS_RUNNING)
    one.has_fragment = lambda name: name in one.fragments
    one._script_event_loop.is_closed.return_value = False
    for name in ("request_rerun", "_create_scriptrunner"):
        setattr(one, name, partial(getattr(AppSession, name), one))
    runner = "streamlit.runtime.app_session.ScriptRunner"
    monkeypatch.setattr(runner, lambda **about: asked.append(about["initial_rerun_data"]) or MagicMock())
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
    """A runner, which takes requests while it runs."""
    session._scriptrunner = MagicMock(request_rerun=lambda asked: runs and (session.asked.append(asked) or True))


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


@pytest.mark.parametrize("asked", [POLL, CLICK])
def test_what_waited_is_asked_of_the_next_run_brings_nothing_back_but_a_click_and_is_dropped_with_its_fragment(
    session: Any, asked: ClientState
) -> None:
    def gone() -> None:
        ran_by(session, runs=False)
        session.request_rerun(asked)
        session.fragments.clear()
        session._scriptrunner = None

    ran_by(session, runs=False)
    story(session, lambda: (session.request_rerun(asked), ran_by(session, runs=True)), gone)
    assert [one.widget_states for one in session.asked] == [None if asked is POLL else STATES]
