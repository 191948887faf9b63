"""The row of settings above a picture: how much epsilon, how deep, which learner, which draw; the learner's own parameters.

All settings are keyed widgets bound to the URL, so a link holds them and a page change keeps them; what equals its default
leaves the URL. Nothing here touches rows. A learner's widgets come from its `Control`s; no learner is named.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from dpviz.app import frame
from dpviz.app.epsilon_slider import epsilon_in_use, epsilon_slider, take_epsilon
from dpviz.app.parts import error, escape_markdown
from dpviz.app.state import data_in_use, sample_of, unit_in_use
from dpviz.app.widgets import link_options, whole_number
from dpviz.charts.tree.text import visible
from dpviz.errors import DpvizError
from dpviz.evaluation import paths
from dpviz.learners import FitRequest, get_learner
from dpviz.learners.variants import variant_title
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.report import groups_of
from dpviz.training.params import Control, Settings, controls_of

#: Rounded steps, about three a decade: 0.001, 0.002, 0.003, 0.005, 0.01, ... 10.
EPSILONS = (*(float(f"{digit}e{power}") for power in range(-3, 1) for digit in (1, 2, 3, 5)), 10.0)
DEPTHS = ("auto", *map(str, range(1, int(controls_of(Settings)["max_depth"].high) + 1)))
#: Learners of classes chosen at first, where offered: the default, those it is compared with most often, one without privacy.
FIRST_LEARNERS = ("pf-tree", "privatree", "privatree-corrected", "diffprivlib-tree", "cart")
#: A picture of more levels is a long list: depth "auto" goes no deeper on screen, whatever the learner's own cap is.
AUTO_CAP = 4
PRIVATE_DRAW = "_private_draw"
MAX_SEED = 1_000_000
_SLIDER = "_epsilon_slider"
_GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """What the row of settings says."""

    request: FitRequest  #: With a seed for simulated and public rows, without one for private rows
    draw: int  #: The seed; for private rows only a count


def settings_row() -> Any:
    """The row, which a page may end with buttons of its own."""
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=frame.ROW)


def ask_settings(row: Any = None, more: Callable[[], None] | None = None, *, with_noise: bool = True) -> TreeSettings:
    """Fill the row and return what it says. `more` adds to the box of what is rarely changed.

    `with_noise`: the page shows one draw, so that another one may be asked for.
    """
    with row or settings_row():
        epsilon = epsilon_in_use()
        take, whose = partial(take_epsilon, _SLIDER), unit_in_use().neighbours
        epsilon_slider(epsilon, paths.EPSILONS, key=_SLIDER, on_epsilon=take, neighbours=whose)
        words = f"Levels of rules. {auto_in_words()}"
        first = DEPTHS.index(first_depth())
        depth = st.selectbox("Depth", DEPTHS, first, help=words, width=96, **link_options("depth"))
        learner = _ask_learner()
        draw = _ask_draw(data_in_use().role) if with_noise else st.session_state.get("draw", 1)
        with st.popover("More", icon=":material/tune:"):
            known = controls_of(get_learner(learner).Params)
            params = {name: _ask_param(f"{learner}.{name}", name, learner, about, depth) for name, about in known.items()}
            groups = _ask_groups(learner)
            if more is not None:
                more()
    if not with_noise:  # else the line of the guarantee says it
        st.caption(f"Every ε: {escape_markdown(whose)}.")
    seed = None if data_in_use().role is DataRole.PRIVATE else draw
    given = {"seed": seed, "epsilon": epsilon, "groups": groups, **depth_of(depth)}
    try:
        request = FitRequest.of(learner, **given, **params)
    except DpvizError as problem:  # weights that are all 0
        error(problem, kept="Until then the algorithm's own settings count.")
        request = FitRequest.of(learner, **given)
    return TreeSettings(request, draw)


def depth_of(depth: str) -> dict[str, Any]:
    """The depth that was chosen as arguments of `fit`."""
    cap = AUTO_CAP if depth == "auto" else int(depth)
    return {"max_depth": cap, "depth": "auto" if depth == "auto" else cap}


def first_depth() -> str:
    """Where nothing else is asked for: automatic, but on samples that show what epsilon alone changes, a number of levels."""
    sample = sample_of(data_in_use().sample)
    return DEPTHS[0] if sample is None or sample.depth is None else str(sample.depth)


def auto_in_words() -> str:
    """What depth "auto" is, and what more levels are good for."""
    deeper = [spec.title for spec in map(get_learner, data_in_use().learners) if spec.default_max_depth > AUTO_CAP]
    more = f" More can make {' and '.join(deeper)} more accurate where rows times ε are many." if deeper else ""
    return f"Auto: each algorithm's public rule, which uses no rows, with at most {AUTO_CAP} levels.{more}"


def _ask_learner() -> str:
    """Those that predict this kind of target; each kind has its own key, so that going back to a table finds its learner."""
    names = data_in_use().learners
    key = "learner-of-numbers" if isinstance(data_in_use().schema.target, NumericTarget) else "learner"
    known = get_learner(st.session_state.get(key) if st.session_state.get(key) in names else names[0])
    words = f"{known.title}: {known.idea} {known.citation}."
    return str(st.selectbox("Algorithm", names, format_func=variant_title, help=words, width=200, **link_options(key)))


def _ask_groups(learner: str) -> str | None:
    """The feature by which the test of classes counts, where there is one; not in the link, for names belong to a table."""
    schema = data_in_use().schema
    is_tested = get_learner(learner).tests_itself and not isinstance(schema.target, NumericTarget)
    if not is_tested or not groups_of(schema):
        return None
    able = ("", *groups_of(schema))
    if st.session_state.get(_GROUPS) not in able:  # of the table before
        st.session_state.pop(_GROUPS, None)
    words = "The private test then tells error and found share per category, at no further ε and with wider intervals."
    named: dict[str, Any] = {"format_func": lambda name: visible(name or "none"), "help": words, "key": _GROUPS}
    return st.selectbox("Test by group", able, persist_state="session", **named) or None


def _ask_param(key: str, name: str, learner: str, about: Control, depth: str) -> Any:
    """The widget of one parameter, which is called `key`; its value."""
    default, options = getattr(get_learner(learner).Params(), name), {"help": about.help, **link_options(key)}
    match about.kind:
        case "flag":
            return st.toggle(about.label, value=default, **options)
        case "choice":
            return st.selectbox(about.label, about.options, index=about.options.index(default), **options)
        case "whole":
            return whole_number(about.label, int(about.low), int(about.high), int(default), key=key, help=about.help)
        case "number":
            low, high = (None if math.isinf(end) else float(end) for end in (about.low, about.high))
            return st.number_input(about.label, low, high, float(default), format="%g", **options)
        case _:
            return _ask_weights(key, about, depth)


def _ask_weights(key: str, about: Control, depth: str) -> tuple[float, ...] | None:
    """None while a rule decides; else one weight per part, per class, or per level once the depth is a number."""
    of_classes = about.kind == "classes"
    reason = (
        "" if of_classes or _parts_of(about, depth, 0) else "Choose a depth first: with auto the number of levels is not fixed."
    )
    hand, label = f"{key}.by-hand", f"{about.label}: set by hand"
    by_hand = st.toggle(label, help=reason or about.help, disabled=bool(reason), **link_options(hand))
    if reason or not by_hand:
        return None
    if not of_classes:
        st.caption("Weights; only their ratio counts. More weight: more accurate there, the same total.")
    classes, least = (data_in_use().schema.classes, 0.01) if of_classes else ((), 0.0)
    parts = _parts_of(about, depth, len(classes))
    return tuple(
        st.number_input(name, least, 1000.0, 1.0, format="%g", **link_options(f"{key}.{part}"))
        for part, name in zip(parts, classes or parts, strict=True)
    )


def _parts_of(about: Control, depth: str, n_classes: int) -> tuple[str, ...]:
    """What has a weight. Classes are numbered, for their names belong to a table."""
    if about.kind == "classes":
        return tuple(f"class {place}" for place in range(1, n_classes + 1))
    return about.parts or tuple(f"depth {level}" for level in range(0 if depth == "auto" else int(depth)))


def _ask_draw(role: DataRole) -> int:
    """The visible number of the draw; for private rows a hidden one, because who knows the seed can undo the noise."""
    key, draw = PRIVATE_DRAW, 0
    if role is DataRole.PRIVATE:
        words = "New noise from the operating system. Each result you keep spends ε again."
        draw = st.session_state.setdefault(PRIVATE_DRAW, 1)
    else:
        words, key = "Another seed.", "draw"
        same = "The same number gives the same noise, so this is a simulation, not a release."
        draw = whole_number("Seed", 1, MAX_SEED, 1, help=same, width=112, key=key)
    st.button("New noise", icon=":material/casino:", help=words, on_click=_next_draw, args=(key,))
    return draw


def _next_draw(key: str) -> None:
    st.session_state[key] = st.session_state[key] % MAX_SEED + 1
