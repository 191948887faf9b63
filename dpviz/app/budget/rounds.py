"""On Budget, for boosted models: epsilon over rounds, and the losses of single rows against what all are promised."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import streamlit as st

from dpviz.app.state import Loaded
from dpviz.app.widgets import chart, table
from dpviz.app.work import long_work
from dpviz.app.work.cached import Trained
from dpviz.evaluation.budget import boosting
from dpviz.evaluation.budget.boosting import IndividualLosses
from dpviz.figures.budget import rounds as figures
from dpviz.table.role import DataRole

LANE = "individual-losses"


def rounds_screen(trained: Trained, loaded: Loaded) -> None:
    """Nothing for a model without rounds."""
    event = boosting.rounds_event(trained.result)
    if event is None:
        return
    st.header("Round by round", anchor=False)
    points, epsilons = boosting.epsilon_over_rounds(event, event.rounds)
    sentence = figures.rounds_sentence(points, epsilons, event.delta)
    st.markdown(sentence)
    chart(figures.rounds_figure(points, epsilons), sentence, key="rounds")
    table(figures.rounds_rows(points, epsilons), "What the first rounds cost.")
    if loaded.role is not DataRole.PRIVATE and boosting.can_measure(trained.result):
        _own_losses(trained, loaded)


def _own_losses(trained: Trained, loaded: Loaded) -> None:
    st.header("What single rows use of it", anchor=False)
    st.markdown(
        "Every row is promised as if its gradient were the largest in every round. Most are smaller. Computed from exact "
        "gradients, so it is no guarantee and not to be published about private rows."
    )
    key = f"{loaded.data.fingerprint} {trained.asked}"
    seen = long_work.look(LANE, key)
    if not seen.is_current and seen.job is None:
        asked: dict[str, Any] = {"on_click": long_work.begin, "args": (LANE, key, _work(trained, loaded))}
        st.button("Measure", icon=":material/speed:", key=LANE, **asked)
    long_work.status(seen, "Training twice, with every row's account")
    if isinstance(seen.result, IndividualLosses):
        _chart(seen.result)


def _chart(found: IndividualLosses) -> None:
    sentence = figures.losses_sentence(found)
    st.markdown(f"**{sentence}**")
    chart(figures.losses_figure(found), sentence, key="own-losses")
    table(figures.losses_rows(found), "Own losses of rows, by share of the rows.")


def _work(trained: Trained, loaded: Loaded) -> Callable[[Callable[[float], None], Event], Any]:
    def work(progress: Callable[[float], None], stop: Event) -> IndividualLosses:
        return boosting.individual_losses(trained.result, loaded.data, progress=progress, stop=stop.is_set)

    return work
