"""What releases cost together, drawn and in words."""

import json
import math
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import pytest

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.publish.release import (
    CheckedFile,
    algorithms,
    checked_file,
    cost_sentences,
    history_rows,
    odds_rows,
    place_sentence,
    sentences,
    settings_in_words,
    spent_chart,
    spent_segments,
    spent_sentence,
    values,
)
from dpviz.errors import DocumentError
from dpviz.learners import FitRequest
from dpviz.release.check import Place
from dpviz.release.records import Balance, DataSet, ReleaseRecord, State
from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.golden_charts import assert_golden
from tests.support.release_rows import OF_PATIENTS, SCHEMA, publish, requested, small_rows

SPENT = ((0.5, State.RELEASED), (0.25, State.STARTED))


def balance(spent=SPENT, *, cap=1.0, rows=1):
    at = "2026-01-0{}T03:04:05+00:00"
    entries = tuple(
        ReleaseRecord(k, f"t{k}", "x", state, at.format(k + 1), "", "pf-tree", {"epsilon": e}, PrivacyLoss(e), (), "", "")
        for k, (e, state) in enumerate(spent, start=1)
    )
    return Balance(DataSet("x", DataRole.PRIVATE, "one patient", rows, cap, 0.0, at.format(1)), entries)


REVIEWED = {
    "spent": lambda: spent_chart(balance(), PrivacyLoss(0.5)),
    "spent-person": lambda: spent_chart(balance(rows=3, cap=2.0), PrivacyLoss(0.5)),
    "release-words": lambda: [
        *map(spent_sentence, (balance(()), balance(), balance(SPENT[:1], cap=0.3), balance(rows=3, cap=2.0))),
        *history_rows(balance(rows=3)),
        *odds_rows(balance(rows=3), PrivacyLoss(0.25)),
    ],
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"publish-{name}", REVIEWED[name]())


def test_the_register_is_shown_in_the_words_of_the_pages_also_what_it_holds_of_algorithms_that_are_gone():
    settings = {"epsilon": 1.0, "depth": 4, "max_depth": 4, "grow_complete": True}
    assert settings_in_words("privatree", settings) == "depth 4, never stop early"
    assert settings_in_words("gone", {"depth": "auto", "max_depth": 8, "rate": 0.5}) == "automatic depth, at most 8, rate 0.5"
    assert algorithms("pf-tree, gone") == "PF-tree, gone"


def test_the_bar_is_as_long_as_what_was_spent_and_is_asked_told_apart_by_more_than_colour():
    segments = dict(spent_segments(balance(), PrivacyLoss(0.5)))
    assert segments == {"released": 0.5, "interrupted": 0.25, "this release": 0.25, "over the cap": 0.25}
    assert spent_segments(balance(()), None) == []
    figure = spent_chart(balance(), PrivacyLoss(0.5)).figure
    assert len({trace.marker.pattern.shape for trace in figure.data}) == 4


def test_guesses_are_those_of_all_losses_together_of_the_person_and_only_a_single_release_is_told_by_its_steps():
    """Whoever makes another has seen the first: together they are any algorithms of their cost."""
    (said,) = odds_rows(balance(rows=3), PrivacyLoss(0.25))
    alone, together = (math.ceil(100 / (1 + math.exp(-epsilon))) for epsilon in (0.25, 1.0))
    in_all = "by all releases together, however the later ones were chosen"
    assert (said["by this release alone"], said[in_all]) == (f"at most {alone}", f"at most {together}")

    asked, risk = PrivacyLoss(0.25), FitRequest.of("pf-tree", epsilon=0.25, depth=2).risk(SCHEMA)
    own, any_algorithm = (math.ceil(100 * share) for share in (risk.guesses(), asked.guesses_right))
    assert own < any_algorithm
    (first,), (later,) = (odds_rows(found, asked, risk) for found in (balance(()), balance()))
    assert first["by this release alone"] == first["by all releases together"] == f"at most {own}"
    assert later["by this release alone"] == f"at most {own}"
    assert later[in_all] == "at most 74"


# --- a released file is what its register wrote, or is not: whatever is changed in it is found, and it never passes.


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


@pytest.mark.slow
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
        (document | {"register": None}, book, Place.NO_ENTRY, "Not recorded in any register"),
        (simulation, book, Place.NO_ENTRY, "A simulation, not a release."),
    ):
        found = checked(file, register)
        assert found.match.place is place
        assert words in place_sentence(found)
        assert not values(found)["guaranteed"]
        assert not cost_sentences(found)[0].startswith("Guaranteed")
        assert "added up again" in dict(sentences(found))["Steps"]
    assert not nowhere.path.exists()
