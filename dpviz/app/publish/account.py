"""The Register page: what was released of which rows, under which caps; for eyes that may not see the rows."""

import streamlit as st

from dpviz.app.parts import error, literal, plain, role_badge
from dpviz.app.prose import prose
from dpviz.app.publish.data import register
from dpviz.app.widgets import chart, download
from dpviz.errors import DpvizError
from dpviz.figures.publish import account as figures
from dpviz.figures.publish.release import history_rows, spent_sentence
from dpviz.figures.wording import counted
from dpviz.io.csv_text import csv_text
from dpviz.release.checking import current_head, findings
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.queries import now
from dpviz.release.records import State
from dpviz.release.register import ReleaseRegister
from dpviz.release.rows_used import for_others


def account_screen() -> ReleaseRegister | None:
    """Everything the register holds, checked; None when it cannot be used, which is then said."""
    book = register()
    if book is None:
        return None
    try:
        found, problems, head = accounts(book), findings(book), current_head(book)
    except DpvizError as problem:
        error(problem)
        return None
    if found or problems:
        _say_checked(problems, head)
        _downloads(book, found, problems, head)
    else:
        st.info(prose("publish", "nothing registered"), icon=":material/menu_book:")
    for account in found:
        _data_set(account)
    return book


def accounts(book: ReleaseRegister) -> list[figures.Account]:
    """One per data set, by name."""
    looks, names = for_others(book.explorations()), [found.name for found in book.data_sets()]
    return [
        figures.Account(book.balance(name), book.cap_changes(name), tuple(look for look in looks if look.data_set == name))
        for name in names
    ]


def _say_checked(problems: tuple[str, ...], head: str) -> None:
    if problems:
        lines = "\n".join(f"- {plain(line)}" for line in problems)
        words = "**This register is not as it was written.** Nothing can be released from it. SECURITY.md says how to restore it."
        st.error(f"{words}\n{lines}", icon=":material/gpp_bad:")
    else:
        st.success("**Every entry is as it was written**, as far as this computer can tell.", icon=":material/verified_user:")
    st.caption(f"Head: `{head}`. Whoever notes it elsewhere can tell later whether an entry is missing (`dpviz register check`).")


def _downloads(book: ReleaseRegister, found: list[figures.Account], problems: tuple[str, ...], head: str) -> None:
    def as_page() -> str:
        return figures.account_html(found, findings=problems, head=head, until=now())

    with st.container(horizontal=True, vertical_alignment="center"):
        download("Account (HTML, for printing)", as_page, "register.html", "text/html")
        download("Register (CSV)", lambda: csv_text(COLUMNS, register_lines(book)), "releases.csv")
        download("Register (JSON)", lambda: register_json(book), "releases.json", "application/json")
    st.caption("No row, no count and no fingerprint of rows is in them.")


def _data_set(found: figures.Account) -> None:
    balance = found.balance
    st.divider()
    st.header(plain(balance.data_set.name), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        role_badge(balance.data_set.role)
        st.markdown(plain(figures.about_sentence(found)), width="content")
    st.markdown(f"**{plain(spent_sentence(balance))}** {plain(figures.person_sentence(found))}")
    chart(figures.over_time_figure(found, now()), figures.over_time_sentence(found), key=f"account-{balance.data_set.name}")
    if balance.releases:
        st.dataframe(history_rows(balance), hide_index=True, alt=f"Every release of {balance.data_set.name}.")
    if any(entry.state is State.STARTED for entry in balance.releases):
        st.caption(":material/warning: Interrupted: no file has come of it, and what it was to cost is spent all the same.")
    st.markdown("**Caps**")
    st.dataframe(figures.cap_rows(found.caps), hide_index=True, alt=f"Every cap {literal(balance.data_set.name)} has had.")
    if found.looks:
        fits = counted(sum(look.times for look in found.looks), "fit")
        with st.expander(f"Explored, covered by no guarantee: {fits}", icon=":material/visibility_lock:"):
            st.dataframe(figures.look_rows(found.looks), hide_index=True, alt="What was looked at without releasing it.")
