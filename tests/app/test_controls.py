import json
import math
from collections import Counter

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpviz.app.controls import EPSILONS
from dpviz.app.epsilon_slider import nearest, take_epsilon
from dpviz.learners import get_learner
from dpviz.training.params import controls_of
from tests.support.pages import OF_EACH_KIND
from tests.support.paths import SOON


def settings():
    """The row of settings alone; what it says is kept, and every run is counted."""
    import streamlit as st

    from dpviz.app.controls import ask_settings

    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    st.session_state["asked"] = ask_settings()


def open_settings(**url: str) -> AppTest:
    test = AppTest.from_function(settings, default_timeout=SOON)
    for name, value in url.items():
        test.query_params[name] = value
    return ran(test)


def ran(test: AppTest) -> AppTest:
    test.run()
    assert not test.exception, [found.message for found in test.exception]
    return test


def slider(test) -> tuple[float, float]:
    """The step of the slider, and the value written above it."""
    (found,) = test.get("bidi_component")
    sent = json.loads(found.proto.json)
    return sent["steps"][sent["at"]], sent["epsilon"]


def request(test):
    return test.session_state["asked"].request


def with_epsilon(test, epsilon):
    test.session_state["epsilon"] = epsilon
    return ran(test)


def test_what_is_chosen_on_a_slider_is_kept_and_nothing_else_is(monkeypatch):
    """Browsers report 3 for 3.0; a view that reports nothing changes nothing; nothing lies outside what is allowed."""
    state = {"epsilon": 2.5, "view": {"epsilon": 3}, "other": {"epsilon": None}}
    monkeypatch.setattr(st, "session_state", state)
    for key in ("other", "none"):
        take_epsilon(key)
        assert state["epsilon"] == 2.5
    take_epsilon("view")
    assert state["epsilon"] == 3.0
    assert isinstance(state["epsilon"], float)
    state["view"]["epsilon"] = 1e6
    take_epsilon("view")
    assert state["epsilon"] == 100.0


def test_the_slider_stands_at_the_nearest_step_and_the_exact_value_is_kept():
    test = open_settings()
    runs = test.session_state["runs"]
    with_epsilon(test, 0.37)
    assert slider(test) == (0.4, 0.37)
    assert (request(test).settings.epsilon, test.session_state["runs"]) == (0.37, runs + 1)
    assert request(ran(test)).settings.epsilon == 0.37
    for epsilon in (1e-9, 0.37, 0.4, 0.05, 1e9):
        step = nearest(epsilon, EPSILONS)
        assert all(abs(math.log(step / epsilon)) <= abs(math.log(other / epsilon)) for other in EPSILONS)


@pytest.mark.slow
def test_a_link_sets_everything_it_holds_and_nonsense_in_it_is_ignored():
    given = {"privatree.bins": "7", "privatree.grow_complete": "true"}
    test = open_settings(learner=get_learner("privatree").title, epsilon="0.05", depth="3", draw="9", **given)
    assert (request(test).learner, request(test).seed, test.session_state["asked"].draw) == ("privatree", 9, 9)
    assert request(test).arguments == {"epsilon": 0.05, "max_depth": 3, "depth": 3, "bins": 7, "grow_complete": True}
    assert slider(test) == (0.05, 0.05)
    asked = open_settings().session_state["asked"]
    for bad in ({"epsilon": "-3"}, {"epsilon": "x"}, {"depth": "99"}, {"learner": "none"}, {"draw": "0"}):
        assert open_settings(**bad).session_state["asked"] == asked, bad


@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_every_parameter_of_a_learner_has_a_widget_that_says_the_default(name):
    test = open_settings(learner=get_learner(name).title)
    assert (request(test).learner, request(test).given) == (name, {})
    labels = Counter(widget.label for kind in (test.toggle, test.number_input, test.selectbox) for widget in kind)
    for about in controls_of(get_learner(name).Params).values():
        assert labels[about.label] + labels[f"{about.label}: set by hand"] == 1


def test_depth_is_a_number_or_automatic_with_a_cap():
    assert request(open_settings()).settings.depth == 4  # the first sample shows what epsilon alone changes
    test = open_settings(depth="auto")
    assert (request(test).settings.depth, request(test).settings.max_depth) == ("auto", 4)
    test.selectbox(key="depth").set_value("7")
    assert request(ran(test)).settings.depth == 7
    assert request(open_settings(depth="12")).settings.depth == 12
