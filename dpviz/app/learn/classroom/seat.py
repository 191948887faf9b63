"""The lessons in a class: a pupil's guess is counted, and the teacher's screen shows the counts as they come in."""

import streamlit as st

from dpviz.app import parts
from dpviz.app.learn import course
from dpviz.app.learn.classroom import projector
from dpviz.app.learn.classroom.room import Rooms
from dpviz.app.learn.course import LESSONS, Lesson
from dpviz.app.learn.desk import option_names, options_of
from dpviz.app.prose import prose
from dpviz.app.work.watch import live
from dpviz.errors import ClassroomError

CLASS, TEACHER = "class", "teacher"
_SEATED, _COUNTED = "_class", "_class_guesses"
TEXTS = "learn/class"
#: Every class of this server.
ROOMS = Rooms({lesson.text: len(option_names(lesson.text)) for lesson in LESSONS})


def lessons() -> None:
    """The lessons of the Learn page, and what the class has to do with them."""
    parts.page("Learn", "Why does it work? Short lessons: guess, see the answer, then move the control.")
    teacher = teaches()
    if teacher is not None:
        projector.ask()
    lesson = course.choose()
    if teacher is not None:
        with st.container(border=True):
            st.header("The room's guesses", anchor=False)
            shown = st.toggle("Mark the right answer", key=f"_marked_{lesson.text}")
            options = options_of(lesson.text, lesson.question())
            live(lambda: _counts(lesson, teacher, options, marked=shown))
    course.teach(lesson)
    if teacher is None:
        _hand_in(lesson)


def teaches() -> str | None:
    """The teacher's name of the class on this screen; None for anybody else. It stays in the address."""
    name = st.query_params.get(TEACHER) or st.session_state.get(TEACHER)
    if name is None:
        return None
    try:
        ROOMS.of_teacher(name)
    except ClassroomError as problem:
        st.session_state.pop(TEACHER, None)
        st.query_params.pop(TEACHER, None)
        parts.error(problem)
        return None
    st.session_state[TEACHER] = name
    st.query_params[TEACHER] = name
    return name


def _hand_in(lesson: Lesson) -> None:
    """Count this session's guess: once, and after a second thought the second one only."""
    name = st.query_params.get(CLASS) or st.session_state.get(_SEATED)
    if name is None:
        return
    st.session_state[_SEATED] = name
    guess = st.session_state.get(f"{lesson.text}.guess")
    counted = st.session_state.setdefault(_COUNTED, {})
    before = counted.get((name, lesson.text))
    try:
        ROOMS.enter(name)
        option = before if guess is None else option_names(lesson.text).index(guess)
        if option != before:
            ROOMS.guess(name, lesson.text, option, instead_of=before)
            counted[name, lesson.text] = option
    except ClassroomError as problem:
        parts.error(problem, kept="You can go on with the lessons without a class.")
    else:
        st.caption(f":material/groups: {prose(TEXTS, 'seated')}")


def _counts(lesson: Lesson, teacher: str, options: dict[str, str], *, marked: bool) -> None:
    try:
        counts = ROOMS.counts(teacher, lesson.text)
    except ClassroomError:
        st.caption("The class has ended.")
        return
    total = sum(counts)
    st.markdown(f"**{total}** guessed so far." if total else "Nobody has guessed yet.")
    for (name, words), count in zip(options.items(), counts, strict=True):
        sign = ":material/check_circle: " if marked and name == "right" else ""
        st.progress(count / max(1, total), text=f"{sign}**{count}** · {words}")
