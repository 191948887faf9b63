"""The seven synthetic data sets of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.forests.synthetic import TABLE_1, synthetic
from dpviz.errors import UnknownName


@pytest.mark.parametrize("name", TABLE_1)
def test_a_set_has_its_features_and_two_even_classes(name: str) -> None:
    data = synthetic(name, seed=1, n_rows=2000)
    assert data.n_features == sum(TABLE_1[name])
    assert abs(data.class_counts() - 1000).max() < 100
    assert all(feature.low <= column.min() for feature, column in zip(data.schema.features, data.columns, strict=True))
    assert {field for _, field in data.schema.read_fields()} == {"low", "high"}


def test_a_seed_repeats_it() -> None:
    one, again, other = (synthetic("SynthF", seed=seed, n_rows=100).columns[0] for seed in (1, 1, 2))
    assert (one == again).all()
    assert not np.allclose(one, other)


def test_an_unknown_name_is_named() -> None:
    with pytest.raises(UnknownName, match="SynthA"):
        synthetic("SynthAA", seed=1)
