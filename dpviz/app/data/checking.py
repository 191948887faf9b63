"""The schema checked against the rows, before they are used.

Of private rows only their owner may look, and says so first. What is changed after that look may follow from the rows: it counts
as read from the data, and a release refuses it, until it is put back or its public source is named. A release refused because few
rows fit is such a look too.
"""

from dataclasses import replace

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.prepared import Prepared, prepared
from dpviz.app.data.report import show_report
from dpviz.app.data.using import why_not_encoded
from dpviz.app.explorations import keep_unnoted
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.errors import DpvizError
from dpviz.learners.request import doubts
from dpviz.release.records import INSPECTION
from dpviz.release.register import Register
from dpviz.table.encode import encode
from dpviz.table.schema import LONGEST_SOURCE, Schema


def ask_check(work: Prepared) -> None:
    """How many rows fit the schema, and what becomes of the cells; of private rows after a consent."""
    with st.expander("Check the schema against the rows", expanded=not work.role.may_read, icon=":material/rule:"):
        consents = work.role.may_read or _consents(work)
        why_not = why_not_encoded(work)
        clicked = st.button("Check against the rows", disabled=bool(why_not) or not consents, icon=":material/rule:")
        parts.why_disabled(why_not or ("" if consents else "Tick the box first."))
        if clicked:
            try:
                with st.spinner("Encoding the rows …"):
                    check(work)
            except DpvizError as problem:
                parts.error(problem, kept="Nothing was looked at.")
            else:
                st.rerun()  # what stands above may count as read from the data from now on
        _show(work)
        if not work.role.may_read and work.draft is not None:
            _ask_source(work, work.draft)


def _ask_source(work: Prepared, draft: SchemaDraft) -> None:
    """What changed since the look, where it is known from without the rows, and the way back."""
    label, words = "Public source of what is corrected after a look", "such as: codebook of 2024, page 12"
    key = f"source-{work.revision}"
    more = {"max_chars": LONGEST_SOURCE, "placeholder": words, "key": key, "help": prose("data", "source")}
    st.text_input(label, draft.source, on_change=_take_source, args=(key,), **more)  # before the grids above are drawn
    if draft == draft.before_look():
        return
    count = draft.read_fields()
    if count:
        words = f"{count:,} value{'s'[: count != 1]} changed after the look. Name the public source: a release refuses"
        st.warning(f"{words} {'them' if count != 1 else 'it'} without one.", icon=":material/visibility:")
    elif draft.before is not None:
        st.info("What changed after the look counts as declared. The report prints its source.", icon=":material/menu_book:")
    st.button("Put back what was declared before the look", on_click=_put_back, icon=":material/undo:")


def _take_source(key: str) -> None:
    work = prepared()
    if work.draft is not None:
        work.draft = replace(work.draft, source=" ".join(st.session_state[key].split()))


def _consents(work: Prepared) -> bool:
    st.caption(prose("data", "check"))
    return st.checkbox("I may see these rows, and know what follows", key=f"check-{work.revision}")


def check(work: Prepared) -> None:
    """Encode the rows by the draft and keep the report. A look at private rows is noted. Raises DpvizError."""
    if work.table is None or work.draft is None:
        raise DpvizError("There is no table.", remedy="Choose one first.")
    schema, draft = work.draft.schema(), work.draft
    data = encode(work.table, schema, person=draft.person, rows_per_person=draft.rows_per_person)
    if not work.role.may_read:
        try:
            Register().note_inspection(INSPECTION, data)
        except DpvizError as problem:
            keep_unnoted(problem)
        work.draft = draft.looked_at()
    work.checked = (schema, data.report, doubts(data))


def told(now: Loaded) -> None:
    """A release of private rows was refused because few fit: a look, after which corrections need a source."""
    if now.role.may_read:
        return
    work = prepared()
    in_use = SchemaDraft.of(now.schema, now.table.names, person=now.person, rows_per_person=now.data.rows_per_person)
    declared = work.draft if work.draft is not None and work.table is now.table else in_use.after(work.looked)
    work.looked = declared.looked_at()
    if work.draft is not None:
        work.draft = work.draft.after(work.looked)


def doubts_told(now: Loaded) -> tuple[str, ...]:
    """What the check of these rows by this schema found doubtful; nothing where nobody has asked for it."""
    work = prepared()
    if work.checked is None or work.table is not now.table:
        return ()
    schema, _, found = work.checked
    return found if replace(schema, source="") == replace(now.schema, source="") else ()


def _show(work: Prepared) -> None:
    if work.checked is None or work.draft is None:
        return
    schema, report, found = work.checked
    if not _is_schema_of(work.draft, schema):
        st.caption("The schema has changed since this look; check again to see what follows.")
    for sentence in found:
        st.warning(parts.plain(sentence), icon=":material/front_hand:")
    if report is not None:
        show_report(report, schema)


def _is_schema_of(draft: SchemaDraft, schema: Schema) -> bool:
    try:
        return not draft.gaps() and replace(draft.schema(), source="") == replace(schema, source="")
    except DpvizError:
        return False


def _put_back() -> None:
    work = prepared()
    if work.draft is not None:
        work.replace_draft(work.draft.before_look())
