"""What the Compare page is asked: which learners, along which axis, how finely, how often. No row is touched here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app import parts
from dpviz.app.controls import (
    DEPTHS,
    EPSILONS,
    FIRST_LEARNERS,
    ask_param,
    auto_in_words,
    depth_of,
    first_depth,
    nearest_step,
    settings_row,
)
from dpviz.app.state import Loaded, hidden_seed, rows_read
from dpviz.app.widgets import learner_title, linked, one_of
from dpviz.errors import DpvizError, UnknownName
from dpviz.evaluation.compare.comparison import METRICS, metrics_for
from dpviz.evaluation.compare.grid import SweepGrid
from dpviz.figures import as_python
from dpviz.figures.compare import Axis
from dpviz.figures.wording import capital
from dpviz.learners import get_learner
from dpviz.learners.variants import parse_variant, variant, variant_of_title
from dpviz.learners.which import which_learner
from dpviz.results.wording import number_text
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget
from dpviz.training.params import NoParams, controls_of

if TYPE_CHECKING:
    import pandas as pd

FIRST_OF_NUMBERS = ("pf-tree", "s-gbdt", "dp-mean", "cart-regression", "gbdt")
EPSILON, DEPTH, ROWS = "epsilon", "max_depth", "n_rows"
VIEWS = {EPSILON: "over ε", DEPTH: "over depth", ROWS: "over number of rows"}
_PER_DECADE = {"1, 2, 3, 5": ("1", "2", "3", "5"), "1, 3": ("1", "3"), "1": ("1",)}
DRAWS = (3, 5, 10, 20, 30, 50, 100)
_HALVINGS = 7
_FEWEST_ROWS = 20
_SECRET = "_compare_secret"


@dataclass(frozen=True)
class CompareRequest:
    """What is asked: the fits of `grid`, with `metric` drawn `along` an axis, which is a column of the frame.

    `n_train` is where "all rows" stands on an axis of rows: as many as are trained on, from the public count. `axis` is over what
    curves along epsilon are drawn.
    """

    along: str
    metric: str
    grid: SweepGrid
    n_train: int
    axis: Axis = "asked"

    @property
    def places(self) -> tuple[float, ...]:
        """The places of the axis."""
        if self.along == EPSILON:
            return self.grid.epsilons
        of_grid = self.grid.max_depths if self.along == DEPTH else self.grid.n_rows
        return tuple(place or self.n_train for place in of_grid)

    def as_python(self) -> str:
        """The comparison as Python."""
        grid = self.grid
        axes = {"epsilon": list(grid.epsilons), "max_depth": list(grid.max_depths), "n_rows": list(grid.n_rows)}
        axes = {name: places for name, places in axes.items() if places != [None]}  # as they are by themselves
        asked = {"folds": grid.folds, "repeats": grid.repeats, "seed": grid.seed, "depth": grid.depth}
        return as_python.compare(rows_read(), grid.learners, self.along, self.metric, axes | asked)

    def placed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with a number for "all rows" where rows are the axis."""
        return frame.assign(n_rows=frame.n_rows.replace(0, self.n_train)) if self.along == ROWS else frame


def ask_request(loaded: Loaded) -> CompareRequest | None:
    """Fill the row of settings; None when something is missing, which is then said."""
    names, sizes = loaded.learners, row_sizes(loaded)
    with settings_row():
        key, first = f"learners{_suffix(loaded)}", _first_learners(loaded)
        chosen, problems = _ask_learners(names, key, first)
        _offer_variant(names, key)
        along = _ask_view(with_rows=len(sizes) > 1)
        metric = _ask_measure(loaded)
        with st.popover("More", icon=":material/tune:"):
            axis = _ask_axis() if along == EPSILON else "asked"
            axes = _ask_epsilons() if along == EPSILON else _ask_depths() if along == DEPTH else _ask_rows(sizes)
            usual = 5 if _suffix(loaded) else 20  # of numbers fewer: what is private about them boosts hundreds of trees
            repeats = st.select_slider("Draws per split", DRAWS, value=usual, help=_DRAWS, **linked(f"draws{_suffix(loaded)}"))
            folds = st.select_slider("Splits", (1, 3, 5, 10), value=5, help=_SPLITS, **linked("splits"))
    for problem in problems:
        parts.error(problem, kept="The others are compared.")
    if not chosen:
        st.info("Choose at least one algorithm.", icon=":material/info:")
        return None
    grid = SweepGrid(tuple(chosen), **axes, folds=int(folds), repeats=int(repeats), seed=hidden_seed(loaded.role, _SECRET))
    return CompareRequest(along, metric, grid, round_to_two_digits(grid.train_share * (_public_rows(loaded) or 1)), axis)


