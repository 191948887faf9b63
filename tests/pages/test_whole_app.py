from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

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


def test_a_newcomer_sees_a_trained_tree_at_once():
    test = walked()
    assert test.title[0].value == "Tree"
    assert test.caption[0].value.startswith("A private tree hides any one row in noise.")
    assert len(test.main.get("bidi_component")) == 1
    assert "Would be guaranteed if released: ε" in test.info[0].value


@pytest.mark.slow
def test_settings_survive_a_walk_through_the_pages():
    test = walked()
    test.session_state["epsilon"] = 0.3  # as the slider does: that writes the link, which AppTest does for no other widget
    test.run()
    go(test, "budget")
    assert "ε = 0.3 " in test.info[0].value
    go(go(test, "data"), "tree")
    assert test.number_input(key="epsilon").value == 0.3
    assert "ε = 0.3 " in test.info[0].value


def test_one_change_of_epsilon_runs_the_script_once(monkeypatch):
    from dpviz.app import controls

    runs = []
    asked = controls.ask_settings
    test = walked()
    monkeypatch.setattr(controls, "ask_settings", lambda: runs.append(1) or asked())
    test.number_input(key="epsilon").set_value(0.1).run()
    assert not test.exception
    assert len(runs) == 1
    assert "ε = 0.1 " in test.info[0].value
