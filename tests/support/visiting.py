"""A visitor with patience, and when a page may be looked at: nothing runs, nothing is about to be replaced, nothing moves."""

from __future__ import annotations

import os
from typing import Any

from dpviz.charts.theme import contrast

#: Milliseconds until something that never comes is given up: the machine may be doing other things.
PATIENCE = 1_000 * int(os.environ.get("DPVIZ_PATIENCE", "240"))

_IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
_DRAWN = """() => {
  const app = document.querySelector("[data-testid=stApp]");
  const busy = "[data-stale=true], [data-testid=stProgress], [data-testid=stSkeleton], [data-testid=stSpinner]";
  return app?.dataset.testScriptState === "notRunning" && !document.querySelector(busy)
    && !document.getAnimations().some((one) => one.playState === "running" && one.effect?.target?.checkVisibility());
}"""
#: Drawn for a while without a break, since work may be followed by more work.
_SETTLED = f"""() => {{
  const quiet = ({_DRAWN})();
  window.quietSince = quiet ? window.quietSince ?? performance.now() : null;
  return quiet && performance.now() - window.quietSince > 1000;
}}"""
#: The page stands on its dark ground.
IS_DARK = "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === 'rgb(15, 21, 24)'"

#: The picture of a page, where it is not a chart.
PICTURES = {
    "tree": "svg.dp-tree",
    "": "svg.dp-tree",
    "audit": "svg.dp-tree",
    "data": "[data-testid=stDataFrame]",
    "plan": "text=Compute the three curves",
    "publish": "[data-testid=stMain] [data-testid=stAlert]",
    "register": "[data-testid=stMain] [data-testid=stAlert]",
}
CHART = ".js-plotly-plot .main-svg"
#: (what it says, its colour, the page's ground) of each text beside the marks of a chart, which axe passes over.
_CHART_TEXTS = """() => {
  const hex = (colour) => "#" + colour.match(/\\d+/g).slice(0, 3).map((part) => (+part).toString(16).padStart(2, "0")).join("");
  const ground = hex(getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor);
  const beside = ".js-plotly-plot :is(.xtick, .ytick, .g-xtitle, .g-ytitle, .annotation, .legend) text";
  return [...document.querySelectorAll(beside)].map((text) => [text.textContent, hex(getComputedStyle(text).fill), ground]);
}"""
#: Of text, by WCAG 1.4.3.
_ENOUGH_CONTRAST = 4.5


def visitor(browser: Any, **look: Any) -> Any:
    """A session of its own, in a window of a given size, colour scheme or motion."""
    context = browser.new_context(**look)
    context.set_default_timeout(PATIENCE)
    return context


def idle(page: Any) -> None:
    """Wait until the server has nothing left to run for this page; work off the page may go on."""
    page.locator(_IDLE).wait_for()


def drawn(page: Any) -> None:
    """Wait until what the server has sent is drawn and no work is left; wait before for an element that is to come."""
    page.wait_for_function(_DRAWN)


def settled(page: Any) -> None:
    """Wait until the page has been as it is for a second from now on, with no work left on or off it.

    A second before now says nothing: what was just clicked on may not have begun.
    """
    page.evaluate("window.quietSince = null")
    page.wait_for_function(_SETTLED)


def press(page: Any, found: Any) -> None:
    """Click on something that is there, once the page is drawn: what moves away between press and release is not clicked on."""
    found.wait_for()
    drawn(page)
    found.click()


def open_downloads(page: Any) -> None:
    """Open the box on the Tree page in which the model is made and checked, and wait for that."""
    press(page, page.locator("summary", has_text="Download this model"))
    page.get_by_text("dpviz reads it back").first.wait_for()


def choose(page: Any, box: str, option: str) -> None:
    """Choose from a list once the page is drawn: an open list closes when the page is drawn anew."""
    press(page, page.get_by_role("combobox", name=box))
    page.get_by_role("option", name=option).first.click()


def downloaded(page: Any, button: str) -> Any:
    """The file behind a button, taken once the page is drawn: before, no file can be taken."""
    found = page.get_by_role("button", name=button)
    found.wait_for()
    drawn(page)
    with page.expect_download() as waiting:
        found.click()
    return waiting.value


def faults_of(page: Any, *rules: str) -> list[str]:
    """Accessibility faults that are worse than minor, in words, and texts of charts that are too pale.

    Against these rules of axe alone, if any are named.
    """
    from axe_playwright_python.sync_playwright import Axe

    # Streamlit's own list of pages nests its sections in a way that is not ours to mend; labels of controls that
    # cannot be used yet are pale, as WCAG 1.4.3 allows.
    not_ours = [["[data-testid=stSidebarNavItems]"], ["[data-testid=stWidgetLabel][disabled]"]]
    options = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    found = Axe().run(page, context={"exclude": not_ours}, options=options).response["violations"]
    pale = [words for words, *colours in page.evaluate(_CHART_TEXTS) if words and contrast(*colours) < _ENOUGH_CONTRAST]
    faults = [_in_words(fault) for fault in found if fault["impact"] != "minor"]
    return [*faults, *(f"pale in a chart: {words}" for words in pale)]


def _in_words(fault: dict[str, Any]) -> str:
    return f"{fault['id']}: {fault['help']}: {[node['html'][:200] for node in fault['nodes'][:3]]}"
