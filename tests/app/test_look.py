"""After a look at private rows, whatever changes counts as read from them until it is put back; a release refuses it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpviz.app.schema_draft import SchemaDraft
from dpviz.errors import RefusedRelease
from dpviz.learners import FitRequest
from dpviz.release.release import preview_terms
from dpviz.table.column_draft import ColumnDraft, Use

COLUMNS = (
    ColumnDraft("age", Use.NUMBER, 0.0, 99.0, "years", missing_number=7.0),
    ColumnDraft("when", Use.NUMBER, 1.0, 12.0, part="month", order="dmy", since="2000-01-01"),
    ColumnDraft("city", Use.CATEGORIES, categories=("a", "b", "other"), missing_as="other", unknown_as="other"),
    ColumnDraft("spare", Use.LEFT_OUT, 0.0, 1.0),
    ColumnDraft("who", Use.LEFT_OUT),
    ColumnDraft("who2", Use.LEFT_OUT),
    ColumnDraft("y", Use.CATEGORIES, categories=("n", "p")),
    ColumnDraft("z", Use.CATEGORIES, categories=("n", "p")),
)
UNSEEN = SchemaDraft(COLUMNS, "y", 800, person="who", rows_per_person=2)
LOOKED = UNSEEN.looked_at()
REQUEST = FitRequest.of("pf-tree", max_depth=3)
Change = Callable[[SchemaDraft], SchemaDraft]


def column(name: str, **values: object) -> Change:
    return lambda draft: draft.with_columns(draft.column(name).edited(**values))


CHANGES: dict[str, Change] = {
    "low": column("age", low=-1.0),
    "high": column("age", high=120.0),
    "unit": column("age", unit="months"),
    "whole": column("age", whole=True),
    "missing_number": column("age", missing_number=None),
    "codes": column("age", missing_codes=("999",)),
    "part": column("when", part="weekday", high=7.0),
    "order": column("when", order="mdy"),
    "categories": column("city", categories=("a", "b", "c", "other")),
    "missing_as": column("city", missing_as=None),
    "unknown_as": column("city", unknown_as="a"),
    "codes of categories": column("city", missing_codes=("-",)),
    "use": column("city", use=Use.NUMBER, low=0.0, high=1.0),
    "left out": column("city", use=Use.LEFT_OUT),
    "taken in": column("spare", use=Use.NUMBER),
    "classes": column("y", categories=("n", "p", "q")),
    "target": lambda draft: draft.with_target("z"),
    "row count": lambda draft: draft.with_row_count(400),
    "rows per person": lambda draft: draft.with_persons("who", 5),
    "another person": lambda draft: draft.with_persons("who2", 2),
    "no person": lambda draft: draft.with_persons(None, 1),
}


def test_a_look_alone_changes_nothing_that_was_declared() -> None:
    assert LOOKED.read_fields() == 0
    assert LOOKED.schema().read_fields() == ()
    assert preview_terms(LOOKED.schema(), REQUEST).claim.is_sound
    assert LOOKED.looked_at() is LOOKED


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_after_the_look_counts_as_read_until_it_is_put_back_and_without_a_look_it_is_declared(
    name: str,
) -> None:
    changed = CHANGES[name](LOOKED)
    assert changed.read_fields() >= 1
    assert changed.schema().read_fields()
    with pytest.raises(RefusedRelease, match="nothing that was read from the data"):
        preview_terms(changed.schema(), REQUEST)
    assert changed.before_look() == LOOKED
    fields = [field for field in ColumnDraft.__slots__ if field not in ("name", "read", "before")]
    by_hand = (changed.column(old.name).edited(**{field: getattr(old, field) for field in fields}) for old in COLUMNS)
    assert changed.with_columns(*by_hand).with_target("y").with_row_count(800).with_persons("who", 2) == LOOKED
    declared = CHANGES[name](UNSEEN)
    assert declared.read_fields() == 0
    assert preview_terms(declared.schema(), REQUEST).claim.is_sound


def test_saying_that_one_knows_it_does_not_take_the_mark_away() -> None:
    for name in ("low", "categories", "classes"):
        changed = CHANGES[name](LOOKED)
        assert changed.looked_at() == changed, "a second look remembers what was declared before the first"
        declared = changed.with_columns(*(item.declare() for item in changed.columns))
        assert declared == changed


def test_a_draft_from_outside_does_not_make_the_look_forgotten() -> None:
    fresh = SchemaDraft((COLUMNS[0].edited(low=-5.0), *COLUMNS[1:]), "y", 800, person="who", rows_per_person=2)
    after = fresh.after(LOOKED)
    assert after.column("age").read_now == {"low"}
    assert after.before_look() == LOOKED
    assert SchemaDraft.blank(("a", "b")).after(LOOKED).before is None


def test_values_that_were_read_before_the_look_stay_read() -> None:
    read = ColumnDraft("age", Use.NUMBER, 0.0, 1.0, read=frozenset({"low"}))
    looked = SchemaDraft((read, *COLUMNS[1:]), "y", 800).looked_at()
    assert looked.column("age").edited(high=2.0).read == {"low", "high"}
    assert looked.column("age").edited(high=2.0).edited(high=1.0).read == {"low"}
