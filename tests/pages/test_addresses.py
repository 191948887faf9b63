"""Whatever an address holds, a page opens: odd values of every setting that a page has."""

from __future__ import annotations

import inspect

import pytest
from streamlit.runtime.state.query_params import QueryParams

from dpviz.app import expected
from dpviz.app.frame import PLAN_TAB
from dpviz.app.learn.lessons import LESSONS
from dpviz.errors import Cancelled
from dpviz.evaluation import poisoning, sweep
from dpviz.learners import get_learner
from tests.support.pages import PAGES, open_page, texts

OPENED = [(path.stem, {}) for path in sorted(PAGES.glob("*.py")) if path.stem != "learn"]
OPENED += [("tree", {"learner": get_learner(name).title}) for name in ("privatree", "pf-forest", "logistic")]
OPENED += [("compare", {"tab": PLAN_TAB, "wanted": "depth"})]
OPENED += [("compare", {"view": view}) for view in ("over depth", "over number of rows")]
OPENED += [("learn", {"lesson": lesson.name}) for lesson in LESSONS]
#: Read by the app itself rather than by a widget.
READ = ("data", "epsilon", "lesson", "tree")
ODD = {
    "many digits": "9" * 5_000,
    "many digits below zero": "-" + "9" * 5_000,
    "zero": "0",
    "negative": "-1",
    "nan": "nan",
    "infinite": "1e999",
    "tiny": "1e-320",
    "empty": "",
    "foreign digits": "\u0661" * 30,
    "power": "\u00b2",
    "direction and null": "\U0001f332\u202e\x00",
    "several": ["1", "2"],
    "several empty": ["", ""],
    "many": [str(number) for number in range(200)],
    "json": '{"a": [1]}',
    "tag": "<script>",
    "long": "a" * 100_000,
}
VALUES = list(ODD.values())
#: What pages compute at length: an address reaches it as it is asked for, which is when the page opens.
WORK = ((sweep, "run_batches"), (poisoning, "certify"), (expected, "expected_steps"))


def nothing(*asked: object, **how: object) -> None:
    raise Cancelled


def names_of(page: str, url: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What the address may set on a page."""
    names: set[str] = set()
    bind = QueryParams.bind_widget

    def noted(self: QueryParams, *asked: str, **named: str) -> None:
        names.add(inspect.signature(bind).bind(self, *asked, **named).arguments["param_key"])
        bind(self, *asked, **named)

    with monkeypatch.context() as patch:
        patch.setattr(QueryParams, "bind_widget", noted)
        assert texts(open_page(page, **url))
    texts_of = {lesson.name: lesson.text for lesson in LESSONS}
    of_lesson = texts_of.get(url.get("lesson", ""))
    return names | {f"{of_lesson}.{name}" for name in ("epsilon", "seed", "steps", "features") if of_lesson}


@pytest.mark.slow
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.verify)])
@pytest.mark.parametrize(("page", "url"), OPENED)
def test_a_page_opens_whatever_its_settings_are_in_the_address(page, url, every, monkeypatch):
    """Each visit gives all settings different odd values; in as many visits as there are values every setting gets each once."""
    for module, slow in WORK:
        monkeypatch.setattr(module, slow, nothing)
    bound = names_of(page, url, monkeypatch)
    assert bound or page == "data"
    names = sorted(bound | set(READ))
    for shift in range(0, len(ODD), every):
        asked = {name: VALUES[(place + shift) % len(VALUES)] for place, name in enumerate(names)} | url
        assert texts(open_page(page, **asked)), asked
