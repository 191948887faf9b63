"""Lesson: who pays for the noise, a large and a small group."""

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.evaluation.learn.groups import GROUPS, N_ROWS, SIZES, WANTED, GroupCurves, group_curves
from dpviz.figures.learn import groups as figures
from dpviz.figures.wording import chance
from dpviz.results.wording import number_text

CONTROLS = ("rows",)
LABEL = f"Rows from the {GROUPS[1]}, of {N_ROWS:,}"
SHOWN, ASKED = SIZES[-1], SIZES[1]


@st.cache_data(show_spinner="Listing every tree …")
def curves(small: int) -> GroupCurves:
    """Both groups over epsilon."""
    return group_curves(small)


def question() -> Numbers:
    """From which epsilon on the small group is served as well as the large one."""
    town, village = (curves(ASKED).enough(group) for group in range(2))
    values = {"town": town, "twice": 2 * town, "right": village, "rows": N_ROWS, "few": ASKED, "times": N_ROWS // ASKED - 1}
    said = {name: number_text(value) for name, value in values.items()}
    return said | {"wanted": chance(WANTED), "neighbours": NEIGHBOURS}


def show(desk: Desk) -> None:
    """Error and found share of either group."""
    small = int(desk.slider("rows", LABEL, SIZES, SHOWN))
    found = curves(small)
    desk.picture(figures.groups_figure(found), figures.groups_sentence(found), figures.groups_rows(found))
