"""The widget of notebooks in a real browser, with a stand-in for the notebook's model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpviz
from dpviz.widget import _script
from tests.test_widget import ROWS, SCHEMA

pytestmark = [pytest.mark.browser, pytest.mark.verify]
#: As Jupyter does: keys are its shortcuts unless a place says that they are not, and Enter ends no typing.
KEYS_OF_JUPYTER = """
document.addEventListener("keydown", (e) => e.target.closest("[data-lm-suppress-shortcuts]") || e.preventDefault(), true);
document.addEventListener("keypress", (e) => e.key === "Enter" && e.preventDefault(), true);
"""


def test_its_own_tree_follows_its_control_and_no_other_one(page: Any, tmp_path: Path) -> None:
    widget = dpviz.tree_widget(ROWS, role="simulated", schema=SCHEMA, epsilon=1.3, max_depth=2, reruns=2)
    state = json.dumps({"page": widget.page, "shown": widget.shown, "epsilon": widget.epsilon}).replace("</", "<\\/")
    script = _script().replace("export default { render };", "")
    file = tmp_path / "notebook.html"
    file.write_text(
        f"""<!doctype html><meta charset="utf-8"><div id="one"></div><div id="two"></div><script type="module">
        {KEYS_OF_JUPYTER}{script}
        for (const id of ["one", "two"]) {{
          const state = {state};
          const model = {{
            get: (name) => state[name],
            set: (name, value) => {{ state[name] = value; }},
            save_changes: () => {{ (window.saved ??= {{}})[id] = state.epsilon; }},
          }};
          render({{ model, el: document.getElementById(id) }});
        }}</script>""",
        encoding="utf-8",
    )
    page.goto(file.as_uri())
    page.evaluate("document.fonts.ready")
    faces = page.evaluate(
        "[...document.fonts].map(({ family, weight, status }) => [family.replaceAll('\"', ''), weight, status])"
    )
    assert sorted(faces) == [["dpviz Sans", "400", "loaded"], ["dpviz Sans", "700", "loaded"]]  # once, for both
    said = [page.locator(f"#{name} .guarantee") for name in ("one", "two")]
    page.wait_for_function("document.querySelector('#one').shadowRoot.querySelector('.spread').textContent !== ''")
    page.locator("#one .scale").press("Home")
    page.wait_for_function("window.saved?.one !== undefined")
    assert "ε = 0.01 " in said[0].inner_text()
    assert "ε = 1.3 " in said[1].inner_text()
    assert page.evaluate("window.saved") == {"one": 0.01}
    assert page.locator("#one .stage svg [data-path]").count() >= 1
    page.locator("#two .exact").select_text()
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    page.wait_for_function("window.saved?.two === 4")
    assert "ε = 4 " in said[1].inner_text()
