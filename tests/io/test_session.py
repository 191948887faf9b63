"""A session file holds what was asked and made, never rows, and of private rows only what was declared."""

import copy
import json
import math
from dataclasses import replace

import pytest

from dpviz.errors import DocumentError, DpvizError
from dpviz.io.session import Choices, Curves, Session, session_from_json, session_to_json
from dpviz.models.document import model_from_json
from dpviz.table.role import DataRole
from tests.io.exports_models import exportable, schema_with_stand_ins

CHOICES = Choices("pf-tree", {"epsilon": 0.5, "max_depth": 3, "depth": "auto"}, {"level_shares": (1.0, 2.0, 3.0)}, 7)
#: Of these rows, and of the table being declared.
PERSONS = {"person", "rows_per_person", "draft"}
CURVES = Curves(
    {"along": "epsilon", "grid": {"learners": ["cart"]}},
    ("learner", "epsilon", "accuracy", "n"),
    (("cart", math.inf, 0.75, 3), ("pf-tree", 0.1, 0.5, 4)),
)


def session(role: DataRole = DataRole.SIMULATED) -> Session:
    model = exportable("pf-tree", schema_with_stand_ins()).text
    return Session(role, "Loans", "loans", schema_with_stand_ins(), CHOICES, (model,), curves=(CURVES,))


@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PUBLIC])
def test_a_session_comes_back_as_it_was_saved(role):
    saved = session(role)
    found = session_from_json(session_to_json(saved))
    assert found == saved
    assert model_from_json(found.models[0]) == model_from_json(saved.models[0])


def test_entries_that_a_file_leaves_out_are_at_their_defaults():
    document = json.loads(session_to_json(session()))
    found = session_from_json(json.dumps({name: document[name] for name in ("format", "role", "schema")}))
    assert found == Session(DataRole.SIMULATED, "", None, schema_with_stand_ins())


def test_of_private_rows_only_schema_and_settings_are_written():
    text = session_to_json(session(DataRole.PRIVATE))
    document = json.loads(text)
    assert (document["models"], document["curves"], document["title"], document["sample"]) == ([], [], "", None)
    assert document["choices"]["draw"] is None
    assert "Loans" not in text
    assert session_from_json(text).schema == schema_with_stand_ins()


def test_of_a_private_file_that_somebody_filled_in_by_hand_nothing_more_is_read():
    document = json.loads(session_to_json(session()))
    document["role"] = "private"
    found = session_from_json(json.dumps(document))
    assert (found.models, found.curves, found.title, found.sample) == ((), (), "", None)
    assert found.choices is not None
    assert found.choices.draw is None


@pytest.mark.parametrize("role", list(DataRole))
def test_the_person_column_and_the_draft_on_screen_are_saved(role):
    draft = {"format": "dpviz-draft/1", "anything": [1, None]}
    saved = replace(session(role), person="who", rows_per_person=3, draft=draft)
    found = session_from_json(session_to_json(saved))
    assert (found.person, found.rows_per_person, found.draft) == ("who", 3, draft)


def test_not_a_number_and_infinity_survive():
    curves = Curves({}, ("x",), ((math.nan,), (math.inf,), (-math.inf,), (True,), ("infinite",), (2**53,)))
    text = session_to_json(Session(DataRole.PUBLIC, "", None, schema_with_stand_ins(), curves=(curves,)))
    found = [row[0] for row in session_from_json(text).curves[0].rows]
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf, True, "infinite", 2**53]
    assert "NaN" not in text


def test_no_release_seed_can_be_in_it():
    document = json.loads(session_to_json(session()))
    assert document["models"][0]["privacy"]["noise"]["source"] == "simulation"
    assert set(document) == {"format", "versions", "role", "title", "sample", "schema", "choices", "models", "curves"} | PERSONS


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("format",), "dpviz-session/2", "The format 'dpviz-session/2' is not known here"),
        (("role",), "secret", "role: This must be one of the known texts"),
        (("title",), 3, "title: This must be a text"),
        (("schema",), {}, "schema.format: This entry is missing"),
        (("choices", "learner"), "pf-treee", "choices: There is no learner called 'pf-treee'. Did you mean 'pf-tree'?"),
        (("choices", "settings", "epsilon"), -1, "The 'epsilon' parameter of fit must be a number in"),
        (("choices", "settings", "epsilonn"), 1, "choices: There is no setting called 'epsilonn'. Did you mean 'epsilon'?"),
        (("choices", "params"), {"level_shares": "many"}, "The 'level_shares' parameter of pf-tree must be None or"),
        (("choices", "params"), [], "choices.params: This must be an object"),
        (("choices", "draw"), 1.5, "choices.draw: This must be a whole number"),
        (("models", 0), 3, "models[0]: This must be an object"),
        (("models", 0, "kind"), "oracle", "models[0].kind: This must be one of 'tree'"),
        (("models",), [{}] * 51, "models: This must be a list of length <= 50"),
        (("curves", 0, "rows", 0), [1], "curves[0].rows[0]: This must be a list of 4 cells"),
        (("curves", 0, "rows", 0, 1), {}, "curves[0].rows[0][1]: This must be"),
        (("curves", 0, "rows", 0, 3), 10**400, "curves[0].rows[0][3]: This must be a whole number <= 9223372036854775807"),
        (("curves", 0, "about"), 4, "curves[0].about: This must be an object"),
        (("rows_per_person",), 0, "rows_per_person: This must be a whole number >= 1"),
        (("draft",), [], "draft: This must be an object"),
    ],
)
def test_what_is_damaged_is_named_with_its_place(path, value, says):
    document = json.loads(session_to_json(session()))
    spoilt = copy.deepcopy(document)
    place = spoilt
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(DocumentError) as caught:
        session_from_json(json.dumps(spoilt))
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"format": 3}', b"\xff"])
def test_what_is_no_session_is_refused(text):
    with pytest.raises(DpvizError):
        session_from_json(text)