def _first_learners(loaded: Loaded) -> tuple[str, ...]:
    """Those to compare at first: the default, what is recommended for so many rows, and the most usual comparisons."""
    usual = FIRST_OF_NUMBERS if _suffix(loaded) else FIRST_LEARNERS
    if loaded.schema.n_public is None:
        return usual
    return tuple(dict.fromkeys((usual[0], which_learner(loaded.schema, epsilon=1.0).learner, *usual[1:])))


def _ask_learners(names: tuple[str, ...], key: str, wished: tuple[str, ...]) -> tuple[list[str], list[DpvizError]]:
    """Those to compare, as `sweep` takes them, and what is none. In the box and in the link a variant is called as on screen."""
    first = [name for name in wished if name in names] or list(names[:1])
    ideas = "\n".join(f"- **{parts.plain(spec.title)}**: {parts.plain(spec.idea)}" for spec in map(get_learner, names))
    options = {"format_func": _as_listed, "accept_new_options": True, "help": f"{ideas}\n\n{_VARIANTS}", **linked(key)}
    chosen, problems = dict[str, None](), list[DpvizError]()
    for name in st.multiselect("Algorithms", names, default=first, **options):
        try:
            text = variant_of_title(name)
            if parse_variant(text)[0] not in names:
                raise UnknownName("algorithm for this target", name, map(learner_title, names))
            chosen[text] = None
        except DpvizError as problem:
            problems.append(problem)
    return list(chosen), problems


def _as_listed(name: str) -> str:
    try:
        return learner_title(name)
    except DpvizError:  # a variant as it is called already, or what somebody typed
        return name


def _offer_variant(names: tuple[str, ...], key: str) -> None:
    """A learner with one parameter set otherwise, as a line of its own."""
    able = [name for name in names if get_learner(name).Params is not NoParams]
    with st.popover("Variant", icon=":material/add:"):
        learner = st.selectbox("Algorithm", able, format_func=learner_title, key="variant-of")
        kind = get_learner(learner).Params
        controls = controls_of(kind)
        name = st.selectbox("Parameter", controls, format_func=lambda name: controls[name].label, key=f"variant-{learner}")
        value = ask_param(f"variant-{learner}.{name}", name, learner, controls[name], "auto")
        text = variant(learner, {} if value in (None, getattr(kind(), name)) else {name: value})
        added = {"on_click": _add, "args": (key, text), "disabled": text == learner}
        st.button(f"Add {parts.plain(learner_title(text))}", icon=":material/add:", **added)


def _add(key: str, text: str) -> None:
    title = learner_title(text)
    if title not in st.session_state[key]:
        st.session_state[key] = [*st.session_state[key], title]


_VARIANTS = "You can type a variant too: PF-tree (lookahead=1)."


def _ask_axis() -> Axis:
    """Over what the curves are drawn, and so what "best" compares."""
    titles: dict[Axis, str] = {"asked": "ε asked for", "guesses": "right guesses of 100", "composed": "ε composed"}
    options = {"format_func": titles.__getitem__, "help": _AXES, **linked("x-axis")}
    axis: Axis = one_of("x axis", tuple(titles), **options)
    return axis


_AXES = (
    "Right guesses: best is the algorithm that predicts best where all let others guess equally well. Equal ε is not equal risk: "
    "what an algorithm does may tell less than its ε allows. Composed: what its steps add up to."
)
_SPLITS = "Rows are split so many times into a part to train on and a part held out, the same way for every algorithm."
_DRAWS = "Each draw trains every algorithm again, with other noise."
_MEASURE = {
    "": (
        "Balanced accuracy counts every class alike. Of probabilities, which not every algorithm gives: AUC, how well they order "
        "the rows; log loss and Brier score, how far they are off, 0 at best."
    ),
    "-of-numbers": "R²: the share of the spread that is explained, 0 for the mean. The errors are in the target's units.",
}


