"""The teacher's page: start a class, its link and QR code, the plan of the hour, the exercise sheet, and the summary."""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from dpviz.app import parts
from dpviz.app.learn.classroom import projector, sheet
from dpviz.app.learn.classroom.seat import CLASS, ROOMS, TEACHER, TEXTS, teaches
from dpviz.app.learn.course import LESSONS
from dpviz.app.learn.desk import option_names
from dpviz.app.prose import prose
from dpviz.app.widgets import download
from dpviz.errors import ClassroomError


def hour() -> None:
    """Everything for one hour, from the start to the summary."""
    parts.page("The hour", "All lessons in one class hour. For the teacher.")
    teacher = teaches()
    if teacher is None:
        st.markdown(prose(TEXTS, "start"))
        st.button("Start a class", icon=":material/co_present:", on_click=_start)
        link = None
    else:
        projector.ask()
        link = class_link(st.context.url or "", ROOMS.of_teacher(teacher).name)
        _door(link)
    st.header("Plan", anchor=False)
    st.table(sheet.plan_rows())
    st.markdown(prose(TEXTS, "each"))
    st.header("Exercise sheet", anchor=False)
    st.markdown(prose(TEXTS, "sheet"))
    download("Download the sheet (HTML)", lambda: sheet.sheet(link), "dpviz-lessons.html", "text/html")
    st.header("Summary", anchor=False)
    st.markdown(summary(teacher))
    if teacher is not None:
        st.divider()
        st.button("End the class", icon=":material/logout:", help="Its guesses are forgotten.", on_click=_end, args=(teacher,))


def class_link(address: str, name: str) -> str:
    """The one link of a class, to the first lesson, on the server at `address`."""
    return urlsplit(address)._replace(path="/", query=urlencode({CLASS: name}), fragment="").geturl()


def summary(teacher: str | None) -> str:
    """What each lesson claims, and how many in the room guessed right, as a list in Markdown."""
    return "\n".join(f"- {sheet.claim(lesson)}{_share(lesson.text, teacher)}" for lesson in LESSONS)


def _share(question: str, teacher: str | None) -> str:
    counts = ROOMS.counts(teacher, question) if teacher is not None else ()
    right = counts[option_names(question).index("right")] if counts else 0
    return f" *{right} of {sum(counts)} guessed right.*" if any(counts) else ""


def _door(link: str) -> None:
    """Link and QR code, large enough for the last row."""
    code, words = st.columns([1, 2], gap="large", vertical_alignment="center")
    with code:
        st.html(sheet.qr_code(link))
    with words:
        st.markdown(prose(TEXTS, "join"))
        st.code(link, language=None, wrap_lines=True)
        if urlsplit(link).hostname in {"localhost", "127.0.0.1", "::1"}:
            st.warning(prose(TEXTS, "alone"), icon=":material/computer:")


def _start() -> None:
    try:
        st.session_state[TEACHER] = ROOMS.start().teacher
    except ClassroomError as problem:
        parts.error(problem)


def _end(teacher: str) -> None:
    ROOMS.end(teacher)
    st.session_state.pop(TEACHER, None)
    st.query_params.pop(TEACHER, None)
