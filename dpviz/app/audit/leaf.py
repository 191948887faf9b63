"""Smooth or global? On Audit: one leaf of a random forest under three rules, at an epsilon of one's choice."""

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import EPSILONS
from dpviz.app.prose import prose
from dpviz.app.widgets import chart
from dpviz.evaluation.audit.smooth_leaf import RULES, leaf_curve
from dpviz.figures.audit.smooth_leaf import gaps_to_show, leaf_figure, leaf_rows, leaf_sentence
from dpviz.results.wording import number_text


def smooth_or_global() -> None:
    """The explorer, folded away and not computed at first; moving its epsilon draws nothing else anew."""
    title, options = "Smooth or global? One leaf of a random forest", {"icon": ":material/forest:", "bind": "query-params"}
    folded = st.expander(title, key="smooth-or-global", **options)
    if folded.open:
        with folded:
            _explore()


@st.fragment
def _explore() -> None:
    st.markdown(prose("audit", "smooth or global"))
    options = {"format_func": number_text, "key": "leaf-epsilon", "bind": "query-params"}
    epsilon = st.select_slider(f"ε ({NEIGHBOURS})", EPSILONS, 1.0, **options)
    curves = [leaf_curve(rule, epsilon, gaps_to_show(epsilon)) for rule in RULES]
    words = leaf_sentence(epsilon)
    st.markdown(f"**{words}**")
    left, right = st.tabs(["Chart", "Table"])
    with left:
        chart(leaf_figure(curves), words, key="leaf-chart")
    right.dataframe(leaf_rows(curves), hide_index=True, alt="Chance of a flip and what one row more reveals, per gap and rule.")
