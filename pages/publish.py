"""Page "Publish": what is released and what it promises; the register with its history; is a file as it was released?"""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.app import controls, expected, frame, parts, publish, state
from dpviz.app.explorations import unnoted
from dpviz.app.exports import offer_export
from dpviz.app.many_trees import model_screen
from dpviz.app.parts import as_code, error, escape_markdown
from dpviz.app.prose import prose
from dpviz.app.state import DataInUse
from dpviz.app.widgets import download, on_demand, one_of, rows_table, show_chart, table
from dpviz.charts import as_python
from dpviz.charts.budget import spending_rows
from dpviz.charts.publish import release as account
from dpviz.charts.publish.exports import Proof, proof_of, proof_sentence, report_to_sign
from dpviz.charts.publish.release import (
    ACCOUNT,
    composed_sentence,
    history_rows,
    odds_rows,
    sentences,
    spent_chart,
    spent_sentence,
    title,
)
from dpviz.charts.publish.report import SignatureLine, kept_rows, not_promised
from dpviz.charts.publish.test_result import accuracy_sentence, is_better_than_always, majority_comparison
from dpviz.charts.wording import capital, count_text
from dpviz.errors import DpvizError, UnansweredRows
from dpviz.io.csv_text import csv_text
from dpviz.io.exports.contract import ExportInput
from dpviz.io.results import result_from_json
from dpviz.release.check import Place, findings
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.records import Balance, ReleaseRecord, State, n_uses, protected_unit, visible_to_others
from dpviz.release.register import Register
from dpviz.release.release import Assumption, ReleaseTerms, Status, assumptions, preview_terms, require_source
from dpviz.results.verdict import Unit, bare_text, odds_text, verdict
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

BADGES = {
    Status.DECLARED: ("gray", ":material/edit:"),
    Status.UNSAID: ("gray", ":material/remove:"),
    Status.READ: ("orange", ":material/visibility:"),
    Status.EXPLORED: ("orange", ":material/travel_explore:"),
    Status.DOUBTFUL: ("orange", ":material/help:"),
}
BOXES = {
    Place.AS_RELEASED: (st.success, ":material/verified:"),
    Place.CHANGED: (st.error, ":material/gpp_bad:"),
    Place.LOST: (st.error, ":material/gpp_bad:"),
}


def release_view(book: Register) -> None:
    """Whose cap counts, what is taken as public, what to expect, what is spent, the button, what became of it."""
    in_use, asked = state.data_in_use(), controls.ask_settings(with_noise=False)
    balance = publish.ask_data_set(book, in_use)
    uses = book.uncovered_uses(in_use.data.identity)
    explored = n_uses(uses) if in_use.role is DataRole.PRIVATE else None
    terms = why_not = None
    try:
        request = asked.request
        if balance is not None:
            request = request.at(epsilon=balance.fitting(request.settings.epsilon))
        terms = preview_terms(in_use.schema, request, explored=explored, together=in_use.data.rows_per_person is not None)
    except DpvizError as problem:
        why_not = problem
    show_assumptions(in_use.schema, explored)
    expected.expected_screen(asked.request, in_use)

    if balance is not None:
        st.divider()
        last = publish.last_release(balance)
        st.header("Permanently spent", anchor=False)
        show_spent(balance)
        show_chart(spent_chart(balance, terms.loss if terms and not last else None), "publish-spent")
        loss, risk = (last.loss, risk_of(last)) if last else (terms.loss, terms.risk) if terms else (None, None)
        rows = odds_rows(balance, loss, risk, is_booked=last is not None)
        rows_table(rows, "Right guesses by this release alone and by all releases together.")
        st.divider()
        st.header("Release", anchor=False)
        if not publish.await_release(asked, in_use):
            if (failed := st.session_state.pop(publish.FAILED, None)) is not None:
                error(failed)
            if last is not None:
                unit = balance.data_set.protects
                words = f"**Released: number {last.number}, {escape_markdown(bare_text(last.loss))}.**"
                st.markdown(f":material/verified: {words}")
                offer_released_file(last, unit)
                st.button("Release another one", icon=":material/add:", on_click=st.session_state.pop, args=(publish.LAST, None))
            elif terms is None:
                assert why_not is not None
                error(why_not, kept="Nothing was spent.")
            else:
                ask_release(balance, terms, asked, in_use)
        if any(record.state is State.STARTED for record in balance.releases):
            st.caption(prose("publish", "interrupted"))

    if (missing := unnoted()) is not None:
        error(missing, kept="Some explorations of these rows in this session are missing from the register.")
    if uses:
        words = f"Explored, covered by no guarantee: {count_text(n_uses(uses), 'look')}, {uses[0].status}. Keep it to yourself."
        st.warning(f"{words} The register lists them.", icon=":material/visibility_lock:")
    name = None if balance is None else balance.data_set.name
    frame.next_page_button("publish")
    frame.as_python(partial(as_python.publish, state.rows_read(), asked.request, name))


