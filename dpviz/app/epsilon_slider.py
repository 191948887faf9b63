"""The one control of epsilon: a slider over fixed steps and, above its middle, a box for any value.

It holds no value: it shows what the session says and sends what was chosen. A widget of Streamlit's would say the old value while
another view is dragged.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from dpviz.app.component import component, event_in
from dpviz.app.widgets import keep_in_link
from dpviz.results.wording import number_text

MIN_EPSILON, MAX_EPSILON, FIRST = 1e-4, 100.0, 1.0
_KEY = "epsilon"


def epsilon_slider(epsilon: float, steps: Sequence[float], *, key: str, on_epsilon: Callable[[], None], neighbours: str) -> None:
    """Show `epsilon`; the thumb stands at the closest of `steps`.

    `on_epsilon` is called when one was chosen; `event_in(key, "epsilon")` is its value. `neighbours`: whose epsilon it is.
    """
    at = list(steps).index(nearest(epsilon, steps))
    data = {"name": f"ε ({neighbours})", "steps": list(steps), "at": at, "epsilon": epsilon}
    component("dpviz_epsilon", Path(__file__))(key=key, data=data, on_epsilon_change=on_epsilon)


_LIVE = """<div class="choice"><div class="head"><label><span class="name"></span> <output class="exact"></output></label></div>
<input class="scale" type="range" min="0" step="1"></div>"""


def live_slider(label: str, steps: Sequence[float], *, key: str, disabled: bool) -> None:
    """A slider over `steps` that shows the session's `key`, and sets it while it is dragged: the page follows."""
    view = f"{key}-slider"

    def take() -> None:
        chosen = event_in(view, "epsilon")
        if chosen is not None and float(chosen) in steps:
            st.session_state[key] = steps[steps.index(float(chosen))]

    value = st.session_state[key]
    data = {"name": label, "live": True, "steps": list(steps), "said": list(map(number_text, steps)), "disabled": disabled}
    data |= {"at": list(steps).index(value), "epsilon": value}
    component("dpviz_live_slider", Path(__file__), html=_LIVE)(key=view, data=data, on_epsilon_change=take)


def nearest(epsilon: float, steps: Sequence[float]) -> float:
    """The step closest to `epsilon` on a log scale."""
    return min(steps, key=lambda step: abs(math.log(step / epsilon)))


def take_epsilon(key: str) -> None:
    """The session takes the epsilon that was chosen in the view of this key."""
    chosen = event_in(key, "epsilon")
    if chosen is not None:
        st.session_state[_KEY] = min(MAX_EPSILON, max(MIN_EPSILON, float(chosen)))


def epsilon_in_use() -> float:
    """The epsilon of this session; in a new one that of the address, where it names one, which then keeps it."""
    if _KEY not in st.session_state:
        try:
            named = float(st.query_params.get(_KEY, FIRST))
        except ValueError:
            named = FIRST
        st.session_state[_KEY] = named if MIN_EPSILON <= named <= MAX_EPSILON else FIRST
    epsilon: float = st.session_state[_KEY]
    keep_in_link(_KEY, f"{epsilon:g}", default=f"{FIRST:g}")
    return epsilon
