"""The widget: what Python sends and gets back, and, in a browser without Streamlit, what the script does with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.tree import view as module
from dpviz.figures.tree.svg import tree_svg
from dpviz.models.tree import Branch, Leaf, Node, ThresholdRule, Tree
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

JS = Path(module.__file__).with_suffix(".js").read_text(encoding="utf-8")
CSS = Path(module.__file__).with_suffix(".css").read_text(encoding="utf-8")
ORIGIN = "http://tree.invalid/"
#: Plays Streamlit: the elements in a shadow root, and the default export called whenever data come.
HARNESS = f"""<!doctype html><meta charset="utf-8"><title>t</title><body style="margin:0"><div id="host"></div>
<script type="module">
import show from "{ORIGIN}tree_view.js";
const root = document.getElementById("host").attachShadow({{mode: "open"}});
window.clicked = [];
window.show = (html, css, data) => {{
  if (!root.firstChild) {{
    const style = document.createElement("style");
    style.textContent = css;
    const frame = document.createElement("div");
    frame.innerHTML = html;
    root.append(style, frame);
  }}
  window.close = show({{ data, parentElement: root, setTriggerValue: (name, value) => window.clicked.push([name, value]) }});
}};
window.ready = true;
</script>"""


def grown(depth: int) -> Tree:
    def grow(left: int) -> Node:
        return Leaf(left % 2) if left == 0 else Branch(ThresholdRule(0, 20.0 + left), grow(left - 1), grow(left - 1))

    return Tree(Schema((NumericFeature("age", 0, 100),), ClassTarget("y", ("a", "b"))), grow(depth))


def data(tree: Tree, selected: str | None = None, drawn: str | None = None) -> dict[str, Any]:
    wide, narrow = (tree_svg(tree, widths=None, selected=drawn, narrow=narrow, title="Tree") for narrow in (False, True))
    return {"wide": wide, "narrow": narrow, "selected": selected, "key": "k"}


def shown_by(script: Callable[[], None]) -> tuple[AppTest, dict[str, Any]]:
    app = AppTest.from_function(script).run()
    assert not app.exception
    (widget,) = app.get("bidi_component")
    return app, json.loads(widget.proto.mixed.json or widget.proto.json)


def test_the_widget_gets_both_drawings_and_the_selection() -> None:
    def script() -> None:
        import streamlit as st

        from dpviz.app.tree.view import chosen_node, tree_view

        before = chosen_node("tree")
        now = tree_view("<svg/>", "<svg class='n'/>", selected="root.L", key="tree")
        st.text(f"{before} {now}")

    app, sent = shown_by(script)
    assert sent == {"wide": "<svg/>", "narrow": "<svg class='n'/>", "selected": "root.L", "key": "tree"}
    assert app.text[0].value == "None None"


def test_two_trees_can_stand_on_one_page() -> None:
    def script() -> None:
        from dpviz.app.tree.view import tree_view

        for key in ("first", "second"):
            tree_view("<svg/>", "<svg/>", selected=None, key=key)

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert len(app.get("bidi_component")) == 2


def test_the_frame_holds_no_data_and_fetches_nothing() -> None:
    for text in (module._HTML, CSS, JS):
        assert "http" not in text
        assert "innerHTML" not in text
        assert "fetch(" not in text


@pytest.fixture(scope="module")
def browser(browser_path: str | None) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page 1000 px wide with the harness in it; fails when the script raises or anything but the harness is asked for."""
    opened = browser.new_page(viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))

    def answer(route: Any) -> None:
        if route.request.url == ORIGIN:
            route.fulfill(body=HARNESS, content_type="text/html")
        elif route.request.url == f"{ORIGIN}tree_view.js":
            route.fulfill(body=JS, content_type="text/javascript")
        else:
            problems.append(route.request.url)
            route.abort()

    opened.route("**/*", answer)
    opened.goto(ORIGIN)
    opened.wait_for_function("window.ready === true")
    yield opened
    opened.close()
    assert [problem for problem in problems if "favicon" not in problem] == []


