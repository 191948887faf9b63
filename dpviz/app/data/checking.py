"""The schema checked against the rows, before they are used.

Of private rows only their owner may look, and says so first. What is changed after that look follows from the rows: it counts as
read from the data until it is put back, and a release refuses it. What the Publish page says about the rows is such a look too.
"""

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.prepared import Prepared, prepared
from dpviz.app.data.report import show_report
from dpviz.app.data.using import why_not_encoded
from dpviz.app.explorations import keep_unnoted, note
from dpviz.app.prose import prose
from dpviz.app.state import Loaded
from dpviz.errors import DpvizError
from dpviz.learners.request import doubts
from dpviz.release.records import LOOK, WARNED
from dpviz.table.encode import encode
from dpviz.table.schema import Schema

_TOLD = "_told-how-rows-fit"


def ask_check(work: Prepared) -> None:
    """How many rows fit the schema, and what becomes of the cells; of private rows after a consent."""
    with st.expander("Check the schema against the rows", icon=":material/rule:"):
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
        draft = work.draft
        if draft is not None and draft != draft.before_look():
            count = draft.read_fields()
            words = f"{count:,} value{'s'[: count != 1]} changed after the look: read from the data, so a release refuses"
            st.warning(f"{words} {'them' if count != 1 else 'it'}.", icon=":material/visibility:")
            st.button("Put back what was declared before the look", on_click=_put_back, icon=":material/undo:")


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
        looked = Loaded(work.role, work.title, None, work.table, schema, data, draft.person)
        keep_unnoted(note(looked, LOOK, "", {}))
        work.draft = draft.looked_at()
    work.checked = (schema, data.report, doubts(data))


def told(now: Loaded) -> None:
    """The owner of private rows in use was told how they fit their schema: a look, noted once, that later changes follow from."""
    if now.role.may_read:
        return
    work = prepared()
    in_use = SchemaDraft.of(now.schema, now.table.names, person=now.person, rows_per_person=now.data.rows_per_person)
    declared = work.draft if work.draft is not None and work.table is now.table else in_use.after(work.looked)
    work.looked = declared.looked_at()
    if work.draft is not None:
        work.draft = work.draft.after(work.looked)
    if st.session_state.get(_TOLD) != now.data.identity:
        st.session_state[_TOLD] = now.data.identity
        keep_unnoted(note(now, WARNED, "", {}))


def _show(work: Prepared) -> None:
    if work.checked is None or work.draft is None:
        return
    schema, report, found = work.checked
    if not _is_schema_of(work.draft, schema):
        st.caption("The schema has changed since this look; check again to see what follows.")
    for sentence in found:
        st.warning(parts.plain(sentence), icon=":material/front_hand:")
    if report is not None:
        show_report(report)


def _is_schema_of(draft: SchemaDraft, schema: Schema) -> bool:
    try:
        return not draft.gaps() and draft.schema() == schema
    except DpvizError:
        return False


def _put_back() -> None:
    work = prepared()
    if work.draft is not None:
        work.replace_draft(work.draft.before_look())
