"""DPA: where rows go, what one row can reach, and that its certificate withstands every attack tried."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.evaluation.poisoning import certified_rows
from dpviz.learners.references.dpa import parts
from dpviz.models.tree import Forest
from dpviz.randomness import generator
from dpviz.table.dataset import EncodedDataset
from tests.support.tables import reordered, schema_of, table

#: Parts of six rows among 1,000 under key 0.
PINNED = [63, 155, 306, 473, 977, 614]


def forest(data: EncodedDataset, **asked) -> Forest:
    model = dpviz.fit("dpa", data, epsilon=1.0, seed=0, **({"trees": 20, "max_depth": 2} | asked)).model
    assert isinstance(model, Forest)
    return model


def joined(first: EncodedDataset, second: EncodedDataset) -> EncodedDataset:
    columns = tuple(np.concatenate(both) for both in zip(first.columns, second.columns, strict=True))
    return EncodedDataset(first.schema, columns, np.concatenate([first.target, second.target]))


def test_a_row_goes_where_it_goes_whatever_the_others_are_evenly_and_by_key(rng: np.random.Generator) -> None:
    data = table(schema_of("mixed", 3), 300)
    all_parts = parts(data, 50, 0)
    order = rng.permutation(300)
    np.testing.assert_array_equal(parts(reordered(data, order), 50, 0), all_parts[order])
    np.testing.assert_array_equal(parts(data.take(order[:40], share=1.0), 50, 0), all_parts[order[:40]])
    data = table(schema_of("numbers"), 4000)
    counts = np.bincount(parts(data, 10, 0), minlength=10)
    assert ((counts - 400) ** 2 / 400).sum() < 30  # chi-square, 9 degrees: above 30 in one of 2,000
    assert np.mean(parts(data, 10, 0) == parts(data, 10, 1)) == pytest.approx(0.1, abs=0.03)
    assert parts(table(schema_of("mixed"), 6), 1000, 0).tolist() == PINNED


def test_parts_without_rows_do_not_vote() -> None:
    data = table(schema_of(), 30)
    assert len(forest(data, trees=1000).trees) == len(np.unique(parts(data, 1000, 0))) <= 30
    assert forest(table(schema_of(), 0)).trees == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_certified_prediction_changes_under_as_many_rows(seed: int) -> None:
    rng = generator(seed)
    data, fresh = table(schema_of("mixed", 3), 250), table(schema_of("mixed", 3), 100, seed=9)
    clean = forest(data)
    safe, predicted = certified_rows(clean.votes(fresh)), clean.predict(fresh)
    added = table(schema_of("mixed", 3), 400, seed=50 + seed)
    for k in (1, 2, 4, 6):
        poison = added.take(rng.permutation(400)[: k - k // 2], share=1.0)
        wrong = EncodedDataset(poison.schema, poison.columns, ((poison.target + 1) % 3).astype(np.uint8))
        kept = data.take(np.sort(rng.permutation(250)[k // 2 :]), share=1.0)
        changed = forest(joined(kept, wrong)).predict(fresh) != predicted
        assert not changed[safe >= k].any()
    assert (safe >= 2).any()


def test_rows_aimed_at_one_prediction_reach_it_only_above_its_certificate() -> None:
    # rows like the attacked one, of the other class, aimed at as many different trees as there are rows
    data, fresh = table(schema_of("numbers"), 250), table(schema_of("numbers"), 60, seed=9)
    clean = forest(data)
    safe, predicted = certified_rows(clean.votes(fresh)), clean.predict(fresh)
    target = int(safe.argmax())
    fooled = []
    for k in (int(safe[target]), 60):
        copies = fresh.take(np.full(k, target), share=1.0)
        nudged = tuple(column + np.linspace(0, 1e-6, k) if column.dtype.kind == "f" else column for column in copies.columns)
        wrong = EncodedDataset(data.schema, nudged, np.full(k, 1 - predicted[target], dtype=np.uint8))
        fooled.append(forest(joined(data, wrong)).predict(fresh)[target] != predicted[target])
    assert fooled == [False, True]
