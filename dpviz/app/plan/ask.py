"""What the Plan page is asked: in which world, what is wanted, what is looked for. Private rows are never touched here."""

import json
from dataclasses import dataclass

import streamlit as st

from dpviz.app.parts import literal
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.app.trees import canonical_key
from dpviz.app.widgets import linked, one_of, whole_number
from dpviz.evaluation.plan.planner import Along, Goal, Measure
from dpviz.evaluation.plan.simulate import Marginals, Planted, Resampled, World, marginals_of, plant
from dpviz.figures.wording import percent
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole
from dpviz.table.schema import CategoricalFeature

ROWS_AT_HAND, SCHEMA = "rows", "schema"
UNIFORM, LIKE_ROWS, TYPED = "uniform", "rows", "typed"
#: Question -> its title. Each is answered by looking for one thing with everything else held fixed.
QUESTIONS = {
    "epsilon": "Accuracy → ε",
    "rows": "Accuracy → rows",
    "poison": "Poisoned rows → ε",
    "labels": "Reliable labels → ε",
    "depth": "Reliable labels → depth",
}
_ALONG: dict[str, Along] = {"epsilon": "epsilon", "rows": "n_rows", "labels": "epsilon", "depth": "max_depth"}
_SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


@dataclass(frozen=True)
class Place:
    """A world, and a text that says which: equal texts, equal worlds."""

    world: World
    key: str
    title: str


@dataclass(frozen=True)
class PlanRequest:
    """What is wanted. `goal` is None for poisoned rows, which `rows` is about."""

    name: str
    along: Along = "epsilon"
    goal: Goal | None = None
    rows: int = 0


def ask_world(loaded: Loaded) -> Place:
    """Rows at hand, or rows simulated from the schema; for private rows the schema only. Raises what the world raises."""
    options = {ROWS_AT_HAND: "The rows in use", SCHEMA: "The schema alone"}
    if loaded.role is DataRole.PRIVATE:
        st.info(prose("plan", "private rows"), icon=":material/lock:")
        return _ask_planted(loaded)
    more = {"format_func": options.__getitem__, **linked("world")}
    more["help"] = prose("plan", "rows in use", rows=f"{loaded.data.n_rows:,}")
    if one_of("Simulate with", tuple(options), **more) == SCHEMA:
        return _ask_planted(loaded)
    return Place(Resampled(loaded.data), loaded.data.fingerprint, loaded.title)


def _ask_planted(loaded: Loaded) -> Place:
    columns = st.columns(3, gap="medium")
    known = loaded.schema.n_public or 1_000
    with columns[0]:
        start = min(_SIZES, key=lambda size: abs(size - known))
        n_rows = st.select_slider("Rows", _SIZES, start, format_func=lambda size: f"{size:,}", **linked("plan-rows"))
    with columns[1]:
        words = "How far the class follows the planted tree. 0: chance. 1: always."
        strength = st.slider("Strength of the signal", 0.1, 1.0, 0.6, 0.1, help=words, **linked("strength"))
    with columns[2]:
        depth = st.slider("Levels of the planted tree", 1, 4, 2, **linked("planted"))
    marginals = _ask_marginals(loaded)
    key = canonical(loaded, marginals, n_rows, strength, depth)
    world = _planted(key, loaded, marginals, n_rows, strength, depth)
    follows, guessing = (percent(round(share, 3)) for share in (world.chances[0][0], world.most_frequent))
    st.caption(prose("plan", "planted", follows=follows, guessing=guessing))
    return Place(world, key, f"simulated from the schema of {loaded.title}")


def canonical(loaded: Loaded, marginals: Marginals, *numbers: float) -> str:
    """One text per planted world; knows the schema, not the rows."""
    return json.dumps([loaded.schema.key, sorted(marginals.items()), numbers])


