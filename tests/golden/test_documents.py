"""Documents and ledgers of two small fits, word for word. An intended change: see `documents.py`."""

import json

import pytest

import dpviz
from tests.support.documents import FOLDER, LEARNERS, ledger_of, rows, text_of

any_learner = pytest.mark.parametrize("learner", LEARNERS)
ANEW = "if the change is intended, run: python -m tests.support.documents"


def golden(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@any_learner
def test_the_document_is_the_golden_one(learner):
    assert text_of(learner) == golden(f"{learner}.json"), ANEW


@any_learner
def test_the_ledger_is_the_golden_one(learner):
    assert ledger_of(learner) == golden(f"{learner}.ledger.tsv"), ANEW


@any_learner
def test_a_golden_document_can_still_be_read(learner):
    # the promise to whoever kept a file: the version that wrote it may be older than the one that reads it
    model = dpviz.model_from_json(golden(f"{learner}.json"))
    fresh = dpviz.fit(learner, rows(), epsilon=3.0, depth=2, max_depth=2, seed=2024).model
    assert model.predict(rows()).tolist() == fresh.predict(rows()).tolist()
    assert json.loads(golden(f"{learner}.json"))["format"] == "dpviz-tree/1"
