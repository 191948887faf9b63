"""On Budget, for boosted models: epsilon over rounds, and the losses of single rows against what all are promised."""

from functools import partial

import streamlit as st

from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.trees import Trained
from dpviz.app.widgets import chart, table
from dpviz.app.work.session import begin, poll
from dpviz.app.work.tasks import in_one
from dpviz.app.work.watch import report
from dpviz.evaluation.budget import boosting
from dpviz.evaluation.budget.boosting import IndividualLosses
from dpviz.figures.budget import rounds as figures
from dpviz.table.role import DataRole

SLOT = "individual-losses"


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
    table(figures.rounds_rows(points, epsilons), "What the first rounds cost.", key="rounds")
    if loaded.role is not DataRole.PRIVATE and boosting.can_measure(trained.result):
        _own_losses(trained, loaded)


def _own_losses(trained: Trained, loaded: Loaded) -> None:
    st.header("What single rows use of it", anchor=False)
    st.markdown(prose("budget", "own losses"))
    key = f"{loaded.data.fingerprint} {trained.asked}"
    task = in_one(SLOT, key, partial(boosting.individual_losses, trained.result, rows_of_the_tree(loaded)))
    status = poll(task)
    if status.n_missing and status.job is None:
        st.button("Measure", icon=":material/speed:", key=SLOT, on_click=begin, args=(task,))
    report(task, "Training twice, with every row's account")
    if status.shown is not None:
        found: IndividualLosses = status.result
        sentence = figures.losses_sentence(found)
        st.markdown(f"**{sentence}**")
        chart(figures.losses_figure(found), sentence, key="own-losses")
        table(figures.losses_rows(found), "Own losses of rows, by share of the rows.", key="losses")
