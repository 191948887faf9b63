"""A certificate counts persons with all their rows, and holds when such persons are added."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.evaluation.poisoning import VoteCertificate, certify
from dpviz.learners import FitRequest
from dpviz.table.dataset import EncodedDataset
from tests.support.release_rows import SCHEMA, small_rows

ROWS = 3


def of_persons(data: EncodedDataset, rows: int = ROWS) -> EncodedDataset:
    return replace(data, schema=replace(SCHEMA, rows_per_person=rows))


def poisoned(data: EncodedDataset, persons: int) -> EncodedDataset:
    """So many persons more, all of whose rows say the opposite at one place."""
    count = persons * ROWS
    columns = (np.append(data.columns[0], np.full(count, 9.0)), np.append(data.columns[1], np.zeros(count, dtype=np.uint8)))
    return EncodedDataset(data.schema, columns, np.append(data.target, np.zeros(count, dtype=np.uint8)))


@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_added_persons_cannot_bring_the_accuracy_below_the_certificate(epsilon):
    train, test = of_persons(small_rows(1)), of_persons(small_rows(2))
    request = FitRequest.of("pf-tree", epsilon=epsilon, max_depth=1, depth=1)
    table = certify(request, [(train, test)], draws=300, seed=1, max_poisoned=0.5)
    assert (table.unit, table.n_train, table.rows[-1]) == ("person", 40 // ROWS, 6)
    (bounds,) = table.bounds
    assert PrivacyLoss(bounds.epsilon, bounds.delta).epsilon == pytest.approx(epsilon)
    assert "poisoned persons" in table.verdict() or "No protection" in table.verdict()
    for persons in (1, 2, 4):
        rows = poisoned(train, persons)
        found = np.array([request.at(seed=seed).fit(rows).model.predict(test) == test.target for seed in range(150)]).mean(axis=1)
        assert found.mean() + 4 * found.std() / np.sqrt(len(found)) >= table.low(persons)
        assert table.low(persons) <= table.low(persons - 1)


def test_a_row_of_a_person_is_less_than_a_person():
    """A certificate of single rows at the row's part, for all rows of a person, is no better than that of the person."""
    train, test = small_rows(1), small_rows(2)
    asked = {"draws": 200, "seed": 1, "max_poisoned": 0.5}
    request = FitRequest.of("pf-tree", epsilon=1.5, max_depth=1, depth=1)
    persons = certify(request, [(of_persons(train), of_persons(test))], **asked)
    rows = certify(request.at(epsilon=0.5), [(train, test)], **asked)
    for count in (1, 2, 3):
        assert persons.low(count) == pytest.approx(rows.low(ROWS * count), abs=0.02)


def test_a_person_reaches_as_many_voters_as_there_are_rows_of_one():
    train, test = small_rows(1), small_rows(2)
    request = FitRequest.of("dpa", epsilon=1.0, seed=1)
    single, of_three = (certify(request, [(of_persons(train, k), of_persons(test, k))], draws=1).bounds[0] for k in (1, ROWS))
    assert isinstance(single, VoteCertificate)
    assert of_three.withstands.tolist() == [count // ROWS for count in single.withstands.tolist()]
