"""The lessons: what each is made of, a question that is asked first, controls that a link can set, a picture; then the six."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpviz.app.epsilon_slider import live_slider
from dpviz.app.prose import prose, sections
from dpviz.app.state import encoded_sample
from dpviz.app.tree_view import chosen_node, show_tree
from dpviz.app.widgets import keep_in_link, link_options, show_chart, whole_number
from dpviz.charts import learn as charts
from dpviz.charts.chart import Chart
from dpviz.charts.tree.svg import NodeNotes
from dpviz.charts.wording import PERSONS, chance
from dpviz.evaluation.audit.evidence import AuditResult
from dpviz.evaluation.lessons import (
    BROKEN,
    FEATURE_ROWS,
    N_ROWS,
    N_STEPS,
    PoisonedStump,
    adding_up,
    coin_by_coin,
    growing_tree,
    guesses,
    guesses_by_tree,
    lesson_rows,
    noisy_choice,
    noisy_counts,
    poisoned_stump,
)
from dpviz.learners import get_learner
from dpviz.randomness import generator
from dpviz.results.wording import number_text, rounded_up
from dpviz.table.schema import CategoricalFeature

ANSWERED = "_lessons_answered"
_SKIPPED = "_lessons_skipped"
#: Pixels; four such boxes stand side by side, two on a telephone.
NUMBER_WIDTH = 125
#: Numbers for a lesson's texts, computed, by the names in braces.
Numbers = dict[str, str]


@dataclass(frozen=True)
class LessonView:
    """One lesson on screen: the name of its file and texts.

    `is_open`: the question has been answered or skipped, so controls may be moved.
    """

    lesson: str
    is_open: bool = True

    def say(self, section: str, **values: str) -> str:
        """A section of the lesson's text."""
        return prose(f"learn/{self.lesson}", section, **values)

    def key(self, name: str) -> str:
        """Of the widget `name`, and of its value in the link."""
        return f"{self.lesson}.{name}"

    def slider(self, name: str, label: str, options: Sequence[float], default: float) -> float:
        """One of `options`, by a slider that the picture follows while it is dragged. Its value stays in the link."""
        key, named = self.key(name), {number_text(option): option for option in options}
        if st.session_state.get(key) not in options:
            st.session_state[key] = next((named[text] for text in st.query_params.get_all(key) if text in named), default)
        value: float = st.session_state[key]
        live_slider(label, options, key=key, disabled=not self.is_open)
        keep_in_link(key, number_text(value), default=number_text(default))
        return value

    def number(self, name: str, label: str, low: int, high: int, default: int) -> int:
        """A whole number from `low` to `high`."""
        return whole_number(label, low, high, default, key=self.key(name), width=NUMBER_WIDTH, disabled=not self.is_open)

    def several(self, name: str, label: str, options: Sequence[str], default: Sequence[str], *, in_link: bool) -> list[str]:
        """Any of `options`, by buttons; what is made up by the person stays out of the link."""
        more = {**link_options(self.key(name)), "disabled": not self.is_open} | ({} if in_link else {"bind": None})
        chosen = list(st.pills(label, options, selection_mode="multi", default=list(default), **more))
        return sorted(chosen, key=list(options).index)

    def button(self, label: str, on_click: Callable[..., None], *args: Any, reason: str = "", icon: str) -> None:
        """A button that moves a control; out of use before the guess, or for a `reason`, which is then said."""
        st.button(label, on_click=on_click, args=args, disabled=bool(reason) or not self.is_open, icon=icon, help=reason or None)

    def picture(self, chart: Chart) -> None:
        """A chart with its table; its sentence, also its alt text, stands below it once the guess is made."""
        show_chart(chart, f"{self.lesson}-picture")
        if self.is_open:
            st.markdown(chart.summary)

    def ask(self, numbers: Numbers, settings: Mapping[str, float]) -> bool:
        """Ask, and answer a guess: the controls then move to these settings. True when they may be moved."""
        lines = (line.partition(": ") for line in sections(f"learn/{self.lesson}")["options"].splitlines())
        options = {name: text.format_map(numbers) for name, _, text in lines}
        st.markdown(f"**Guess first.** {self.say('question', **numbers)}")
        more = {"format_func": options.__getitem__, "persist_state": "session", "key": self.key("guess")}
        more |= {"on_change": st.session_state.update, "args": ({self.key(name): value for name, value in settings.items()},)}
        guess = st.radio("Your guess", list(options), None, label_visibility="collapsed", **more)
        if guess is None:
            skipped = self.lesson in st.session_state.get(_SKIPPED, ())
            if not skipped:
                st.button("Skip", key=self.key("skip"), type="tertiary", on_click=_skip, args=(self.lesson,))
            return skipped
        st.session_state.setdefault(ANSWERED, set()).add(self.lesson)
        if guess == "right":
            st.success(f"Yes. {self.say('answer', **numbers)}", icon=":material/check_circle:")
        else:
            st.info(f"Not quite. {self.say('answer', **numbers)}", icon=":material/lightbulb:")
        return True


