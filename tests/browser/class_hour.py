"""A class in one browser: `python -m tests.browser.class_hour [PUPILS]` (20) against a server that has the lessons only.

A teacher starts a class and shows a lesson. Every pupil opens the link on a telephone of their own, guesses, and sees the picture
move; the teacher sees the guesses come in. Two lessons, all pupils at once. Prints what pupils waited for, what the teacher saw,
and what went wrong.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from playwright.async_api import async_playwright

from tests.browser.serving import BROWSER_ARGUMENTS, ROOT, installed_browser, process_of
from tests.browser.visiting import PATIENCE

TELEPHONE = {"viewport": {"width": 390, "height": 844}}
LESSONS = 2
_IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"


def main(pupils: int) -> None:
    """One hour with so many pupils."""
    command = [sys.executable, "-m", "dpviz", "app", "--lessons", "--no-browser", "--port"]
    print(f"{pupils} pupils, load average before {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors", flush=True)
    with process_of(command, ROOT, {**os.environ, "PYTHONPATH": str(ROOT)}) as (address, server):
        asyncio.run(_hour(address, pupils))
        used = Path(f"/proc/{server.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        print(f"the server used {sum(map(int, used)) / os.sysconf('SC_CLK_TCK'):.0f} seconds of processor time")


async def _hour(address: str, pupils: int) -> None:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=installed_browser(), args=BROWSER_ARGUMENTS)
        faults: list[str] = []
        teacher = await _page(browser, faults, {"viewport": {"width": 1440, "height": 900}})
        await teacher.goto(f"{address}/hour")
        await teacher.get_by_role("button", name="Start a class").click()
        link = ((await teacher.get_by_test_id("stCode").text_content()) or "").strip()
        await teacher.wait_for_url("**/hour?teacher=*")
        key = teacher.url.partition("teacher=")[2]
        await teacher.goto(f"{address}/?teacher={key}&projector=true")
        await teacher.get_by_text("Nobody has guessed yet.").wait_for()
        pages = [await _page(browser, faults, TELEPHONE) for _ in range(pupils)]
        for lesson in range(LESSONS):
            if lesson:
                await teacher.get_by_role("radiogroup", name="Lesson").get_by_role("radio").nth(lesson).focus()
                await teacher.keyboard.press("Space")
                await teacher.get_by_text("Nobody has guessed yet.").wait_for()
                await teacher.locator(_IDLE).wait_for()
            where = link if not lesson else _lesson_link(link, teacher.url)
            start = monotonic()
            waits = await asyncio.gather(*(_guess(page, where, number) for number, page in enumerate(pages)))
            await teacher.get_by_text(f"{pupils} guessed so far.").wait_for()
            print(f"lesson {lesson + 1}: the teacher saw {pupils} guesses after {monotonic() - start:.1f} s", flush=True)
            for words, found in zip(("question", "answer to a guess"), zip(*waits, strict=True), strict=True):
                print(f"  {words}: median {median(found):.1f} s, longest {max(found):.1f} s")
        await browser.close()
    print(f"faults: {faults or 'none'}")


def _lesson_link(link: str, teachers: str) -> str:
    lesson = next((part for part in teachers.partition("?")[2].split("&") if part.startswith("lesson=")), "")
    return f"{link}&{lesson}" if lesson else link


async def _page(browser: Any, faults: list[str], look: dict[str, Any]) -> Any:
    context = await browser.new_context(**look)
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    return page


async def _guess(page: Any, link: str, number: int) -> tuple[float, float]:
    """Seconds until the question is there, and until the guess is taken and the picture may be moved."""
    start = monotonic()
    await page.goto(link)
    await page.get_by_text("Guess first.").wait_for()
    await page.locator(_IDLE).wait_for()
    asked = monotonic()
    choices = page.get_by_role("radiogroup", name="Your guess").get_by_role("radio")
    await choices.first.wait_for()
    await choices.nth(number % await choices.count()).focus()
    await page.keyboard.press("Space")
    await page.get_by_text("Try it.").wait_for()
    return asked - start, monotonic() - asked


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
