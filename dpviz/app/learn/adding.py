"""Lesson: losses add up, and features of one row are not different rows."""

import math

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.evaluation.audit.findings import AuditResult, WorstPair
from dpviz.evaluation.learn.lessons import FEATURE_ROWS, adding_up, broken_proof
from dpviz.figures import learn as figures
from dpviz.results.wording import number_text

CONTROLS = ("features",)
EPSILON = 1.0
MOST_FEATURES = 4
SHOWN, ASKED = 1, 4


@st.cache_data(show_spinner="Searching every small table …")
def search_both(n_features: int) -> tuple[AuditResult, AuditResult]:
    """(the broken proof, the default learner) on this many features; the search runs once."""
    return adding_up(n_features, EPSILON)


def question() -> Numbers:
    """What is really lost."""
    found, own = search_both(ASKED)
    numbers = {
        "claimed": found.claimed,
        "found": found.log_ratio,
        "composed": found.composed,
        "times": ASKED * found.claimed,
        "likely": math.exp(found.log_ratio),
        "own": own.log_ratio,
        "own_claimed": own.claimed,
        "allowed": math.exp(found.claimed),
    }
    said = {name: number_text(value) for name, value in numbers.items()}
    return said | {"title": broken_proof().title, "features": str(ASKED), "rows": str(FEATURE_ROWS), "neighbours": NEIGHBOURS}


def show(desk: Desk) -> None:
    """The claim, the loss found, and what the steps add up to."""
    n_features = int(desk.slider("features", "Features", tuple(range(1, MOST_FEATURES + 1)), SHOWN))
    found, own = search_both(n_features)
    every = [(count, search_both(count)[0]) for count in range(1, MOST_FEATURES + 1)]
    desk.picture(figures.adding_chart(found, own, n_features, every))
    if found.worst_pair is not None and found.verdict == "violated":
        with st.expander("The two tables that show it", icon=":material/compare:"):
            _pair(desk, found.worst_pair)


def _pair(desk: Desk, pair: WorstPair) -> None:
    st.markdown(desk.say("pair"))
    for name, rows in (("First table", pair.first), ("Second table", pair.second)):
        st.caption(name)
        lines = [dict(zip(pair.columns, row, strict=True)) for row in rows]
        if lines:
            st.dataframe(lines, hide_index=True, alt=f"{name}: {len(lines)} rows.")
        else:
            st.markdown("*No rows.*")
    low, high = sorted(pair.probabilities)
    st.markdown(desk.say("tree", low=number_text(low), high=number_text(high), times=number_text(high / low)))