def _skip(lesson: str) -> None:
    st.session_state.setdefault(_SKIPPED, set()).add(lesson)


# --- the six: epsilon, noise on a count, choosing with permute-and-flip, losses that add up, a tree that grows, poisoned rows


EPSILON_LABEL = f"ε ({PERSONS})"

# --- what epsilon means

ODDS_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


def _odds_question() -> Numbers:
    """What a larger epsilon allows; the other options are what it is at other epsilons."""
    values = {name: rounded_up(guesses(at)) for name, at in {"low": 0.2, "high": 2.2, "top": 4.5, "right": 1.0}.items()}
    fixed = {"coin": str(charts.COIN), "hundred": "100", "tree": rounded_up(guesses_by_tree(1.0))}
    return values | fixed | {"epsilon": number_text(1.0), "odds": number_text(math.exp(1.0))}


def _show_odds(view: LessonView) -> None:
    """A hundred guesses."""
    view.picture(charts.guesses_chart(view.slider("epsilon", EPSILON_LABEL, ODDS_EPSILONS, 0.1), ODDS_EPSILONS))


# --- noise on a count, and two neighbouring tables of one's own

MEMBERS = tuple(str(row) for row in range(1, 9))


def _noise_question() -> Numbers:
    """What a second person does to the ratio."""
    one, two = noisy_counts((2, 1), 1, 1.0).largest, noisy_counts((2, 0), 2, 1.0).largest
    return {"one": number_text(one), "twice": number_text(2 * one), "two": number_text(two)}


def _show_noise(view: LessonView) -> None:
    """Two tables, two distributions, and their ratio."""
    late = set(view.several("late", "Members who are late", MEMBERS, ("2", "3", "5", "6", "8"), in_link=False))
    missing = set(view.several("missing", "Missing from the second table", MEMBERS, ("3",), in_link=True))
    epsilon = view.slider("epsilon", EPSILON_LABEL, (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0), 1.0)
    counts, distance = (len(late), len(late - missing)), len(missing)
    noisy = noisy_counts(counts, distance, epsilon)
    allowed = number_text(noisy.bound) if math.isfinite(noisy.bound) else "∞"
    words = f"The tables differ in {distance} people, so they are not neighbours: {allowed} times is allowed."
    known = {0: "The tables are the same.", 1: "The tables are neighbours: they differ in one person."}
    st.caption(known.get(distance, words))
    view.picture(charts.counts_chart(noisy, counts))


# --- choosing with permute-and-flip, beside the exponential mechanism

OPTIONS = {"novels": 12, "travel": 10, "history": 9, "poems": 3}
_GAME = "_choosing_game"


def _choosing_question() -> Numbers:
    """How often the best is found."""
    counts = tuple(OPTIONS.values())
    noisy, worse = noisy_choice(counts, 0.5), noisy_choice(counts, 0.25).exponential_best
    values = {"right": noisy.flip_best, "exponential": noisy.exponential_best, "less": worse}
    texts = {name: chance(share) for name, share in values.items()}
    return texts | {"epsilon": number_text(0.5), "counts": ", ".join(map(str, counts))}


def _show_choosing(view: LessonView) -> None:
    """Counts, how often each is chosen, and one choice by permute-and-flip, coin by coin."""
    epsilon = view.slider("epsilon", EPSILON_LABEL, (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0), 0.1)
    with st.container(horizontal=True):
        counts = tuple(view.number(name, name.capitalize(), 0, 1000, start) for name, start in OPTIONS.items())
    view.picture(charts.choice_chart(list(OPTIONS), noisy_choice(counts, epsilon), epsilon))
    seed, n_flips = st.session_state.setdefault(_GAME, (3, 0))  # three coins at the epsilon of the question
    flips = coin_by_coin(counts, epsilon, rng=generator(seed))
    n_flips, change = min(n_flips, len(flips)), st.session_state.update
    with st.container(horizontal=True):
        over = "A coin showed heads: the choice is made." if n_flips == len(flips) else ""
        view.button("Flip the next coin", change, {_GAME: (seed, n_flips + 1)}, reason=over, icon=":material/toll:")
        none = "" if n_flips else "No coin was flipped yet."
        view.button("Another choice", change, {_GAME: (seed + 1, 0)}, reason=none, icon=":material/restart_alt:")
    if n_flips:
        st.markdown("\n".join(f"1. {words}" for words in charts.coin_sentences(list(OPTIONS), flips[:n_flips])))


