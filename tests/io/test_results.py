"""A result read back from its file says what it said; a file whose steps do not add up is refused."""

import json

import pytest

import dpviz
from dpviz.accounting.events import Approximate, NoCost, Noise, NonPrivate, Parallel, Select, Sequential
from dpviz.accounting.ledger import Ledger, ledger_entries, ledger_from
from dpviz.errors import DocumentError, DpvizError, NotExported
from dpviz.io.results import result_from_json
from dpviz.learners import learner_names, registry
from dpviz.table.strict_json import parse_json, without_infinity
from tests.contract.fits import fitted
from tests.contract.tables import schema_of, table

LEARNERS = [name for name in learner_names() if "classes" in registry()[name].tasks]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_result_read_back_is_written_the_same(name):
    result = fitted(name)
    try:
        text = result.to_json()
    except NotExported:
        return
    again = result_from_json(text)
    assert again.to_json() == text
    assert again.model == result.model
    assert again.ledger.rows() == result.ledger.rows()
    assert (again.claim, again.disclosures, again.schema) == (result.claim, result.disclosures, result.schema)
    assert (again.noise, again.seed, again.params, again.settings) == (result.noise, result.seed, result.params, result.settings)


@pytest.mark.parametrize(("name", "asked"), [("pf-tree", {"leaves": "honest"}), ("diffprivlib-tree", {"test_share": 0.2})])
def test_honest_leaves_and_the_private_test_come_back(name, asked):
    result = fitted(name, n_rows=600, **asked)
    again = result_from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert again.test_report == result.test_report
    assert again.plan == result.plan
    assert result.test_report is not None


def test_a_release_stays_one(tmp_path):
    result = fitted("pf-tree", seed=None)
    (tmp_path / "tree.json").write_text(result.to_json(), encoding="utf-8")
    again = dpviz.load_result(tmp_path / "tree.json")
    assert again.released
    assert again.seed is None
    assert (again.noise, again.ledger.guarantee) == ("release", result.ledger.guarantee)


STEP = Select(0.5, "permute-and-flip", "node", 0)
LEDGERS = [
    STEP,
    Sequential(()),
    Sequential((STEP, Noise(0.1, "geometric", "leaf", 1))),
    Parallel((STEP, Sequential((STEP, STEP)), Parallel((STEP, NoCost("split"))))),
    Sequential(
        (STEP, Parallel(tuple(Noise(0.01 * k, "Laplace", "leaf", 2) for k in range(30))), NonPrivate("exact counts", "leaf"))
    ),
    Sequential((Approximate(0.3, 1e-6, "smooth", "model"), Approximate(0.1, 1e-7, "smooth", "model"))),
]


@pytest.mark.parametrize("event", LEDGERS)
def test_a_ledger_read_back_has_the_same_lines_and_the_same_sum(event):
    ledger = Ledger(event)
    again = ledger_from(parse_json(json.dumps(without_infinity(ledger_entries(ledger)))), "ledger")
    assert again.rows() == ledger.rows()
    assert again.guarantee == ledger.guarantee


def spoiled(change):
    asked = {"epsilon": 1.0, "depth": 2, "seed": 1, "leaves": "labels"}  # one step more costs more, whatever it is
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


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (_set("privacy", "guarantee", "epsilon", 0.25), "privacy.guarantee"),
        (_set("privacy", "ledger", 0, "epsilon", 0.01), "privacy.guarantee"),
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
    ],
)
def test_a_spoiled_statement_is_refused_and_named(change, where):
    with pytest.raises(DocumentError) as error:
        result_from_json(spoiled(change))
    assert error.value.where == where


@pytest.mark.parametrize(
    "change",
    [
        _set("learner", "name", "pf-bush"),
        _set("learner", "settings", "epsilon", -1),
        _set("learner", "settings", "epsilon", "one"),
        _set("learner", "parameters", "no_such", 1),
    ],
)
def test_an_unknown_learner_or_setting_is_refused(change):
    with pytest.raises(DpvizError):
        result_from_json(spoiled(change))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DpvizError, match="The model file cannot be read"):
        dpviz.load_result(tmp_path / "none.json")


def test_a_file_older_than_honest_leaves_has_labels_alone():
    asked = {"epsilon": 1.0, "depth": 2, "seed": 1, "leaves": "labels"}
    document = json.loads(dpviz.fit("pf-tree", table(schema_of("mixed"), 60), **asked).to_json())
    del document["learner"]["parameters"]["leaves"], document["learner"]["parameters"]["class_weights"]
    again = result_from_json(json.dumps(document))
    assert again.params.leaves == "labels"
    assert again.plan.aside == ()
