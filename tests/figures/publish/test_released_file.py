"""A released file is what its register wrote, or is not: whatever is changed in it is found, and it never passes."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from dpviz.errors import DocumentError
from dpviz.figures.publish.released_file import checked_file, cost_sentences, place_sentence, sentences, values
from dpviz.release.check import Place
from dpviz.release.register import Register
from tests.support.release_rows import publish, requested, small_rows


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """(register, the bytes of a release of a patient with up to three rows)."""
    book = Register(tmp_path_factory.mktemp("released") / "releases.db")
    book.declare("clinic", epsilon_cap=2.0, unit="one patient", rows_per_unit=3)
    book.assign(small_rows().identity, "clinic")
    entry = publish(book, small_rows(), requested(0.5))
    return book, Path(entry.file).read_bytes()


def place_of(document, book) -> Place | None:
    """Where a document stands; None where its ledger does not add up."""
    try:
        return checked_file(json.dumps(document).encode(), "tree.json", book).match.place
    except DocumentError:
        return None


def halved(document):
    """Every epsilon of the document half as large, consistently: nothing in it contradicts itself."""
    text = json.dumps(document["privacy"])
    document["privacy"] = _halved(json.loads(text))
    document["privacy"].pop("risk", None)
    return document


def _halved(found, key=""):
    if isinstance(found, dict):
        return {name: _halved(value, name) for name, value in found.items()}
    if isinstance(found, list):
        return [_halved(value, key) for value in found]
    return found / 2 if key == "epsilon" and isinstance(found, float) else found


def test_a_file_as_released_is_matched_and_says_what_it_costs_a_patient(released):
    book, content = released
    found = checked_file(content, "tree.json", book)
    assert found.is_as_released
    assert (found.match.record.number, found.match.record.data_set) == (1, "clinic")
    said = dict(sentences(found))
    assert said["Register"].startswith("In the register, as it was released: release number 1 of 'clinic'")
    assert said["Guarantee"].startswith("Guaranteed: ε = 1.5 (add/remove one patient, up to 3 rows; one row: ε = 0.5)")
    assert "whether one patient is in the data" in said["Costs"]
    assert "added up again: ε = 1.5" in said["Steps"]
    told = values(found)
    assert (told["guaranteed"], told["row"]["epsilon"], told["person"]["epsilon"]) == (True, 0.5, 1.5)
    assert told["person"]["unit"] == "one patient"


def test_a_lowered_epsilon_does_not_add_up(released):
    book, content = released
    document = json.loads(content)
    document["privacy"]["guarantee"]["epsilon"] = 0.1
    document["privacy"].pop("per_person")
    assert place_of(document, book) is None
    book, content = released
    document = json.loads(content)
    for step in document["privacy"]["ledger"]:
        step["epsilon"] = step["epsilon"] / 2
    assert place_of(document, book) is None


def test_a_document_that_was_lowered_throughout_is_not_the_one_that_was_released(released):
    book, content = released
    found = checked_file(json.dumps(halved(json.loads(content))).encode(), "tree.json", book)
    assert found.result.ledger.guarantee.epsilon == 0.25
    assert found.match.place is Place.CHANGED
    guaranteed, cost = cost_sentences(found)
    assert guaranteed == "Not guaranteed, because the file was changed."
    assert "The release it names cost ε = 1.5" in cost
    assert not values(found)["guaranteed"]


@pytest.mark.slow
def test_no_step_can_be_dropped_or_changed(released):
    book, content = released
    document = json.loads(content)
    steps = document["privacy"]["ledger"]
    assert len(steps) >= 3
    for place, step in enumerate(steps):
        without = deepcopy(document)
        del without["privacy"]["ledger"][place]
        assert place_of(without, book) in (None, Place.CHANGED)
        if step.get("epsilon"):
            other = deepcopy(document)
            other["privacy"]["ledger"][place]["epsilon"] = step["epsilon"] / 2
            assert place_of(other, book) in (None, Place.CHANGED)


@pytest.mark.parametrize("name", ["register", "privacy", "model"])
def test_one_byte_more_is_another_file(released, name):
    book, content = released
    changes = {"register": b"\n", "privacy": b" ", "model": b"\n\n"}
    assert checked_file(content + changes[name], "tree.json", book).match.place is Place.CHANGED


def test_a_file_of_another_register_of_none_or_of_an_entry_that_is_not_there_is_no_release(released, tmp_path):
    _, content = released
    other = Register(tmp_path / "other.db")
    other.declare("survey", epsilon_cap=1.0)
    assert checked_file(content, "tree.json", other).match.place is Place.FOREIGN
    book, content = released
    document = json.loads(content)
    document["register"]["head"] = "0" * 64
    found = checked_file(json.dumps(document).encode(), "tree.json", book)
    assert found.match.place is Place.LOST
    assert "somebody made it up, or the register is an old copy" in place_sentence(found)
    book, content = released
    document = json.loads(content)
    document["register"] = None
    found = checked_file(json.dumps(document).encode(), "tree.json", book)
    assert found.match.place is Place.UNRECORDED
    assert "Not recorded in any register" in place_sentence(found)
    assert cost_sentences(found)[0].startswith("If its steps were taken as it says: Guaranteed")
    book, _ = released
    simulation = requested(0.5, seed=1).fit(small_rows()).to_json()
    found = checked_file(simulation.encode(), "tree.json", book)
    assert place_sentence(found) == "A simulation, not a release."
    assert not values(found)["guaranteed"]
    _, content = released
    nowhere = Register(tmp_path / "none.db")
    found = checked_file(content, "tree.json", nowhere)
    assert found.match.place is Place.NO_REGISTER
    assert not nowhere.path.exists()
    assert not values(found)["guaranteed"]
    assert "added up again" in dict(sentences(found))["Steps"]
