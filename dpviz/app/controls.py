"""The sidebar: which learner, how much epsilon, how deep, which draw, and the learner's own parameters.

All settings are keyed widgets bound to the URL, so a link holds them and a page change keeps them; what equals its default
leaves the URL. Nothing here touches rows. A learner's widgets come from its `Control`s; no learner is named.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.app.epsilon_slider import epsilon_slider, take_epsilon
from dpviz.app.state import loaded
from dpviz.app.widgets import learner_title, linked
from dpviz.figures.guarantee_text import number_text, odds_text
from dpviz.learners import get_learner
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget
from dpviz.training.params import Control, controls_of

#: Rounded steps, about three a decade: 0.001, 0.002, 0.003, 0.005, 0.01, ... 10.
EPSILONS = (*(float(f"{digit}e{power}") for power in range(-3, 1) for digit in (1, 2, 3, 5)), 10.0)
DEPTHS = ("auto", *map(str, range(1, 9)))
#: Learners of classes chosen at first, where offered: the default, those it is compared with most often, one without privacy.
FIRST_LEARNERS = ("pf-tree", "privatree-corrected", "diffprivlib-tree", "cart")
#: Depth "auto" never goes deeper than this.
AUTO_CAP = 4
PRIVATE_DRAW = "_private_draw"
_SLIDER = "_epsilon_slider"
_SHOWN = "_shown_settings"
_MOST_REMEMBERED = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """What the sidebar says: arguments of `fit` (`settings`: epsilon, max_depth, depth), and those `params` that are no default.

    `draw` is the seed for simulated and public rows; for private rows only a count, never a seed. `widgets` has the value of
    every widget by its key, to come back to.
    """

    learner: str
    settings: dict[str, Any]
    params: dict[str, Any]
    draw: int
    widgets: dict[str, Any]


def ask_settings() -> Asked:
    """Draw the sidebar and return what it says."""
    widgets: dict[str, Any] = {}
    st.session_state["_drawn_settings"] = widgets
    with st.sidebar:
        learner = _ask_learner()
        epsilon = _ask_epsilon()
        words = f"Levels of rules. Auto: the algorithm's public rule, which uses no rows, with at most {AUTO_CAP} levels."
        depth = _noted("depth", st.select_slider("Depth", DEPTHS, value="auto", help=words, **linked("depth")))
        params = _ask_params(learner, depth)
        draw = _ask_draw(loaded().role)
        _reset_button(widgets)
    return Asked(learner, _settings(epsilon, depth), params, draw, dict(widgets))


def asked_for(learner: str, epsilon: float, depth: str, params: dict[str, Any], draw: int) -> Asked:
    """What the sidebar says once its widgets are set to this, for rows whose draws are numbered; `params` as in Asked."""
    widgets = {_learner_key(): learner, "epsilon": epsilon, "depth": depth, "draw": draw}
    for name, about in controls_of(get_learner(learner).Params).items():
        widgets |= widgets_of(f"{learner}.{name}", about, depth, params.get(name, _default(learner, name)))
    return Asked(learner, _settings(epsilon, depth), params, draw, widgets)


def _settings(epsilon: float, depth: str) -> dict[str, Any]:
    return {"epsilon": epsilon, **depth_of(depth)}


def depth_of(depth: str) -> dict[str, Any]:
    """The depth that was chosen as arguments of `fit`."""
    cap = AUTO_CAP if depth == "auto" else int(depth)
    return {"max_depth": cap, "depth": "auto" if depth == "auto" else cap}


def widgets_of(key: str, about: Control, depth: str, value: Any) -> dict[str, Any]:
    """The widgets that say `value` of one parameter."""
    if about.kind not in ("classes", "shares"):
        return {key: value}
    if value is None:
        return {f"{key}.by-hand": False}
    names = _parts_of(about, depth, len(value))
    return {f"{key}.by-hand": True} | {f"{key}.{name}": part for name, part in zip(names, value, strict=False)}


def _noted(key: str, value: Any) -> Any:
    """Remember what the widget `key` says in this run."""
    st.session_state["_drawn_settings"][key] = value
    return value


def _ask_learner() -> str:
    """Those that predict this kind of target; each kind has its own key, so that going back to a table finds its learner."""
    key = _learner_key()
    name = st.selectbox("Algorithm", loaded().learners, format_func=learner_title, **linked(key))
    st.caption(f"{get_learner(name).idea} {get_learner(name).citation}.")
    return _noted(key, name)


def _learner_key() -> str:
    return "learner-of-numbers" if isinstance(loaded().schema.target, NumericTarget) else "learner"


def _ask_epsilon() -> float:
    """A box for any value, which holds it, and above it a slider over rounded steps."""
    above = st.container()
    options = {"step": 0.01, "format": "%g", "help": f"Privacy loss under {NEIGHBOURS}.", **linked("epsilon")}
    epsilon = st.number_input("ε, exactly", 1e-4, 100.0, 1.0, **options)
    with above:
        at = EPSILONS.index(nearest_step(epsilon))
        epsilon_slider(epsilon, EPSILONS, at, key=_SLIDER, on_epsilon=partial(take_epsilon, _SLIDER))
    odds = odds_text(PrivacyLoss(epsilon))
    st.caption(f"Where ε = {number_text(epsilon)} holds: {odds[:1].lower()}{odds[1:]}")
    return _noted("epsilon", epsilon)


def nearest_step(epsilon: float) -> float:
    """The slider's step closest to `epsilon` on a log scale."""
    return min(EPSILONS, key=lambda step: abs(math.log(step / epsilon)))


