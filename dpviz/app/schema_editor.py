"""Fill in a schema draft: target, kinds, ranges, categories.

Values that were read from the data wear that badge; giving a value oneself takes it off. In the private role nothing can be
filled in from the data.
"""

import streamlit as st

from dpviz.app import parts
from dpviz.app.prepared import Prepared, prepared
from dpviz.app.prose import prose
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.schema_grid import CATEGORIES, KINDS, NUMBERS, is_date
from dpviz.errors import DpvizError
from dpviz.io.codebook import groups_in, groups_text
from dpviz.table.column_draft import HOW_TO_USE, ColumnDraft, Use
from dpviz.table.proposal import left_out, propose_schema
from dpviz.table.role import DataRole
from dpviz.table.schema import Provenance


def ask_schema(work: Prepared) -> None:
    """What is public about the table at hand as a whole, and its target; `work.draft` holds it afterwards."""
    draft = work.draft or SchemaDraft(())
    st.header("Public schema", anchor=False)
    st.caption("Enter only what you could publish anyway.")
    if work.table is not None:
        parts.notes(work.table, may_read=work.role.may_read)
    left, right = st.columns(2, gap="medium")
    with right:
        draft = _ask_row_count(draft, work.revision)
        draft = _ask_persons(work, draft)
    with left:
        work.draft = _ask_target(draft, work.revision)
    with right:
        _ask_fill_in(work)


def ask_columns(work: Prepared) -> None:
    """What is public about each column; `work.draft` holds it afterwards."""
    draft = _ask_kinds(work.draft or SchemaDraft(()), work)
    draft = _ask_numbers(draft, work.revision)
    work.draft = _ask_categories(draft, work.revision)


def _ask_target(draft: SchemaDraft, revision: int) -> SchemaDraft:
    names = [name for name in draft.names if name != draft.person]
    index = names.index(draft.target) if draft.target in names else None
    words = {"placeholder": "Choose the target", "format_func": parts.in_list}
    target = st.selectbox("Column to predict", names, index=index, key=f"target-{revision}", **words)
    draft = draft.with_target(target)
    return draft if target is None else draft.with_columns(_ask_goal(draft.column(target), revision, draft.names.index(target)))


def _ask_row_count(draft: SchemaDraft, revision: int) -> SchemaDraft:
    words = "About how many rows there are, as known without them; better rounded. Depth rules and learners use it."
    options = {"step": 1, "value": draft.n_public, "placeholder": "not declared", "help": words}
    draft = draft.with_row_count(st.number_input("Public row count", 1, key=f"n-public-{revision}", **options))
    if draft.n_public is not None:
        parts.source_badge(Provenance.READ if draft.count_read else Provenance.DECLARED)
    return draft


def _ask_persons(work: Prepared, draft: SchemaDraft) -> SchemaDraft:
    """Which column says whose row it is, and how many rows of each are kept; the column is then no feature."""
    names = [name for name in draft.names if name != draft.target]
    revision = work.revision
    index = names.index(draft.person) if draft.person in names else None
    words = "At most this many rows per person are used, chosen at random. The column goes into no tree and no file."
    options = {"placeholder": "every row is a different person", "format_func": parts.in_list, "help": words}
    person = st.selectbox("Person ID column", names, index, key=f"person-{revision}", **options)
    if person is None:
        return draft.with_persons(None, None)
    kept = draft.rows_per_person or 1
    words = "A guarantee for one row, times this number, is the guarantee for one person."
    most = st.number_input("Rows kept of each person, at most", 1, 1_000_000, kept, key=f"rows-{revision}", help=words)
    return draft.with_persons(person, int(most))


def _ask_goal(goal: ColumnDraft, revision: int, place: int) -> ColumnDraft:
    kinds = [Use.CATEGORIES, Use.NUMBER]
    index = kinds.index(goal.use) if goal.use in kinds else None
    options = {"format_func": {Use.CATEGORIES: "a class", Use.NUMBER: "a number"}.get, "horizontal": True}
    kind = st.radio(f"{parts.literal(goal.name)} is", kinds, index, key=f"goal-{revision}-{place}", **options)
    goal = goal.edited(use=kind)
    if kind is Use.NUMBER:
        return _ask_goal_range(goal, revision, place)
    return _ask_classes(goal, revision, place) if kind is Use.CATEGORIES else goal


def _ask_goal_range(goal: ColumnDraft, revision: int, place: int) -> ColumnDraft:
    ends = []
    for end, column in zip(("low", "high"), st.columns(2), strict=True):
        value = getattr(goal, end)
        ends.append(column.number_input(end.capitalize(), value=value, key=f"goal-{end}-{revision}-{place}", format="%g"))
    edited = goal.edited(low=ends[0], high=ends[1])
    _offer_with_source(edited, "range", f"declare-goal-{revision}-{place}")
    return edited


def _ask_fill_in(work: Prepared) -> None:
    if not work.role.may_read:
        st.info(prose("private", "nothing filled in"), icon=":material/lock:")
        return
    clicked = st.button("Fill in from the data", icon=":material/visibility:", disabled=work.table is None)
    st.caption("Fills whatever is empty. Each value read this way is marked, because no epsilon covers it.")
    if clicked:
        try:
            fill_in(work)
        except DpvizError as problem:
            is_guessed = work.draft is not None and not work.draft.target
            guessed = " No column to predict is chosen, so the last one was tried." if is_guessed else ""
            parts.error(problem, kept=f"Nothing was filled in.{guessed}")
        else:
            st.rerun()


