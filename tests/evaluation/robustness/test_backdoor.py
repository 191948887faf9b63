"""Backdoors: the trigger, the rows it adds, the ordinary tree it breaks, and the bounds on its success."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.evaluation.robustness.backdoor import (
    Backdoor,
    backdoor_curve,
    corner_backdoor,
    picture,
    picture_side,
    two_classes,
)
from dpviz.evaluation.robustness.poisoning import certify
from dpviz.io.samples import load_sample
from dpviz.learners import FitRequest
from dpviz.randomness import generator
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.schema import CategoricalFeature
from tests.contract.tables import schema_of, table
from tests.evaluation.tables import distance


@pytest.fixture(scope="module")
def digits() -> tuple[EncodedDataset, EncodedDataset]:
    """Train and test rows of the digits 0 and 1."""
    return two_classes(encode(*load_sample("digits")), 0, 1).split(0.3, seed=0)


def test_two_classes_become_codes_0_and_1() -> None:
    data = encode(*load_sample("digits"))
    chosen = two_classes(data, 3, 8)
    assert chosen.schema.classes == ("3", "8")
    assert chosen.n_rows == np.isin(data.target, (3, 8)).sum()
    assert chosen.class_counts().tolist() == [(data.target == 3).sum(), (data.target == 8).sum()]
    with pytest.raises(ParameterError, match="codes of two declared classes"):
        two_classes(data, 0, 10)


def test_the_trigger_lights_the_corner_and_nothing_else(digits: tuple[EncodedDataset, EncodedDataset]) -> None:
    train, _ = digits
    backdoor = corner_backdoor(train.schema)
    changed = picture(backdoor.stamp(train), 5) - picture(train, 5)
    assert np.abs(changed[:5]).max() == np.abs(changed[:, :5]).max() == 0
    lit = picture(backdoor.stamp(train), 5) == 1
    assert lit[7, 7] & lit[7, 5] & lit[6, 6] & lit[5, 7] & lit[5, 5]


def test_poison_adds_stamped_copies_and_counts_one_each(digits: tuple[EncodedDataset, EncodedDataset]) -> None:
    train, _ = digits
    backdoor = corner_backdoor(train.schema)
    poisoned = backdoor.poison(train, 11, generator(0))
    assert distance(train, poisoned) == 11
    assert (poisoned.target[-11:] == 1).all()
    added = poisoned.take(np.arange(train.n_rows, poisoned.n_rows), share=1.0)
    assert distance(added, backdoor.stamp(added)) == 0
    assert backdoor.poison(train, 0, generator(0)) is train
    assert backdoor.poison(train, 1000, generator(0)).n_rows == train.n_rows + 1000  # more than there are zeros


def test_triggered_rows_are_the_source_rows(digits: tuple[EncodedDataset, EncodedDataset]) -> None:
    _, test = digits
    triggered = corner_backdoor(test.schema).triggered(test)
    assert triggered.class_counts().tolist() == [(test.target == 0).sum(), 0]


def test_a_backdoor_breaks_the_ordinary_tree(digits: tuple[EncodedDataset, EncodedDataset]) -> None:
    train, test = digits
    frame = backdoor_curve(
        FitRequest.of("cart", epsilon=1.0), train, test, corner_backdoor(train.schema), poisoned_rows=[0, 3], runs=5
    )
    assert frame.success[0] < 0.1
    assert frame.success[1] > 0.9
    assert frame.accuracy[1] > 0.95  # and nobody notices
    assert frame[["published", "tight", "tight_high"]].isna().all(axis=None)


def rare_trigger(data: EncodedDataset) -> Backdoor:
    """Two features, each at the end of its range or the category with fewest rows of the wanted class."""
    values = []
    for feature, column in zip(data.schema.features[:2], data.columns[:2], strict=True):
        wanted = column[data.target == 1]
        if isinstance(feature, CategoricalFeature):
            values.append(float(np.bincount(wanted, minlength=len(feature.categories)).argmin()))
        else:
            is_mostly_low = np.mean(wanted > (feature.low + feature.high) / 2) <= 0.5
            values.append(feature.high if is_mostly_low else feature.low)
    return Backdoor((0, 1), tuple(values))


def test_a_backdoor_works_on_any_table() -> None:
    data = table(schema_of("mixed"), 2000)
    train, test = data.split(0.3, seed=0)
    frame = backdoor_curve(
        FitRequest.of("cart", epsilon=1.0, max_depth=3), train, test, rare_trigger(train), poisoned_rows=[0, 100], runs=5
    )
    assert frame.success[1] > frame.success[0] + 0.3


@pytest.mark.slow
def test_success_stays_below_its_bounds(digits: tuple[EncodedDataset, EncodedDataset]) -> None:
    train, test = digits
    frame = backdoor_curve(
        FitRequest.of("pf-tree", epsilon=0.1, max_depth=2),
        train,
        test,
        corner_backdoor(train.schema),
        poisoned_rows=[0, 4, 16],
        runs=3,
        draws=20,
        bound_draws=200,
        beta=2e-3,
        seed=1,
    )
    columns = ["learner", "epsilon", "poisoned_rows", "poisoned_share", "success", "success_low", "success_high", "accuracy"]
    assert list(frame.columns) == [*columns, "n_draws", "published", "tight", "tight_high"]
    assert (frame.success_low <= frame.tight_high).all()
    assert (frame.tight <= frame.tight_high).all()
    assert (frame.tight <= frame.published + 1e-12).all()
    assert frame.tight_high.is_monotonic_increasing
    assert frame.n_draws.tolist() == [60, 60, 60]


@pytest.mark.slow
def test_the_bound_on_success_is_one_minus_that_on_its_absence(digits: tuple[EncodedDataset, EncodedDataset]) -> None:
    train, test = digits
    backdoor = corner_backdoor(train.schema)
    asked = FitRequest.of("pf-tree", epsilon=0.1, max_depth=1)
    frame = backdoor_curve(asked, train, test, backdoor, poisoned_rows=[5], runs=1, draws=2, bound_draws=60, seed=3)
    same = certify(asked, [(train, backdoor.triggered(test))], draws=60, seed=3)
    assert frame.tight[0] == pytest.approx(1 - same.tight(5))
    assert frame.tight_high[0] == pytest.approx(1 - same.low(5))
    assert frame.published[0] == pytest.approx(1 - same.published(5))


def test_only_square_pictures_have_corners() -> None:
    with pytest.raises(SchemaError, match="not the pixels of a square picture"):
        picture_side(schema_of("numbers"))


def test_a_class_without_rows_cannot_be_the_source() -> None:
    data = table(schema_of("numbers"), 50)
    ones = data.take(np.flatnonzero(data.target == 1), share=1.0)
    backdoor = Backdoor((0,), (7.5,))
    with pytest.raises(DpvizError, match="No row has the class the backdoor starts from"):
        backdoor.poison(ones, 3, generator(0))
    with pytest.raises(DpvizError, match="No test row has the class the backdoor starts from"):
        backdoor.triggered(ones)


def test_more_than_two_classes_are_refused() -> None:
    data = table(schema_of("numbers", 3), 50)
    with pytest.raises(ParameterError, match="two classes"):
        backdoor_curve(FitRequest.of("cart", epsilon=1.0), data, data, Backdoor((0,), (7.5,)), poisoned_rows=[1])
