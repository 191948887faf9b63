"""Breiman's forest: what scikit-learn grew, node for node."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.errors import NotEnumerable, SchemaError
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verify import verify_each
from dpviz.privacy.source import Simulation
from dpviz.privacy.uniform import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from dpviz.training.forests.random_trees import row_order
from tests.support.tables import schema_of, table


@pytest.mark.parametrize("n_classes", [2, 5])
def test_it_votes_as_the_trees_of_scikit_learn_do(n_classes: int) -> None:
    from sklearn.ensemble import RandomForestClassifier

    data = table(schema_of("mixed", n_classes), 400)
    model = dpviz.fit("random-forest", data, epsilon=1.0, max_depth=6, trees=15, seed=4).model
    (key,) = SecretKeys().choose(1, source=Simulation(4))
    values = np.column_stack(data.columns).astype(float)
    order = row_order(data)
    theirs = RandomForestClassifier(15, max_depth=6, random_state=int(key % 2**32)).fit(values[order], data.target[order])
    votes = np.zeros((data.n_rows, n_classes), dtype=int)
    for tree in theirs.estimators_:
        votes[np.arange(data.n_rows), tree.predict(values).astype(int)] += 1
    np.testing.assert_array_equal(model.votes(data), votes)


def test_it_is_not_listed() -> None:
    with pytest.raises(NotEnumerable, match="keys of random trees"):
        verify_each("random-forest", epsilon=1.0, universes=[Universe((2,), max_rows=2)])


def test_a_range_beyond_single_precision_is_refused() -> None:
    schema = Schema((NumericFeature("x", 0, 1e39),), ClassTarget("y", ("a", "b")))
    data = EncodedDataset(schema, (np.array([1.0, 1e39]),), np.array([0, 1], dtype=np.uint8))
    with pytest.raises(SchemaError, match="single precision"):
        dpviz.fit("random-forest", data, epsilon=1.0)
