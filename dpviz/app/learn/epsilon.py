"""The page about good epsilons: an epsilon as guesses, published ones beside it, and the questions of an auditor."""

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import EPSILONS
from dpviz.app.learn.odds import EPSILONS as IN_THE_TABLE
from dpviz.app.parts import plain
from dpviz.app.prose import prose
from dpviz.app.widgets import linked, show_chart
from dpviz.evaluation.learn.deployments import deployments
from dpviz.figures import learn as figures
from dpviz.results.wording import number_text

TEXTS = "epsilon"


def ask() -> float:
    """The epsilon that the page is about."""
    options = {"format_func": number_text, **linked("good-epsilon")}
    return float(st.select_slider(f"ε ({NEIGHBOURS})", EPSILONS, 1.0, **options))


def odds(epsilon: float) -> None:
    """What it allows somebody who guesses."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("What it means", anchor=False, width="content")
        with st.popover("How to choose", type="tertiary"):
            st.markdown(prose(TEXTS, "odds"))
    chart = figures.guesses_chart(epsilon, IN_THE_TABLE)
    st.markdown(f"**{plain(chart.summary)}**")
    show_chart(chart, "epsilon-odds")


def others(epsilon: float) -> None:
    """Published epsilons, by what they protect."""
    st.header("What others published with", anchor=False)
    chart = figures.deployments_chart(deployments(), mine=epsilon)
    st.markdown(f"**{plain(chart.summary)}**")
    show_chart(chart, "epsilon-others")
    st.caption(prose(TEXTS, "others"))


def auditor() -> None:
    """What to have an answer to before a release."""
    st.header("What an auditor asks", anchor=False)
    st.markdown(prose(TEXTS, "auditor"))
    st.caption(prose(TEXTS, "sources"))
