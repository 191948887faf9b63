"""What the Robustness page asks: which learners, at which epsilons, how many draws; and how the curves are drawn."""

from dataclasses import dataclass

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import AUTO_CAP, DEPTHS, EPSILONS, FIRST_LEARNERS
from dpviz.app.parts import needs_classes
from dpviz.app.state import Loaded, hidden_seed
from dpviz.app.widgets import learner_title, linked
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.robustness.guaranteed_accuracy import Unit
from dpviz.learners import get_learner

DRAWS = (100, 300, 1000, 3000, 10_000)
SPLITS = (1, 3, 5)
FIRST_EPSILONS = (0.01, 0.1)
MOST_EPSILONS = 3
SHARES = (0.0005, 0.001, 0.002, 0.005, 0.01)
_SECRET = "_robustness_secret"
_MAJORITY, _OWN = "the majority class", "an accuracy of my own"
_UNITS: dict[Unit, str] = {"rows": "rows", "share": "% of the rows"}
_MORE = "More draws prove more. They prove something up to about as many rows k as e^(kε) is well below the draws."
_SPLITS_HELP = "Rows are split so many times into a part to train on and a part held out; each is certified, then averaged."


@dataclass(frozen=True)
class Cell:
    """One curve: a learner at an epsilon; None where it spends none."""

    learner: str
    epsilon: float | None


@dataclass(frozen=True)
class RobustnessRequest:
    """What is computed. `seed` is 0 for rows anyone may see, else a secret of the session."""

    learners: tuple[str, ...]
    epsilons: tuple[float, ...]
    depth: str
    draws: int
    splits: int
    seed: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every curve; one for a learner without epsilon."""
        every = ((name, epsilon) for name in self.learners for epsilon in self.epsilons)
        cells = (Cell(name, epsilon if get_learner(name).spends_epsilon else None) for name, epsilon in every)
        return tuple(dict.fromkeys(cells))


@dataclass(frozen=True)
class View:
    """How curves are drawn; nothing is computed anew for it."""

    unit: Unit
    up_to: float
    wanted: float | None


def ask_request(loaded: Loaded) -> RobustnessRequest | None:
    """Draw the sidebar; None when something is missing, which is then said."""
    if needs_classes(loaded, "A poisoning guarantee"):
        return None
    names = loaded.learners
    with st.sidebar:
        options = {"format_func": learner_title, **linked("robust-learners")}
        learners = st.multiselect("Algorithms", names, default=first_learners(names), **options)
        options = {"format_func": number_text, "max_selections": MOST_EPSILONS, **linked("robust-epsilons")}
        epsilons = st.multiselect(f"ε ({NEIGHBOURS})", EPSILONS, default=list(FIRST_EPSILONS), **options)
        words = f"Auto: each algorithm's public rule, at most {AUTO_CAP} levels."
        depth = st.select_slider("Depth", DEPTHS, value="auto", help=words, **linked("robust-depth"))
        draws = st.select_slider("Draws", DRAWS, value=300, format_func="{:,}".format, help=_MORE, **linked("robust-draws"))
        splits = st.select_slider("Splits", SPLITS, value=1, help=_SPLITS_HELP, **linked("robust-splits"))
    if not learners or not epsilons:
        st.info("Choose at least one algorithm and one ε in the sidebar.", icon=":material/info:")
        return None
    seed = hidden_seed(loaded.role, _SECRET)
    return RobustnessRequest(tuple(learners), tuple(sorted(epsilons)), str(depth), int(draws), int(splits), seed)


def first_learners(names: tuple[str, ...]) -> list[str]:
    """The first two private learners of the Compare page, and those that certify by vote."""
    private = [name for name in FIRST_LEARNERS if name in names and get_learner(name).spends_epsilon][:2]
    return (private or list(names[:1])) + [name for name in names if get_learner(name).one_voter_per_row]


def ask_view() -> View:
    """Units, range, and the accuracy to stay above."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        format_unit = {"format_func": _UNITS.__getitem__, "required": True, **linked("robust-unit")}
        unit = st.segmented_control("Unit", tuple(_UNITS), default="rows", **format_unit)
        shown = {"format_func": lambda share: f"{100 * share:g}%", **linked("robust-up-to")}
        up_to = st.select_slider("Up to", SHARES, value=SHARES[-1], width=200, **shown)
        goal = st.selectbox("Stay above", (_MAJORITY, _OWN), width=230, **linked("robust-goal"))
        percent = None
        if goal == _OWN:
            percent = st.number_input("Accuracy, %", 0.0, 100.0, 80.0, 1.0, format="%g", width=140, **linked("robust-wanted"))
    return View(unit, float(up_to), None if percent is None else percent / 100)