def fill_in(work: Prepared) -> None:
    """Read kinds, ranges, categories and classes from the rows into whatever nobody declared.

    Raises SchemaError when the rows allow no schema with this target, DpvizError for private rows.
    """
    if work.table is None or work.draft is None or work.role is DataRole.PRIVATE:
        raise DpvizError("Nothing may be filled in here.", remedy="Declare the values, or choose a table that is not private.")
    schema = propose_schema(work.table, work.draft.target)
    work.replace_draft(work.draft.filled(SchemaDraft.of(schema, work.table.names)))
    work.left_out = left_out(work.table, schema)


def _ask_kinds(draft: SchemaDraft, work: Prepared) -> SchemaDraft:
    st.markdown("### Features")
    st.caption("Cells can be typed, or pasted from a spreadsheet.")
    edited = KINDS.edit(draft.features, revision=work.revision, has_source=bool(draft.source))
    if any(is_date(new) is not is_date(old) for new, old in zip(edited, draft.features, strict=True)):
        work.replace_draft(draft.with_columns(*edited))  # the grid of numbers begins afresh, with the date rule
        st.rerun()
    draft = draft.with_columns(*edited)
    if work.left_out:
        reasons = "; ".join(f"{parts.literal(name)} ({parts.plain(why)})" for name, why in work.left_out[:10])
        st.caption(f"Left out when filling in: {reasons}.")
    return draft


def _ask_numbers(draft: SchemaDraft, revision: int) -> SchemaDraft:
    columns = draft.used_as(Use.NUMBER)
    if not columns:
        return draft
    st.markdown("### Ranges of the numbers")
    columns = NUMBERS.edit(columns, revision=revision, has_source=bool(draft.source))
    _offer_to_declare(columns, "range", "declare-numbers")
    return draft.with_columns(*columns)


def _offer_to_declare(columns: tuple[ColumnDraft, ...], what: str, key: str) -> None:
    """A button for values that were read from the data and are known without them; none after a look at private rows."""
    read = [column.name for column in columns if column.read_now and column.before is None]
    if read:
        text = f"this {what}" if len(read) == 1 else f"these {len(read):,} {what}s"
        st.button(f"I know {text} without the data", key=key, icon=":material/edit:", on_click=_declare, args=(read,))


def _offer_with_source(goal: ColumnDraft, what: str, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        draft = prepared().draft
        parts.source_badge(goal.with_source().source if draft is not None and draft.source else goal.source)
        _offer_to_declare((goal,), what, key)


def _declare(names: list[str]) -> None:
    work = prepared()
    if work.draft is not None:
        work.draft = work.draft.with_columns(*(work.draft.column(name).declare() for name in names))


def _ask_categories(draft: SchemaDraft, revision: int) -> SchemaDraft:
    columns = draft.used_as(Use.CATEGORIES)
    if not columns:
        return draft
    st.markdown("### Categories")
    _ask_one_list(draft, revision)
    columns = CATEGORIES.edit(columns, revision=revision, has_source=bool(draft.source))
    _offer_to_declare(columns, "list", "declare-categories")
    return draft.with_columns(*columns)


def _ask_one_list(draft: SchemaDraft, revision: int) -> None:
    """The same list for several columns, also for such as have no use yet."""
    names = [column.name for column in draft.features if column.use in (None, Use.CATEGORIES)]
    keys = (f"list-columns-{revision}", f"list-{revision}")
    with st.popover("One list for several columns", icon=":material/content_copy:"):
        chosen = st.multiselect("Columns", names, key=keys[0], format_func=parts.in_list)
        listed = st.text_area("Their categories, one per line", key=keys[1], height=120)
        ready = bool(chosen and labels_in(listed))
        st.button("Give them this list", disabled=not ready, on_click=_give_list, args=keys, icon=":material/check:")


def _give_list(columns_key: str, list_key: str) -> None:
    work = prepared()
    if work.draft is not None:
        values = {"use": Use.CATEGORIES, "categories": labels_in(st.session_state[list_key])}
        given = (work.draft.column(name).edited(**values).declare(["categories"]) for name in st.session_state[columns_key])
        work.replace_draft(work.draft.with_columns(*given))


def _ask_classes(goal: ColumnDraft, revision: int, place: int) -> ColumnDraft:
    text = st.text_area("Classes, one per line", "\n".join(goal.categories), key=f"labels-{revision}-{place}", height=120)
    edited = goal.edited(categories=labels_in(text))
    if not edited.categories:
        return edited
    _offer_with_source(edited, "list", f"declare-{revision}-{place}")
    known = groups_text(edited.groups)
    words = "Other texts that count as a class"
    said = st.text_input(words, known, key=f"groups-{revision}-{place}", placeholder="ja = yes; true = yes; 1 = yes")
    try:
        return edited.edited(groups=groups_in(said))
    except DpvizError as problem:
        st.warning(f"{parts.plain(problem.what)} {parts.plain(problem.remedy)}", icon=":material/pin:")
        return edited


def labels_in(text: str | None) -> tuple[str, ...]:
    """One label per line, without surrounding blanks and blank lines."""
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())


def missing_text(draft: SchemaDraft) -> str:
    """The sentence naming what must still be given, as Markdown; empty when nothing is missing."""
    by_gap: dict[str, list[str]] = {}
    for what, name in draft.gaps():
        by_gap.setdefault(what, []).append(name)
    special = {"target": "the column to predict", "feature": "at least one feature", "row count": "the public row count"}
    texts = [
        special.get(what) or f"{what}{'' if what == HOW_TO_USE else ' for'} {parts.names_text(names)}"
        for what, names in by_gap.items()
    ]
    return f"Still missing: {'; '.join(texts)}." if texts else ""
