"""Fill in a schema draft: row count, persons, target, and one grid with what is public of every column; or a file that says so.

Values that were read from the data wear that badge; giving a value oneself takes it off. In the private role nothing can be
filled in from the data.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.app import parts
from dpviz.app.parts import as_code, escape_markdown, in_list, names_text
from dpviz.app.preparation import Preparation, preparation
from dpviz.app.prose import prose
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.widgets import download
from dpviz.charts.as_python import file_stem
from dpviz.charts.tree.text import visible
from dpviz.charts.wording import minus
from dpviz.errors import DpvizError
from dpviz.io.codebook import (
    codebook_template,
    codebook_text,
    codes_in,
    groups_in,
    groups_text,
    list_text,
    read_codebook,
)
from dpviz.table.column_draft import HOW_TO_USE, MIDDLE, ColumnDraft, Use, draft_of, read_number
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.proposal import feature_for, left_out, propose_schema
from dpviz.table.role import DataRole
from dpviz.table.schema import MAX_ROWS_PER_PERSON, Provenance
from dpviz.table.schema_json import schema_from_json

_MAX_MEGABYTES, _MAX_PROBLEMS = 10, 5
#: Rows of the grid that are shown without scrolling; the half row says that more follow.
_MAX_ROWS = 12.5


def ask_schema(work: Preparation) -> None:
    """What is public about the table at hand as a whole, and its target; `work.draft` holds it afterwards."""
    draft, revision = work.draft or SchemaDraft(()), work.revision
    st.header("Public schema", anchor=False)
    st.caption("Enter only what you could publish anyway.")
    if work.table is not None:
        parts.notes(work.table, may_read=work.role.may_read)
    left, right = st.columns(2, gap="medium")
    with right:
        words = "About how many rows there are, as known without them; better rounded. Depth rules and learners use it."
        options: dict[str, Any] = {"step": 1, "value": draft.n_public, "placeholder": "not declared", "help": words}
        draft = draft.with_row_count(st.number_input("Public row count", 1, key=f"n-public-{revision}", **options))
        if draft.n_public is not None:
            parts.source_badge(Provenance.READ if draft.count_read else Provenance.DECLARED)
        names = [name for name in draft.names if name != draft.target]
        index = names.index(draft.person) if draft.person in names else None
        words = "At most this many rows per person are used, chosen at random. The column goes into no tree and no file."
        options = {"placeholder": "every row is a different person", "format_func": in_list, "help": words}
        person = st.selectbox("Person ID column", names, index, key=f"person-{revision}", **options)
        label = "Rows per person" if person is None else "Rows kept of each person, at most"
        words = "Every ε is that of a person: so many rows share it."
        words += " Without a column nothing enforces it: it rests on your word." if person is None else ""
        most, key = draft.rows_per_person, f"rows-{revision}" if person is not None else f"rows-word-{revision}"
        draft = draft.with_persons(person, int(st.number_input(label, 1, MAX_ROWS_PER_PERSON, most, key=key, help=words)))
    with left:
        names = [name for name in draft.names if name != draft.person]
        index = names.index(draft.target) if draft.target in names else None
        options = {"placeholder": "Choose the target", "format_func": in_list}
        work.draft = draft.with_target(st.selectbox("Column to predict", names, index, key=f"target-{revision}", **options))
        _ask_fill_in(work)


def _ask_fill_in(work: Preparation) -> None:
    if not work.role.may_read:
        st.info(prose("private", "nothing filled in"), icon=":material/lock:")
        return
    clicked = st.button("Fill in from the data", icon=":material/visibility:", disabled=work.table is None)
    st.caption("Fills what is empty. Such values are marked: no ε covers them.")
    if clicked:
        try:
            fill_in(work)
        except DpvizError as problem:
            is_guessed = work.draft is not None and not work.draft.target
            guessed = " No column to predict is chosen, so the last one was tried." if is_guessed else ""
            parts.error(problem, kept=f"Nothing was filled in.{guessed}")
        else:
            st.rerun()


def fill_in(work: Preparation) -> None:
    """Read kinds, ranges, categories and classes from the rows into whatever nobody declared.

    Raises SchemaError when the rows allow no schema with this target, DpvizError for private rows.
    """
    if work.table is None or work.draft is None or work.role is DataRole.PRIVATE:
        raise DpvizError("Nothing may be filled in here.", remedy="Declare the values, or choose a table that is not private.")
    declared = {column.name: column.missing_codes for column in work.draft.columns}
    schema = propose_schema(work.table.with_missing(declared), work.draft.target)
    work.replace_draft(work.draft.fill(SchemaDraft.of(schema, work.table.names)))
    work.left_out = left_out(work.table, schema)


# --- the grid: a row per column of the table, first the one to predict

#: A use of a column beside those of `Use`: a number, by a date rule.
_DATE = "date"
_USES = (Use.NUMBER.value, _DATE, Use.CATEGORIES.value, Use.LEFT_OUT.value)
_DROP = "drop the row"
_text, _choice = st.column_config.TextColumn, st.column_config.SelectboxColumn
_INSTEAD = f"Stands for a missing cell: a number or “{MIDDLE}” of the range, or a category. Empty: its row is dropped."
_LISTED = "Categories, or classes of the column to predict, between semicolons: north; south. Of 1 = male the code 1 counts."
_CONFIG: Mapping[str, Any] = {
    "name": _text("Column", pinned=True, width="medium"),
    "use": _choice("Use as", options=list(_USES), help="Number, date, categories, or not at all."),
    "source": _text("Source", width=110, help="Declared by you, or read from the data: then no ε covers it."),
    "low": _text("Low", width="small", help="Smaller values count as this one. Write 220.5 or 220,5."),
    "high": _text("High", width="small", help="Greater values count as this one."),
    "categories": _text("Categories", width="medium", help=_LISTED),
    "groups": _text("Same as", width=120, help="Other texts and the category each counts as: M = m; male = m; W = f."),
    "missing_codes": _text("Missing codes", help="Cells that count as missing, such as: 999; k.A.; -"),
    "missing": _text("If missing", width=100, help=_INSTEAD),
    "unknown_as": _text("If unknown", width=100, help="The category of every other text. Empty: its row is dropped."),
    "whole": st.column_config.CheckboxColumn("Whole", help="Only whole numbers; others are rounded."),
    "unit": _text("Unit", max_chars=20, help="For people only, such as EUR or years."),
    "part": _choice("Date as", options=list(PARTS), help="Year, month, weekday (1 is Monday), or days since 1970-01-01."),
    "order": _choice("Written", options=list(ORDERS), help="Of a date: ymd 2024-03-01, dmy 01.03.2024, mdy 3/1/2024."),
}
_ALT = "One row per column of the table: its name, what to use it as, range or categories, rules for its cells, source."


def ask_columns(work: Preparation) -> None:
    """What is public about each column; `work.draft` holds it afterwards."""
    draft, problems = work.draft or SchemaDraft(()), list[str]()
    columns = draft.grid_columns
    # other rows are another grid; Streamlit keeps what was typed as long as the kinds of its cells stay as they are
    key = f"columns-{work.revision}-{'-'.join(str(draft.names.index(name)) for name in (draft.target, draft.person) if name)}"
    typed = (st.session_state.get(key) or {}).get("edited_rows", {})
    edited = [_refill(work, column, _apply_cells(column, typed.get(row, {}), problems)) for row, column in enumerate(columns)]
    work.draft = draft = draft.with_columns(*edited)
    st.markdown("### Columns")
    st.caption("Cells can be typed, pasted from a spreadsheet, or dragged on from one to those below it.")
    import pandas as pd

    rows = [_cells_of(column, is_target=column.name == draft.target) for column in draft.supported().grid_columns]
    kinds = {"whole": "bool"}  # texts else, for a grid of numbers reads 220,5 as 2205
    frame = pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=kinds.get(name, "string")) for name in _CONFIG})
    options: dict[str, Any] = {"num_rows": "fixed", "hide_index": True, "disabled": ["name", "source"], "placeholder": "–"}
    height = round(38 + 35 * min(len(frame), _MAX_ROWS))
    st.data_editor(frame, key=key, column_config=_CONFIG, alt=_ALT, height=height, **options)
    if problems:
        st.warning("  \n".join(problems[:_MAX_PROBLEMS]), icon=":material/pin:")
    if work.left_out:
        reasons = "; ".join(f"{as_code(name)} ({escape_markdown(why)})" for name, why in work.left_out[:10])
        st.caption(f"Left out when filling in: {reasons}.")
    read = [column.name for column in draft.grid_columns if column.read_now]
    if read and draft.before is None:  # after a look at private rows nobody knows anything without them
        these = "this column" if len(read) == 1 else f"these {len(read):,} columns"
        text = f"I know {these} without the data"
        st.button(text, key="declare", icon=":material/edit:", on_click=_declare, args=(read,))


_OF_NUMBERS, _OF_DATES, _OF_TEXTS = {"low", "high", "unit"}, {"part", "order"}, {"categories", "groups", "unknown_as"}


def _cells_of(column: ColumnDraft, *, is_target: bool) -> dict[str, Any]:
    """The cells of a column as they can be typed again; blank where they say nothing about its use."""
    is_number = column.use is Use.NUMBER
    instead = column.missing_number if is_number else column.missing_as
    cells = {
        "name": in_list(column.name),
        "use": _DATE if is_date(column) else column.use and column.use.value,
        "low": _number(column.low),
        "high": _number(column.high),
        "categories": list_text(map(visible, column.categories)) or None,
        "groups": groups_text([tuple(map(visible, pair)) for pair in column.groups]) or None,
        "missing_codes": list_text(map(visible, column.missing_codes)) or None,
        "missing": _DROP if instead is None else visible(instead) if isinstance(instead, str) else _number(instead),
        "unknown_as": _DROP if column.unknown_as is None else visible(column.unknown_as),
        "whole": column.whole,
        "unit": column.unit or None,
        "part": column.part or None,
        "order": column.order or None,
        "source": "" if column.lacks() else column.source.value,
    }
    blank = set() if is_number else _OF_NUMBERS | _OF_DATES
    blank |= set() if is_date(column) else _OF_DATES
    blank |= set() if column.use is Use.CATEGORIES else _OF_TEXTS
    blank |= {"missing", "unknown_as"} if is_target or column.use in (None, Use.LEFT_OUT) else set()
    return cells | dict.fromkeys(blank, "")


def is_date(column: ColumnDraft) -> bool:
    """Whether a date rule makes numbers of it."""
    return column.use is Use.NUMBER and bool(column.part)


def _number(value: float | None) -> str | None:
    return None if value is None else minus(f"{value:.15g}")


def _refill(work: Preparation, before: ColumnDraft, column: ColumnDraft) -> ColumnDraft:
    """The column whose range, where it was read from the rows, is that of cells which are no missing codes."""
    is_read = work.role.may_read and not {"low", "high"}.isdisjoint(column.read) and column.missing_codes != before.missing_codes
    if not is_read or work.table is None:
        return column
    cells = work.table.without_total.column(column.name).with_missing(column.missing_codes)
    return column.fill(draft_of(feature_for(cells))) if cells.distinct_texts else column


def _apply_cells(column: ColumnDraft, cells: Mapping[str, Any], problems: list[str]) -> ColumnDraft:
    """Cells as they were typed, laid over the column: typing a value, even the same one, declares it.

    What cannot be read stays empty, and says why in `problems`, as Markdown.
    """
    found: dict[str, Any] = {}
    if "use" in cells:
        found["use"] = Use.NUMBER if cells["use"] == _DATE else Use(cells["use"]) if cells["use"] else None
    is_number = found.get("use", column.use) is Use.NUMBER
    for name, value in cells.items():
        if name in _CONFIG and name not in ("name", "use", "source"):
            field = {"missing": "missing_number" if is_number else "missing_as"}.get(name, name)
            try:
                found[field] = _read(field, value)
            except DpvizError as problem:
                found[field] = _read(field, None)
                problems.append(f"{as_code(column.name)}: {escape_markdown(problem.what)} {escape_markdown(problem.remedy)}")
    if "use" in cells and (cells["use"] == _DATE) is not is_date(column):
        found |= {"part": found.get("part") or "year", "whole": True} if cells["use"] == _DATE else {"part": ""}
    return column.edit(**found).declare(found) if found else column


def _read(field: str, value: Any) -> Any:
    text = value.strip() if isinstance(value, str) else value
    match field:
        case "low" | "high" | "missing_number":
            if not isinstance(text, str):
                return text
            is_middle = text.lower() == MIDDLE and field == "missing_number"
            return MIDDLE if is_middle else None if text in ("", _DROP) else read_number(text)
        case "categories" | "missing_codes":
            return codes_in(value or "")
        case "groups":
            return groups_in(value or "")
        case "missing_as" | "unknown_as":
            return None if text in (None, "", _DROP) else text
        case "whole":
            return bool(value)
    return value or ""


def _declare(names: list[str]) -> None:
    work = preparation()
    if work.draft is not None:
        work.draft = work.draft.with_columns(*(work.draft.column(name).declare() for name in names))


def missing_text(draft: SchemaDraft) -> str:
    """The sentence naming what must still be given, as Markdown; empty when nothing is missing."""
    by_gap: dict[str, list[str]] = {}
    for what, name in draft.gaps():
        by_gap.setdefault(what, []).append(name)
    special = {"target": "the column to predict", "feature": "at least one feature", "row count": "the public row count"}
    texts = [
        special.get(what) or f"{what}{'' if what == HOW_TO_USE else ' for'} {names_text(names)}" for what, names in by_gap.items()
    ]
    return f"Still missing: {'; '.join(texts)}." if texts else ""


# --- the schema as a file


def ask_schema_file(work: Preparation) -> None:
    """Upload or download the schema, as JSON where it is finished, or as a codebook."""
    is_own = work.draft is not None and work.sample is None  # nobody has described these columns yet
    with st.expander("Codebook or schema as a file", is_own, icon=":material/description:"):
        words = "Where a codebook lists “m = male”, the code m becomes the category, because that is what the cells contain."
        options = {"max_upload_size": _MAX_MEGABYTES, "help": words}
        kept = "The schema below is as it was."
        parts.upload("Schema saved by dpviz, or a codebook", "schema", _take, kept=kept, **options)
        if work.aside:
            st.info(work.aside, icon=":material/info:")
        if work.draft is not None:
            stem = file_stem(work.title)
            download("Download codebook", codebook(work.draft), f"{stem}.codebook.csv", "text/csv")
            text, why_not = document(work.draft)
            if text:
                download("Download schema", text, f"{stem}.schema.json", "application/json")
            else:
                st.caption(f"Not finished; the codebook opens here again. {why_not}")


def _take(file: Any) -> None:
    """Put the draft that a schema, or as far as it goes a codebook, declares for these columns in place of the draft."""
    work = preparation()
    if work.draft is None:
        return
    names = work.draft.names
    if file.name.lower().endswith(".json"):
        schema = schema_from_json(file.getvalue())
        draft = SchemaDraft.of(schema, names, person=schema.person)
        work.aside = ""
    else:
        book = read_codebook(file, target=work.draft.target)
        draft = SchemaDraft.of_codebook(book, names).with_row_count(work.draft.n_public)
        person = work.draft.person or draft.person
        draft = draft.with_persons(person, work.draft.rows_per_person)
        others = [column.name for column in book.columns if column.name not in names]
        told = f"Not taken from the codebook: lines about columns that the table does not have: {names_text(others)}."
        work.aside = " ".join([*map(escape_markdown, book.notes), *([told] if others else [])])
    work.replace_draft(draft)


def codebook(draft: SchemaDraft) -> str:
    """What the draft declares so far, as a codebook; a template with examples where it declares nothing."""
    if draft == SchemaDraft.blank(draft.names):
        return codebook_template(draft.names)
    return codebook_text(draft.columns, draft.target, draft.person)


def document(draft: SchemaDraft) -> tuple[str, str]:
    """(the schema as JSON, "") where the draft makes one; else ("", why it makes none, as Markdown)."""
    why_not = missing_text(draft)
    if why_not:
        return "", why_not
    try:
        return replace(draft.schema(), person=draft.person).to_json(), ""
    except DpvizError as problem:
        return "", escape_markdown(str(problem))
