import json
import math
from collections import Counter
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpviz.app import epsilon_slider
from dpviz.app.component import markup
from dpviz.app.controls import EPSILONS, last_other, nearest_step
from dpviz.app.epsilon_slider import take_epsilon
from dpviz.learners import get_learner
from dpviz.training.params import controls_of
from tests.pages.opened import LEARNERS


def sidebar():
    """The sidebar alone; what it says is kept, and every run is counted."""
    import streamlit as st

    from dpviz.app.controls import ask_settings, note_shown

    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    asked = ask_settings()
    st.session_state["asked"] = asked
    if not st.session_state.get("never shown"):
        note_shown(asked)


def opened(**url: str) -> AppTest:
    test = AppTest.from_function(sidebar, default_timeout=60)
    for name, value in url.items():
        test.query_params[name] = value
    return ran(test)


def ran(test: AppTest) -> AppTest:
    test.run()
    assert not test.exception, [found.message for found in test.exception]
    return test


def slider(test) -> tuple[float, str]:
    """The step of the slider, and the value written beside it."""
    (found,) = test.get("bidi_component")
    sent = json.loads(found.proto.json)
    return sent["steps"][sent["at"]], sent["said"]


def ask_epsilon(test, epsilon):
    test.number_input(key="epsilon").set_value(epsilon)
    ran(test)


def button(test, label):
    (found,) = [one for one in test.button if one.label == label]
    return found


def url(test) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in test.query_params.items()}


def test_epsilon_steps_are_rounded_and_cover_four_decades():
    assert (EPSILONS[0], EPSILONS[-1], len(EPSILONS)) == (0.001, 10.0, 17)
    assert list(EPSILONS) == sorted(EPSILONS)
    assert EPSILONS[:5] == (0.001, 0.002, 0.003, 0.005, 0.01)


@pytest.mark.parametrize(("epsilon", "step"), [(1e-9, 0.001), (1e9, 10.0), (0.37, 0.3), (0.4, 0.5), (0.05, 0.05)])
def test_the_nearest_step_is_nearest_on_a_log_scale(epsilon, step):
    assert nearest_step(epsilon) == step
    assert all(abs(math.log(step / epsilon)) <= abs(math.log(other / epsilon)) for other in EPSILONS)


def test_a_step_chosen_on_a_slider_goes_into_the_box_and_nothing_else_does(monkeypatch):
    """Browsers report 3 for 3.0, and the box holds floats; a view that reports nothing changes nothing."""
    state = {"epsilon": 2.5, "view": {"epsilon": 3}, "other": {"epsilon": None}}
    monkeypatch.setattr(st, "session_state", state)
    for key in ("other", "none"):
        take_epsilon(key)
        assert state["epsilon"] == 2.5
    take_epsilon("view")
    assert state["epsilon"] == 3.0
    assert isinstance(state["epsilon"], float)


def test_the_slider_follows_the_box_in_one_rerun_and_the_box_keeps_its_exact_value():
    test = opened()
    runs = test.session_state["runs"]
    ask_epsilon(test, 0.37)
    assert slider(test) == (0.3, "0.37")
    assert test.session_state["asked"].settings["epsilon"] == 0.37
    assert test.session_state["runs"] == runs + 1
    assert ran(test).session_state["asked"].settings["epsilon"] == 0.37


def test_a_link_sets_everything_it_holds():
    given = {"privatree.bins": "7", "privatree.grow_complete": "true"}
    test = opened(learner=get_learner("privatree").title, epsilon="0.05", depth="3", draw="9", **given)
    asked = test.session_state["asked"]
    assert (asked.learner, asked.draw) == ("privatree", 9)
    assert asked.settings == {"epsilon": 0.05, "max_depth": 3, "depth": 3}
    assert asked.params == {"bins": 7, "grow_complete": True}
    assert slider(test) == (0.05, "0.05")


def test_defaults_leave_the_link_empty():
    test = opened()
    button(test, "New noise").click()
    assert url(ran(test)) == {"draw": "2"}
    button(test, "Reset to last tree").click()
    assert url(ran(test)) == {}


@pytest.mark.slow
def test_nonsense_in_a_link_is_ignored():
    asked = opened().session_state["asked"]
    for bad in ({"epsilon": "-3"}, {"epsilon": "x"}, {"depth": "99"}, {"learner": "none"}, {"draw": "0"}):
        assert opened(**bad).session_state["asked"] == asked, bad


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_of_every_learner_has_a_widget_that_says_the_default(name):
    test = opened(learner=get_learner(name).title)
    assert test.session_state["asked"].learner == name
    assert test.session_state["asked"].params == {}
    labels = Counter(widget.label for kind in (test.toggle, test.number_input, test.selectbox) for widget in kind)
    for about in controls_of(get_learner(name).Params).values():
        assert labels[about.label] + labels[f"{about.label}: set by hand"] == 1


def test_auto_depth_is_capped_and_a_number_fixes_it():
    test = opened()
    assert test.session_state["asked"].settings["depth"] == "auto"
    assert test.session_state["asked"].settings["max_depth"] == 4
    test.select_slider(key="depth").set_value("7")
    assert ran(test).session_state["asked"].settings["depth"] == 7


def test_reset_brings_back_all_settings_of_the_tree_before():
    test = opened(epsilon="0.2", draw="3")
    before = test.session_state["asked"]
    assert button(test, "Reset to last tree").disabled
    assert "No other tree was shown yet." in [text.value for text in test.caption]
    test.number_input(key="epsilon").set_value(2.5)
    test.select_slider(key="depth").set_value("2")
    test.number_input(key="draw").set_value(8)
    assert ran(test).session_state["asked"] != before
    button(ran(test), "Reset to last tree").click()
    assert ran(test).session_state["asked"] == before
    assert button(ran(test), "Reset to last tree").disabled


def test_reset_goes_back_further_each_time():
    test = opened()
    for step in (0.5, 0.3, 0.2):
        ask_epsilon(test, step)
    seen = []
    for _ in range(3):
        button(ran(test), "Reset to last tree").click()
        seen.append(ran(test).session_state["asked"].settings["epsilon"])
    assert seen == [0.3, 0.5, 1.0]


def test_settings_whose_tree_was_never_shown_are_left_for_the_tree_on_screen():
    test = opened(epsilon="0.2")
    test.session_state["never shown"] = True
    ask_epsilon(test, 5.0)
    button(test, "Reset to last tree").click()
    assert ran(test).session_state["asked"].settings["epsilon"] == 0.2


def test_reset_brings_back_the_learner_and_its_parameters():
    test = opened(learner=get_learner("privatree").title, **{"privatree.bins": "5"})
    test.selectbox(key="learner").set_value("pf-tree")
    assert ran(test).session_state["asked"].learner == "pf-tree"
    button(ran(test), "Reset to last tree").click()
    asked = ran(test).session_state["asked"]
    assert (asked.learner, asked.params) == ("privatree", {"bins": 5})


def test_the_last_other_settings_skip_those_that_are_there_already():
    one, two = {"epsilon": 1.0}, {"epsilon": 2.0}
    assert last_other([], one) is None
    assert last_other([one], one) is None
    assert last_other([one, two, one], one) == 1
    assert last_other([one, two], {"epsilon": 3.0}) == 1


def test_every_epsilon_comes_with_its_neighbours_and_its_odds():
    test = opened(epsilon="1")
    assert "ε (add/remove one row)" in markup(Path(epsilon_slider.__file__))
    assert slider(test) == (1.0, "1")
    assert any("right at most about 73 times in 100" in text.value for text in test.caption)