def show_assumptions(schema: Schema, explored: int | None) -> None:
    """What must be mended, what is doubtful, and the long list of what was declared."""
    found = assumptions(schema, explored=explored)
    of_file = [item for item in found if item.kind != "tuning"]  # as a release counts them: looks are its owner's alone
    blocking = [item for item in found if item.blocks]
    doubtful = [item for item in found if item.fix and not item.blocks]
    label, icon = "Nothing was read from the data: assumptions", ":material/check:"
    if blocking or doubtful:
        label, icon = "Every assumption", ":material/checklist:"
        st.header("What is taken as public", anchor=False)
        if blocking:
            count = "1 assumption was" if len(blocking) == 1 else f"{len(blocking):,} assumptions were"
            values = len(schema.read_fields())  # the line on top counts these
            in_all = f", {count_text(values, 'value')} in all" if values > len(blocking) else ""
            words = f"**{count} read from the data{in_all}.** No ε covers that, so nothing is released yet."
            st.error(f"{words} **{escape_markdown(blocking[0].fix)}**", icon=":material/gpp_bad:")  # which is that of all
        else:
            st.success("**Nothing was read from the data.**", icon=":material/check:")
        for item in (*blocking[:6], *doubtful):
            assumption_line(item)
        if len(blocking) > 6:
            st.caption(f"And {len(blocking) - 6:,} more of this kind.")
    with st.expander(f"{label} ({len(of_file):,})", icon=icon):
        st.caption("What was declared must be true without looking at the rows.")
        rows = [
            {"what": item.kind, "column": item.column, "taken as public": item.what, "badge": str(item.status), "fix": item.fix}
            for item in of_file
        ]
        st.dataframe(rows, hide_index=True, alt="Everything a release takes as public, where it comes from and how to fix it.")


def assumption_line(item: Assumption) -> None:
    """One of them, with its badge, and what to do unless that was said of all that block."""
    color, icon = BADGES[item.status]
    of = f" of {as_code(item.column)}" if item.column else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(str(item.status), color=color, icon=icon)
        remedy = "" if item.blocks else f" **{escape_markdown(item.fix)}**"
        st.markdown(f"{item.kind.capitalize()}{of}: {escape_markdown(item.what)}.{remedy}", width="stretch")


def show_spent(balance: Balance) -> None:
    """The sum, which the cap uses, and beside it what all releases tell by what was run."""
    st.markdown(f"**{escape_markdown(spent_sentence(balance))}**")
    if together := composed_sentence(balance):
        st.caption(escape_markdown(f"{ACCOUNT} {together}"))


def risk_of(record: ReleaseRecord) -> Risk | None:
    """What the steps of a release tell, from its file; None where that is gone, was changed or cannot be read here."""
    with suppress(DpvizError):
        return ExportInput(publish.text_of(record)).verdict.risk
    return None


@st.cache_resource(scope="session", max_entries=4, show_spinner="Trying every export on a tree of these columns …")
def proof(key: str, _schema: Schema) -> Proof:
    """Which exports hold a tree of these columns."""
    return proof_of(_schema)


