"""The tree widget in a browser without Streamlit: what its script does with the drawings it gets."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpviz.app import tree_view as module
from dpviz.app.component import COLOURS, file_text
from dpviz.charts.tree.svg import draw_tree
from dpviz.models.tree import Branch, Leaf, Node, ThresholdRule, Tree
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

pytestmark = pytest.mark.browser

JS = Path(module.__file__).with_suffix(".js").read_text(encoding="utf-8")
CSS = COLOURS + Path(module.__file__).with_suffix(".css").read_text(encoding="utf-8")
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
    wide, narrow = (draw_tree(tree, selected=drawn, narrow=narrow, title="Tree").standalone() for narrow in (False, True))
    return {"wide": wide, "narrow": narrow, "selected": selected, "key": "k", "steps": "", "epsilon": 1, "said": None}


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page 1000 px wide with the harness in it; fails when the script raises or anything but the harness is asked for."""
    opened = chromium.new_page(viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
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
    page.evaluate("([html, css, data]) => window.show(html, css, data)", [file_text(Path(module.__file__), ".html"), CSS, sent])


def focused(page: Any) -> str | None:
    return page.evaluate("document.getElementById('host').shadowRoot.activeElement?.dataset.path ?? null")


def chosen(page: Any) -> list[str]:
    return page.locator("[aria-selected=true]").evaluate_all("nodes => nodes.map((node) => node.dataset.path)")


def look(page: Any) -> dict[str, Any]:
    """Zoom, place and height."""
    return page.locator(".stage").evaluate("e => ({left: e.scrollLeft, top: e.scrollTop, height: e.clientHeight})") | {
        "zoom": page.locator("output").inner_text()
    }


def test_a_click_or_a_key_chooses_a_node_once_and_data_that_come_again_do_not_undo_it(page: Any) -> None:
    show(page, data(grown(2), selected="root"))
    page.locator('[data-path="root.L"]').click()
    assert chosen(page) == ["root.L"]
    assert page.locator(".edge.on").evaluate_all("edges => edges.map((edge) => edge.dataset.to)") == ["root.L"]
    show(page, data(grown(2), selected="root"))
    assert chosen(page) == ["root.L"]
    show(page, data(grown(2), selected="root.R"))
    assert chosen(page) == ["root.R"]
    for path, key in (("root.L", "Enter"), ("root.R", " ")):
        page.locator(f'[data-path="{path}"]').focus()
        page.keyboard.press(key)
    assert page.evaluate("window.clicked") == [["clicked", path] for path in ("root.L", "root.L", "root.R")]


#: What arrow keys do in a drawing and, on a telephone, in an outline.
WALKS = {
    1000: {
        "ArrowDown ArrowDown ArrowRight ArrowRight ArrowLeft ArrowUp": "root.L root.L.L root.L.R root.R.L root.L.R root.L",
        "End Home ArrowUp": "root.R.R root root",
    },
    390: {"ArrowDown ArrowDown ArrowDown ArrowLeft ArrowUp ArrowRight": "root.L root.L.L root.L.R root.L root root.L"},
}


@pytest.mark.parametrize("width", WALKS)
def test_tab_reaches_the_tree_once_and_arrows_walk_it(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    show(page, data(grown(2)))
    assert page.get_by_role("tree", name="Tree").count() == 1
    assert page.get_by_role("treeitem").count() == 7
    assert page.get_by_role("treeitem", name="Asks: age ≤ 22? Depth 0, the root.").count() == 1
    assert page.get_by_role("button").count() == 3
    page.keyboard.press("Tab")
    assert focused(page) == "root"
    for keys, walked in WALKS[width].items():
        for key, path in zip(keys.split(), walked.split(), strict=True):
            page.keyboard.press(key)
            assert focused(page) == path
    page.keyboard.press("Tab")
    assert focused(page) is None


@pytest.mark.verify
def test_a_tree_of_the_same_shape_keeps_zoom_place_and_focus(page: Any) -> None:
    show(page, data(grown(4)))
    page.get_by_role("button", name="Zoom in").click(click_count=3)
    page.locator('[data-path="root.L.R"]').click()
    before = look(page)
    show(page, data(grown(4), selected="root.L.R", drawn="root.L.R"))
    assert look(page) == before
    assert focused(page) == "root.L.R"
    show(page, data(grown(3)))
    assert look(page)["zoom"] != before["zoom"]


@pytest.mark.verify
def test_choosing_far_down_a_tall_tree_does_not_jump_back(page: Any) -> None:
    show(page, data(grown(8)))
    page.locator(".stage").evaluate("e => e.scrollTo(0, 900)")
    before = look(page)
    assert before["top"] == 900
    show(page, data(grown(8), selected="root.L", drawn="root.L"))
    assert look(page) == before


@pytest.mark.verify
def test_buttons_zoom(page: Any) -> None:
    show(page, data(grown(4)))
    fitted = look(page)
    page.get_by_role("button", name="Zoom in").click()
    assert look(page)["zoom"] != fitted["zoom"]
    assert look(page)["height"] <= fitted["height"]
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_role("button", name="Fit the tree to the view").click()
    assert look(page) == fitted


@pytest.mark.verify
def test_the_middle_of_a_drawing_that_outgrows_the_frame_stays_in_the_middle(page: Any) -> None:
    show(page, data(grown(1)))
    beyond = "e => e.scrollWidth - e.clientWidth"
    while not page.locator(".stage").evaluate(beyond):
        page.get_by_role("button", name="Zoom in").click()
    assert look(page)["left"] == pytest.approx(page.locator(".stage").evaluate(beyond) / 2, abs=2)


@pytest.mark.verify
def test_dragging_moves_and_does_not_choose(page: Any) -> None:
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


@pytest.mark.verify
def test_the_layout_follows_the_width_until_it_is_closed(page: Any) -> None:
    show(page, data(grown(3)))
    drawing, narrow = page.locator(".stage > svg"), {"width": 390, "height": 800}
    assert drawing.get_attribute("data-layout") == "wide"
    page.set_viewport_size(narrow)
    page.locator('.stage > svg[data-layout="narrow"]').wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1000, "height": 900})
    page.locator('.stage > svg[data-layout="wide"]').wait_for()
    page.evaluate("window.close()")
    page.set_viewport_size(narrow)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert drawing.get_attribute("data-layout") == "wide"


