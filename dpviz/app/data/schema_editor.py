"""Fill in a schema draft: target, kinds, ranges, categories.

Values that were read from the data wear that badge; giving a value oneself takes it off. In the private role nothing can be
filled in from the data.
"""

from __future__ import annotations

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.column_draft import ColumnDraft, Use
from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.grid import Grid
from dpviz.app.data.prepared import Prepared, prepared
from dpviz.errors import DpvizError
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.proposal import left_out, propose_schema
from dpviz.table.role import DataRole
from dpviz.table.schema import Provenance

_DROP = ""
_KNOW = ":material/edit:"
_SOURCE = st.column_config.TextColumn("Source", help="Declared by you, or read from the data: then no epsilon covers it.")
_NAME = st.column_config.TextColumn("Column", pinned=True, width="medium")
_KINDS = Grid(
    "kinds",
    ("use", "missing_codes"),
    {
        "name": _NAME,
        "use": st.column_config.SelectboxColumn(
            "Use as", options=[use.value for use in Use], help="Number, categories, or not at all."
        ),
        "missing_codes": st.column_config.TextColumn("Missing codes", help="Cells that count as missing, such as: 999; k.A.; -"),
        "source": _SOURCE,
    },
    alt="One row per column of the table: its name, what to use it as, and where that comes from.",
    placeholder="choose",
)
_NUMBERS = Grid(
    "numbers",
    ("low", "high", "unit", "whole", "missing_number", "part", "order"),
    {
        "name": _NAME,
        "low": st.column_config.TextColumn("Low", width="small", help="Smaller values count as this one. Write 220.5 or 220,5."),
        "high": st.column_config.TextColumn("High", width="small", help="Greater values count as this one."),
        "unit": st.column_config.TextColumn("Unit", max_chars=20, help="For people only, such as EUR or years."),
        "whole": st.column_config.CheckboxColumn("Whole", help="Only whole numbers; others are rounded."),
        "missing_number": st.column_config.TextColumn(
            "If missing", help="Stands for a missing value; empty: the row is dropped."
        ),
        "part": st.column_config.SelectboxColumn(
            "Date as", options=list(PARTS), help="Of a date: its year, month, weekday (1 is Monday), or days since 1970-01-01."
        ),
        "order": st.column_config.SelectboxColumn(
            "Written", options=list(ORDERS), help="Of a date: ymd 2024-03-01, dmy 01.03.2024, mdy 3/1/2024."
        ),
        "source": _SOURCE,
    },
    alt="One row per numeric feature: name, range, unit, whole numbers, value for missing cells, date rule, source.",
)


def ask_schema(work: Prepared) -> None:
    """Everything public about the table at hand; `work.draft` holds it afterwards."""
    draft = work.draft or SchemaDraft(())
    st.header("What is public about it", anchor=False)
    table = f"Table {parts.plain(work.title)}, {len(draft.columns):,} columns." if work.title else ""
    st.caption(f"{table} A private tree may use what stands here without paying for it.")
    if work.table is not None and work.role.may_read:
        parts.notes(work.table)
    left, right = st.columns(2, gap="medium")
    with right:
        draft = _ask_row_count(draft, work.revision)
        draft = _ask_persons(work, draft)
    with left:
        work.draft = _ask_target(draft, work.revision)
    with right:
        _ask_fill_in(work)
    _ask_features(work)


def _ask_features(work: Prepared) -> None:
    draft = work.draft or SchemaDraft(())
    left, right = st.columns(2, gap="medium")
    with left:
        draft = _ask_kinds(draft, work)
    with right:
        draft = _ask_categories(draft, work.revision)
    work.draft = _ask_numbers(draft, work.revision)


def _ask_target(draft: SchemaDraft, revision: int) -> SchemaDraft:
    names = [name for name in draft.names if name != draft.person]
    index = names.index(draft.target) if draft.target in names else None
    target = st.selectbox("Column to predict", names, index=index, key=f"target-{revision}", placeholder="Choose the target")
    draft = draft.with_target(target)
    return draft if target is None else draft.with_columns(_ask_goal(draft.column(target), revision, draft.names.index(target)))


def _ask_row_count(draft: SchemaDraft, revision: int) -> SchemaDraft:
    count = st.number_input(
        "Public row count",
        min_value=1,
        step=1,
        value=draft.n_public,
        key=f"n-public-{revision}",
        placeholder="not declared",
        help="About how many rows there are, as known without them; better rounded. Depth rules and learners use it.",
    )
    draft = draft.with_row_count(count)
    if draft.n_public is not None:
        parts.source_badge(Provenance.READ if draft.count_read else Provenance.DECLARED)
    return draft


def _ask_persons(work: Prepared, draft: SchemaDraft) -> SchemaDraft:
    """Which column says whose row it is, and how many rows of each are kept; the column is then no feature."""
    names = [name for name in draft.names if name != draft.target]
    revision = work.revision
    person = st.selectbox(
        "Column that says whose row it is",
        names,
        index=names.index(draft.person) if draft.person in names else None,
        key=f"person-{revision}",
        placeholder="every row is somebody else",
        help="Of each person as many rows are kept as you say, chosen by secret coins. The column goes into no tree and no file.",
    )
    if person is None:
        return draft.with_persons(None, None)
    kept = draft.rows_per_person or 1
    words = "A guarantee for one row, times this number, is the guarantee for one person."
    most = st.number_input("Rows kept of each person, at most", 1, 1_000_000, kept, key=f"rows-{revision}", help=words)
    return draft.with_persons(person, int(most))