def ask_release(balance: Balance, terms: ReleaseTerms, asked: controls.TreeSettings, in_use: DataInUse) -> None:
    """What is promised and what is not, the box to tick, and the button."""
    try:
        balance.require_room(terms.loss, on_screen=True)
        require_source(Register(), in_use.data)
        proved = proof(in_use.schema.key, in_use.schema)
    except UnansweredRows as question:
        here = "Name it on the Data page, below the check. Nothing was spent."
        error(DpvizError(question.what, where=question.where, remedy=here))
        return
    except DpvizError as problem:
        error(problem, kept="Nothing was spent.")
        return
    unit = protected_unit(balance.data_set, in_use.data)
    said = verdict(terms.claim, terms.loss, released=True, unit=unit, risk=terms.risk)
    left = bare_text(PrivacyLoss(max(0.0, balance.left.epsilon - terms.loss.epsilon)))
    words = f"**One tree by {asked.request.spec.title}, {escape_markdown(bare_text(terms.loss))}.**  \n"
    if balance.releases:
        together = balance.with_one_more([terms.loss])
        in_all = f"With the releases before, {bare_text(together)} in all. {odds_text(together, unit)}"
        words += f"{escape_markdown(in_all)}  \n"
    st.info(words + prose("publish", "drawn anew", left=escape_markdown(left)), icon=":material/contract:")
    parts.plain_bound("" if balance.releases else said.plain_bound)
    will, will_not = st.columns(2, gap="medium")
    columns = (will, "What is promised", said.promises), (will_not, "What is not promised", not_promised(unit))
    for side, head, lines in columns:
        side.markdown(f"**{head}**\n" + "\n".join(f"- {escape_markdown(line)}" for line in lines))
    st.caption(f":material/task_alt: {escape_markdown(proof_sentence(proved))}")
    accepted = publish.ask_about_rows(in_use)
    label = f"Spend {escape_markdown(bare_text(terms.loss))} permanently, even if the file is lost"
    agreed = st.checkbox(label, key=publish.AGREED, disabled=not accepted) and accepted
    begin = {"on_click": publish.begin_release, "args": (asked, in_use, balance.data_set.name)}
    st.button("Release", icon=":material/publish:", disabled=not agreed, **begin)
    parts.why_disabled("" if agreed else "Tick the box first." if accepted else "First confirm that you know why.")


def offer_released_file(record: ReleaseRecord, unit: Unit) -> None:
    """A released file to take away: its tree, its private test, its report."""
    text, name = publish.text_of(record), f"{record.learner}-release-{record.number}.json"
    download("Download release (JSON)", text, name, "application/json", disabled=not text)
    st.caption(f"SHA-256 of the file: `{record.sha256}`")
    if not text:
        st.caption(":material/error: Its file is no longer where it was released to, or was changed. It stays spent.")
        return
    st.caption(f"{prose('publish', 'sign')} `ssh-keygen -Y sign -f KEY -n dpviz-release {name}`")
    result = replace(result_from_json(text), unit=unit)
    report = result.test_report
    if report is not None:
        better = is_better_than_always(report)
        worth = capital(accuracy_sentence(report))
        said = f"**{escape_markdown(worth)}.** {escape_markdown(majority_comparison(report))}"
        (st.success if better else st.warning)(said, icon=":material/check:" if better else ":material/trending_flat:")
    model_screen(result, f"The released tree of {result.schema.target.name}", key="released-tree")
    with on_demand("Report to sign", icon=":material/draw:", key=f"report {record.number}") as box:
        if box.open:
            author = st.text_input("Author, beside the signature line", max_chars=200, key="report-author")
            st.caption("Page one to sign, annexes after it. What is not filled in is left to be written by hand.")
            try:
                done = report_of(text, unit, SignatureLine(record.data_set, record.finished[:10], author))
            except DpvizError as problem:
                error(problem)
            else:
                written = f"release-{record.number}-report.html"
                download("Report (HTML, for printing)", done, written, "text/html", key="report-download")
    free = {"key": "publish-forms", "help": "Made from the released file; costs nothing."}
    if st.toggle("Download in another format", **free):
        offer_export(text, name.removesuffix(".json"), key=f"released-{record.number}", unit=unit)


@st.cache_resource(scope="session", max_entries=4, show_spinner="Writing it …")
def report_of(text: str, unit: Unit, signed: SignatureLine) -> str:
    """The report of a released file."""
    return report_to_sign(ExportInput(text, unit), signed)