def _suffix(loaded: Loaded) -> str:
    """Widgets that offer other things for numbers have another key: what was chosen for one kind of target stays there."""
    return "-of-numbers" if isinstance(loaded.schema.target, NumericTarget) else ""


def _ask_measure(loaded: Loaded) -> str:
    suffix = _suffix(loaded)
    options = {"format_func": lambda metric: capital(METRICS[metric]), "help": _MEASURE[suffix], **linked(f"measure{suffix}")}
    return str(st.selectbox("Measure", metrics_for(loaded.schema, _majority(loaded)), width=180, **options))


def _majority(loaded: Loaded) -> float:
    """Share of the most frequent class; private rows are not counted."""
    if _suffix(loaded) or loaded.role is DataRole.PRIVATE or not loaded.data.n_rows:
        return 0.0
    return float(loaded.data.class_counts().max() / loaded.data.n_rows)


def _ask_view(*, with_rows: bool) -> str:
    views = tuple(view for view in VIEWS if with_rows or view != ROWS)
    words = None if with_rows else "Over number of rows: needs a public row count. Declare one on the Data page."
    options = {"format_func": VIEWS.__getitem__, "help": words, "width": "content", **linked("view")}
    return one_of("Curves", views, **options)


def _ask_epsilons() -> dict[str, Any]:
    label = f"ε from – to ({NEIGHBOURS})"
    low, high = st.select_slider(label, EPSILONS, value=(0.01, 5.0), format_func=number_text, **linked("epsilons"))
    digits = st.selectbox("Steps of ε per decade", tuple(_PER_DECADE), **linked("steps"))
    return {"epsilons": epsilons_between(low, high, digits), **_one_depth()}


def epsilons_between(low: float, high: float, digits: str = "1, 2, 3, 5") -> tuple[float, ...]:
    """Rounded steps from `low` to `high`, both kept; `digits` says which leading digits lie between."""
    wanted = _PER_DECADE[digits]
    return tuple(e for e in EPSILONS if e in (low, high) or (low < e < high and f"{e:.0e}"[0] in wanted))


def _one_depth() -> dict[str, Any]:
    given = depth_of(st.select_slider("Depth", DEPTHS, value=first_depth(), help=auto_in_words(), **linked("depth")))
    return {"max_depths": (given["max_depth"],), "depth": given["depth"]}


def _one_epsilon() -> dict[str, Any]:
    start = nearest_step(float(st.session_state.get("epsilon", 1.0)))
    epsilon = st.select_slider(f"ε ({NEIGHBOURS})", EPSILONS, value=start, format_func=number_text, **linked("one-epsilon"))
    return {"epsilons": (float(epsilon),)}


def _ask_depths() -> dict[str, Any]:
    deepest = st.select_slider("Deepest", range(2, 11), value=8, **linked("deepest"))
    words = "An algorithm with a public depth rule may then use fewer levels than allowed."
    by_rule = st.toggle("Let depth rules stop earlier", help=words, **linked("by-rule"))
    return {**_one_epsilon(), "max_depths": tuple(range(1, int(deepest) + 1)), "depth": "auto" if by_rule else "exact"}


def _ask_rows(sizes: tuple[int | None, ...]) -> dict[str, Any]:
    return {**_one_epsilon(), **_one_depth(), "n_rows": sizes}


def row_sizes(loaded: Loaded) -> tuple[int | None, ...]:
    """Training rows to use, each twice the one before, then all. From the public row count; from rows anyone may see else."""
    known = _public_rows(loaded) or 0
    sizes = [round_to_two_digits(0.8 * known / 2**halving) for halving in range(_HALVINGS, 0, -1)]
    return (*dict.fromkeys(size for size in sizes if size >= _FEWEST_ROWS), None)


def _public_rows(loaded: Loaded) -> int | None:
    if loaded.schema.n_public is None and loaded.role is not DataRole.PRIVATE:
        return loaded.data.n_rows
    return loaded.schema.n_public


def round_to_two_digits(number: float) -> int:
    """To two digits."""
    return int(float(f"{number:.1e}"))
