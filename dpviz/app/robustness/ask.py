"""What the Robustness page asks: which learners, at which epsilons, how many draws; and how the curves are drawn."""

from dataclasses import dataclass

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.controls import DEPTHS, EPSILONS, FIRST_LEARNERS, auto_in_words, depth_of, settings_row
from dpviz.app.parts import needs_classes
from dpviz.app.state import Loaded, hidden_seed, rows_read
from dpviz.app.widgets import learner_title, linked, one_of
from dpviz.figures import as_python
from dpviz.figures.robustness import Unit
from dpviz.learners import FitRequest, get_learner
from dpviz.results.wording import number_text

DRAWS = (100, 300, 1000, 3000, 10_000)
SPLITS = (1, 3, 5)
FIRST_EPSILONS = (0.01, 0.1)
MOST_EPSILONS = 3
#: What a learner that spends no epsilon is asked with; it changes nothing.
ANY_EPSILON = 1.0
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

    def fit_of(self, cell: Cell) -> FitRequest:
        """The learner of a curve with its settings."""
        return FitRequest.of(cell.learner, epsilon=cell.epsilon or ANY_EPSILON, **depth_of(self.depth))

    def as_python(self) -> str:
        """The curves as Python."""
        return as_python.robustness(rows_read(), [self.fit_of(cell) for cell in self.cells], self.draws, self.splits)


@dataclass(frozen=True)
class View:
    """How curves are drawn; nothing is computed anew for it."""

    unit: Unit
    up_to: float
    wanted: float | None


def ask_request(loaded: Loaded) -> tuple[RobustnessRequest, View] | None:
    """Fill the row of settings; None when something is missing, which is then said."""
    if needs_classes(loaded, "A poisoning guarantee"):
        return None
    names = loaded.learners
    with settings_row():
        options = {"format_func": learner_title, **linked("robust-learners")}
        learners = st.multiselect("Algorithms", names, default=first_learners(names), **options)
        options = {"format_func": number_text, "max_selections": MOST_EPSILONS, **linked("robust-epsilons")}
        epsilons = st.multiselect(f"ε ({NEIGHBOURS})", EPSILONS, default=list(FIRST_EPSILONS), width=220, **options)
        goal = st.selectbox("Stay above", (_MAJORITY, _OWN), width=210, **linked("robust-goal"))
        wanted = _ask_wanted() if goal == _OWN else None
        with st.popover("More", icon=":material/tune:"):
            depth = st.select_slider("Depth", DEPTHS, value="auto", help=auto_in_words(), **linked("robust-depth"))
            draws = st.select_slider("Draws", DRAWS, value=300, format_func="{:,}".format, help=_MORE, **linked("robust-draws"))
            splits = st.select_slider("Splits", SPLITS, value=1, help=_SPLITS_HELP, **linked("robust-splits"))
            unit, up_to = _ask_range()
    if not learners or not epsilons:
        st.info("Choose at least one algorithm and one ε.", icon=":material/info:")
        return None
    seed = hidden_seed(loaded.role, _SECRET)
    chosen = tuple(learners), tuple(sorted(epsilons)), str(depth), int(draws), int(splits)
    return RobustnessRequest(*chosen, seed), View(unit, up_to, wanted)


def first_learners(names: tuple[str, ...]) -> list[str]:
    """The first two private learners of the Compare page, and those that certify by vote."""
    private = [name for name in FIRST_LEARNERS if name in names and get_learner(name).spends_epsilon][:2]
    return (private or list(names[:1])) + [name for name in names if get_learner(name).one_voter_per_row]


def _ask_wanted() -> float:
    """An accuracy of one's own to stay above, as a share."""
    return st.number_input("Accuracy, %", 0.0, 100.0, 80.0, 1.0, format="%g", width=110, **linked("robust-wanted")) / 100


def _ask_range() -> tuple[Unit, float]:
    """In what poisoned rows are counted, and up to which share of the rows."""
    unit = one_of("Poisoned rows as", tuple(_UNITS), format_func=_UNITS.__getitem__, **linked("robust-unit"))
    shown = {"format_func": lambda share: f"{100 * share:g}%", **linked("robust-up-to")}
    return unit, float(st.select_slider("Up to", SHARES, value=SHARES[-1], **shown))
