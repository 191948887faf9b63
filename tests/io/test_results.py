"""A result read back from its file says what it said; a file whose steps do not add up is refused."""

import json

import pytest

import dpviz
from dpviz.accounting.events import BoundedRange, Parallel, PureDP, RandomPartition, Sequential, Step, placed_steps, walk
from dpviz.accounting.ledger import Ledger, ledger_entries, ledger_from
from dpviz.errors import DocumentError, DpvizError, UnsupportedError
from dpviz.io.exports.contract import ExportInput
from dpviz.io.results import result_from_json
from dpviz.learners import learner_names, registry
from tests.support.fits import fitted
from tests.support.tables import schema_of, table

LEARNERS = [name for name in learner_names() if "classes" in registry()[name].tasks]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_result_read_back_is_written_the_same(name):
    result = fitted(name)
    try:
        text = result.to_json()
    except UnsupportedError:
        return
    again = result_from_json(text)
    assert again.to_json() == text
    assert again.model == result.model
    assert again.ledger.rows() == result.ledger.rows()
    assert (again.claim, again.disclosures, again.schema) == (result.claim, result.disclosures, result.schema)
    assert (again.noise, again.seed, again.params, again.settings) == (result.noise, result.seed, result.params, result.settings)


def test_honest_leaves_the_private_test_and_a_release_come_back(tmp_path):
    for name, asked in [("pf-tree", {"leaves": "honest"}), ("diffprivlib-tree", {"test_share": 0.2})]:
        result = fitted(name, n_rows=600, **asked)
        again = result_from_json(result.to_json())
        assert again.to_json() == result.to_json()
        assert (again.test_report, again.plan) == (result.test_report, result.plan)
        stated = json.loads(result.to_json())["test_report"]
        assert stated["accuracy"]["value"] == result.test_report.accuracy.value
        assert stated["confusion"][1][0]["high"] == result.test_report.confusion[1][0].high
    result = fitted("pf-tree", seed=None, accept_rows=True)
    (tmp_path / "tree.json").write_text(result.to_json(), encoding="utf-8")
    again = dpviz.load_result(tmp_path / "tree.json")
    assert (again.released, again.seed, again.noise) == (True, None, "release")
    assert again.ledger.guarantee == result.ledger.guarantee
    with pytest.raises(DpvizError, match="The model file cannot be read"):
        dpviz.load_result(tmp_path / "none.json")


STEP = Step(PureDP(0.5), "node", 0, mechanism="permute-and-flip")
DRAW = Step(BoundedRange(0.5), "node", 0, mechanism="exponential mechanism")


def test_assignments_of_a_document_are_read_as_they_were_or_refused():
    event = RandomPartition((Sequential((STEP, Parallel((DRAW, STEP)))), DRAW), (0.875, 0.125))
    entries = ledger_entries(Ledger(event))
    assert [entry["path"] for entry in entries] == ["A.1", "A.2a", "A.2b", "B"]
    assert ledger_from(entries, "ledger").event == event
    parts = RandomPartition((DRAW,) * 26, (1 / 32,) * 26)
    assert ledger_from(ledger_entries(Ledger(parts)), "ledger").event == parts, "one for each letter"
    for chances in ([0.5, 0.875, 0.875, 0.125], [0.875, 0.875, 0.875, 0.25], [0.875, 0.875, 0.875, -0.1]):
        with pytest.raises(DocumentError):
            ledger_from([entry | {"chances": [chance]} for entry, chance in zip(entries, chances, strict=True)], "ledger")
    for change in ({"chances": []}, {"shared": []}, {"shared": [True]}, {"chances": [0.125, 0.5]}, {"path": "b"}):
        with pytest.raises(DocumentError):
            ledger_from([*entries[:-1], entries[-1] | change], "ledger")


def test_an_older_document_has_no_bounded_range_disjoint_rows_and_labels_alone():
    entries = [{key: value for key, value in entry.items() if key != "bounded_range"} for entry in ledger_entries(Ledger(DRAW))]
    assert [step for _, step in walk(ledger_from(entries, "ledger").event)] == [
        Step(PureDP(0.5), "node", 0, mechanism="exponential mechanism")
    ]
    ledger = Ledger(Parallel((STEP, DRAW)))
    assert [entry["path"] for entry in ledger_entries(ledger)] == ["a", "b"]
    assert ledger_from(ledger_entries(ledger), "ledger").event == Parallel((STEP, DRAW))
    again = result_from_json(spoiled(lambda document: [document["learner"]["parameters"].pop(name) for name in OLDER]))
    assert (again.params.leaves, again.plan.held_out) == ("labels", ())


OLDER = ("leaves", "class_weights")


