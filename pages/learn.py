"""Page "Learn": guess first, see the answer, then move the control; and which epsilons others published with."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from dpviz.app import frame, learn, parts
from dpviz.app.component import component
from dpviz.app.controls import EPSILONS, depth_of
from dpviz.app.learn.lessons import ANSWERED, LESSONS, ODDS_EPSILONS, Lesson, LessonView
from dpviz.app.parts import escape_markdown
from dpviz.app.prose import prose
from dpviz.app.widgets import link_options, one_of, show_chart
from dpviz.charts import as_python
from dpviz.charts import learn as charts
from dpviz.charts.wording import PERSONS
from dpviz.evaluation.deployments import deployments
from dpviz.installation import lessons_only
from dpviz.learners import FitRequest, get_learner
from dpviz.results.wording import number_text

LESSON, OTHERS = "lesson", "What others use"
NAMES = tuple(lesson.name for lesson in LESSONS)


def on_sample(lesson: Lesson) -> tuple[dict[str, str], str]:
    """(settings, address) of the page of trees a lesson leads to, with the values that its controls show."""
    values = {name: st.session_state.get(f"{lesson.text}.{name}", 0) for name in ("epsilon", "seed")}
    now = values | {"epsilon": number_text(values["epsilon"])}
    settings = {name: value.format_map(now) for name, value in lesson.sample.settings.items()}
    learner = get_learner(lesson.sample.learner).title
    return settings, f"{lesson.sample.page}?{urlencode({'data': lesson.sample.sample, 'learner': learner, **settings})}"


def lesson_as_python(lesson: Lesson, settings: Mapping[str, str]) -> str:
    """What its epsilon allows, and the tree of the sample that the lesson leads to, as Python."""
    own = {name.partition(".")[2]: value == "true" for name, value in settings.items() if "." in name}
    depth = depth_of(settings.get("depth", "auto"))
    request = FitRequest.of(lesson.sample.learner, epsilon=float(settings["epsilon"]), **depth, **own)
    return as_python.lesson(lesson.sample.sample, request, int(settings.get("draw", 1)))


def show_lesson(lesson: Lesson) -> None:
    """Claim and question on one side, control and picture on the other; then the way on."""
    view = LessonView(lesson.text, is_open=False)
    st.header(view.say("title"), anchor=False)
    words, picture = st.columns([2, 3], gap="large")
    with words:
        st.markdown(view.say("claim"))
        numbers = lesson.question()
        view = replace(view, is_open=view.ask(numbers, lesson.settings))
        if view.is_open:
            st.markdown(f"**Try it.** {view.say('try', **numbers)}")
    with picture:
        lesson.show(view)
    settings, address = on_sample(lesson)
    if view.is_open and not lessons_only():
        st.link_button("Open this on a sample", address, icon=":material/open_in_new:")
    st.divider()
    place, done = LESSONS.index(lesson), len(st.session_state.get(ANSWERED, ()))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        go_button("Previous", NAMES[place - 1] if place else "", ":material/arrow_back:")
        st.markdown(f"{'●' * done}{'○' * (len(LESSONS) - done)} {done} of {len(LESSONS)} questions answered")
        go_button("Next", [*NAMES, ""][place + 1], ":material/arrow_forward:")
    # another lesson starts at its head, although its button is at the foot of the one before
    show = component("dpviz_lesson_top", Path(learn.__file__).with_name("to_the_top"), html="<span hidden></span>")
    show(key="lesson-top", data={"lesson": lesson.name})
    frame.next_page_button("learn")
    frame.as_python(partial(lesson_as_python, lesson, settings))


def go_button(word: str, name: str, icon: str) -> None:
    """To the lesson before or after; out of use where there is none."""
    label, to = f"{word}: {name}" if name else word, {"on_click": st.session_state.update, "args": ({LESSON: name},)}
    st.button(label, key=f"_lesson_{word}", icon=icon, disabled=not name, **to)


def show_others() -> None:
    """An epsilon as guesses, published ones beside it, and the questions of an auditor."""
    options = {"format_func": number_text, **link_options("good-epsilon")}
    epsilon = float(st.select_slider(f"ε ({PERSONS})", EPSILONS, 1.0, **options))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("What it means", anchor=False, width="content")
        with st.popover("How to choose", type="tertiary"):
            st.markdown(prose("epsilon", "odds"))
    odds = charts.guesses_chart(epsilon, ODDS_EPSILONS)
    st.markdown(f"**{escape_markdown(odds.summary)}**")
    show_chart(odds, "epsilon-odds")
    st.header("What others published with", anchor=False)
    published = charts.deployments_chart(deployments(), mine=epsilon)
    st.markdown(f"**{escape_markdown(published.summary)}**")
    show_chart(published, "epsilon-others")
    st.caption(prose("epsilon", "others"))
    st.header("What an auditor asks", anchor=False)
    st.markdown(prose("epsilon", "auditor"))
    st.caption(prose("epsilon", "sources"))
    frame.next_page_button("learn")
    frame.as_python(partial(as_python.guesses, epsilon))


parts.page("Learn", "All rows are made up, one of each person.")
choice = {"key": LESSON, "label_visibility": "collapsed", "bind": "query-params"}
chosen = one_of("Lesson", (*NAMES, OTHERS), **choice)
if chosen == OTHERS:
    show_others()
else:
    show_lesson(LESSONS[NAMES.index(chosen)])
