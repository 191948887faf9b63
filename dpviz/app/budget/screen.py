"""The Budget page's figures with sentences and tables: what one row pays, rounds of boosting; and where settings come from."""

from functools import partial

import streamlit as st

from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.parts import plain
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.trees import Trained
from dpviz.app.widgets import chart, on_demand, table
from dpviz.app.work.session import begin, poll
from dpviz.app.work.tasks import in_one
from dpviz.app.work.watch import report
from dpviz.evaluation.budget import boosting
from dpviz.evaluation.budget.boosting import IndividualLosses
from dpviz.figures.budget import rounds as figures
from dpviz.figures.budget import spending
from dpviz.table.role import DataRole
from dpviz.training.contract import FitResult

SLOT = "individual-losses"


def spent(result: FitResult) -> None:
    """What one row pays on its way down, and what that adds up to beside the claim."""
    st.header("What one row pays, level by level", anchor=False)
    paid = result.ledger.spent()
    sentence = spending.spending_sentence(result.plan, paid, result.claim, result.ledger.guarantee)
    st.markdown(f"**{plain(sentence)}**")
    figure = spending.spending_figure(result.plan, paid, result.claim, result.ledger.guarantee)
    chart(figure, sentence, key="spending")
    st.caption(
        f"Each bar begins where the one above ends. Nodes of one level hold different rows, so each level is paid once. "
        f"{plain(result.claim.because)}"
    )
    table(spending.spending_rows(result.plan, paid), "What one row pays, part by part.", key="spending")


def settings(result: FitResult) -> None:
    """Who set each share, in words; the formulas unfold."""
    st.header("Where these settings come from", anchor=False)
    lines = [f"**{', '.join(parts)}**: {who}" for who, parts in spending.deciders(result.plan).items()]
    st.markdown("\n".join(f"- {line}" for line in (*lines, *map(plain, spending.plain_notes(result.plan)))))
    with on_demand("The rules with their numbers", icon=":material/function:") as box:
        if box.open:
            st.markdown("\n".join(f"- {plain(rule)}" for rule in spending.formulas(result.plan)) or "No rule was needed.")
            words = "Every share of the plan with who set it."
            st.dataframe(spending.share_rows(result.plan), hide_index=True, alt=words)
    st.caption("Shares can be set by hand in the sidebar, under Algorithm settings.")


def rounds_screen(trained: Trained, loaded: Loaded) -> None:
    """Of a boosted model, epsilon over rounds and the losses of single rows; nothing for others."""
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