def register_view(book: Register) -> None:
    """Everything the register holds, checked, and the files of its releases. It needs no rows."""
    try:
        every, problems = [book.balance(known.name) for known in book.data_sets()], findings(book)
    except DpvizError as problem:
        error(problem)
        return
    if problems:
        lines = "\n".join(f"- {escape_markdown(line)}" for line in problems)
        words = "**This register was changed.** Nothing can be released from it. Help says how to restore it."
        st.error(f"{words}\n{lines}", icon=":material/gpp_bad:")
    elif every:
        st.success("**No entry was changed**, as far as this computer can tell.", icon=":material/verified_user:")
    else:
        st.info(prose("publish", "nothing registered"), icon=":material/menu_book:")
    if every or problems:
        with st.container(horizontal=True, vertical_alignment="center"):
            download("Register (CSV)", lambda: csv_text(COLUMNS, register_lines(book)), "releases.csv")
            download("Register (JSON)", lambda: register_json(book), "releases.json", "application/json")
            st.caption("The files hold no rows, no counts and no fingerprints of rows.")
    for balance in every:
        data_set, name = balance.data_set, balance.data_set.name
        caps, looks = book.cap_changes(name), [use for use in visible_to_others(book.uncovered_uses()) if use.data_set == name]
        st.divider()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.header(escape_markdown(name), anchor=False, width="content")
            parts.role_badge(data_set.role)
        declared = account.moment(data_set.declared)
        st.caption(escape_markdown(f"Every ε: {data_set.protects.neighbours}. Declared {declared} (UTC)."))
        show_spent(balance)
        tabs = st.tabs((f"Releases ({len(balance.releases)})", f"Caps ({len(caps)})"))
        with tabs[0]:
            if balance.releases:
                rows_table(history_rows(balance), f"Every release of {name}.")
            else:
                st.caption("No release of these rows yet.")
            if any(record.state is State.STARTED for record in balance.releases):
                st.caption(prose("publish", "interrupted"))
        with tabs[1]:
            rows_table(account.cap_rows(caps, data_set.protects), f"Every cap {name} has had.")
        if looks:
            count = count_text(n_uses(looks), "look")
            with st.expander(f"Explored, covered by no guarantee: {count}", icon=":material/visibility_lock:"):
                rows_table(account.look_rows(looks), "What was looked at without releasing it.")
    finished = [record for record in reversed(book.releases()) if record.state is State.RELEASED]
    if finished:
        st.divider()
        st.header("A released file", anchor=False)
        units = {balance.data_set.name: balance.data_set.protects for balance in every}
        titles = {
            one.number: f"Number {one.number}, {one.data_set}, {account.algorithms(one.learner)}, {bare_text(one.loss)}"
            for one in finished
        }
        number = st.selectbox("Release", list(titles), format_func=titles.__getitem__, key="publish-file", width=500)
        record = next((one for one in finished if one.number == number), finished[0])
        offer_released_file(record, units[record.data_set])
    frame.as_python(as_python.register)


def check_view() -> None:
    """A model file: did this register write it, does its ledger add up, what does it cost a person, what does it say of one?

    No rows are needed.
    """
    parts.upload("Released file, or a simulation", "check-file", publish.check_file, max_upload_size=50)
    found = st.session_state.get(publish.CHECKED)
    if found is None:
        st.caption("It is looked up in the register by its SHA-256, and its steps are added up again.")
        return
    (_, where), *others = sentences(found)
    box, icon = BOXES.get(found.match.place, (st.warning, ":material/help:"))
    box(f"**{escape_markdown(where)}**", icon=icon)
    st.markdown("\n".join(f"- **{name}**: {escape_markdown(said)}" for name, said in others))
    steps = partial(spending_rows, found.result.plan, found.result.ledger.spent())
    table(steps, "What its steps cost one row.", key="checked-steps")
    if (unit := found.result.unit).rows > 1:
        st.caption(escape_markdown(kept_rows(unit)))
    st.caption(f"SHA-256: `{found.match.sha256}`")
    st.button("Close the file", icon=":material/close:", on_click=st.session_state.pop, args=(publish.CHECKED, None))
    model_screen(found.result, title(found), key="checked-tree")
    frame.as_python(partial(as_python.opened, found.name))


parts.page("Publish", "What may be shared?")
choice = {"key": publish.VIEW, "label_visibility": "collapsed", "bind": "query-params"}
view = one_of("Part of this page", publish.VIEWS, **choice)
book = publish.register()
if view == publish.CHECK:
    check_view()
elif book is not None and view == publish.REGISTER:
    register_view(book)
elif book is not None:
    release_view(book)
