"""What is around every page: its icon, its style, the way to the next one, its lines of Python."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.app.serving import CHECKED
from dpviz.app.widgets import on_demand
from dpviz.charts.theme import LIGHT, PALE
from dpviz.errors import DpvizError
from dpviz.installation import bundled, lessons_only

_DRAWING = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M16 9v5M16 14H8v5M16 14h8v5" fill="none" stroke="{LIGHT.accent}" stroke-width="2.5"/>
<rect x="10" y="2" width="12" height="8" rx="2" fill="{LIGHT.accent}"/>
<circle cx="8" cy="23" r="5" fill="{LIGHT.class_colour(0)}"/>
<circle cx="24" cy="23" r="5" fill="{LIGHT.class_colour(1)}"/></svg>"""
#: The icon of the browser tab. Drawn here, because a named Streamlit icon would be fetched from the internet.
ICON = "data:image/svg+xml;base64," + b64encode(_DRAWING.encode()).decode()
#: Keys that `frame.css` knows: the title of a page, one that only screen readers find, the row of settings, the line of the
#: guarantee, whose rows stand in, and what is said of work under way.
TITLE, UNSEEN_TITLE, ROW, GUARANTEE, WHOSE, WORK = "title", "unseen-title", "settings", "guarantee-row", "whose-rows", "work"
#: File of a page in `pages/` -> where it leads, and in which words.
NEXT = {
    "data": ("tree", "See its tree"),
    "tree": ("publish", "Release a tree like this"),
    "compare": ("robustness", "See what poisoned rows change"),
    "robustness": ("publish", "Release a tree"),
    "audit": ("publish", "Release a tree"),
    "publish": ("data", "Choose another table"),
    "learn": ("tree", "See a tree"),
}
#: The second tab of the Compare page, as it is called on screen and in the address.
PLAN_TAB = "What ε do I need?"
_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_STYLE = _STYLE.replace("ACCENT", LIGHT.accent).replace("MUTED", LIGHT.muted).replace("PALE", PALE)
#: A view without content, whose style holds for the whole page. `st.html` would do, but the browser loads what draws that in a
#: file of its own, and until it has come the page stands lower.
_DRESS = st.components.v2.component("dpviz_frame", css=_STYLE, isolate_styles=False)


def checks_requests() -> bool:
    """Whether the server of this session checks which page a request comes from; without a server, as in tests, nobody asks."""
    return not st.context.headers or CHECKED in st.context.headers


def unchecked_error(subject: str) -> DpvizError:
    """That `subject`, of a sentence, is not shown by a server that does not check requests."""
    return DpvizError(
        f"{subject} are not shown here: this server does not check which page a request comes from.",
        remedy="Start dpviz with `dpviz app`, or with `streamlit run app.py` in its folder.",
    )


def inject_css() -> None:
    """The style of every page."""
    with st.container(key="frame"):
        _DRESS(key="frame-style")


def next_page_button(page: str) -> None:
    """A button that leads from a page to the one that most people want next; none on a server for lessons, which has no other."""
    place, words = NEXT[page]
    if not lessons_only() and st.button(words, key="go-on", icon=":material/arrow_forward:"):
        # Streamlit refuses to clear an address that an input of this page is bound to; it takes another, also an empty one.
        st.switch_page(bundled(f"pages/{place}.py"), query_params={})


def as_python(write: Callable[[], str]) -> None:
    """At the foot of every page: the few lines that make its numbers."""
    with on_demand("This page as Python", icon=":material/code:") as box:
        if box.open:
            st.code(write(), language="python", wrap_lines=True)


def redirect(name: str, page: Path, **more: str) -> Any:
    """A hidden page that leads from an address to the page in a file; the address says `more` there."""

    def lead_there() -> None:
        st.switch_page(page, query_params=st.query_params.to_dict() | more)

    return st.Page(lead_there, title=name, url_path=name, visibility="hidden")
