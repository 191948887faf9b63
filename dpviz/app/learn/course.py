"""The lessons in their order: which one is open, what the link locks, how far the person is, and the teacher's link."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit as st

from dpviz.app.component import component
from dpviz.app.controls import depth_of
from dpviz.app.learn import adding, choosing, growing, noise, odds, poisoning
from dpviz.app.learn.desk import ANSWER, ANSWERED, QUESTION, Desk, Numbers, ask
from dpviz.app.prose import prose
from dpviz.app.widgets import one_of
from dpviz.figures import as_python as figures
from dpviz.installation import lessons_only
from dpviz.learners import FitRequest, get_learner

_KEY = "lesson"
_LOCK, _HIDE = "lock", "hide"
_TEACH_LOCK, _TEACH_HIDE = "_teacher_lock", "_teacher_hide"


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

    `controls` are what a teacher's link can lock or hide; `question` gives the numbers of the question and its answer, `show`
    draws controls and picture, `sample` is the same on a bundled sample. `asked` has the value of each control that the
    question is about: the picture moves there once it is answered.
    """

    name: str
    text: str
    controls: tuple[str, ...]
    question: Callable[[], Numbers]
    show: Callable[[Desk], None]
    sample: OnSample
    asked: Mapping[str, float] = field(default_factory=dict)


_TREE, _BUDGET = OnSample("tree"), OnSample("budget")
_NOISE = OnSample("budget", learner="privatree-corrected")
_GROWING = OnSample("tree", settings={"epsilon": "{epsilon}", "draw": "{seed}"})
_STUMP = OnSample("tree", sample=poisoning.SAMPLE, settings={"epsilon": "{epsilon}", "depth": "1"})
_REFUTED = OnSample("budget", learner="privatree", settings={"epsilon": "1", "privatree.grow_complete": "true"})

LESSONS = (
    Lesson("Epsilon", "odds", odds.CONTROLS, odds.question, odds.show, _TREE, {"epsilon": odds.ASKED}),
    Lesson("Noise", "noise", noise.CONTROLS, noise.question, noise.show, _NOISE),
    Lesson("Choosing", "choosing", choosing.CONTROLS, choosing.question, choosing.show, _BUDGET, {"epsilon": choosing.ASKED}),
    Lesson("Adding up", "adding", adding.CONTROLS, adding.question, adding.show, _REFUTED, {"features": adding.ASKED}),
    Lesson("Growing", "growing", growing.CONTROLS, growing.question, growing.show, _GROWING),
    Lesson(
        "Poisoning", "poisoning", poisoning.CONTROLS, poisoning.question, poisoning.show, _STUMP, {"epsilon": poisoning.ASKED}
    ),
)
_NAMES = tuple(lesson.name for lesson in LESSONS)


def choose() -> Lesson:
    """Which of them; the first unless the link says otherwise."""
    name = one_of("Lesson", _NAMES, key=_KEY, label_visibility="collapsed", bind="query-params")
    return LESSONS[_NAMES.index(name)]


def teach(lesson: Lesson) -> Mapping[str, list[str]]:
    """Claim and question on one side, control and picture on the other; then the way on. Returns what the controls show."""
    desk = Desk(lesson.text, _in_link(_LOCK), _in_link(_HIDE))
    st.header(desk.say("title"), anchor=False)
    words, picture = st.columns([2, 3], gap="large")
    with words:
        st.markdown(desk.say("claim"))
        numbers = lesson.question()
        desk = replace(desk, opened=ask(desk, numbers, lesson.asked))
        if desk.opened:
            st.markdown(f"**Try it.** {desk.say('try', **numbers)}")
    with picture:
        lesson.show(desk)
    if desk.opened and not lessons_only():
        st.link_button("Open this on a sample", on_sample(lesson, desk.shown), icon=":material/open_in_new:")
    st.divider()
    _way_on(lesson)
    if not desk.locked and not desk.hidden:
        with st.popover("Make a teacher's link", icon=":material/link:"):
            st.markdown(prose("learn/page", "teacher"))
            locked = st.multiselect("Lock", lesson.controls, key=f"{_TEACH_LOCK}_{lesson.text}")
            hidden = st.multiselect("Hide", (ANSWER, QUESTION, *lesson.controls), key=f"{_TEACH_HIDE}_{lesson.text}")
            st.code(teacher_link(st.context.url or "", lesson, desk.shown, locked, hidden), language=None, wrap_lines=True)
    # another lesson starts at its head, although its button is at the foot of the one before
    show = component("dpviz_lesson_top", Path(__file__).with_name("to_the_top"), html="<span hidden></span>")
    show(key="lesson-top", data={"lesson": lesson.name})
    return desk.shown


def progress() -> None:
    """How many of the questions are answered."""
    done = len(st.session_state.get(ANSWERED, ()))
    st.markdown(f"{'●' * done}{'○' * (len(LESSONS) - done)} {done} of {len(LESSONS)} questions answered")


def _in_link(name: str) -> frozenset[str]:
    """The names after `lock=` or `hide=`, separated by commas."""
    return frozenset(filter(None, (part.strip() for part in st.query_params.get(name, "").split(","))))


def _way_on(lesson: Lesson) -> None:
    place = LESSONS.index(lesson)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        back = LESSONS[place - 1] if place else None
        on = LESSONS[place + 1] if place + 1 < len(LESSONS) else None
        _go_button("Previous", back, ":material/arrow_back:")
        progress()
        _go_button("Next", on, ":material/arrow_forward:")


def _go_button(word: str, to: Lesson | None, icon: str) -> None:
    label = f"{word}: {to.name}" if to else word
    options = {"on_click": st.session_state.update, "args": ({_KEY: to.name if to else ""},)}
    st.button(label, key=f"_lesson_{word}", icon=icon, disabled=to is None, **options)


def as_python(lesson: Lesson, shown: Mapping[str, list[str]]) -> str:
    """What its epsilon allows, and the tree of the sample that the lesson leads to, as Python."""
    settings = _settings(lesson, shown)
    own = {name.partition(".")[2]: value == "true" for name, value in settings.items() if "." in name}
    asked = {"epsilon": float(settings["epsilon"]), **depth_of(settings.get("depth", "auto"))}
    request = FitRequest.of(lesson.sample.learner, **asked, **own)
    return figures.lesson(lesson.sample.sample, request, int(settings.get("draw", 1)))


def _settings(lesson: Lesson, shown: Mapping[str, list[str]]) -> dict[str, str]:
    now = {key.removeprefix(f"{lesson.text}."): values[0] for key, values in shown.items()}
    return {name: value.format_map(now) for name, value in lesson.sample.settings.items()}


def on_sample(lesson: Lesson, shown: Mapping[str, list[str]]) -> str:
    """The way from this lesson, with the values that its controls show, to a page of trees; relative to the Learn page."""
    there, settings = lesson.sample, _settings(lesson, shown)
    learner = get_learner(there.learner).title
    return f"{there.page}?{urlencode({'data': there.sample, 'learner': learner, **settings})}"


def teacher_link(address: str, lesson: Lesson, shown: dict[str, list[str]], locked: list[str], hidden: list[str]) -> str:
    """The address of this lesson with its settings, and what is locked and hidden. `address` may hold other settings."""
    parts = {_KEY: [lesson.name], **shown}
    parts |= {name: [",".join(names)] for name, names in ((_LOCK, locked), (_HIDE, hidden)) if names}
    bare = urlsplit(address)._replace(query="", fragment="").geturl()
    return f"{bare}?{urlencode(parts, doseq=True, safe=',')}"
