"""What the Audit page asks: which learner of the table, with which settings, at which epsilon, and where to search again."""

import math
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app import background
from dpviz.app.audit import results
from dpviz.app.audit.results import PLACES, Known, Search
from dpviz.app.audit.why import has_own_text
from dpviz.app.controls import EPSILONS
from dpviz.app.widgets import learner_title, linked, one_of, show_chart
from dpviz.figures.audit import audit_chart
from dpviz.learners import get_learner, learner_names
from dpviz.results.wording import number_text
from dpviz.training.params import controls_of

_TABLE, _LEARNER, _EPSILON, _PLACE = "audit-table", "audit-learner", "audit-epsilon", "audit-universe"
_AXIS, _AXES = "audit-axis", ("ε", "right guesses of 100")
_FIRST = "_audit_first"
_EVERYWHERE = "everywhere"


def ask(what: Known, learners: DeltaGenerator, more: DeltaGenerator) -> Search:
    """All learners at one epsilon, of which a click or the list chooses one; in `more`, what to search again."""
    with learners:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            learner = st.selectbox(
                "Algorithm", learner_names(), _first_learner(what), format_func=learner_title, width=240, **linked(_LEARNER)
            )
            steps = sorted({*EPSILONS, *stored_epsilons(what)})
            options = {"format_func": number_text, "width": 240, **linked(_EPSILON)}
            epsilon = st.select_slider(f"ε ({NEIGHBOURS})", steps, 1.0, **options)
            is_of_guesses = one_of("Axis", _AXES, **linked(_AXIS)) == _AXES[1]
        lines = st.container()
    with more.expander("Search again, or with other settings", icon=":material/search:"):
        search = _ask_search(learner, epsilon)
    with lines:
        near = min(stored_epsilons(what) or {epsilon}, key=lambda stored: abs(math.log(stored / epsilon)))
        every = results.audit_lines(what, epsilon)
        st.caption(f"Stored at ε = {number_text(near)}.")
        chart = audit_chart(every, epsilon=near, is_of_guesses=is_of_guesses, selected=search.subject)
        show_chart(chart, _TABLE, on_select=partial(_choose, what))
    return search


def _choose(what: Known) -> None:
    """Put the chosen line's learner, flags and epsilon into the widgets."""
    points = st.session_state[_TABLE]["selection"]["points"]
    if not points:
        return
    key = str(points[0]["customdata"])
    learner, params = results.subject_of(key)
    st.session_state[_LEARNER] = learner
    for flag, default in _flags(learner).items():
        st.session_state[_flag_key(learner, flag)] = bool(params.get(flag, default))
    if what.now.get(key):
        st.session_state[_EPSILON] = what.now[key][0].epsilon


def _flags(learner: str) -> dict[str, bool]:
    spec = get_learner(learner)
    default = spec.Params()
    return {name: getattr(default, name) for name, about in controls_of(spec.Params).items() if about.kind == "flag"}


def _flag_key(learner: str, flag: str) -> str:
    return f"audit-{learner}.{flag}"


def _first_learner(what: Known) -> int:
    """Position of the learner shown at first, settled once in a session so that the widget stays the same.

    The first one whose claim is violated and was searched, if possible one whose failure has a text of its own.
    """
    if _FIRST not in st.session_state:
        lines = [line for line in results.audit_lines(what, 1.0) if line.verdict == "violated" and not line.setting]
        told = [line.key for line in lines if line.found is not None and has_own_text(line.found)]
        chosen = next(iter((*told, *(line.key for line in lines))), None)
        st.session_state[_FIRST] = results.subject_of(chosen)[0] if chosen else learner_names()[0]
    return learner_names().index(st.session_state[_FIRST])


def _ask_search(learner: str, epsilon: float) -> Search:
    left, right = st.columns(2, gap="large")
    with left:
        flags = _flags(learner)
        given = {name: _ask_flag(learner, name, default) for name, default in flags.items()}
        if not flags:
            st.caption("This algorithm has no other settings to search.")
    with right:
        place = _ask_place()
    search = Search(learner, {name: value for name, value in given.items() if value != flags[name]}, epsilon, place)
    st.button("Search again", icon=":material/search:", on_click=results.start, args=(search,))
    _status()
    return search


def _ask_flag(learner: str, name: str, default: bool) -> bool:
    about = controls_of(get_learner(learner).Params)[name]
    return st.toggle(about.label, default, help=about.help, **linked(_flag_key(learner, name)))


def stored_epsilons(what: Known) -> set[float]:
    """Every epsilon of the stored run."""
    return {facts.epsilon for facts in what.stored.facts} if what.stored else set()


def chosen_epsilon() -> float:
    """What the slider says, before it is drawn."""
    return float(st.session_state.get(_EPSILON, 1.0))


def _ask_place() -> int | None:
    options = (*map(str, range(1, len(PLACES) + 1)), _EVERYWHERE)
    chosen = st.select_slider("Universe to search", options, _EVERYWHERE, **linked(_PLACE))
    place = None if chosen == _EVERYWHERE else int(chosen) - 1
    words = f"All {len(PLACES)} of them, quickest first." if place is None else f"Number {chosen}: {PLACES[place].title}."
    st.caption(words)
    return place


def _status() -> None:
    """Progress and Cancel while a search runs; afterwards, why it found nothing."""
    task = results.last_search()
    if task is not None:
        background.show(task, "Searching; what is shown is from before")
