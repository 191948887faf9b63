import math

import numpy as np
import pytest

from dpviz.evaluation.learn.groups import EPSILONS, N_ROWS, SIZES, WANTED, group_curves, group_rows
from dpviz.learners import DEFAULT, fit


@pytest.mark.parametrize("small", SIZES)
def test_the_rows_are_in_the_shares_of_the_rule(small):
    data = group_rows(small)
    place, books, _ = data.columns
    assert data.n_rows == N_ROWS
    assert (place == 1).sum() == small
    for group in range(2):
        for bought in range(3):
            late = data.target[(place == group) & (books == bought)]
            assert late.mean() == pytest.approx(0.8 if bought == (0 if group else 2) else 0.1)


@pytest.mark.slow
def test_the_curves_are_what_fits_give():
    small, place = SIZES[0], EPSILONS.index(0.07)
    curves, data = group_curves(small), group_rows(small)
    asked = {"epsilon": EPSILONS[place], "depth": 2, "max_depth": 2, "leaves": "labels", "test_share": 0.0}
    said = np.array([fit(DEFAULT, data, **asked, seed=seed).model.predict(data) for seed in range(300)])
    for group in range(2):
        rows = data.columns[0] == group
        for law, drawn in (
            (curves.wrong, (said != data.target)[:, rows].mean(axis=1)),
            (curves.found, (said == 1)[:, rows & (data.target == 1)].mean(axis=1)),
        ):
            assert abs(drawn.mean() - law[group, place]) < 4 * drawn.std() / math.sqrt(len(drawn)) + 0.001
    other = curves.wrong[1, EPSILONS.index(0.15)]
    assert abs((said != data.target)[:, data.columns[0] == 1].mean() - other) > 0.1  # another epsilon would be noticed


@pytest.mark.slow
def test_the_small_groups_error_falls_later_and_the_more_the_fewer_its_rows():
    few, more = group_curves(SIZES[0]), group_curves(SIZES[1])
    assert few.enough(0) < more.enough(1) < few.enough(1) <= EPSILONS[-1]
    assert few.wrong[1, EPSILONS.index(few.enough(1))] <= WANTED < few.wrong[1, EPSILONS.index(few.enough(1)) - 1]
    assert few.wrong[:, -1] == pytest.approx([0.4 / 3] * 2, abs=1e-4)
    assert few.found[:, -1] == pytest.approx([0.8] * 2, abs=1e-4)


@pytest.mark.slow
def test_groups_of_one_size_are_served_alike():
    curves = group_curves(N_ROWS // 2)
    np.testing.assert_allclose(curves.wrong[0], curves.wrong[1], atol=1e-9)
    np.testing.assert_allclose(curves.found[0], curves.found[1], atol=1e-9)
