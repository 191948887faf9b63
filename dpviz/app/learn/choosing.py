"""Lesson: choosing with permute-and-flip, beside the exponential mechanism."""

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn.desk import Desk, Numbers
from dpviz.app.widgets import show_chart
from dpviz.evaluation.learn.lessons import coin_by_coin, noisy_choice
from dpviz.figures import learn as figures
from dpviz.figures.wording import chance
from dpviz.randomness import generator
from dpviz.results.wording import number_text

OPTIONS = {"novels": 12, "travel": 10, "history": 9, "poems": 3}
CONTROLS = ("epsilon", *OPTIONS)
EPSILONS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)
SHOWN, ASKED = 0.1, 0.5
MOST = 1000
#: The seed of the first game: three coins at the epsilon asked about, so that there is something to see.
FIRST_GAME = 3
_GAME = "_choosing_game"


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
    desk.picture(figures.choice_chart(list(OPTIONS), noisy, epsilon))
    _play(desk, counts, epsilon)


def _play(desk: Desk, counts: tuple[int, ...], epsilon: float) -> None:
    """One choice by permute-and-flip, coin by coin. Its seed and how many coins are shown stay in the session."""
    seed, shown = st.session_state.setdefault(_GAME, (FIRST_GAME, 0))
    flips = coin_by_coin(counts, epsilon, rng=generator(seed))
    shown = min(shown, len(flips))
    with st.container(horizontal=True):
        over = "A coin showed heads: the choice is made." if shown == len(flips) else ""
        desk.button("Flip the next coin", "counts", _turn, seed, shown + 1, reason=over, icon=":material/toll:")
        none = "" if shown else "No coin was flipped yet."
        desk.button("Another choice", "counts", _turn, seed + 1, 0, reason=none, icon=":material/restart_alt:")
    if shown:
        coins = figures.coins_chart(list(OPTIONS), flips[:shown])
        show_chart(coins, "choosing-coins")
        st.markdown(coins.summary)


def _turn(seed: int, shown: int) -> None:
    st.session_state[_GAME] = (seed, shown)