@pytest.mark.verify
def test_the_frame_fits_the_window_letters_are_large_and_the_theme_is_followed(page: Any) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    for depth in (0, 1, 4, 6, 8):
        show(page, data(grown(depth)))
        assert look(page)["height"] == pytest.approx(570, abs=3)
        sizes = page.locator(".stage .name").evaluate_all(
            "names => names.map((name) => parseFloat(getComputedStyle(name).fontSize) * name.getScreenCTM().a)"
        )
        assert min(sizes, default=13) >= 13
    for colour, theme in (("#0f1518", "dark"), ("#ffffff", "light")):
        page.evaluate("colour => document.body.style.setProperty('--st-background-color', colour)", colour)
        show(page, data(grown(1)))
        assert page.locator(".stage > svg").get_attribute("data-theme") == theme


def test_scripts_and_handlers_in_a_drawing_do_not_run(page: Any) -> None:
    evil = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="window.evil=1"><script>window.evil=1</script>'
        '<g data-path="root" role="treeitem" aria-level="1" onfocus="window.evil=1"><a href="javascript:window.evil=1"/>'
        '<image href="http://evil.invalid/x.png" onerror="window.evil=1"/></g></svg>'
    )
    show(page, {"wide": evil, "narrow": evil, "selected": None, "key": "k", "steps": "", "epsilon": 1, "said": None})
    page.locator('[data-path="root"]').dispatch_event("click")
    assert page.evaluate("window.evil") is None
    assert page.locator(".stage script, .stage a, .stage image").count() == 0


