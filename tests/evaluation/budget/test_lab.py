from threading import Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import Cancelled, ParameterError
from dpviz.evaluation.shares import (
    GROWTHS,
    MovableShares,
    ShareMap,
    level_shares,
    move_share,
    one_step_more,
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
SETTINGS = {"epsilon": 1.0, "max_depth": 3, "depth": 3}
MOVABLE = [name for name in learners_for(SCHEMA) if MovableShares.of(FitRequest.of(name, **SETTINGS), SCHEMA) is not None]


def rows(n: int = 400) -> EncodedDataset:
    a = np.arange(n) % 16 + 0.5
    return EncodedDataset(SCHEMA, (a, np.roll(a, 5), (np.arange(n) % 3).astype(np.uint8)), (a > 8).astype(np.uint8))


def movable(name: str = "privatree") -> MovableShares:
    found = MovableShares.of(FitRequest.of(name, **SETTINGS), SCHEMA)
    assert found is not None
    return found


def made(scores) -> ShareMap:
    points = share_points(3)[: len(scores)]
    return ShareMap(movable(), 400, points, np.array(scores, dtype=float), tuple(range(len(scores))), len(scores[0]))


def test_learners_with_named_shares_and_with_level_shares_can_be_asked():
    assert {"privatree", "privatree-corrected", "pf-tree"} <= set(MOVABLE)
    assert movable("pf-tree").by_level
    assert movable("privatree").parts == ("quantile", "node", "leaf")
    assert MovableShares.of(FitRequest.of("majority", **SETTINGS), SCHEMA) is None
    assert MovableShares.of(FitRequest.of("pf-tree", **{**SETTINGS, "depth": 1}), SCHEMA) is None


@pytest.mark.parametrize("name", MOVABLE)
def test_the_automatic_shares_given_by_hand_make_the_plan_of_the_rule(name):
    asked = movable(name)
    rule = FitRequest.of(name, **SETTINGS).plan(SCHEMA)
    assert sum(asked.automatic) == pytest.approx(1)
    by_hand = asked.asked(asked.automatic).plan(SCHEMA)
    counted = [share for share in rule.shares if share.group != "categorical"]
    for share in counted:
        assert by_hand.of(share.part, share.level, share.group) == pytest.approx(share.epsilon)


def test_a_triangle_has_every_point_and_many_levels_are_moved_by_one_factor_or_together():
    assert len(share_points(3, 10)) == 36
    assert (0.2, 0.3, 0.5) in share_points(3, 10)
    deep = MovableShares.of(FitRequest.of("pf-tree", **{**SETTINGS, "depth": 5, "max_depth": 5}, lookahead=1), SCHEMA)
    assert deep is not None
    assert len(deep.points) == len(GROWTHS)
    assert deep.automatic == pytest.approx(level_shares(1.4, 5))
    assert deep.points[GROWTHS.index(1.4)] == pytest.approx(deep.automatic)
    asked = MovableShares.of(FitRequest.of("pf-tree", **{**SETTINGS, "depth": 5, "max_depth": 5}), SCHEMA)
    assert asked is not None
    assert asked.parts == ("depth 0", "depth 1 and 2", "depth 3 and 4")
    assert asked.asked((0.2, 0.3, 0.5)).params.level_shares == (0.2, 0.15, 0.15, 0.25, 0.25)
    assert asked.of_weights((0.2, 0.1, 0.2, 0.25, 0.25)) == pytest.approx((0.2, 0.3, 0.5))
    assert [share.epsilon for share in asked.asked((0.2, 0.3, 0.5)).plan(SCHEMA).shares] == pytest.approx([0.2, 0.3, 0.5])
    assert MovableShares.of(FitRequest.of("pf-tree", **{**SETTINGS, "depth": 2}), SCHEMA) is None


@given(st.lists(st.floats(0.05, 1), min_size=3, max_size=3), st.integers(0, 2))
def test_one_step_takes_from_the_others_in_proportion(weights, to):
    start = tuple(weight / sum(weights) for weight in weights)
    if start[to] + 0.1 >= 1:
        return
    after = move_share(start, to, 0.1)
    assert sum(after) == pytest.approx(1)
    assert after[to] == pytest.approx(start[to] + 0.1)
    first, second = (at for at in range(3) if at != to)
    assert after[first] / after[second] == pytest.approx(start[first] / start[second])


@pytest.mark.slow
def test_the_map_repeats_and_more_draws_only_add():
    few = share_map(movable(), rows(), draws=2, seed=4)
    more = share_map(movable(), rows(), draws=3, seed=4)
    assert np.array_equal(few.scores, more.scores[:, :2])
    assert few.scores.shape == (36, 2)
    assert not np.array_equal(share_map(movable(), rows(), draws=1, seed=5).scores, few.scores[:, :1])


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.slow
def test_workers_change_nothing():
    alone = share_map(movable("pf-tree"), rows(), draws=4, seed=1)
    assert np.array_equal(share_map(movable("pf-tree"), rows(), draws=4, seed=1, workers=2).scores, alone.scores)


def test_a_stop_keeps_what_is_done_and_wrong_questions_are_refused():
    stop = Event()
    found = share_map(movable("pf-tree"), rows(), draws=8, seed=1, progress=lambda _: stop.set(), stop=stop.is_set)
    assert 0 < found.n_draws < found.n_asked == 8
    with pytest.raises(Cancelled):
        share_map(movable("pf-tree"), rows(), draws=8, seed=1, stop=lambda: True)
    with pytest.raises(ParameterError, match="'draws'"):
        share_map(movable(), rows(), draws=0, seed=1)


def test_shares_that_lead_to_the_same_plan_are_fitted_once():
    twins = share_map(movable("privatree-star"), rows(), draws=2, seed=1)
    assert twins.has_twins
    for at, first in enumerate(twins.same_as):
        assert np.array_equal(twins.scores[at], twins.scores[first])
        assert twins.points[at][2] == pytest.approx(twins.points[first][2])
    assert not share_map(movable(), rows(), draws=1, seed=1).has_twins


def test_points_the_draws_cannot_tell_from_the_best_are_as_good():
    found = made([[0.9, 0.8, 0.85, 0.9], [0.89, 0.81, 0.84, 0.91], [0.2, 0.1, 0.2, 0.1]])
    assert found.best in (0, 1)
    assert found.as_good == (0, 1)
    assert found.centre() == pytest.approx(np.mean(found.points[:2], axis=0))
    assert made([[0.9], [0.2]]).as_good == (0, 1)


@pytest.mark.slow
def test_labels_for_many_leaves_are_worth_one_step_more():
    """Hardly anything for the leaves: moving epsilon there must help, and is shown to."""
    gains = {g.part: g for g in one_step_more(movable(), rows(), (0.2, 0.795, 0.005), draws=30, seed=3)}
    assert gains["leaf"].kind == "gain"
    assert gains["leaf"].low < gains["leaf"].gain < gains["leaf"].high
    assert gains["leaf"].shares[2] == pytest.approx(0.105)


@pytest.mark.verify
def test_the_interval_of_a_step_holds_what_many_more_draws_say():
    asked = movable("pf-tree")
    few = one_step_more(asked, rows(), asked.automatic, draws=60, seed=3)
    many = one_step_more(asked, rows(), asked.automatic, draws=300, seed=4)
    for first, second in zip(few, many, strict=True):
        reach = 3 / 1.96 * np.hypot(first.high - first.gain, second.high - second.gain)
        assert abs(first.gain - second.gain) <= max(reach, 1e-12)
