"""Lesson: poisoned rows, and why a random learner resists."""

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.app.state import encoded_sample
from dpviz.evaluation.learn.lessons import PoisonedStump, poisoned_stump
from dpviz.figures import learn as figures
from dpviz.results.wording import number_text

CONTROLS = ("epsilon",)
SAMPLE = "clinic"
EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
SHOWN, ASKED, BESIDE = 0.05, 0.1, 0.03
ROWS = tuple(range(0, 101, 2))


@st.cache_data(show_spinner="Listing every tree …")
def stump(epsilon: float) -> PoisonedStump:
    """The exact distribution of the accuracy on a split of the simulated sample."""
    train, test = encoded_sample(SAMPLE).split(seed=0)
    return poisoned_stump(train, test, epsilon)


def question() -> Numbers:
    """How many rows are withstood."""
    asked = stump(ASKED)
    counts = {"few": asked.protected_as_published, "some": stump(BESIDE).protected, "right": asked.protected}
    said = {name: f"{count:,}" for name, count in (counts | {"half": asked.n_train // 2, "rows": asked.n_train}).items()}
    return said | {"epsilon": number_text(ASKED)}


def show(desk: Desk) -> None:
    """Accuracy that is certain, by poisoned rows."""
    epsilon = desk.slider("epsilon", f"ε ({NEIGHBOURS})", EPSILONS, SHOWN)
    desk.picture(figures.poison_chart(stump(epsilon), ROWS))
