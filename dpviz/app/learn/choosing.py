"""Lesson: choosing with permute-and-flip, beside the exponential mechanism."""

from __future__ import annotations

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.evaluation.learn.lessons import noisy_choice
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.learn import mechanisms as figures
from dpviz.figures.wording import chance

OPTIONS = {"novels": 12, "travel": 10, "history": 9, "poems": 3}
CONTROLS = ("epsilon", *OPTIONS)
EPSILONS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)
SHOWN, ASKED = 0.1, 0.5
MOST = 1000


def question() -> Numbers:
    """How often the best is found."""
    counts = tuple(OPTIONS.values())
    noisy = noisy_choice(counts, ASKED)
    values = {"right": noisy.flip_best, "exponential": noisy.exponential_best}
    worse = noisy_choice(counts, ASKED / 2).exponential_best
    said = {name: chance(share) for name, share in {**values, "less": worse}.items()}
    return said | {"epsilon": number_text(ASKED), "counts": ", ".join(map(str, counts))}


def show(desk: Desk) -> None:
    """Counts, and how often each is chosen."""
    epsilon = desk.slider("epsilon", f"ε ({NEIGHBOURS})", EPSILONS, SHOWN)
    with st.container(horizontal=True):
        counts = tuple(desk.number(name, name.capitalize(), 0, MOST, start) for name, start in OPTIONS.items())
    noisy = noisy_choice(counts, epsilon)
    desk.picture(
        figures.choice_figure(list(OPTIONS), noisy),
        figures.choice_sentence(noisy, epsilon),
        figures.choice_rows(list(OPTIONS), noisy),
    )
