"""A schema as a file: put a saved one in place of the draft, save the draft."""

import re
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.app import parts
from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.draft_json import FORMAT, KeptDraft, draft_from_dict, draft_to_json
from dpviz.app.data.prepared import Prepared, prepared
from dpviz.app.data.schema_editor import missing_text
from dpviz.app.widgets import download
from dpviz.errors import DpvizError
from dpviz.io.codebook import codebook_template, read_codebook
from dpviz.table.role import DataRole
from dpviz.table.schema_json import schema_from_dict
from dpviz.table.strict_json import parse_json

_MOST_MEGABYTES = 10
_FILE = "Schema or draft saved by dpviz, or a codebook"
_CODES = "Where a codebook lists “m = male”, the code m becomes the category, because that is what the cells contain."
_TYPES = ["json", "csv", "tsv", "xlsx"]


def ask_schema_file(work: Prepared) -> None:
    """Upload or download the schema as JSON, finished or not, or what a codebook says."""
    with st.expander("Codebook or schema as a file", icon=":material/description:"):
        options = {"type": _TYPES, "max_upload_size": _MOST_MEGABYTES, "help": _CODES}
        parts.upload(_FILE, "schema", _take, kept="The schema below is as it was.", **options)
        if work.draft is not None:
            template = codebook_template(work.draft.names)
            download("Download codebook template", template, f"{_file_stem(work.title)}.codebook.csv", "text/csv")
            kind, text, why_not = document(work.draft, work.role)
            download(f"Download {kind}", text, f"{_file_stem(work.title)}.{kind}.json", "application/json")
            if why_not:
                st.caption(f"A draft, to be opened here again. {why_not}")


def _take(file: Any) -> None:
    work = prepared()
    if work.draft is not None:
        work.replace_draft(_draft_of(work.draft, file))


def _draft_of(draft: SchemaDraft, file: Any) -> SchemaDraft:
    """The draft that a schema, or as far as it goes a codebook, declares for these columns."""
    if file.name.lower().endswith(".json"):
        document = parse_json(file.getvalue())
        if isinstance(document, dict) and document.get("format") == FORMAT:
            return draft_from_dict(document).draft.for_table(draft.names)
        if not isinstance(document, dict | list) or not document or "format" in document:
            return SchemaDraft.of(schema_from_dict(document), draft.names)
    found = SchemaDraft.of_codebook(read_codebook(file), draft.names, draft.target)
    return replace(found.with_row_count(draft.n_public), person=draft.person, rows_per_person=draft.rows_per_person)


def document(draft: SchemaDraft, role: DataRole) -> tuple[str, str, str]:
    """("schema", its JSON, "") where the draft makes one; else ("draft", its JSON, why it makes none, as Markdown)."""
    why_not = missing_text(draft)
    if not why_not:
        try:
            return "schema", draft.schema().to_json(), ""
        except DpvizError as problem:
            why_not = parts.plain(str(problem))
    return "draft", draft_to_json(KeptDraft(role, draft)), why_not


def _file_stem(title: str) -> str:
    stem = re.sub(r"(\.[a-z]{2,7}){0,2}$", "", title.lower())
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:60] or "table"
