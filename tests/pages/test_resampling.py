import pytest

from dpviz.app import background, training
from dpviz.app.background import Job, Result, Status
from dpviz.app.training import RERUNS as SLOT
from dpviz.evaluation.resampling import Resamples
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole
from tests.support.pages import after_work, in_use, opened, texts, tree_on_screen, values_in


def drawn(**url: str):
    test = opened("tree", depth="2", fresh="true", **url)
    assert not test.exception
    after_work(test, SLOT)
    return test, values_in(test, SLOT)[0]


@pytest.mark.slow
def test_fresh_draws_show_roots_and_features():
    test, found = drawn(epsilon="0.5")
    said = texts(test)
    (_, count), *_ = found.root_rules()
    assert f"appears in {count} of 4 reruns" in said
    assert "is asked about most" in said
    assert "of 4 draws predict what this tree predicts" in said
    (chart,) = [chart for chart in test.get("plotly_chart") if chart.key == "resampling-features"]
    assert chart.proto.alt


@pytest.mark.parametrize("is_running", [True, False])
def test_draws_that_another_session_left_half_done_are_not_shown_while_the_rest_is_made(monkeypatch, is_running):
    loaded = in_use(DataRole.SIMULATED)
    half = Resamples((tree_on_screen(opened("tree", depth="2")).tree,), 30)
    job = Job(lambda progress, stop: None) if is_running else None
    now = Status((Result(half, complete=False),), (), None, False, job, False, None)
    monkeypatch.setattr(background, "autostart", lambda *_: now)
    assert training.resamples_now(FitRequest.of("pf-tree", max_depth=2, depth=2), loaded) is (None if is_running else half)