@st.cache_resource(scope="session", max_entries=4, show_spinner=False)
def _planted(key: str, _loaded: Loaded, _marginals: Marginals, _n_rows: int, _strength: float, _depth: int) -> Planted:
    return plant(_loaded.schema, n_rows=_n_rows, strength=_strength, depth=_depth, marginals=_marginals, seed=1)


def _ask_marginals(loaded: Loaded) -> Marginals:
    """Uniform, typed, or (never for private rows) as in the rows in use."""
    options = {UNIFORM: "uniform", TYPED: "typed here"}
    if loaded.role is not DataRole.PRIVATE:
        options[LIKE_ROWS] = "as in the rows in use"
    more = {"format_func": options.__getitem__, **linked("marginals")}
    chosen = one_of("Distribution of each feature", tuple(options), **more)
    if chosen == LIKE_ROWS:
        return marginals_of(loaded.data)
    return _ask_weights(loaded) if chosen == TYPED else {}


def _ask_weights(loaded: Loaded) -> Marginals:
    """Weights per feature, kept in the session; a feature without any is uniform."""
    kept: dict[str, tuple[float, ...]] = st.session_state.setdefault(f"_weights {loaded.schema.key}", {})
    name = st.selectbox("Feature", loaded.schema.feature_names)
    feature = loaded.schema.feature(name)
    if isinstance(feature, CategoricalFeature):
        what = f"one weight per category, in this order: {', '.join(map(literal, feature.categories))}"
    else:
        what = f"weights of equally wide bins from {feature.low:g} to {feature.high:g}"
    typed = st.text_input("Weights, separated by spaces", " ".join(f"{w:g}" for w in kept.get(name, ())), key=f"weights {name}")
    st.caption(f"{literal(name)}: {what}. Empty: uniform.")
    try:
        weights = tuple(float(word) for word in typed.replace(",", " ").split())
    except ValueError:
        st.warning("Weights are numbers; what was typed is left out.", icon=":material/error:")
        weights = ()
    kept.pop(name, None)
    if weights:
        kept[name] = weights
    return dict(kept)


def ask_request(guess: float) -> PlanRequest:
    """Which question, and what is wanted. `guess` is what guessing reaches."""
    options = {"format_func": QUESTIONS.__getitem__, **linked("wanted")}
    name = one_of("What do you want to know?", tuple(QUESTIONS), label_visibility="collapsed", **options)  # the heading asks
    left, right = st.columns(2, gap="medium")
    if name == "poison":
        with left:
            rows = whole_number("Poisoned rows to withstand", 1, 100_000, 10, help=_POISON, key="protect")
        return PlanRequest(name, rows=rows)
    measure: Measure = "labels" if name in ("labels", "depth") else "accuracy"
    with left:
        if measure == "accuracy":
            start = min(99.0, round(100 * (guess + 0.05)))
            target = st.number_input("Accuracy, %", 1.0, 99.9, float(start), 0.5, format="%g", **linked("wish-accuracy"))
        else:
            target = st.number_input("Leaves with the right label, %", 1.0, 99.9, 90.0, 1.0, format="%g", **linked("wish-labels"))
    with right:
        steps = (50, 80, 90, 95)
        reliability = st.select_slider("Required reliability, trees of 100", steps, 90, help=_SURE, **linked("sure"))
    return PlanRequest(name, _ALONG[name], Goal(measure, target / 100, reliability / 100))


_SURE = "You get one tree. Higher: surer that yours is among those that reach it."
_POISON = "Rows an attacker may add or remove; a changed row counts as two. The mean accuracy must stay above guessing."


def request_key(place: Place, asked: FitRequest, request: PlanRequest, loaded: Loaded) -> str:
    """One text per request. What is looked for does not count as a setting."""
    if request.along == "epsilon" or request.name == "poison":
        asked = asked.at(epsilon=1.0)
    if request.along == "max_depth":
        asked = asked.at(max_depth=1, depth=1)
    return canonical_key(loaded, asked, world=place.key, wanted=repr(request))