def show(page: Any, sent: dict[str, Any]) -> None:
    page.evaluate("([html, css, data]) => window.show(html, css, data)", [module._HTML, CSS, sent])


def focused(page: Any) -> str | None:
    return page.evaluate("document.getElementById('host').shadowRoot.activeElement?.dataset.path ?? null")


def chosen(page: Any) -> list[str]:
    return page.locator("[aria-selected=true]").evaluate_all("nodes => nodes.map((node) => node.dataset.path)")


def look(page: Any) -> dict[str, Any]:
    """Zoom, place and height."""
    return page.locator(".stage").evaluate("e => ({left: e.scrollLeft, top: e.scrollTop, height: e.clientHeight})") | {
        "zoom": page.locator("output").inner_text()
    }


@pytest.mark.browser
class TestInTheBrowser:
    def test_a_click_chooses_a_node_once(self, page: Any) -> None:
        show(page, data(grown(2)))
        page.locator('[data-path="root.L"]').click()
        assert page.evaluate("window.clicked") == [["clicked", "root.L"]]
        assert chosen(page) == ["root.L"]
        assert page.locator(".edge.on").evaluate_all("edges => edges.map((edge) => edge.dataset.to)") == ["root.L"]

    def test_data_that_come_again_do_not_undo_a_choice(self, page: Any) -> None:
        show(page, data(grown(2), selected="root"))
        page.locator('[data-path="root.R"]').click()
        show(page, data(grown(2), selected="root"))
        assert chosen(page) == ["root.R"]
        show(page, data(grown(2), selected="root.L"))
        assert chosen(page) == ["root.L"]

    def test_tab_reaches_the_tree_once_and_arrows_walk_it(self, page: Any) -> None:
        show(page, data(grown(3)))
        page.keyboard.press("Tab")
        assert focused(page) == "root"
        walked = []
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "End", "Home", "ArrowUp"):
            page.keyboard.press(key)
            walked.append(focused(page))
        assert walked == ["root.L", "root.L.L", "root.L.R", "root.R.L", "root.L.R", "root.L", "root.R.R.R", "root", "root"]
        page.keyboard.press("Tab")
        assert focused(page) is None

    @pytest.mark.parametrize("key", ["Enter", " "])
    def test_enter_and_space_choose(self, page: Any, key: str) -> None:
        show(page, data(grown(2)))
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        page.keyboard.press(key)
        assert page.evaluate("window.clicked") == [["clicked", "root.L"]]

    def test_the_outline_is_walked_line_by_line(self, page: Any) -> None:
        page.set_viewport_size({"width": 390, "height": 800})
        show(page, data(grown(2)))
        page.keyboard.press("Tab")
        walked = []
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight"):
            page.keyboard.press(key)
            walked.append(focused(page))
        assert walked == ["root.L", "root.L.L", "root.L.R", "root.L", "root", "root.L"]

    def test_a_tree_of_the_same_shape_keeps_zoom_place_and_focus(self, page: Any) -> None:
        show(page, data(grown(4)))
        page.get_by_role("button", name="Zoom in").click(click_count=3)
        page.locator('[data-path="root.L.R"]').click()
        before = look(page)
        show(page, data(grown(4), selected="root.L.R", drawn="root.L.R"))
        assert look(page) == before
        assert focused(page) == "root.L.R"
        show(page, data(grown(3)))
        assert look(page)["zoom"] != before["zoom"]

    def test_choosing_far_down_a_tall_tree_does_not_jump_back(self, page: Any) -> None:
        show(page, data(grown(8)))
        page.locator(".stage").evaluate("e => e.scrollTo(0, 900)")
        before = look(page)
        assert before["top"] == 900
        show(page, data(grown(8), selected="root.L", drawn="root.L"))
        assert look(page) == before

    def test_buttons_zoom_and_fit(self, page: Any) -> None:
        show(page, data(grown(4)))
        fitted = look(page)
        page.get_by_role("button", name="Zoom in").click()
        assert look(page)["zoom"] != fitted["zoom"]
        assert look(page)["height"] <= fitted["height"]
        page.get_by_role("button", name="Zoom out").click()
        page.get_by_role("button", name="Fit the tree to the view").click()
        assert look(page) == fitted

    def test_the_wheel_zooms_with_control_only(self, page: Any) -> None:
        show(page, data(grown(4)))
        page.locator('[data-path="root"]').hover()
        fitted = look(page)["zoom"]
        page.mouse.wheel(0, -100)
        assert look(page)["zoom"] == fitted
        page.keyboard.down("Control")
        page.mouse.wheel(0, -100)
        page.wait_for_function(
            "zoom => document.getElementById('host').shadowRoot.querySelector('output').textContent !== zoom", arg=fitted
        )

    def test_dragging_moves_and_does_not_choose(self, page: Any) -> None:
        show(page, data(grown(4)))
        page.get_by_role("button", name="Zoom in").click(click_count=4)
        before = look(page)
        box = page.locator(".stage").bounding_box()
        page.mouse.move(box["x"] + 400, box["y"] + 100)
        page.mouse.down()
        page.mouse.move(box["x"] + 300, box["y"] + 60, steps=4)
        page.mouse.up()
        after = look(page)
        assert (after["left"] - before["left"], after["top"] - before["top"]) == (100, 40)
        assert page.evaluate("window.clicked") == []

    def test_the_layout_follows_the_width(self, page: Any) -> None:
        show(page, data(grown(3)))
        drawing = page.locator(".stage > svg")
        assert drawing.get_attribute("data-layout") == "wide"
        page.set_viewport_size({"width": 390, "height": 800})
        page.locator('.stage > svg[data-layout="narrow"]').wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def test_a_tall_tree_scrolls_inside_its_frame(self, page: Any) -> None:
        show(page, data(grown(8)))
        assert look(page)["height"] <= 640

    def test_the_drawing_follows_the_theme(self, page: Any) -> None:
        page.evaluate("document.body.style.setProperty('--st-background-color', '#0f1518')")
        show(page, data(grown(1)))
        assert page.locator(".stage > svg").get_attribute("data-theme") == "dark"
        page.evaluate("document.body.style.setProperty('--st-background-color', '#ffffff')")
        show(page, data(grown(1)))
        assert page.locator(".stage > svg").get_attribute("data-theme") == "light"

    def test_scripts_and_handlers_in_a_drawing_do_not_run(self, page: Any) -> None:
        evil = (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="window.evil=1"><script>window.evil=1</script>'
            '<g data-path="root" role="treeitem" aria-level="1" onfocus="window.evil=1"><a href="javascript:window.evil=1"/>'
            '<image href="http://evil.invalid/x.png" onerror="window.evil=1"/></g></svg>'
        )
        show(page, {"wide": evil, "narrow": evil, "selected": None, "key": "k"})
        page.locator('[data-path="root"]').dispatch_event("click")
        assert page.evaluate("window.evil") is None
        assert page.locator(".stage script, .stage a, .stage image").count() == 0

    def test_controls_have_names_and_the_tree_its_items(self, page: Any) -> None:
        show(page, data(grown(2)))
        assert page.get_by_role("tree", name="Tree").count() == 1
        assert page.get_by_role("treeitem").count() == 7
        assert page.get_by_role("treeitem", name="Asks: age ≤ 22? Depth 0, the root.").count() == 1
        assert page.get_by_role("button").count() == 3

    def test_closing_stops_watching(self, page: Any) -> None:
        show(page, data(grown(3)))
        page.evaluate("window.close()")
        page.set_viewport_size({"width": 390, "height": 800})
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.locator(".stage > svg").get_attribute("data-layout") == "wide"