def _ask_params(learner: str, depth: str) -> dict[str, Any]:
    controls = controls_of(get_learner(learner).Params)
    if not controls:
        return {}
    with st.expander("Algorithm settings"):
        given = {name: _ask_param(f"{learner}.{name}", name, learner, about, depth) for name, about in controls.items()}
    return {name: value for name, value in given.items() if value != _default(learner, name)}


def _default(learner: str, name: str) -> Any:
    return getattr(get_learner(learner).Params(), name)


def _ask_param(key: str, name: str, learner: str, about: Control, depth: str) -> Any:
    default, options = _default(learner, name), {"help": about.help, **linked(key)}
    match about.kind:
        case "flag":
            return _noted(key, st.toggle(about.label, value=default, **options))
        case "choice":
            return _noted(key, st.selectbox(about.label, about.options, index=about.options.index(default), **options))
        case "whole":
            return _noted(key, st.number_input(about.label, int(about.low), int(about.high), int(default), **options))
        case "number":
            low, high = (None if math.isinf(end) else float(end) for end in (about.low, about.high))
            return _noted(key, st.number_input(about.label, low, high, float(default), format="%g", **options))
        case _:
            return _ask_weights(key, about, depth)


def _ask_weights(key: str, about: Control, depth: str) -> tuple[float, ...] | None:
    """None while a rule decides; else one weight per part, per class, or per level once the depth is a number."""
    of_classes = about.kind == "classes"
    reason = (
        "" if of_classes or _parts_of(about, depth, 0) else "Choose a depth first: with auto the number of levels is not fixed."
    )
    hand, label = f"{key}.by-hand", f"{about.label}: set by hand"
    by_hand = _noted(hand, st.toggle(label, help=reason or about.help, disabled=bool(reason), **linked(hand)))
    if reason or not by_hand:
        return None
    if not of_classes:
        st.caption("Weights; only their ratio counts. More weight: more accurate there, the same total.")
    classes, least = (loaded().schema.classes, 0.01) if of_classes else ((), 0.0)
    parts = _parts_of(about, depth, len(classes))
    keys = {f"{key}.{part}": name for part, name in zip(parts, classes or parts, strict=True)}
    return tuple(_noted(k, st.number_input(name, least, 1000.0, 1.0, format="%g", **linked(k))) for k, name in keys.items())


def _parts_of(about: Control, depth: str, n_classes: int) -> tuple[str, ...]:
    """What has a weight. Classes are numbered, for their names belong to a table."""
    if about.kind == "classes":
        return tuple(f"class {place}" for place in range(1, n_classes + 1))
    return about.parts or tuple(f"depth {level}" for level in range(0 if depth == "auto" else int(depth)))


def _ask_draw(role: DataRole) -> int:
    """The visible number of the draw; for private rows a hidden one, because who knows the seed can undo the noise."""
    if role is DataRole.PRIVATE:
        st.session_state.setdefault(PRIVATE_DRAW, 1)
        st.button("New noise", icon=":material/casino:", on_click=_next_draw, args=(PRIVATE_DRAW,), width="stretch")
        st.caption("Fresh noise from the operating system. Each draw you keep spends ε again.")
        return _noted(PRIVATE_DRAW, st.session_state[PRIVATE_DRAW])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = "The same number gives the same noise, so this is a simulation, not a release."
        draw = st.number_input("Random seed", 1, 1_000_000, 1, help=words, **linked("draw"))
        st.button("New noise", icon=":material/casino:", on_click=_next_draw, args=("draw",))
    return _noted("draw", int(draw))


def _next_draw(key: str) -> None:
    st.session_state[key] += 1


def note_shown(asked: Asked) -> None:
    """Say that the tree of these settings is on screen, so that a later change can be taken back."""
    shown = st.session_state.setdefault(_SHOWN, [])
    if not shown or shown[-1] != asked.widgets:
        shown.append(asked.widgets)
        del shown[:-_MOST_REMEMBERED]


def _reset_button(now: dict[str, Any]) -> None:
    """Back to the settings of the tree that was on screen before the last change."""
    place = last_other(st.session_state.get(_SHOWN, []), now)
    reason = "No other tree was shown yet." if place is None else "All settings as they were for the tree before the last change."
    options = {"icon": ":material/undo:", "help": reason, "width": "stretch"}
    st.button("Reset to last tree", on_click=_go_back, args=(place,), disabled=place is None, **options)
    if place is None:
        st.caption(reason)


def last_other(shown: list[dict[str, Any]], now: dict[str, Any]) -> int | None:
    """Position of the latest settings that differ from `now`; None when there are none."""
    return next((place for place in reversed(range(len(shown))) if shown[place] != now), None)


def _go_back(place: int) -> None:
    shown = st.session_state[_SHOWN]
    for key, value in shown[place].items():
        st.session_state[key] = value
    del shown[place + 1 :]
