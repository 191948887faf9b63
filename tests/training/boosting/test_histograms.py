"""Histograms that cuts follow: what they cost, what they hold, and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.boosting.histograms import EDGES, FeatureHistograms, release_histograms
from dpviz.training.boosting.trees import Drawing

SCHEMA = Schema(
    (NumericFeature("x", 0, 16), CategoricalFeature("c", ("a", "b")), NumericFeature("w", 0, 160, whole=True)),
    ClassTarget("y", ("n", "p")),
    n_public=1000,
)


def rows(n_rows: int = 1000) -> EncodedDataset:
    """All x lie in the first sixteenth of the range, w everywhere."""
    codes = np.zeros(n_rows, dtype=np.uint8)
    return EncodedDataset(SCHEMA, (np.full(n_rows, 0.5), codes, np.arange(n_rows) % 160 + 0.0), codes)


class Kept:
    """A source that adds nothing and keeps what it was asked for."""

    name, seed = "kept", None

    def __init__(self) -> None:
        self.scales: list[float] = []
        self.values: list[np.ndarray] = []

    def draw(self, mechanism, values):
        self.scales.append(mechanism.scale)
        self.values.append(values)
        return values


@pytest.mark.parametrize("rounds", [1, 7])
def test_one_row_moves_the_histograms_by_what_their_rounds_pay_for(rounds):
    with_it, without = Kept(), Kept()
    release_histograms(rows(), 3.0, rounds, source=with_it)
    release_histograms(rows(999), 3.0, rounds, source=without)
    moved = np.sqrt(np.square((with_it.values[0] - without.values[0]) / with_it.scales[0]).sum())
    assert moved == pytest.approx(np.sqrt(rounds) / 3.0, rel=1e-12)


def test_without_noise_shares_are_those_of_the_rows():
    found = release_histograms(rows(), 1e-6, 1, source=Kept()).below
    assert set(found) == {0, 2}
    assert found[0] == pytest.approx(np.where(EDGES < 0.5 / 16, 0, 1), abs=1e-6)
    assert found[2] == pytest.approx([0, *((rows().columns[2] <= edge * 160).mean() for edge in EDGES[1:])], abs=1e-6)


@pytest.mark.parametrize("high", [True, False])
def test_cuts_reach_rows_that_crowd_in_a_thousandth_of_the_range(high):
    """A declared range of a long tail: without fine ends, no cut would fall among the rows."""
    schema = Schema((NumericFeature("x", 0, 1000),), ClassTarget("y", ("n", "p")), n_public=10_000)
    x = np.linspace(0, 1, 10_000)
    data = EncodedDataset(schema, (1000 - x if high else x,), np.zeros(10_000, dtype=np.uint8))
    cuts = 1000 * release_histograms(data, 20.0, 1, source=Simulation(2)).quantiles(0, np.array([0.25, 0.5, 0.75]))
    assert np.abs((1000 - cuts[::-1] if high else cuts) - [0.25, 0.5, 0.75]).max() < 0.1


def test_cuts_are_quantiles_of_what_was_released():
    masses = FeatureHistograms({0: np.where(EDGES > 0, 1.0, 0.0), 2: EDGES})
    drawing = Drawing(SCHEMA, 0.5, masses, Simulation(4))
    of_x, of_w = (np.concatenate([drawing.part(place, 4, grouped=False).cuts for _ in range(100)]) for place in (0, 2))
    assert 0 < of_x.min() < 0.01 * 2**-8 < 0.05 * 2**-8 < of_x.max() <= 2.0**-12
    assert len(of_x) == len(of_w) == 300
    assert np.histogram(of_w, 4, (0, 160))[0].min() > 50
    assert set(of_w % 1) == {0.5}
