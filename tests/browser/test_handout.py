"""The lessons in one file, opened from disk: a guess shows its answer and frees the control, and nothing is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpviz.__main__ import main
from dpviz.app.learn.course import LESSONS

pytestmark = [pytest.mark.browser, pytest.mark.verify]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("handout") / "lessons.html"
    assert main(["lessons", "--out", str(found)]) == 0
    return found


def test_a_guess_shows_its_answer_and_the_picture_then_follows_the_control(page: Any, file: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    lesson = page.locator("#odds")
    control, said = lesson.get_by_role("slider"), lesson.locator(".sentence")
    assert control.is_disabled()
    assert not lesson.locator(".answer").is_visible()
    lesson.get_by_role("radio").first.check()
    assert lesson.locator(".wrong").is_visible()
    assert not lesson.locator(".right").is_visible()
    assert "74 of 100" in said.inner_text()
    control.press("Home")
    assert "ε = 0.01 " in said.inner_text()
    assert page.locator(".chart .main-svg").count() >= len(LESSONS)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("width", [390, 1200])
def test_no_picture_cuts_off_what_stands_at_its_axes(page: Any, file: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(file.as_uri())
    outside = """() => [...document.querySelectorAll('.chart')].flatMap((chart) => {
        const whole = chart.getBoundingClientRect();
        return [...chart.querySelectorAll('.xtick text, .ytick text, .xtitle, .ytitle')].filter((text) => {
            const box = text.getBoundingClientRect();
            return box.width && (box.left < whole.left - 2 || box.bottom > whole.bottom + 2); // no width: not drawn
        }).map((text) => text.textContent);
    })"""
    page.locator(".chart .ytick").first.wait_for(state="attached")
    assert page.locator(".chart .ytick text").count() > len(LESSONS)
    assert page.evaluate(outside) == []


def test_it_fits_a_telephone(page: Any, file: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