# --- losses add up, and features of one row are not different rows

MAX_FEATURES = 4


@st.cache_data(show_spinner="Searching every small table …")
def _search_both(n_features: int) -> tuple[AuditResult, AuditResult]:
    """(the broken proof, the default learner) on this many features; the search runs once."""
    return adding_up(n_features, 1.0)


def _adding_question() -> Numbers:
    """What is really lost."""
    found, _ = _search_both(MAX_FEATURES)
    numbers = {
        "claimed": found.claimed,
        "found": found.log_ratio,
        "composed": found.composed,
        "times": MAX_FEATURES * found.claimed,
        "likely": math.exp(found.log_ratio),
        "allowed": math.exp(found.claimed),
    }
    fixed = {"title": get_learner(BROKEN).title, "features": str(MAX_FEATURES), "rows": str(FEATURE_ROWS), "neighbours": PERSONS}
    return {name: number_text(value) for name, value in numbers.items()} | fixed


def _show_adding(view: LessonView) -> None:
    """The claim, the loss found, and what the steps add up to; the two tables that show it."""
    n_features = int(view.slider("features", "Features", tuple(range(1, MAX_FEATURES + 1)), 1))
    found, own = _search_both(n_features)

    view.picture(charts.adding_chart(found, own, n_features))
    if found.worst_pair is None or found.verdict != "violated":
        return
    pair = found.worst_pair
    with st.expander("The two tables that show it", icon=":material/compare:"):
        st.markdown(view.say("pair"))
        for name, rows in (("First table", pair.first), ("Second table", pair.second)):
            st.caption(name)
            lines = [dict(zip(pair.columns, row, strict=True)) for row in rows]
            if lines:
                st.dataframe(lines, hide_index=True, alt=f"{name}: {len(lines)} rows.")
            else:
                st.markdown("*No rows.*")
        low, high = sorted(pair.probabilities)
        st.markdown(view.say("tree", low=number_text(low), high=number_text(high), times=number_text(high / low)))


# --- a private tree grows, one draw per node, on thirty visible rows

MAX_SEED = 1_000_000
_TREE, _CHOSEN = "lesson-tree", "_lesson_node"


#: The tree after some steps.
tree_after = st.cache_data(show_spinner=False, max_entries=500)(growing_tree)


def _growing_question() -> Numbers:
    """Whether two people get the same root."""
    (root,) = tree_after(2.0, 1, 0).waiting
    values = {"right": chance(root.agreement), "best": chance(root.options[0].probability)}
    return values | {"rows": str(N_ROWS), "epsilon": number_text(2.0)}


