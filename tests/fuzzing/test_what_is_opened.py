"""Forged files, all the way to where they are used: drafts, codebooks, and models up to their exports and reports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.app.data.draft_json import draft_from_dict, draft_to_json
from dpviz.errors import DpvizError
from dpviz.io.results import result_from_json
from dpviz.models.document import model_from_json
from dpviz.results.exports import export, export_names
from dpviz.table.strict_json import parse_json
from tests.fuzzing.test_readers import FUZZ, model_texts
from tests.support.drafts import KEPT
from tests.support.mutations import exchanged, spoiled
from tests.support.release_rows import small_rows

pytestmark = [pytest.mark.slow, pytest.mark.verify]

#: Forms that show what the document says about itself.
PAGES = ("report", "svg")
WORDS = [name for name in export_names() if name != "duckdb"]


@cache
def draft() -> dict:
    return json.loads(draft_to_json(KEPT))


def is_short(problem: DpvizError) -> None:
    assert len(str(problem)) < 5_000


def opens(text: str | bytes) -> None:
    try:
        draft_from_dict(parse_json(text))
    except DpvizError as problem:
        is_short(problem)


@given(text=st.deferred(lambda: exchanged((draft(),))))
@settings(max_examples=600, **FUZZ)
def test_a_forged_draft_is_refused_in_words_or_opened(text: str) -> None:
    opens(text)


@given(text=st.deferred(lambda: spoiled((json.dumps(draft()).encode(),))))
@settings(max_examples=200, **FUZZ)
def test_a_draft_with_spoiled_bytes_is_refused_in_words_or_opened(text: bytes) -> None:
    opens(text)


def test_a_draft_without_one_entry_is_refused_in_words_or_opened() -> None:
    for part in ("", "draft"):
        for name in draft()[part] if part else draft():
            for instead in (..., None, [], {}, "x", -1, 1e300, [[]], "\u202e" * 9):
                document = json.loads(json.dumps(draft()))
                holder = document[part] if part else document
                del holder[name]
                if instead is not ...:
                    holder[name] = instead
                opens(json.dumps(document))


def is_taken_away(text: str, forms: Iterable[str] = WORDS) -> None:
    """A model is read back with what is said about it, and written in every form."""
    for name in forms:
        try:
            export(name, text)
        except DpvizError as problem:
            is_short(problem)
    try:
        result_from_json(text)
    except DpvizError as problem:
        is_short(problem)


@cache
def one_model() -> dict:
    return json.loads(dpviz.fit("pf-tree", small_rows(), epsilon=1.0, max_depth=2, seed=0).to_json())


@given(text=st.deferred(lambda: exchanged((one_model(),))))
@settings(max_examples=60, **FUZZ)
def test_a_forged_model_is_refused_in_words_or_written_in_every_form(text: str) -> None:
    is_taken_away(text)


@pytest.mark.parametrize(
    "name", ["learner", "privacy", "versions", "schema", "kind", "test_report", "register", "noise", "person"]
)
def test_an_entry_of_the_wrong_kind_is_refused_in_words_or_written(name: str) -> None:
    for instead in ([], None, "x", 1, {"name": []}):
        is_taken_away(json.dumps({**one_model(), name: instead}), PAGES)
        if isinstance(one_model().get(name), dict) and name != "test_report":
            for inner in one_model()[name]:
                is_taken_away(json.dumps({**one_model(), name: {**one_model()[name], inner: instead}}), PAGES)


def test_a_packed_forest_of_numbers_that_fit_no_array_is_refused_in_words() -> None:
    texts = [text for text in model_texts() if json.loads(text)["kind"] == "packed-forest"]
    for document in map(json.loads, texts):
        for name, value in document.items():
            for number in (40_000, 2**31, 2**63, 2**70, -1, 1e300):
                for forged in _with_one_number(value, number):
                    try:
                        model = model_from_json(json.dumps({**document, name: forged}))
                        model.predict(small_rows())
                    except DpvizError as problem:
                        is_short(problem)


def _with_one_number(value: object, number: float):
    """`value` with its first number at each depth exchanged."""
    if isinstance(value, list) and value:
        if isinstance(value[0], (int, float)):
            yield [number, *value[1:]]
        for inner in _with_one_number(value[0], number):
            yield [inner, *value[1:]]
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, (int, float)):
                yield {**value, name: number}
            for inner in _with_one_number(item, number):
                yield {**value, name: inner}
