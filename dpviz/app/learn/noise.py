"""Lesson: noise on a count, and the person's own two neighbouring tables."""

import math

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.evaluation.learn.lessons import noisy_counts
from dpviz.figures import learn as figures
from dpviz.results.wording import number_text

CONTROLS = ("epsilon", "missing", "late")
EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)
SHOWN = 1.0
ROWS = tuple(str(row) for row in range(1, 9))
LATE = ("2", "3", "5", "6", "8")
MISSING = ("3",)


def question() -> Numbers:
    """What a second row does to the ratio."""
    one = noisy_counts((2, 1), 1, SHOWN).largest
    two = noisy_counts((2, 0), 2, SHOWN).largest
    return {"one": number_text(one), "twice": number_text(2 * one), "two": number_text(two)}


def show(desk: Desk) -> None:
    """Two tables, two distributions, and their ratio."""
    late = set(desk.several("late", "Members who are late", ROWS, LATE, in_link=False))
    missing = set(desk.several("missing", "Missing from the second table", ROWS, MISSING, in_link=True))
    epsilon = desk.slider("epsilon", f"ε ({NEIGHBOURS})", EPSILONS, SHOWN)
    counts = len(late), len(late - missing)
    noisy = noisy_counts(counts, len(missing), epsilon)
    st.caption(_distance_text(len(missing), noisy.bound))
    desk.picture(figures.counts_chart(noisy, counts))
    with st.expander("The two tables", icon=":material/grid_on:"):
        words = "Each member: late or not, and whether the row is in each table."
        st.dataframe([_row(row, late, missing) for row in ROWS], hide_index=True, alt=words)


def _distance_text(distance: int, bound: float) -> str:
    if distance == 1:
        return "The tables are neighbours: they differ in one row."
    if not distance:
        return "The tables are the same."
    allowed = number_text(bound) if math.isfinite(bound) else "∞"
    return f"The tables differ in {distance} rows, so they are not neighbours: {allowed} times is allowed."


def _row(row: str, late: set[str], missing: set[str]) -> dict[str, str]:
    return {
        "member": row,
        "late": "yes" if row in late else "no",
        "first table": "in",
        "second table": "missing" if row in missing else "in",
    }