def _show_growing(view: LessonView) -> None:
    """The tree so far, and the chances at the chosen node."""
    epsilon = view.slider("epsilon", EPSILON_LABEL, (0.1, 0.3, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0), 2.0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = view.number("seed", "Seed", 1, MAX_SEED, 1)
        view.button("Another seed", _another_seed, view.key("seed"), icon=":material/refresh:")
    steps = int(view.slider("steps", "Nodes drawn", tuple(range(N_STEPS + 1)), 0))
    now = tree_after(epsilon, seed, steps)
    done = "" if now.waiting else "Every node is drawn."
    view.button("Draw the next node", _draw_next, view.key("steps"), reason=done, icon=":material/casino:")

    ids = {placed.id: placed.path for placed in now.tree.nodes()}
    newest = (*now.nodes, *now.waiting)[max(0, len(now.nodes) - 1)].path
    chosen = chosen_node(_TREE)
    if chosen is not None:
        st.session_state[_CHOSEN] = chosen
    path = ids.get(st.session_state.get(_CHOSEN, ""), newest)
    selected = next(name for name, place in ids.items() if place == path)
    notes = NodeNotes(marks={node.path: f"{len(node.rows)} rows" for node in (*now.nodes, *now.waiting)})
    title = f"The tree after {len(now.nodes)} of {N_STEPS} draws"
    show_tree(now.tree, title=title, key=_TREE, selected=selected, notes=notes, height=300)
    st.markdown(view.say("paid" if now.waiting else "done", spent=f"{number_text(now.spent)} ({PERSONS})"))
    node = now.at(path)
    place = " then ".join("“true”" if step == "L" else "“false”" for step in node.path)
    where = f"after {place}" if place else "at the root"
    st.subheader(f"What could be drawn {where}" if node in now.waiting else f"What was drawn {where}", anchor=False)
    view.picture(charts.options_chart(node))
    with st.expander(f"The {len(node.rows)} rows here", icon=":material/grid_on:"):
        st.dataframe(list(map(_row, node.rows)), hide_index=True, alt=f"The {len(node.rows)} made-up rows at this node.")


def _another_seed(key: str) -> None:
    st.session_state[key] = st.session_state[key] % MAX_SEED + 1


def _draw_next(key: str) -> None:
    st.session_state[key] += 1
    st.session_state.pop(_CHOSEN, None)


def _row(position: int) -> dict[str, str | int]:
    data = lesson_rows()
    cells: dict[str, str | int] = {"row": position + 1}
    for feature, column in zip(data.schema.features, data.columns, strict=True):
        value = int(column[position])
        cells[feature.name] = feature.categories[value] if isinstance(feature, CategoricalFeature) else value
    return cells | {data.schema.target.name: data.schema.classes[data.target[position]]}


# --- poisoned rows, and why a random learner resists


@st.cache_data(show_spinner="Listing every tree …")
def stump(epsilon: float) -> PoisonedStump:
    """The exact distribution of the accuracy on a split of the simulated sample."""
    train, test = encoded_sample("clinic").split(seed=0)
    return poisoned_stump(train, test, epsilon)


def _poisoning_question() -> Numbers:
    """How many rows are withstood."""
    tree = stump(0.1)
    counts = {"few": tree.published_protected_rows, "some": stump(0.03).protected_rows, "right": tree.protected_rows}
    counts |= {"half": tree.n_train // 2, "rows": tree.n_train}
    return {name: f"{count:,}" for name, count in counts.items()} | {"epsilon": number_text(0.1)}


def _show_poisoning(view: LessonView) -> None:
    """Accuracy that is certain, by poisoned rows."""
    epsilon = view.slider("epsilon", EPSILON_LABEL, (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0), 0.05)
    view.picture(charts.poison_chart(stump(epsilon), tuple(range(0, 101, 2))))


# --- their order


@dataclass(frozen=True, slots=True)
class OnSample:
    """Where a lesson goes on: a page, the bundled sample, and the page's settings. `{epsilon}` is what that control shows."""

    page: str
    sample: str = "loans"
    learner: str = "pf-tree"
    settings: Mapping[str, str] = field(default_factory=lambda: {"epsilon": "{epsilon}"})


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson. `name` is on its button and in the link; `text` names its file of texts, and its controls in the link.

    `question` gives the numbers of the question and its answer, `show`
    draws controls and picture, `sample` is the same on a bundled sample. `settings` has the value of each control that the
    question is about: the picture moves there once it is answered.
    """

    name: str
    text: str
    question: Callable[[], Numbers]
    show: Callable[[LessonView], None]
    sample: OnSample
    settings: Mapping[str, float] = field(default_factory=dict)


_NOISE = OnSample("tree", learner="privatree-corrected")
_REFUTED = OnSample("tree", learner="privatree", settings={"epsilon": "1", "privatree.grow_complete": "true"})
_GROWING = OnSample("tree", settings={"epsilon": "{epsilon}", "draw": "{seed}"})
_STUMP = OnSample("tree", sample="clinic", settings={"epsilon": "{epsilon}", "depth": "1"})
LESSONS = (
    Lesson("Epsilon", "odds", _odds_question, _show_odds, OnSample("tree"), {"epsilon": 1.0}),
    Lesson("Noise", "noise", _noise_question, _show_noise, _NOISE),
    Lesson("Choosing", "choosing", _choosing_question, _show_choosing, OnSample("tree"), {"epsilon": 0.5}),
    Lesson("Adding up", "adding", _adding_question, _show_adding, _REFUTED, {"features": MAX_FEATURES}),
    Lesson("Growing", "growing", _growing_question, _show_growing, _GROWING),
    Lesson("Poisoning", "poisoning", _poisoning_question, _show_poisoning, _STUMP, {"epsilon": 0.1}),
)
