"""Papers about a release on the Register page: the answers only people can give, and the files made with them."""

from pathlib import Path

import streamlit as st

from dpviz.app.parts import error, literal, why_disabled
from dpviz.app.widgets import download
from dpviz.errors import DpvizError
from dpviz.figures.guarantee_text import epsilon_text
from dpviz.figures.publish.page_one import Signed
from dpviz.figures.publish.paper_facts import DATA_SOURCES, QUESTIONS, SECTORS, Answers, Facts, facts_of
from dpviz.figures.publish.papers import FORMS, TITLES, paper
from dpviz.figures.publish.report import report_html
from dpviz.figures.publish.self_assessment import WHAT_IT_IS
from dpviz.io.exports.contract import Exportable
from dpviz.release.files import released_text
from dpviz.release.records import Entry, State
from dpviz.release.register import ReleaseRegister

_CHOICES = {"sector": SECTORS, "data_source": DATA_SOURCES}
_LONGEST = 2_000


def papers_screen(book: ReleaseRegister) -> None:
    """Choose a release, answer, take the papers away. Nothing is sent."""
    finished = [entry for entry in reversed(book.releases()) if entry.state is State.RELEASED]
    if not finished:
        return
    st.divider()
    st.header("Papers that travel with a release", anchor=False)
    st.caption(f"A draft for the public DP Deployments Registry, which nobody sends but you. {WHAT_IT_IS}")
    entry = st.selectbox("Release", finished, format_func=_title, key="papers-release")
    try:
        released = released_text(Path(entry.file), entry.sha256)
        facts = facts_of(book.balance(entry.data_set), entry, released)
    except DpvizError as problem:
        error(problem)
        return
    answers = _ask()
    why_not = f"Still to be answered: {len(answers.missing)} of {len(QUESTIONS)}." if answers.missing else ""
    why_disabled(why_not)
    for kind in TITLES:
        _offer(kind, facts, answers)
    _offer_report(entry, released, facts, answers)


def _offer_report(entry: Entry, released: str, facts: Facts, answers: Answers) -> None:
    """The report with what stands beside its signature line; what is not answered is left to be filled in by hand."""
    st.markdown("**Report for a board**: page one to sign, annexes after it")
    signed = Signed(entry.data_set, facts.published, answers.authors)

    def page() -> str:
        return report_html(Exportable(released), signed)

    download("Report (HTML, for printing)", page, f"release-{facts.number}-report.html", "text/html", key="papers-report")


def _title(entry: Entry) -> str:
    return f"Number {entry.number}, {entry.data_set}, {entry.learner}, {epsilon_text(entry.loss)}"


def _ask() -> Answers:
    left, right = st.columns(2, gap="medium")
    given = {}
    for place, (name, question) in enumerate(QUESTIONS.items()):
        side = right if place % 2 else left
        if name in _CHOICES:
            given[name] = side.selectbox(question, _CHOICES[name], key=f"papers-{name}", persist_state="session")
        else:
            given[name] = side.text_input(question, max_chars=_LONGEST, key=f"papers-{name}", persist_state="session")
    return Answers(**given)


def _offer(kind: str, facts: Facts, answers: Answers) -> None:
    st.markdown(f"**{TITLES[kind]}** of {literal(answers.name or 'a data product without a name yet')}")
    with st.container(horizontal=True):
        for form, mime in FORMS.items():
            text = "" if answers.missing else paper(kind, form, facts, answers)
            label = f"{kind.capitalize()} ({form.removeprefix('.').upper()})"
            name = f"release-{facts.number}-{kind}{form}"
            download(label, text, name, mime, disabled=bool(answers.missing), key=f"papers-{kind}{form}")
