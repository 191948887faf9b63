"""The page about good epsilons: an epsilon as guesses, published ones beside it, and the questions of an auditor."""

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import EPSILONS
from dpviz.app.learn.odds import EPSILONS as IN_THE_TABLE
from dpviz.app.parts import plain
from dpviz.app.prose import prose
from dpviz.app.widgets import chart, linked, table
from dpviz.evaluation.learn.deployments import deployments
from dpviz.figures.learn import deployments as figures
from dpviz.figures.learn import mechanisms
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
    words = mechanisms.guesses_sentence(epsilon)
    st.markdown(f"**{plain(words)}**")
    chart(mechanisms.guesses_figure(epsilon), words, key="epsilon-odds")
    table(mechanisms.guesses_rows(IN_THE_TABLE), "What every ε allows.", key="epsilon-odds")


def others(epsilon: float) -> None:
    """Published epsilons, by what they protect."""
    st.header("What others published with", anchor=False)
    found = deployments()
    words = figures.deployments_sentence(found, mine=epsilon)
    chart(figures.deployments_figure(found, mine=epsilon), words, key="epsilon-others")
    st.markdown(f"**{plain(words)}**")
    st.caption(prose(TEXTS, "others"))
    table(figures.deployment_rows(found), "Every entry of the registry.", key="epsilon-others")


def auditor() -> None:
    """What to have an answer to before a release."""
    st.header("What an auditor asks", anchor=False)
    st.markdown(prose(TEXTS, "auditor"))
    st.caption(prose(TEXTS, "sources"))
