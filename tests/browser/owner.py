"""Somebody at a page, whose clicks are counted: what a page wastes is seen there."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.browser.visiting import idle, settled


@dataclass
class Owner:
    """A click is a press of the mouse, also into a field that is typed into; a file takes two, a button and the file."""

    page: Any
    pictures: Path | None = None
    done: list[str] = field(default_factory=list)  #: What was clicked on
    began: float = field(default_factory=time.monotonic)

    @property
    def clicks(self) -> int:
        """So far."""
        return len(self.done)

    def click(self, found: Any, what: str = "", *, rests: bool = False) -> None:
        """Once the server has nothing to run, or where it `rests`, once nothing moves either."""
        found.wait_for()
        (settled if rests else idle)(self.page)
        found.click()
        self.done.append(what or str(found))

    def press(self, name: str, *, rests: bool = True) -> None:
        """A button that may be pressed."""
        found = self.page.get_by_role("button", name=name, exact=True).and_(self.page.locator(":enabled"))
        self.click(found.first, name, rests=rests)

    def go(self, place: str) -> None:
        """To a page, by the list of pages."""
        self.click(self.page.get_by_test_id("stSidebarNav").get_by_text(place, exact=True), place)
        self.page.get_by_role("heading", level=1, name=place).wait_for()

    def choose(self, uploader: str, name: str, content: bytes) -> None:
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        box = self.page.get_by_test_id("stFileUploader").filter(has_text=uploader).locator("input[type=file]")
        box.wait_for(state="attached")
        settled(self.page)
        box.set_input_files(file)
        self.done += [uploader, name]

    def type(self, found: Any, text: str, what: str = "") -> None:
        """Into a field; Enter ends it."""
        found.wait_for()
        settled(self.page)
        found.fill(text)
        found.press("Enter")
        self.done.append(what or str(found))

    def look(self, step: str) -> None:
        idle(self.page)
        if self.pictures is not None:
            self.page.screenshot(path=self.pictures / f"{step}.png", full_page=True)
