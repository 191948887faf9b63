"""A poll waits until the run before it has been shown.

Streamlit drops what a run has still in line for the browser once another runner takes the session. A whole run that asks for
one may do so, since it draws everything again. But the poll of a fragment also gets a new runner when it arrives just after a
run has ended: on a busy server the page then stays without its tree, and without the polls that would bring it. There is no
public switch for that; without the private names used here this changes nothing (`tests/app/test_streamlit_rerun_fix.py`
notices).
"""

from dataclasses import replace
from typing import Any

from streamlit.runtime.app_session import AppSession

#: Seconds until a poll looks again whether the run before it has been shown.
_A_MOMENT = 0.02


def wait_in_turn() -> None:
    """Make every session of this server do so."""
    create = getattr(AppSession, "_create_scriptrunner", None)
    if create is not None and not hasattr(create, "is_in_turn"):
        AppSession._create_scriptrunner = _in_turn(create)  # type: ignore[method-assign]


def _in_turn(create: Any) -> Any:
    def create_in_turn(session: Any, asked: Any) -> None:
        if asked.fragment_id and session._scriptrunner is not None:  # which took no more requests: it has ended
            if asked.is_auto_rerun:  # what the user enters meanwhile is newer than what the poll says was entered
                asked = replace(asked, widget_states=None)
            session._event_loop.call_later(_A_MOMENT, ask_again, session, asked)
        else:
            create(session, asked)

    def ask_again(session: Any, asked: Any) -> None:
        if not session.has_fragment(asked.fragment_id) or session._state.name == "SHUTDOWN_REQUESTED":
            return
        runner = session._scriptrunner
        if runner is None or not runner.request_rerun(asked):
            session._create_scriptrunner(asked)

    create_in_turn.is_in_turn = True  # type: ignore[attr-defined]
    return create_in_turn
