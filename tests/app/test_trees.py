from dataclasses import replace
from threading import Event

import pytest

from dpviz.app import training
from dpviz.app.held_out import held_out
from dpviz.app.training import canonical_key
from dpviz.learners import FitRequest
from dpviz.privacy.random_assignment import PoissonSample
from dpviz.table.role import DataRole
from tests.support.pages import in_use, job_of, opened, said_in_boxes, texts, tree_on_screen

SOON = 240.0
REQUEST = FitRequest.of("pf-tree", max_depth=2, depth=2, seed=1)


class SlowFit:
    """`fit` that waits to be let go, and says when it began."""

    def __init__(self, fit) -> None:
        self.fit, self.began, self.go = fit, Event(), Event()

    def __call__(self, *args, **kwargs):
        self.began.set()
        assert self.go.wait(SOON)
        return self.fit(*args, **kwargs)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A tree that should be there at once is waited for, however busy the machine is."""
    monkeypatch.setattr(training, "SHORT", SOON)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Nothing but the tree is in the background."""
    monkeypatch.setattr(training, "MOST_ROWS", 0)
    monkeypatch.setattr(training, "DRAWS", 1)
    monkeypatch.setattr(training, "SHORT_RERUNS", SOON)


@pytest.fixture
def slow(monkeypatch):
    """The next fits are slow, and no page waits for them."""
    made = SlowFit(training._tree)

    def begin():
        monkeypatch.setattr(training, "_tree", made)
        monkeypatch.setattr(training, "SHORT", 0.0)
        return made

    yield begin
    made.go.set()


def button(test, label):
    (found,) = [one for one in test.button if one.label == label]
    return found


def tree_job(test):
    return job_of(test, training.TREE)


def test_the_last_tree_stays_marked_stale_until_the_new_one_is_there(slow):
    test = opened("tree", depth="1")
    old = tree_on_screen(test)
    gate = slow()
    test.selectbox(key="depth").set_value("2").run()
    assert gate.began.wait(SOON)
    assert tree_on_screen(test) is old
    assert [view.key for view in test.main.get("bidi_component")].count("tree-view") == 1
    assert any("Showing the previous tree; training the new one" in bar.proto.text for bar in test.get("progress"))
    gate.go.set()
    assert tree_job(test).wait(SOON)
    texts(test.run())
    new = tree_on_screen(test)
    assert new.asked.request.settings.depth == 2
    assert not test.get("progress")


@pytest.mark.slow
def test_cancel_keeps_the_last_tree_and_it_can_be_grown_after_all(slow):
    test = opened("tree", depth="1")
    gate = slow()
    test.selectbox(key="depth").set_value("2").run()
    assert gate.began.wait(SOON)
    button(test, "Cancel").click().run()
    assert any("Stopped." in text for kind, text in said_in_boxes(test) if kind == "warning")
    assert tree_on_screen(test).asked.request.settings.depth == 1
    assert not test.get("progress")
    gate.go.set()
    button(test, "Train it after all").click().run()
    assert tree_job(test).wait(SOON)
    texts(test.run())
    assert tree_on_screen(test).asked.request.settings.depth == 2


def test_sessions_have_jobs_of_their_own(slow):
    mine, yours = opened("tree", depth="1"), opened("tree", depth="1")
    gate = slow()
    mine.selectbox(key="depth").set_value("2").run()
    assert gate.began.wait(SOON)
    yours.selectbox(key="depth").set_value("2").run()
    assert tree_job(mine) is not tree_job(yours)
    one, other = (test.session_state["_work"].jobs[training.TREE] for test in (mine, yours))
    assert one[1] == other[1]
    assert not tree_job(mine).is_stopped


def test_the_key_tells_rows_roles_settings_parameters_and_draws_apart():
    simulated, public = in_use(DataRole.SIMULATED), in_use(DataRole.PUBLIC)
    private = replace(simulated, role=DataRole.PRIVATE)
    keys = [
        canonical_key(simulated, REQUEST, draw=1),
        canonical_key(public, REQUEST, draw=1),
        canonical_key(private, REQUEST, draw=1),
        canonical_key(simulated, REQUEST, draw=2),
        canonical_key(simulated, FitRequest("cart", REQUEST.settings), draw=1),
        canonical_key(simulated, REQUEST.at(epsilon=2.0), draw=1),
        canonical_key(simulated, REQUEST.at(level_shares=(1.0, 2.0)), draw=1),
    ]
    assert len(set(keys)) == len(keys)


def test_one_changed_cell_changes_the_key_however_many_rows_there_are():
    loaded = in_use(DataRole.SIMULATED)
    target = loaded.data.target.copy()
    target[0] = 1 - target[0]
    changed = replace(loaded, data=replace(loaded.data, target=target))
    assert canonical_key(changed, REQUEST) != canonical_key(loaded, REQUEST)


def test_rows_kept_aside_are_not_trained_on():
    data = in_use(DataRole.SIMULATED).data
    train, test = data.split(0.2, seed=0)
    shown = tree_on_screen(opened("tree", depth="2")).result
    assert shown.to_json() == REQUEST.fit(train).to_json()
    found = held_out(shown.model, (train, test))
    assert found.n_rows == test.n_rows
    label = train.class_counts().argmax()
    assert found.measures["majority"] == pytest.approx((test.target == label).mean())
    assert found.measures["accuracy"] == pytest.approx(found.confused.trace() / test.n_rows)


def test_trees_of_private_rows_never_share_noise_by_place():
    def drawn(*places):
        source = training.UnseenSimulation(5)
        for place in places:
            source.enter(place)
            yield source.draw(PoissonSample(0.5), 64).tobytes()

    assert list(drawn(3, 3)) == list(drawn(7, 9))  # a stream that goes on, wherever it is
    assert len({*drawn(3, 3)}) == 2
