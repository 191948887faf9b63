"""Somebody at a page, whose clicks are counted and whose time is estimated: what a page wastes is seen there.

Seconds are those of the keystroke-level model (Card, Moran & Newell 1980) for a typist of average skill, and of reading every
line that is newly to be seen, at 238 words a minute (Brysbaert 2019). What the machine takes is not among them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.visiting import idle, settled

#: Seconds: to think of a step, to point, to press and let go, to bring a hand to the keyboard or back, to strike a key.
THINK, POINT, PRESS, HOME, KEY = 1.35, 1.1, 0.2, 0.4, 0.28
A_WORD = 60 / 238
#: Lines of the page that are on the screen.
_LINES = """() => {
  const lines = [], texts = document.createTreeWalker(document.querySelector("[data-testid=stMain]"), NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode());) {
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    const isSeen = box.width > 1 && box.height > 1 && box.bottom > 0 && box.top < innerHeight;
    const isIcon = text.parentElement.closest("[data-testid=stIconMaterial]");
    if (isSeen && !isIcon && text.parentElement.checkVisibility()) lines.push(text.data.trim());
  }
  return lines;
}"""


@dataclass
class Owner:
    """A click is a press of the mouse, also into a field that is typed into; a file takes two, a button and the file."""

    page: Any
    pictures: Path | None = None
    done: list[str] = field(default_factory=list)  #: What was clicked on
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0  #: Of thinking, pointing, typing and reading; estimated
    read: set[str] = field(default_factory=set)  #: Lines

    @property
    def clicks(self) -> int:
        """So far."""
        return len(self.done)

    def click(self, found: Any, what: str = "", *, rests: bool = False) -> None:
        """Once the server has nothing to run, or where it `rests`, once nothing moves either."""
        found.wait_for()
        (settled if rests else idle)(self.page)
        self._does(what or str(found))
        found.click()

    def press(self, name: str, *, rests: bool = True) -> None:
        """A button that may be pressed."""
        found = self.page.get_by_role("button", name=name, exact=True).and_(self.page.locator(":enabled"))
        self.click(found.first, name, rests=rests)

    def go(self, place: str) -> None:
        """To a page, by the list of pages."""
        self.click(self.page.get_by_test_id("stSidebarNav").get_by_text(place, exact=True), place)
        self.page.get_by_role("heading", level=1, name=place).wait_for()

    def choose(self, uploader: str, name: str, content: bytes) -> None:
        """A file, which is pressed twice in the browser's own list."""
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        box = self.page.get_by_test_id("stFileUploader").filter(has_text=uploader).locator("input[type=file]")
        box.wait_for(state="attached")
        settled(self.page)
        self._does(uploader)
        self._does(name)
        self.seconds += PRESS
        box.set_input_files(file)

    def type(self, found: Any, text: str, what: str = "") -> None:
        """Into a field; Enter ends it."""
        found.wait_for()
        settled(self.page)
        self._does(what or str(found))
        self.seconds += 2 * HOME + KEY * (len(text) + 1)
        found.fill(text)
        found.press("Enter")

    def look(self, step: str) -> None:
        idle(self.page)
        if self.pictures is not None:
            self.page.screenshot(path=self.pictures / f"{step}.png", full_page=True)

    def _does(self, what: str) -> None:
        """Read what is new on the screen, think, point and press."""
        lines = set(self.page.evaluate(_LINES)) - self.read
        self.read |= lines
        self.seconds += A_WORD * sum(len(line.split()) for line in lines) + THINK + POINT + PRESS
        self.done.append(what)
