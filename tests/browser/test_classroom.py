"""A class in real browsers: a teacher, and two pupils on telephones, against a server that has the lessons only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from dpviz.app.learn.course import LESSONS
from tests.browser.serving import ROOT, running
from tests.browser.visiting import faults_of, idle, press

pytestmark = [pytest.mark.browser, pytest.mark.verify]


@pytest.fixture(scope="module")
def classroom() -> Iterator[str]:
    """The address of `dpviz app --lessons`."""
    command = [sys.executable, "-m", "dpviz", "app", "--lessons", "--no-browser", "--port"]
    with running(command, ROOT, {**os.environ, "PYTHONPATH": str(ROOT)}) as address:
        yield address


def _guess(pupil: Any, link: str, place: int) -> None:
    pupil.goto(link)
    pupil.get_by_text("Guess first.").wait_for()
    idle(pupil)
    pupil.get_by_role("radiogroup", name="Your guess").get_by_role("radio").nth(place).focus()
    pupil.keyboard.press("Space")
    pupil.get_by_text("Try it.").wait_for()
    pupil.get_by_text("without your name").wait_for()


def test_two_pupils_guess_and_the_teacher_sees_the_counts_come_in(page: Any, visit: Any, classroom: str) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url) if "//localhost" not in request.url else None)
    page.goto(f"{classroom}/hour")
    press(page, page.get_by_role("button", name="Start a class"))
    link = (page.get_by_test_id("stCode").text_content() or "").strip()
    expect(page.get_by_role("img", name="QR code of the link of the class")).to_be_visible()
    page.get_by_text("listens on this computer only").wait_for()
    idle(page)
    assert faults_of(page) == []
    page.wait_for_url("**/hour?teacher=*")
    teacher = page.url.partition("teacher=")[2]
    assert link.startswith(f"{classroom}/?class=")
    assert teacher not in link

    page.goto(f"{classroom}/?teacher={teacher}&projector=true")
    page.get_by_text("Nobody has guessed yet.").wait_for()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") > 20
    look = {"viewport": {"width": 390, "height": 844}}
    for place, said in enumerate(("1 guessed so far.", "2 guessed so far.")):
        pupil = visit(**look).new_page()
        _guess(pupil, link, place)
        page.get_by_text(said).wait_for()
    assert faults_of(page) == []

    pupil.goto(f"{classroom}/data")
    pupil.get_by_text("Page not found").wait_for()
    pupil.get_by_role("heading", name="Learn", exact=True).wait_for()
    assert pupil.get_by_test_id("stFileUploader").count() == 0
    assert [url for url in outside if url.startswith("http")] == []
    assert len(LESSONS) == page.get_by_role("radiogroup", name="Lesson").get_by_role("radio").count()
