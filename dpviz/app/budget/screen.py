"""The Budget page's figures, each with its sentence, its alt text and a table that says the same."""

from __future__ import annotations

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.widgets import chart, table
from dpviz.evaluation.budget.boosting import rounds_event
from dpviz.figures.budget import spending
from dpviz.training.contract import FitResult


def claimed_and_composed(result: FitResult) -> None:
    """What is promised beside what the steps add up to, and why they differ."""
    st.header("Claimed and composed", anchor=False)
    sentence = spending.claim_sentence(result.claim, result.ledger.guarantee)
    st.markdown(sentence)
    figure = spending.claim_figure(result.claim, result.ledger.guarantee)
    chart(figure, sentence, key="claim")
    table(spending.claim_rows(result.claim, result.ledger.guarantee), "Claimed and composed epsilon.")


def split(result: FitResult) -> None:
    """The split over quantiles, nodes and leaves."""
    st.header("What epsilon buys", anchor=False)
    spent = result.ledger.spent()
    sentence = spending.split_sentence(result.plan, spent)
    st.markdown(sentence)
    chart(spending.split_figure(result.plan, spent), sentence, key="split")
    table(spending.split_rows(result.plan, spent), "Epsilon per part, as counted and as one row pays it.")


def levels(result: FitResult) -> None:
    """The split over the depths of the tree; a model made in rounds pays by round instead."""
    if rounds_event(result) is not None:
        return
    st.header("Level by level", anchor=False)
    words = "What one row pays on its way down. Nodes of one level hold different rows, so each level is paid once"
    st.markdown(f"{words} ({NEIGHBOURS}).")
    chart(spending.levels_figure(result.plan), spending.levels_sentence(result.plan), key="levels")
    table(spending.share_rows(result.plan), "Every share of the plan with who set it.")


def who_decided(result: FitResult) -> None:
    """Who set each share, and the public rules with their numbers."""
    st.header("Who decided", anchor=False)
    lines = [f"**{', '.join(parts)}**: {who}" for who, parts in spending.deciders(result.plan).items()]
    st.markdown("\n".join(f"- {line}" for line in (*lines, *result.plan.notes)))
    st.caption("Shares can be set by hand in the sidebar, under Learner settings.")
