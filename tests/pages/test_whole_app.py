import json
import sys
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.support.pages import opened, shown, texts

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = f"import runpy\nrunpy.run_path({str(ROOT / 'app.py')!r}, run_name='__main__')\n"


def walked() -> AppTest:
    test = AppTest.from_string(SCRIPT, default_timeout=60).run()
    assert not test.exception, [found.message for found in test.exception]
    return test


def go(test: AppTest, page: str) -> AppTest:
    link = dict(test.query_params)
    test.switch_page(str(ROOT / "pages" / f"{page}.py"))
    for name, values in link.items():  # a browser takes bound parameters along, AppTest does not
        test.query_params[name] = values
    test.run().run()  # nor, on the run that changes the page, the values of widgets
    assert not test.exception, [found.message for found in test.exception]
    return test


def said(test: AppTest) -> str:
    """The first box, as it is read."""
    return test.info[0].value.replace("\\", "")


def test_a_newcomer_sees_a_trained_tree_at_once():
    test = walked()
    assert test.title[0].value == "Tree"
    views = [view.key for view in test.main.get("bidi_component")]
    assert views == ["frame-style", "guarantee", "_epsilon_slider", "tree-view", "split"]
    assert "Would be guaranteed if released: ε" in said(test)


@pytest.mark.slow
def test_the_guarantee_is_said_once_and_epsilon_has_one_control():
    """Above the tree the line, and in "why?" its reasons; epsilon is set by the slider above the tree alone."""
    test = walked()
    (line,) = [json.loads(view.proto.json)["words"] for view in test.get("bidi_component") if view.key == "guarantee"]
    assert said(test).count("Would be guaranteed if released: ε") == 1
    assert not [words for words in (line, "Would be guaranteed") if words in texts(test).replace(test.info[0].value, "")]
    controls = (test.slider, test.select_slider, test.number_input, test.selectbox, test.text_input)
    assert not [one.label for kind in controls for one in kind if "ε" in one.label]


@pytest.mark.slow
def test_settings_survive_a_walk_through_the_pages():
    test = walked()
    test.session_state["epsilon"] = 0.3  # as the slider does: that writes the link, which AppTest does for no other widget
    test.run()
    go(go(test, "compare"), "tree")
    assert "ε = 0.3 " in said(test)
    go(go(test, "data"), "tree")
    assert test.session_state["epsilon"] == 0.3
    assert "ε = 0.3 " in said(test)


@pytest.mark.slow
def test_one_change_of_epsilon_runs_the_script_once(monkeypatch):
    """Draws in the background may end during the run and ask for another one, sooner or later: that one is not the change's."""
    from dpviz.app import background, controls

    runs = []
    asked, rerun = controls.ask_settings, st.rerun
    test = walked()
    monkeypatch.setattr(st, "rerun", lambda: None if sys._getframe(1).f_globals is vars(background) else rerun())
    monkeypatch.setattr(controls, "ask_settings", lambda *more: runs.append(1) or asked(*more))
    test.session_state["epsilon"] = 0.1
    test.run()
    assert not test.exception
    assert len(runs) == 1
    assert "ε = 0.1 " in said(test)


def test_the_page_of_epsilons_follows_its_slider_and_names_its_sources():
    test = opened("learn", lesson="What others use", **{"good-epsilon": "0.1"})
    assert "of them are below 0.1" in shown(test)
    assert "nobody has reviewed them yet" in shown(test).replace("\n", " ")
    assert all(chart.proto.alt for chart in test.get("plotly_chart"))
    test.select_slider(key="good-epsilon").set_value(10.0).run()
    assert "of them are below 10" in shown(test)
