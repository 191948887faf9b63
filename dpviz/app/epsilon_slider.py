"""A slider for epsilon that holds no value: it shows what the server says and sends what was chosen.

Epsilon itself is in one place, the box in the sidebar. A second Streamlit widget for it would report its own value with every
poll, also the one it had before the box changed.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from dpviz.app.component import component, event_in
from dpviz.figures.guarantee_text import number_text


def epsilon_slider(epsilon: float, steps: Sequence[float], at: int, *, key: str, on_epsilon: Callable[[], None]) -> None:
    """Show `epsilon` on a slider over `steps`, its thumb at step number `at`.

    `on_epsilon` is called when a step was chosen; `event_in(key, "epsilon")` is its value.
    """
    words = [number_text(step) for step in steps]
    data = {"steps": list(steps), "words": words, "at": at, "said": number_text(epsilon)}
    component("dpviz_epsilon", Path(__file__))(key=key, data=data, on_epsilon_change=on_epsilon)


def take_epsilon(key: str) -> None:
    """The box in the sidebar takes the epsilon that was chosen in the view of this key."""
    chosen = event_in(key, "epsilon")
    if chosen is not None:
        st.session_state["epsilon"] = float(chosen)
