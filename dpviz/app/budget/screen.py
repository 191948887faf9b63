"""The Budget page's figure with its sentence, its alt text and a table that says the same; and where its settings come from."""

import streamlit as st

from dpviz.app.parts import plain
from dpviz.app.widgets import chart, on_demand, table
from dpviz.figures.budget import spending
from dpviz.training.contract import FitResult


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
