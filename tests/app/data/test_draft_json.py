"""A draft as JSON: whatever stands in it comes back, and what no draft holds is named with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.draft_json import KeptDraft, draft_from_dict, draft_to_json
from dpviz.errors import DocumentError
from dpviz.table.role import DataRole
from tests.support.drafts import KEPT


def test_a_draft_comes_back_as_it_was() -> None:
    assert draft_from_dict(json.loads(draft_to_json(KEPT))) == KEPT
    blank = KeptDraft(DataRole.PUBLIC, SchemaDraft.blank(("a", "b")), "wine")
    assert draft_from_dict(json.loads(draft_to_json(blank))) == blank


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("format",), "dpviz-draft/2", "is not known here"),
        (("role",), "nobody", "role: This must be one of the known texts"),
        (("sample",), 3, "sample: This must be a text"),
        (("draft",), None, "draft: This must be an object"),
        (("draft", "columns"), [], "draft.columns: There must be two columns or more"),
        (("draft", "columns", 1, "name"), "age", "draft.columns: There must be two columns or more, each with a name of its own"),
        (("draft", "columns", 1, "name"), " ", "each with a name of its own"),
        (("draft", "columns", 0, "low"), "0", "draft.columns[0].low: This must be a number"),
        (("draft", "columns", 0, "use"), "guess", "draft.columns[0].use: This must be one of the known texts"),
        (("draft", "columns", 0, "read"), ["lo"], "draft.columns[0].read: This must be of"),
        (("draft", "columns", 1, "part"), "hour", "draft.columns[1].part: This must be of"),
        (("draft", "columns", 1, "order"), "", "draft.columns[1].order: This must be of"),
        (("draft", "columns", 2, "categories"), "abc", "draft.columns[2].categories: This must be a list"),
        (("draft", "columns", 1, "before", "part"), "hour", "draft.columns[1].before.part: This must be of"),
        (("draft", "columns", 1, "before", "name"), "age", "draft.columns[1].before: This must be the same column"),
        (("draft", "before"), 3, "draft.before: This must be an object"),
        (("draft", "target"), "z", "draft.target: This must be one of the columns"),
        (("draft", "person"), "z", "draft.person: This must be one of the columns"),
        (("draft", "n_public"), 0, "draft.n_public: This must be a whole number above 0"),
        (("draft", "n_public"), 1.5, "draft.n_public: This must be a whole number"),
        (("draft", "rows_per_person"), 10**400, "rows_per_person"),
        (("draft", "rows_per_person"), None, "draft.rows_per_person: This must be given together with person"),
    ],
)
def test_what_no_draft_holds_is_named_with_its_place(path: tuple[Any, ...], value: Any, says: str) -> None:
    document = json.loads(draft_to_json(KEPT))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(DocumentError) as caught:
        draft_from_dict(document)
    assert says in str(caught.value)
