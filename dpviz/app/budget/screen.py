"""The Budget page's figures with sentences and tables: what one row pays, rounds of boosting; and where settings come from."""

import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.prose import prose
from dpviz.app.tree_parts import split_bar
from dpviz.app.trees import Trained
from dpviz.app.widgets import on_demand, show_chart
from dpviz.errors import DpvizError
from dpviz.evaluation.budget import boosting
from dpviz.figures import budget as figures
from dpviz.learners import DEFAULT, FitRequest, require_task
from dpviz.results.result import FitResult

_PRIVATREE = "privatree"


def spending_of(result: FitResult) -> None:
    """Where epsilon goes at one look, then what one row pays on its way down, and what that adds up to beside the claim."""
    split_bar(result)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Paid by level", anchor=False, width="content")
        with st.popover("How to read this", type="tertiary"):
            st.markdown(prose("budget", "one row pays", because=plain(result.claim.because)))
    given = (result.plan, result.ledger.spent(), result.claim, result.ledger.guarantee, result.unit)
    chart = figures.spending_chart(*given)
    st.markdown(f"**{plain(chart.summary)}**")
    show_chart(chart, "spending")


def settings(result: FitResult) -> None:
    """Who set each share, in words and with its formula."""
    with on_demand("Where these settings come from", icon=":material/function:") as box:
        if box.open:
            lines = [f"**{', '.join(parts)}**: {who}" for who, parts in figures.deciders(result.plan).items()]
            st.markdown("\n".join(f"- {line}" for line in (*lines, *map(plain, figures.plain_notes(result.plan)))))
            st.markdown("**The rules with their numbers**")
            st.markdown("\n".join(f"- {plain(rule)}" for rule in figures.formulas(result.plan)) or "No rule was needed.")
            words = "Every share of the plan with who set it."
            st.dataframe(figures.share_rows(result.plan), hide_index=True, alt=words)
            st.caption(f"{_counterpart(result)}Shares can be set by hand, under More.")


def _counterpart(result: FitResult) -> str:
    """The shares of PrivaTree for the same epsilon and depth, or beside PrivaTree those of the default; none for numbers."""
    name = DEFAULT if result.learner == _PRIVATREE else _PRIVATREE
    depth = max(1, result.plan.depth)
    try:
        request = FitRequest.of(name, epsilon=result.settings.epsilon, max_depth=depth, depth=depth)
        require_task(request.spec, result.schema)
        return f"{plain(figures.shares_sentence(request.spec.title, request.plan(result.schema)))} "
    except DpvizError:  # such as no declared number of rows
        return ""


def rounds_screen(trained: Trained) -> None:
    """Of a boosted model, epsilon over rounds; nothing for others."""
    event = boosting.rounds_event(trained.result)
    if event is None:
        return
    st.header("Round by round", anchor=False)
    points, epsilons = boosting.epsilon_over_rounds(event, event.rounds)
    chart = figures.rounds_chart(points, epsilons, event.delta)
    st.markdown(chart.summary)
    show_chart(chart, "rounds")
