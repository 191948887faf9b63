"""Shares of epsilon: what the rule chooses, and what moving them brings."""

from threading import Event

import numpy as np
import pytest

from dpviz.errors import Cancelled, ParameterError
from dpviz.evaluation import shares
from dpviz.evaluation.repeat import fit_each
from dpviz.evaluation.shares import (
    GROWTHS,
    MovableShares,
    ShareMap,
    level_shares,
    share_map,
    share_points,
)
from dpviz.learners import FitRequest, learners_for
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SCHEMA = Schema(
    (NumericFeature("a", 0, 16), NumericFeature("b", 0, 16), CategoricalFeature("c", ("x", "y", "z"))),
    ClassTarget("y", ("no", "yes")),
    n_public=400,
)


def rows(n: int = 400) -> EncodedDataset:
    a = np.arange(n) % 16 + 0.5
    return EncodedDataset(SCHEMA, (a, np.roll(a, 5), (np.arange(n) % 3).astype(np.uint8)), (a > 8).astype(np.uint8))


def movable(name: str = "privatree", **given) -> MovableShares | None:
    return MovableShares.of(FitRequest.of(name, **{"epsilon": 1.0, "max_depth": 3, "depth": 3} | given), SCHEMA)


MOVABLE = [name for name in learners_for(SCHEMA) if movable(name) is not None]


@pytest.mark.parametrize("name", MOVABLE)
def test_the_automatic_shares_given_by_hand_make_the_plan_of_the_rule(name):
    asked = movable(name)
    assert sum(asked.automatic) == pytest.approx(1)
    rule, by_hand = asked.request.plan(SCHEMA), asked.request_with(asked.automatic).plan(SCHEMA)
    for share in (share for share in rule.shares if share.group != "categorical"):
        assert by_hand.of(share.part, share.level, share.group) == pytest.approx(share.epsilon)


def test_named_shares_have_every_point_of_a_triangle_and_many_levels_one_factor_or_move_together():
    assert {"privatree", "privatree-corrected", "pf-tree"} <= set(MOVABLE)
    assert movable("majority") is movable("pf-tree", depth=1) is movable("pf-tree", depth=2) is None
    assert (movable("pf-tree").by_level, movable("privatree").parts) == (True, ("quantile", "node", "leaf"))
    assert len(share_points(3)) == 36
    assert (0.2, 0.3, 0.5) in share_points(3)
    deep = movable("pf-tree", depth=5, max_depth=5, lookahead=1)
    assert len(deep.points) == len(GROWTHS)
    assert deep.automatic == pytest.approx(level_shares(1.4, 5))
    assert deep.points[GROWTHS.index(1.4)] == pytest.approx(deep.automatic)
    asked = movable("pf-tree", depth=5, max_depth=5)
    assert asked.parts == ("depth 0", "depth 1 and 2", "depth 3 and 4")
    assert asked.request_with((0.2, 0.3, 0.5)).params.level_shares == (0.2, 0.15, 0.15, 0.25, 0.25)
    assert asked.of_weights((0.2, 0.1, 0.2, 0.25, 0.25)) == pytest.approx((0.2, 0.3, 0.5))
    assert [share.epsilon for share in asked.request_with((0.2, 0.3, 0.5)).plan(SCHEMA).shares] == pytest.approx([0.2, 0.3, 0.5])


@pytest.mark.slow
@pytest.mark.usefixtures("workers_run_in")
def test_the_map_repeats_more_draws_only_add_and_workers_change_nothing():
    few = share_map(movable(), rows(), draws=2, seed=4)
    assert few.scores.shape == (36, 2)
    for draws, workers in ((3, 1), (4, 2)):
        assert np.array_equal(few.scores, share_map(movable(), rows(), draws=draws, seed=4, workers=workers).scores[:, :2])
    assert not np.array_equal(share_map(movable(), rows(), draws=1, seed=5).scores, few.scores[:, :1])


@pytest.mark.slow
def test_the_same_plan_is_fitted_once_and_a_stop_keeps_what_is_done(monkeypatch):
    fitted = []

    def note(requests, *rest, **how):
        fitted.append(len(requests))
        return fit_each(requests, *rest, **how)

    monkeypatch.setattr(shares, "fit_each", note)
    star = share_map(movable("privatree-star"), rows(), draws=2, seed=1)
    assert fitted == [8], "one per share of the leaves: nothing else of its plan moves"
    for leaves in (0.1, 0.5):
        assert len({tuple(star.scores[at]) for at, point in enumerate(star.points) if point[2] == leaves}) == 1
    stop, how = Event(), {"draws": 8, "seed": 1}
    found = share_map(movable("pf-tree"), rows(), **how, progress=lambda _: stop.set(), stop=stop.is_set)
    assert 0 < found.n_draws < found.n_asked == 8
    with pytest.raises(Cancelled):
        share_map(movable("pf-tree"), rows(), **how, stop=lambda: True)
    with pytest.raises(ParameterError, match="'draws'"):
        share_map(movable(), rows(), draws=0, seed=1)


def test_points_the_draws_cannot_tell_from_the_best_are_as_good():
    for scores, as_good in (
        ([[0.9, 0.8, 0.85, 0.9], [0.89, 0.81, 0.84, 0.91], [0.2, 0.1, 0.2, 0.1]], (0, 1)),
        ([[0.9], [0.2]], (0, 1)),
        # 1.8 and 2.1 standard errors behind
        ([[0.9] * 4, [0.8796, 0.8996, 0.8796, 0.8996], [0.8779, 0.8979, 0.8779, 0.8979]], (0, 1)),
    ):
        points = share_points(3)[: len(scores)]
        found = ShareMap(movable(), 400, points, np.array(scores), len(scores[0]))
        assert found.best in found.as_good == as_good
