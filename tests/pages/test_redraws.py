import pytest

from dpviz.app.controls import Asked
from dpviz.app.tree import fresh
from dpviz.app.tree.fresh import SLOT
from dpviz.app.work.pool import Job
from dpviz.app.work.session import Status
from dpviz.app.work.tasks import Answer
from dpviz.evaluation.tree.redraws import Redraws
from dpviz.table.role import DataRole
from tests.pages.opened import after_work, in_use, opened, texts, tree_on_screen, values_in


def drawn(**url: str):
    test = opened("tree", depth="2", fresh="true", **url)
    assert not test.exception
    after_work(test, SLOT)
    return test, values_in(test, SLOT)[0]


def test_fresh_draws_show_roots_features_regions_and_a_player():
    test, found = drawn(epsilon="0.5")
    said = texts(test)
    (_, count), *_ = found.root_rules()
    assert f"appears in {count} of 4 fresh draws" in said
    assert "is asked about most" in said
    assert "of 4 draws predict what this tree predicts" in said
    charts = test.get("plotly_chart")
    assert len(charts) == 1
    assert all(chart.proto.alt for chart in charts)
    assert len(test.main.get("bidi_component")) == 2  # the tree and the player
    assert len(test.dataframe) == 5  # the tree, what changes, and every measure with the confusion matrix


def test_private_rows_are_not_drawn_again():
    test = opened("tree", DataRole.PRIVATE)
    assert "Same data, fresh noise: what changes?" not in [toggle.label for toggle in test.toggle]


def test_a_deep_tree_is_drawn_again_less_often():
    test = opened("tree", depth="6")
    after_work(test, SLOT)
    (found,) = values_in(test, SLOT)
    assert found.n_done == 1  # of 4: a third


@pytest.mark.parametrize("is_running", [True, False])
def test_draws_that_another_session_left_half_done_are_not_shown_while_the_rest_is_made(monkeypatch, is_running):
    loaded = in_use(DataRole.SIMULATED)
    half = Redraws((tree_on_screen(opened("tree", depth="2")).tree,), 30)
    job = Job(lambda progress, stop: None) if is_running else None
    monkeypatch.setattr(fresh, "begin_unasked", lambda *_: Status((Answer(half, is_whole=False),), None, False, job, False, None))
    asked = Asked("pf-tree", {"epsilon": 1.0, "max_depth": 2, "depth": 2}, {}, 1, {})
    assert fresh.redraws_now(asked, loaded) is (None if is_running else half)
