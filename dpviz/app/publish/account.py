"""The Register page: what was released of which rows, under which caps, and the report of a release. It needs no rows."""

from functools import partial
from pathlib import Path

import streamlit as st

from dpviz.app.parts import error, plain, role_badge
from dpviz.app.prose import prose
from dpviz.app.publish.data import how_it_adds_up, register
from dpviz.app.widgets import download, rows_table, show_chart
from dpviz.errors import DpvizError
from dpviz.figures.publish import account as figures
from dpviz.figures.publish.exports import report_to_sign
from dpviz.figures.publish.release import history_rows, spent_sentence
from dpviz.figures.publish.report import Signed
from dpviz.figures.wording import counted
from dpviz.io.csv_text import csv_text
from dpviz.io.exports.contract import Exportable
from dpviz.release.check import findings
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.files import released_text
from dpviz.release.records import ReleaseRecord, State, n_uses, visible_to_others
from dpviz.release.register import Register, now
from dpviz.results.exports import Exported
from dpviz.results.verdict import Unit, short_text

#: Letters of a name.
_LONGEST = 200


def account_screen() -> Register | None:
    """Everything the register holds, checked; None when it cannot be used, which is then said."""
    book = register()
    if book is None:
        return None
    try:
        found, problems = accounts(book), findings(book)
    except DpvizError as problem:
        error(problem)
        return None
    if found or problems:
        _say_checked(problems)
        _downloads(book, found, problems)
    else:
        st.info(prose("publish", "nothing registered"), icon=":material/menu_book:")
    for account in found:
        _data_set(account)
    return book


def accounts(book: Register) -> list[figures.Account]:
    """One per data set, by name."""
    looks, names = visible_to_others(book.uncovered_uses()), [found.name for found in book.data_sets()]
    return [
        figures.Account(book.balance(name), book.cap_changes(name), tuple(look for look in looks if look.data_set == name))
        for name in names
    ]


def _say_checked(problems: tuple[str, ...]) -> None:
    if problems:
        lines = "\n".join(f"- {plain(line)}" for line in problems)
        words = "**This register was changed.** Nothing can be released from it. Help says how to restore it."
        st.error(f"{words}\n{lines}", icon=":material/gpp_bad:")
    else:
        st.success("**No entry was changed**, as far as this computer can tell.", icon=":material/verified_user:")


def _downloads(book: Register, found: list[figures.Account], problems: tuple[str, ...]) -> None:
    def as_page() -> str:
        return figures.account_html(found, findings=problems, until=now())

    with st.container(horizontal=True, vertical_alignment="center"):
        download("Account (HTML, for printing)", as_page, "register.html", "text/html")
        download("Register (CSV)", lambda: csv_text(COLUMNS, register_lines(book)), "releases.csv")
        download("Register (JSON)", lambda: register_json(book), "releases.json", "application/json")
        st.caption("The files hold no rows, no counts and no fingerprints of rows.")


def _data_set(found: figures.Account) -> None:
    balance = found.balance
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(plain(balance.data_set.name), anchor=False, width="content")
        role_badge(balance.data_set.role)
        how_it_adds_up(balance)
    st.caption(plain(figures.about_sentence(found)))
    st.markdown(f"**{plain(spent_sentence(balance))}**")
    over_time, releases, caps = st.tabs(("Over time", f"Releases ({len(balance.releases)})", f"Caps ({len(found.caps)})"))
    with over_time:
        show_chart(figures.over_time_chart(found, now()), f"account-{balance.data_set.name}")
    with releases:
        if balance.releases:
            rows_table(history_rows(balance), f"Every release of {balance.data_set.name}.")
        if any(entry.state is State.STARTED for entry in balance.releases):
            st.caption(":material/warning: Interrupted: there is no file, but what it would have cost is spent.")
    with caps:
        rows_table(figures.cap_rows(found.caps, balance.data_set.protects), f"Every cap {balance.data_set.name} has had.")
    if found.looks:
        looks = counted(n_uses(found.looks), "look")
        with st.expander(f"Explored, covered by no guarantee: {looks}", icon=":material/visibility_lock:"):
            rows_table(figures.look_rows(found.looks), "What was looked at without releasing it.")


def report_screen(book: Register) -> None:
    """Choose a release, and take the report away that is signed."""
    finished = [entry for entry in reversed(book.releases()) if entry.state is State.RELEASED]
    if not finished:
        return
    st.divider()
    st.header("Report of a release", anchor=False)
    units = {found.name: found.protects for found in book.data_sets()}
    entry = st.selectbox("Release", finished, format_func=partial(_title, units), key="report-release")
    asked = {"max_chars": _LONGEST, "key": "report-author", "persist_state": "session"}
    author = st.text_input("Author, beside the signature line", **asked)
    st.caption("Page one to sign, annexes after it. What is not filled in is left to be written by hand.")
    try:
        released = released_text(Path(entry.file), entry.sha256)
        done = _report(released, units[entry.data_set], Signed(entry.data_set, entry.finished[:10], author))
    except DpvizError as problem:
        error(problem)
        return
    name = f"release-{entry.number}-report.html"
    download("Report (HTML, for printing)", done.content, name, "text/html", key="report-download")


@st.cache_resource(scope="session", max_entries=4, show_spinner="Writing it …")
def _report(released: str, unit: Unit, signed: Signed) -> Exported:
    return report_to_sign(Exportable(released, unit), signed)


def _title(units: dict[str, Unit], entry: ReleaseRecord) -> str:
    return f"Number {entry.number}, {entry.data_set}, {entry.learner}, {short_text(entry.loss, units[entry.data_set])}"
