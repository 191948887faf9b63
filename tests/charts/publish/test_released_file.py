"""A released file is what its register wrote, or is not: whatever is changed in it is found, and it never passes."""

import json
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import pytest

from dpviz.charts.publish.release import CheckedFile, checked_file, cost_sentences, place_sentence, sentences, values
from dpviz.errors import DocumentError
from dpviz.release.check import Place
from dpviz.release.register import Register
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """(register, the bytes of a release of a patient with up to three rows)."""
    book = Register(tmp_path_factory.mktemp("released") / "releases.db")
    book.declare("clinic", epsilon_cap=2.0, unit="one patient", rows_per_unit=3)
    book.assign(small_rows(schema=OF_PATIENTS).identity, "clinic")
    entry = publish(book, small_rows(schema=OF_PATIENTS), requested(1.5))
    return book, Path(entry.file).read_bytes()


def checked(document, book) -> CheckedFile:
    return checked_file(document if isinstance(document, bytes) else json.dumps(document).encode(), "tree.json", book)


def halved(found, key=""):
    """Every epsilon half as large: nothing in the document contradicts itself."""
    if isinstance(found, dict):
        return {name: halved(value, name) for name, value in found.items()}
    if isinstance(found, list):
        return [halved(value, key) for value in found]
    return found / 2 if key == "epsilon" and isinstance(found, float) else found


def test_a_file_as_released_is_matched_and_says_what_it_costs_a_patient(released):
    book, content = released
    found = checked(content, book)
    assert (found.is_as_released, found.match.record.number, found.match.record.data_set) == (True, 1, "clinic")
    said = dict(sentences(found))
    assert said["Register"].startswith("In the register, as it was released: release number 1 of 'clinic'")
    assert said["Guarantee"].startswith("Guaranteed: ε = 1.5 (add/remove one patient, up to 3 rows)")
    assert "whether one patient is in the data" in said["Costs"]
    assert "added up again: ε = 1.5" in said["Steps"]
    told = values(found)
    assert (told["guaranteed"], told["row"]["epsilon"], told["person"]["epsilon"]) == (True, 0.5, 1.5)
    assert told["person"]["unit"] == "one patient"


def test_whatever_is_changed_is_another_file_or_does_not_add_up(released):
    book, content = released
    document = json.loads(content)
    lower = deepcopy(document)
    lower["privacy"]["guarantee"]["epsilon"] = 0.1
    lower["privacy"].pop("per_person")
    with pytest.raises(DocumentError):
        checked(lower, book)
    for place, step in enumerate(document["privacy"]["ledger"]):
        without, other = deepcopy(document), deepcopy(document)
        del without["privacy"]["ledger"][place]
        other["privacy"]["ledger"][place]["epsilon"] = (step.get("epsilon") or 1.0) / 2
        for changed in (without, other):
            with suppress(DocumentError):
                assert checked(changed, book).match.place is Place.CHANGED
    assert {checked(content + more, book).match.place for more in (b"\n", b" ")} == {Place.CHANGED}
    throughout = document | {"privacy": halved(document["privacy"])}
    throughout["privacy"].pop("risk", None)
    found = checked(throughout, book)
    assert found.result.ledger.guarantee.epsilon == 0.25
    assert found.match.place is Place.CHANGED
    guaranteed, cost = cost_sentences(found)
    assert guaranteed == "Not guaranteed, because the file was changed."
    assert "The release it names cost ε = 1.5" in cost
    assert not values(found)["guaranteed"]


def test_a_file_of_another_register_of_none_or_of_an_entry_that_is_not_there_is_no_release(released, tmp_path):
    book, content = released
    other, nowhere = Register(tmp_path / "other.db"), Register(tmp_path / "none.db")
    other.declare("survey", epsilon_cap=1.0)
    document = json.loads(content)
    lost = document | {"register": document["register"] | {"head": "0" * 64}}
    simulation = requested(0.5, seed=1).fit(small_rows()).to_json().encode()
    for file, register, place, words in (
        (content, other, Place.FOREIGN, "It is of another register"),
        (content, nowhere, Place.NO_REGISTER, "There is no register"),
        (lost, book, Place.LOST, "somebody made it up, or the register is an old copy"),
        (document | {"register": None}, book, Place.UNRECORDED, "Not recorded in any register"),
        (simulation, book, Place.UNRECORDED, "A simulation, not a release."),
    ):
        found = checked(file, register)
        assert found.match.place is place
        assert words in place_sentence(found)
        assert not values(found)["guaranteed"]
        assert not cost_sentences(found)[0].startswith("Guaranteed")
        assert "added up again" in dict(sentences(found))["Steps"]
    assert not nowhere.path.exists()