def spoiled(change):
    asked = {"epsilon": 1.0, "depth": 2, "seed": 1, "leaves": "labels", "lookahead": "1"}  # several steps, and each costs
    document = json.loads(dpviz.fit("pf-tree", table(schema_of("mixed"), 60), **asked).to_json())
    change(document)
    return json.dumps(document)


def _set(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(document):
        for key in keys:
            document = document[key]
        document[last] = value

    return change


def test_a_spoiled_statement_is_refused_and_named():
    for change, where in [
        (_set("privacy", "guarantee", "epsilon", 0.25), "privacy.guarantee"),
        (_set("privacy", "ledger", 0, "epsilon", 0.01), "privacy.guarantee"),
        (_set("privacy", "risk", 0, "guesses", [[0.5, 0.6]]), "privacy.risk[0].guesses"),
        (_set("privacy", "risk", 0, "false_negatives", [[0.1, 0.89]]), "privacy.risk[0].false_negatives"),
        (_set("privacy", "risk", 0, "false_negatives", [[0.1, 1.89]]), "privacy.risk[0].false_negatives[0][1]"),
        (_set("privacy", "risk", 0, "rows", 3), "privacy.risk[0].guesses"),
        (_set("privacy", "risk", 0, "rows", 0), "privacy.risk[0].rows"),
        (_set("privacy", "risk", 0, []), "privacy.risk[0]"),
        (_set("privacy", "ledger", 0, "epsilon", "much"), "privacy.ledger[0].epsilon"),
        (_set("privacy", "ledger", 0, "kind", "magic"), "privacy.ledger[0].kind"),
        (_set("privacy", "ledger", 0, "path", "?!"), "privacy.ledger[0].path"),
        (_set("privacy", "ledger", 0, "path", "1" + ".1" * 5000), "privacy.ledger[0].path"),
        (_set("privacy", "ledger", 0, "path", "2"), "privacy.ledger"),
        (_set("privacy", "ledger", 0, "path", "a"), "privacy.ledger"),
        (_set("privacy", "ledger", []), "privacy.guarantee"),
        (_set("privacy", "noise", "source", "dice"), "privacy.noise.source"),
        (_set("privacy", "claim", "verdict", "sure"), "privacy.claim.verdict"),
        (_set("learner", []), "learner"),
        (lambda document: document.pop("privacy"), "privacy"),
        (lambda document: document["learner"].pop("depth"), "learner.depth"),
    ]:
        with pytest.raises(DocumentError) as error:
            result_from_json(spoiled(change))
        assert error.value.where == where


def test_a_table_of_a_private_test_that_cannot_be_is_refused_and_named():
    document = json.loads(fitted("pf-tree", n_rows=600, leaves="honest").to_json())
    for entry, value, says in [
        ("table", [], "test_report.table: This must be a list"),
        ("table", [{"leaf": "c1"}], "test_report.table: Every answer of the model needs its counts"),
        ("table", [{"leaf": "c9", "counts": [1, 2]}], r"test_report.table\[0\].leaf"),
        ("table", [{"leaf": "c1", "counts": [1, 2, 3]}], r"test_report.table\[0\].counts: One number per class"),
        ("share", 0, "test_report.share: This must be a number > 0"),
        ("epsilon", -1.0, "test_report.epsilon: This must be a number > 0"),
        ("epsilon", "1", r"test_report.epsilon"),
    ]:
        with pytest.raises(DocumentError, match=says):
            result_from_json(json.dumps({**document, "test_report": {**document["test_report"], entry: value}}))


def test_an_unknown_learner_or_setting_is_refused():
    for change in [
        _set("learner", "name", "pf-bush"),
        _set("learner", "settings", "epsilon", -1),
        _set("learner", "settings", "epsilon", "one"),
        _set("learner", "parameters", "no_such", 1),
    ]:
        with pytest.raises(DpvizError):
            result_from_json(spoiled(change))


def test_an_assignment_in_a_file_is_believed_only_where_its_own_settings_make_it():
    result = fitted("pf-tree", n_rows=600, leaves="honest")
    document = json.loads(result.to_json())
    assert result_from_json(json.dumps(document)).ledger == result.ledger
    assert ExportInput(json.dumps(document)).verdict.risk.guesses() == pytest.approx(result.risk.guesses())
    for entry in document["privacy"]["ledger"]:
        entry["chances"] = [0.02 if entry["path"][0] == "A" else 0.49]
    del document["privacy"]["risk"]  # what it states is checked, and would be too little or too much
    text = json.dumps(document)
    again = result_from_json(text)
    assert again.ledger.guarantee == result.ledger.guarantee
    assert again.risk.guesses() > result.risk.guesses()
    assert ExportInput(text).verdict.risk.guesses() == again.risk.guesses()
    assert not any(step.probabilities for step in placed_steps(again.ledger.event))
