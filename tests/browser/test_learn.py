"""The lessons in a real browser: a walk by keyboard alone, a slider that is dragged, a telephone, a server that has them only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from dpviz.app.learn.lessons import LESSONS
from dpviz.app.prose import prose
from tests.support.serving import ROOT, running
from tests.support.visiting import IS_DARK, faults_of, idle, press, settled

pytestmark = pytest.mark.browser

NAMES = [lesson.name for lesson in LESSONS]


def _title(page: Any, lesson: Any) -> None:
    page.get_by_role("heading", name=prose(f"learn/{lesson.text}", "title"), exact=True).wait_for()
    page.get_by_text("Guess first.").wait_for()
    idle(page)


def _guess_by_keyboard(page: Any) -> None:
    page.get_by_role("radiogroup", name="Your guess").get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.get_by_text("Try it.").wait_for()
    idle(page)


def _move_by_keyboard(page: Any) -> None:
    """The first control of every lesson is a slider, or stands before one."""
    before = page.url
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("before => location.href !== before", arg=before)
    idle(page)


def test_a_walk_through_the_lessons_by_keyboard_alone(page: Any, app: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 700})
    page.goto(f"{app}/learn")
    for place, lesson in enumerate(LESSONS):
        _title(page, lesson)
        expect(page.get_by_role("slider").first).to_be_disabled()
        _guess_by_keyboard(page)
        page.get_by_text(f"{place + 1} of {len(LESSONS)} questions answered").first.wait_for()
        _move_by_keyboard(page)
        if place + 1 < len(LESSONS):
            button = page.get_by_role("button", name=f"Next: {NAMES[place + 1]}")
            button.focus()
            page.keyboard.press("Enter")
            _title(page, LESSONS[place + 1])
            page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop === 0")


@pytest.mark.verify
def test_the_picture_moves_while_the_slider_is_dragged_and_the_link_keeps_where_it_was_let_go(page: Any, app: str) -> None:
    page.goto(f"{app}/learn")
    _title(page, LESSONS[0])
    press(page, page.get_by_role("button", name="Skip"))
    settled(page)
    box = page.get_by_role("slider", name="ε (add/remove one person)").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    for share, epsilon in ((0.7, "2"), (1.0, "10"), (0.5, "0.5")):
        page.mouse.move(box["x"] + 8 + (box["width"] - 16) * share, middle, steps=5)
        page.get_by_text(f"ε = {epsilon} (add/remove one person): odds").first.wait_for()
    page.mouse.up()
    page.wait_for_url("**odds.epsilon=0.5*")


@pytest.mark.verify
def test_no_lesson_has_a_serious_accessibility_fault_or_scrolls_sideways_on_a_telephone(visit: Any, app: str) -> None:
    page = visit(viewport={"width": 390, "height": 844}).new_page()
    for lesson in LESSONS:
        page.emulate_media(color_scheme="light")
        page.goto(f"{app}/learn?lesson={lesson.name.replace(' ', '+')}")
        _title(page, lesson)
        _guess_by_keyboard(page)
        settled(page)
        assert faults_of(page) == [], lesson.name
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(IS_DARK)
        settled(page)
        assert faults_of(page) == [], lesson.name
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.fixture
def lessons() -> Iterator[str]:
    """The address of `dpviz app --lessons`."""
    command = [sys.executable, "-m", "dpviz", "app", "--lessons", "--no-browser", "--port"]
    with running(command, ROOT, {**os.environ, "PYTHONPATH": str(ROOT)}) as address:
        yield address


@pytest.mark.verify
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
