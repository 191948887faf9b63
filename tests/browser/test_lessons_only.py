"""A server that has the lessons only, in a real browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from dpviz.app.learn.lessons import LESSONS
from tests.support.serving import ROOT, running
from tests.support.visiting import faults_of, idle, settled

pytestmark = [pytest.mark.browser, pytest.mark.verify]


@pytest.fixture
def lessons() -> Iterator[str]:
    """The address of `dpviz app --lessons`."""
    command = [sys.executable, "-m", "dpviz", "app", "--lessons", "--no-browser", "--port"]
    with running(command, ROOT, {**os.environ, "PYTHONPATH": str(ROOT)}) as address:
        yield address


def test_a_question_is_answered_on_ones_own_screen_and_there_is_no_other_page(page: Any, visit: Any, lessons: str) -> None:
    telephone = visit(viewport={"width": 390, "height": 844}).new_page()
    for screen in (page, telephone):
        screen.goto(lessons)
        screen.get_by_text("Guess first.").wait_for()
        idle(screen)
        screen.get_by_role("radiogroup", name="Your guess").get_by_role("radio").nth(1).focus()
        screen.keyboard.press("Space")
        screen.get_by_text("Try it.").wait_for()
        idle(screen)
        assert faults_of(screen) == []
    assert len(LESSONS) + 1 == page.get_by_role("radiogroup", name="Lesson").get_by_role("radio").count()
    page.goto(f"{lessons}/data")
    page.get_by_text("Page not found").wait_for()
    page.get_by_role("heading", name="Learn", exact=True).wait_for()
    assert page.get_by_test_id("stFileUploader").count() == 0
    page.goto(f"{lessons}/epsilon")  # the former page of what others use
    page.get_by_text("What others published with").wait_for()
    assert page.get_by_test_id("stSidebar").count() == 0
    for width in (360, 768, 1440):  # nothing stands over the title
        page.set_viewport_size({"width": width, "height": 800})
        settled(page)
        header = page.get_by_test_id("stHeader").locator("a, [data-testid=stExpandSidebarButton]").all()
        boxes = [box for one in header if (box := one.bounding_box()) is not None]
        title = page.get_by_role("heading", level=1).bounding_box()
        assert all(box["y"] + box["height"] <= title["y"] for box in boxes)
