"""The tree of the settings: stale until the new one is there, stopped and begun again, its key, and what it is trained on."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from dpviz.app import training
from dpviz.app.training import canonical_key
from dpviz.learners import FitRequest
from dpviz.privacy.random_assignment import PoissonSample
from dpviz.results.verdict import ROW, Unit
from dpviz.table.role import DataRole
from tests.support.pages import alerts, click, in_use, job_of, open_page, texts, tree_on_screen
from tests.support.paths import SOON

REQUEST = FitRequest.of("pf-tree", max_depth=2, depth=2, seed=1)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Nothing but the tree is in the background, and one that should be there at once is waited for."""
    monkeypatch.setattr(training, "SHORT", SOON)
    monkeypatch.setattr(training, "MAX_ROWS", 0)
    monkeypatch.setattr(training, "DRAWS", 1)
    monkeypatch.setattr(training, "SHORT_RERUNS", SOON)


@pytest.fixture
def slow(monkeypatch):
    """Makes the next fits slow, and no page waits for them; (begun, go on)."""
    fit, began, go = training._tree, Event(), Event()

    def slowly(*args, **kwargs):
        began.set()
        assert go.wait(SOON)
        return fit(*args, **kwargs)

    def begin():
        monkeypatch.setattr(training, "_tree", slowly)
        monkeypatch.setattr(training, "SHORT", 0.0)
        return began, go

    yield begin
    go.set()


def depth_on_screen(test):
    return tree_on_screen(test).settings.request.settings.depth


@pytest.mark.slow
def test_the_last_tree_stays_while_the_new_one_grows_in_a_job_of_its_session_and_when_that_is_cancelled(slow):
    test, other = open_page("tree", depth="1"), open_page("tree", depth="1")
    began, go = slow()
    test.selectbox(key="depth").set_value("2").run()
    assert began.wait(SOON)
    assert depth_on_screen(test) == 1
    assert [view.key for view in test.main.get("bidi_component")].count("tree-view") == 1
    assert any("Showing the previous tree" in bar.proto.text for bar in test.get("progress"))
    other.selectbox(key="depth").set_value("2").run()
    mine, others = (one.session_state["_work"].jobs[training.TREE] for one in (test, other))
    assert mine[0] is not others[0]
    assert mine[1] == others[1]
    click(test, "Cancel")
    assert not job_of(other, training.TREE).is_stopped
    assert any("Stopped before there was an answer" in text for _, text in alerts(test))
    assert depth_on_screen(test) == 1
    assert not test.get("progress")
    go.set()
    click(test, "Train it after all")
    for one in (test, other):
        assert job_of(one, training.TREE).wait(SOON)
        texts(one.run())
        assert depth_on_screen(one) == 2
        assert not one.get("progress")


def test_the_key_tells_rows_roles_settings_parameters_and_draws_apart_by_a_single_cell_or_person():
    simulated, public = in_use(DataRole.SIMULATED), in_use(DataRole.PUBLIC)
    target = simulated.data.target.copy()
    target[0] = 1 - target[0]
    one_cell = replace(simulated, data=replace(simulated.data, target=target))
    persons = [np.arange(len(target)) // rows for rows in (2, 3)]
    of_persons = [replace(simulated, data=replace(simulated.data, persons=whose)) for whose in persons]
    rows = (simulated, public, replace(simulated, role=DataRole.PRIVATE), one_cell, *of_persons)
    keys = [canonical_key(loaded, REQUEST, draw=1) for loaded in rows] + [canonical_key(simulated, REQUEST, draw=2)]
    requests = FitRequest("cart", REQUEST.settings), REQUEST.at(epsilon=2.0), REQUEST.at(level_shares=(1.0, 2.0))
    keys += [canonical_key(simulated, request, draw=1) for request in requests]
    assert len(set(keys)) == len(keys) == 10


def test_drawings_at_other_epsilons_are_kept_apart_by_all_that_is_drawn_and_for_each_session_s_unit(monkeypatch):
    """They say what one unit risks, and are kept for all sessions: another session's rows may be of persons."""
    monkeypatch.setattr(training, "MAX_ROWS", 10**6)
    loaded, found = in_use(DataRole.SIMULATED), []

    def keys(request=REQUEST, *, fold=False, unit=ROW):
        monkeypatch.setattr(training, "unit_in_use", lambda: unit)
        found.append(frozenset(training.path_task(request, loaded, fold=fold).keys))

    keys()
    keys(fold=True)
    keys(REQUEST.at(level_shares=(1.0, 2.0)))
    keys(REQUEST.at(seed=2))
    for unit in (Unit(3), Unit(3, "one patient"), Unit(3, "one patient", is_bounded=True), Unit(1, "one patient")):
        keys(unit=unit)
    assert len(frozenset().union(*found)) == sum(map(len, found))
    keys(REQUEST.at(epsilon=2.0))
    assert found[0] & found[-1]  # of the same drawing the key is the same, wherever epsilon stands


def test_trees_of_private_rows_never_share_noise_by_place():
    def drawn(*places):
        source = training.UnseenSimulation(5)
        for place in places:
            source.enter(place)
            yield source.draw(PoissonSample(0.5), 64).tobytes()

    assert list(drawn(3, 3)) == list(drawn(7, 9))  # a stream that goes on, wherever it is
    assert len({*drawn(3, 3)}) == 2
