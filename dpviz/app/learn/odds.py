"""Lesson: what epsilon means."""

import math

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.evaluation.learn.lessons import guesses, guesses_by_tree
from dpviz.figures import learn as figures
from dpviz.results.wording import number_text, rounded_up

CONTROLS = ("epsilon",)
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
SHOWN, ASKED = 0.1, 1.0
#: Epsilons whose answers stand beside the right one.
BESIDE = {"low": 0.2, "high": 2.2, "top": 4.5}


def question() -> Numbers:
    """What a larger epsilon allows."""
    values = {name: rounded_up(guesses(epsilon)) for name, epsilon in {**BESIDE, "right": ASKED}.items()}
    fixed = {"coin": str(figures.COIN), "hundred": "100", "tree": rounded_up(guesses_by_tree(ASKED))}
    return values | fixed | {"epsilon": number_text(ASKED), "odds": number_text(math.exp(ASKED))}


def show(desk: Desk) -> None:
    """A hundred guesses."""
    epsilon = desk.slider("epsilon", f"ε ({NEIGHBOURS})", EPSILONS, SHOWN)
    desk.picture(figures.guesses_chart(epsilon, EPSILONS))
