"""One epsilon, three answers: how private, how accurate, how robust. A slider moves the cursor through all three."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.parts import error, plain
from dpviz.app.robustness import run
from dpviz.app.robustness.ask import RobustnessRequest, View
from dpviz.app.state import Loaded
from dpviz.app.widgets import chart, learner_title, linked, table
from dpviz.app.work.session import poll
from dpviz.app.work.watch import offer, watch
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.robustness import tradeoff as figures
from dpviz.figures.robustness.certified import Certified
from dpviz.learners import get_learner

SLOT = "robustness-cursor"
LADDER = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def cursor(request: RobustnessRequest, view: View, loaded: Loaded) -> None:
    """Choose a learner; compute it at every epsilon of the ladder; move through them."""
    st.header("Privacy, accuracy and robustness on one ε", anchor=False)
    names = [name for name in request.learners if get_learner(name).spends_epsilon]
    if not names:
        st.caption("Choose an algorithm that spends ε in the sidebar.")
        return
    learner = st.selectbox("Algorithm", names, format_func=learner_title, **linked("robust-cursor-learner"))
    ladder = replace(request, learners=(learner,), epsilons=LADDER)
    task = run.curves_task(ladder, loaded, SLOT)
    status = poll(task)
    if status.n_missing:
        label = f"Compute {status.n_missing} of {len(LADDER)} values of ε"
        offer(task, label, ":material/play_arrow:", on_click=partial(run.begin_noted, request=ladder, loaded=loaded))
    watch(task, "Going through ε")
    if not status.n_missing and not status.values:
        error(status.problems[0])
    if len(status.values) > 2:  # two points make no curve
        _draw(status.values, view)


def _draw(found: tuple[Certified, ...], view: View) -> None:
    reason = next((item.table.reason for item in found if item.table.reason), "")
    if reason:
        st.warning(f"{plain(found[0].title)}: no guarantee. {plain(reason)}", icon=":material/gpp_bad:")
    places = [item.epsilon for item in found]
    start = min(places, key=lambda epsilon: abs((epsilon or 0) - 0.1))
    epsilon = st.select_slider(f"ε ({NEIGHBOURS})", places, value=start, format_func=number_text, key="robust-cursor")
    chosen = next(item for item in found if item.epsilon == epsilon)
    names = ("Right guesses about one row, at most", "Mean accuracy without poison", "Poisoned rows withstood")
    with st.container(horizontal=True):
        for name, number in zip(names, figures.three_numbers(chosen, view.wanted), strict=True):
            st.metric(name, number, width="content")
    sentence = figures.tradeoff_sentence(chosen, view.wanted)
    figure = figures.tradeoff_figure(found, chosen=epsilon, wanted=view.wanted)
    chart(figure, sentence, key="robust-cursor-figure")
    st.caption(f"{plain(figures.ends_sentence(found, view.wanted))} Dotted: the accuracy to stay above.")
    table(partial(figures.tradeoff_rows, found, view.wanted), "The three panels at every ε.", key="robust-cursor-figure")
