"""What leaves as a release: exact samplers, no seed, and no number that came from rows except through a mechanism."""

import json

import numpy as np
import pytest

import dpviz
from dpviz.errors import NotRowWise
from dpviz.evaluation.audit.evidence import typical
from dpviz.learners import get_learner
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.fits import fit
from tests.support.tables import schema_of, table

#: Of those that predict classes; `test_every_learner.py` asks the others, too.
RELEASABLE = [
    name
    for name in dpviz.learner_names()
    if typical(name).plan.is_exact and get_learner(name).spends_epsilon and "classes" in get_learner(name).tasks
]
releasable = pytest.mark.parametrize("name", RELEASABLE)


#: The others disclose exact things, and say so.
SOUND = [name for name in RELEASABLE if typical(name).claim.is_sound]


def release(name, data):
    return fit(name, data, max_depth=2, depth=2, seed=None, accept_rows=True)


def without_model(document):
    """Everything in a document but what the model predicts by, and its test."""
    return {key: value for key, value in document.items() if key not in {"root", "leaf", "trees", "initial", "test_report"}}


def numbers_in(value):
    match value:
        case dict():
            return [number for key, item in value.items() if key not in ("counts", "shares") for number in numbers_in(item)]
        case list():
            return [number for item in value for number in numbers_in(item)]
        case bool() | str() | None:
            return []
        case _:
            return [value]


@releasable
def test_rows_that_others_may_have_changed_are_not_released(name):
    rows = table(schema_of("mixed"), 30).take(np.arange(20), share=2 / 3)
    with pytest.raises(NotRowWise, match="chosen by their positions"):
        release(name, rows)
    assert fit(name, rows, max_depth=2, depth=2, seed=1).model


def test_the_default_learner_can_be_released():
    assert "pf-tree" in SOUND


@pytest.mark.parametrize("name", SOUND)
def test_around_the_model_a_release_is_the_same_whatever_the_rows_are(name):
    # other rows, other extremes, another number of rows: nothing but the model may show it
    schema = schema_of("mixed")
    few, many = table(schema, 37, seed=1), table(schema, 1013, seed=2)
    narrow = EncodedDataset(schema, tuple(column[:9] for column in few.columns), np.zeros(9, dtype=np.uint8))
    around = [_ledger_as_set(without_model(json.loads(release(name, data).to_json()))) for data in (few, many, narrow)]
    assert around[0] == around[1] == around[2]


def _ledger_as_set(document):
    """The ledger has a row per node, so its length is that of the released model; what a row says must not depend on rows."""
    rows = {(row["mechanism"], row["part"], row["epsilon"], row["note"]) for row in document["privacy"]["ledger"]}
    return {**document, "privacy": {**document["privacy"], "ledger": rows}}


def test_every_threshold_of_a_release_comes_from_the_schema():
    schema = Schema((NumericFeature("x", 0.0, 100.0), NumericFeature("z", -7.0, 9.0)), ClassTarget("y", ("n", "p")), n_public=300)
    rng = np.random.default_rng(4)
    x, z = 41 + rng.random(300) * 0.137, rng.random(300) * 0.731
    data = EncodedDataset(schema, (x, z), (x > 41.07).astype(np.uint8))
    allowed = {float(t) for feature in multiscale_grid(schema).features for t in feature.thresholds}
    for _ in range(5):
        document = json.loads(release("pf-tree", data).to_json())
        thresholds = numbers_in(document["root"])
        assert set(thresholds) <= allowed
        assert not set(thresholds) & {*x.tolist(), *z.tolist()}


@pytest.mark.filterwarnings("ignore::dpviz.errors.PublicValuesWarning")
@releasable
def test_a_bound_read_from_the_rows_is_named_and_makes_no_release(name):
    colour, target = CategoricalFeature("colour", ("red", "green")), ClassTarget("y", ("n", "p"))
    for read in ((), ("high",), ("low", "high")):
        schema = Schema((NumericFeature("height", -2.5, 7.5, read_from_data=read), colour), target, n_public=200)
        result = release(name, table(schema, 60))
        privacy = json.loads(result.to_json())["privacy"]
        found = {(item["code"], item["field"]) for item in privacy["disclosures"] if item["code"].startswith("schema-")}
        assert found == {(f"schema-{bound}", "height") for bound in read}
        if read:
            assert not result.released
            assert privacy["noise"]["source"] != "release"
            assert privacy["noise"]["warning"].startswith("Not a release: ")
