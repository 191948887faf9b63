"""A schema as a file: put a saved one or a codebook in place of the draft, save the draft as either."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.app import parts
from dpviz.app.prepared import Prepared, prepared
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.schema_editor import missing_text
from dpviz.app.widgets import download
from dpviz.errors import DpvizError
from dpviz.figures.as_python import file_stem
from dpviz.io.codebook import Codebook, codebook_template, codebook_text, read_codebook
from dpviz.table.schema_json import schema_from_dict
from dpviz.table.strict_json import parse_json, read_entry

_MOST_MEGABYTES = 10
_FILE = "Schema saved by dpviz, or a codebook"
_CODES = "Where a codebook lists “m = male”, the code m becomes the category, because that is what the cells contain."
_MOST = "rows_per_person"
_TYPES = ["json", "csv"]


def ask_schema_file(work: Prepared) -> None:
    """Upload or download the schema, as JSON where it is finished, or as a codebook."""
    is_own = work.draft is not None and work.delivered is None  # nobody has described these columns yet
    with st.expander("Codebook or schema as a file", is_own, icon=":material/description:"):
        options = {"type": _TYPES, "max_upload_size": _MOST_MEGABYTES, "help": _CODES}
        parts.upload(_FILE, "schema", _take, kept="The schema below is as it was.", **options)
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
    work = prepared()
    if work.draft is not None:
        draft, work.aside = _draft_of(work.draft, file)
        work.replace_draft(draft)


def _draft_of(draft: SchemaDraft, file: Any) -> tuple[SchemaDraft, str]:
    """The draft that a schema, or as far as it goes a codebook, declares for these columns, and what of it was left aside."""
    if file.name.lower().endswith(".json"):
        document = parse_json(file.getvalue())
        schema = schema_from_dict(document)
        if schema.person is None:
            return SchemaDraft.of(schema, draft.names), ""
        most = read_entry(int, document, _MOST) if _MOST in document else 1
        return SchemaDraft.of(schema, draft.names, person=schema.person, rows_per_person=most), ""
    book = read_codebook(file, target=draft.target)
    found = SchemaDraft.of_codebook(book, draft.names).with_row_count(draft.n_public)
    person = draft.person or found.person
    return replace(found, person=person, rows_per_person=draft.rows_per_person or (1 if person else None)), _aside(
        book, draft.names
    )


def _aside(book: Codebook, names: Sequence[str]) -> str:
    """What is doubtful about a codebook, and what it says that the draft does not hold, as Markdown; empty for nothing."""
    others = [column.name for column in book.columns if column.name not in names]
    told = [f"lines about columns that the table does not have: {parts.names_text(others)}"] if others else []
    lines = [f"Not taken from the codebook: {'; '.join(told)}."] if told else []
    return " ".join([*map(parts.plain, book.notes), *lines])


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
        return _with_persons(draft), ""
    except DpvizError as problem:
        return "", parts.plain(str(problem))


def _with_persons(draft: SchemaDraft) -> str:
    """The schema with the column that says whose row it is; how many rows are kept of each is for this page alone."""
    schema = replace(draft.schema(), person=draft.person)
    said = {} if draft.person is None else {_MOST: draft.rows_per_person}
    return json.dumps({**schema.to_dict(), **said}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