def _ask_goal(goal: ColumnDraft, revision: int, place: int) -> ColumnDraft:
    kinds = [Use.CATEGORIES, Use.NUMBER]
    kind = st.radio(
        f"{parts.literal(goal.name)} is",
        kinds,
        index=kinds.index(goal.use) if goal.use in kinds else None,
        format_func={Use.CATEGORIES: "one of several classes", Use.NUMBER: "a number"}.get,
        key=f"goal-{revision}-{place}",
        horizontal=True,
    )
    goal = goal.edited(use=kind)
    if kind is Use.NUMBER:
        return _ask_goal_range(goal, revision, place)
    return _ask_labels(goal, revision, place, "Classes, one per line") if kind is Use.CATEGORIES else goal


def _ask_goal_range(goal: ColumnDraft, revision: int, place: int) -> ColumnDraft:
    ends = []
    for end, column in zip(("low", "high"), st.columns(2), strict=True):
        value = getattr(goal, end)
        ends.append(column.number_input(end.capitalize(), value=value, key=f"goal-{end}-{revision}-{place}", format="%g"))
    edited = goal.edited(low=ends[0], high=ends[1])
    with st.container(horizontal=True, vertical_alignment="center"):
        parts.source_badge(edited.source)
        if edited.read_now and edited.before is None:
            key = f"declare-goal-{revision}-{place}"
            st.button("I know this range without the data", key=key, icon=_KNOW, on_click=_declare, args=([goal.name],))
    return edited


def _ask_fill_in(work: Prepared) -> None:
    if not work.role.may_read:
        st.info(
            "Private rows: nothing is filled in from them. Give only what may be known without the data.", icon=":material/lock:"
        )
        return
    clicked = st.button("Fill in from the data", icon=":material/visibility:", disabled=work.table is None)
    st.caption("Fills whatever is empty. Each value read this way is marked, because no epsilon covers it.")
    if clicked:
        try:
            fill_in(work)
        except DpvizError as problem:
            parts.error(problem, kept="Nothing was filled in.")
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
    draft = draft.with_columns(*_KINDS.edit(draft.features, revision=work.revision))
    if work.left_out:
        reasons = "; ".join(f"{parts.literal(name)} ({parts.plain(why)})" for name, why in work.left_out[:10])
        st.caption(f"Left out when filling in: {reasons}.")
    return draft


def _ask_numbers(draft: SchemaDraft, revision: int) -> SchemaDraft:
    columns = draft.used_as(Use.NUMBER)
    if not columns:
        return draft
    st.markdown("### Ranges of the numbers")
    columns = _NUMBERS.edit(columns, revision=revision)
    draft = draft.with_columns(*columns)
    read = [column.name for column in columns if column.read_now and column.before is None]
    if read:
        text = "this range" if len(read) == 1 else f"these {len(read):,} ranges"
        st.button(f"I know {text} without the data", key="declare-numbers", icon=_KNOW, on_click=_declare, args=(read,))
    return draft


def _declare(names: list[str]) -> None:
    work = prepared()
    if work.draft is not None:
        work.draft = work.draft.with_columns(*(work.draft.column(name).declare() for name in names))


def _ask_categories(draft: SchemaDraft, revision: int) -> SchemaDraft:
    columns = draft.used_as(Use.CATEGORIES)
    if not columns:
        return draft
    st.markdown("### Categories")
    names = [column.name for column in columns]
    first = next((place for place, column in enumerate(columns) if column.lacks()), 0)
    name = st.selectbox("Feature", names, index=first, key=f"category-of-{revision}", persist_state="page")
    place = draft.names.index(name)
    column = _ask_labels(draft.column(name), revision, place, "Its categories, one per line")
    return draft.with_columns(_ask_fallbacks(column, revision, place))


def _ask_labels(column: ColumnDraft, revision: int, place: int, label: str) -> ColumnDraft:
    text = st.text_area(label, "\n".join(column.categories), key=f"labels-{revision}-{place}", height=120)
    edited = column.edited(categories=labels_in(text))
    if not edited.categories:
        return edited
    with st.container(horizontal=True, vertical_alignment="center"):
        parts.source_badge(edited.source)
        if edited.read_now and edited.before is None:
            key = f"declare-{revision}-{place}"
            st.button("I know this list without the data", key=key, icon=_KNOW, on_click=_declare, args=([column.name],))
    return edited


def labels_in(text: str | None) -> tuple[str, ...]:
    """One label per line, without surrounding blanks and blank lines."""
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())


def _ask_fallbacks(column: ColumnDraft, revision: int, place: int) -> ColumnDraft:
    """What a missing cell, and a text not in the list, becomes; none drops the row."""
    chosen = {}
    questions = {"missing_as": "A missing cell", "unknown_as": "A text not in the list"}
    options = [_DROP, *column.categories]
    for (field, question), side in zip(questions.items(), st.columns(2), strict=True):
        now = getattr(column, field)
        answer = side.selectbox(
            question,
            options,
            index=options.index(now) if now in options else 0,
            format_func=lambda option: f"counts as {option}" if option else "drops the row",
            key=f"{field}-{revision}-{place}",
        )
        chosen[field] = answer or None
    return column.edited(**chosen)


def missing_text(draft: SchemaDraft) -> str:
    """The sentence naming what must still be given, as Markdown; empty when nothing is missing."""
    by_gap: dict[str, list[str]] = {}
    for what, name in draft.gaps():
        by_gap.setdefault(what, []).append(name)
    special = {"target": "the column to predict", "feature": "at least one feature", "row count": "about how many rows there are"}
    texts = [special.get(what) or f"{what} for {parts.names_text(names)}" for what, names in by_gap.items()]
    return f"Still missing: {'; '.join(texts)}." if texts else ""