SAID = {
    "lead": "75.0%",
    "tested": "mean of 31",
    "spread": "70.0% to 80.0%",
    "besides": "AUC .7",
    "strip": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}


def path(*depths: int) -> dict[str, Any]:
    """Steps at epsilon .1, .2, ..., with a tree of another depth each; the page stands at .2."""
    steps = [
        {"value": depth / 10, "strip": SAID["strip"], "words": f"depth {depth}"}
        | {
            "said": {"lead": f"{depth}0.0%", "tested": "right on 9 rows"},
            "guarantee": {"kind": "would", "words": f"Preview {depth}"},
        }
        | {name: text for name, text in data(grown(depth)).items() if name in ("wide", "narrow")}
        for depth in depths
    ]
    packed = base64.b64encode(gzip.compress(json.dumps(steps).encode(), mtime=0)).decode()
    return {"steps": packed, "epsilon": 0.2, "said": SAID}


def drag(page: Any, epsilon: float) -> str | None:
    """Epsilon is dragged somewhere on the page; what the view tells the line of the guarantee."""
    return page.evaluate(
        """epsilon => new Promise((done) => {
          const told = ({ detail }) => done(detail.words);
          window.addEventListener("dpviz-guarantee", told, { once: true });
          window.dispatchEvent(new CustomEvent("dpviz-epsilon", { detail: epsilon }));
          setTimeout(() => { window.removeEventListener("dpviz-guarantee", told); done(null); }, 50);
        })""",
        epsilon,
    )


def lines(page: Any) -> list[str]:
    return [page.locator(part).inner_text() for part in (".lead", ".tested", ".spread", ".besides")]


def test_while_epsilon_is_dragged_tree_headline_and_guarantee_are_of_the_same_epsilon(page: Any) -> None:
    places = (
        "[...document.querySelector('#host').shadowRoot.querySelectorAll('.box, .stage')].map((e) => e.getBoundingClientRect().y)"
    )
    page.set_viewport_size({"width": 760, "height": 900})
    show(page, data(grown(2)) | path(1, 2, 3) | {"steps": ""})
    before = page.evaluate(places)
    show(page, data(grown(2)) | path(1, 2, 3))
    page.locator("[data-steps='3']").wait_for()
    assert page.evaluate(places) == before, "nothing moves when the steps arrive"
    assert lines(page) == ["75.0%", "mean of 31", "70.0% to 80.0%", "AUC .7"]
    for depth in (3, 1):
        assert drag(page, depth / 10) == f"Preview {depth}"
        assert page.locator("[data-path]").count() == 2 ** (depth + 1) - 1
        assert lines(page) == [f"{depth}0.0%", "right on 9 rows", "", ""]
        assert page.locator(".stage").evaluate("stage => stage.scrollWidth <= stage.clientWidth")
    drag(page, 0.3)
    show(page, data(grown(2)) | path(1, 2, 3) | {"selected": "root"})
    assert page.locator("[data-path]").count() == 15, "still being dragged"
    show(page, data(grown(1)) | path(1, 2, 3) | {"epsilon": 0.3})
    assert page.locator("[data-path]").count() == 3, "a tree from the server takes the place of the one dragged to"
    assert page.evaluate("window.clicked") == []


@pytest.mark.verify
def test_an_epsilon_without_a_tree_leaves_the_tree_and_shows_no_measure_of_another(page: Any) -> None:
    show(page, data(grown(2)) | path(1, 2))
    page.locator("[data-steps='2']").wait_for()
    assert drag(page, 0.15) is None
    assert page.locator("[data-path]").count() == 7
    assert page.locator(".measured.unknown").count() == 1
    show(page, data(grown(1)) | path(1, 2) | {"epsilon": 0.15})
    assert page.locator(".measured.unknown").count() == 0
