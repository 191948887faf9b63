"""The widget: what Python sends and gets back. `tests/browser/test_tree_view.py` asks what its script does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.app import tree_view as module
from dpviz.app.component import markup

JS = Path(module.__file__).with_suffix(".js").read_text(encoding="utf-8")
CSS = Path(module.__file__).with_suffix(".css").read_text(encoding="utf-8")


def shown_by(script: Callable[[], None]) -> tuple[AppTest, dict[str, Any]]:
    app = AppTest.from_function(script).run()
    assert not app.exception
    (widget,) = app.get("bidi_component")
    return app, json.loads(widget.proto.mixed.json or widget.proto.json)


def test_the_widget_gets_both_drawings_and_the_selection() -> None:
    def script() -> None:
        import streamlit as st

        from dpviz.app.tree_view import chosen_node, tree_view

        before = chosen_node("tree")
        now = tree_view("<svg/>", "<svg class='n'/>", selected="root.L", key="tree")
        st.text(f"{before} {now}")

    app, sent = shown_by(script)
    assert sent == {
        "wide": "<svg/>",
        "narrow": "<svg class='n'/>",
        "selected": "root.L",
        "key": "tree",
        "steps": "",
        "epsilon": None,
        "said": None,
    }
    assert app.text[0].value == "None None"


def test_two_trees_can_stand_on_one_page() -> None:
    def script() -> None:
        from dpviz.app.tree_view import tree_view

        for key in ("first", "second"):
            tree_view("<svg/>", "<svg/>", selected=None, key=key)

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert len(app.get("bidi_component")) == 2


def test_the_frame_holds_no_data_and_fetches_nothing() -> None:
    for text in (markup(Path(module.__file__)), CSS, JS):
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")  # the name of a namespace, which nobody fetches
        assert "innerHTML" not in text
        assert "fetch(" not in text
