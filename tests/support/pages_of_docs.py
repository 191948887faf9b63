"""The blocks of a Markdown page, in order, and how a page is run in a folder that looks like the clone."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpviz.__main__ import main
from tests.support.paths import ROOT

PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md"))
README = ROOT / "README.md"
_BLOCK = re.compile(r"^```(\S.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and what follows it, if that is the output it promises."""

    language: str
    text: str

    @property
    def commands(self) -> list[list[str]]:
        """The dpviz command lines in it."""
        return [shlex.split(line)[1:] for line in self.text.splitlines() if self.language == "sh" and line.startswith("dpviz ")]


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page."""
    return [Block(language.strip(), text) for language, text in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def run(page: Path) -> Iterator[tuple[str, str]]:
    """Run a page from its top in the working folder: yields (printed, promised) for every block that promises an output."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, page.name, "exec"), names)
            printed = out.getvalue()
        elif block.language == "text" and printed:
            yield printed, block.text
            printed = ""
        elif named := re.match(r"\{code-block\} text\n:name: (\S+)\n\n", f"{block.language}\n{block.text}"):
            Path(named[1]).write_text(f"{block.language}\n{block.text}"[named.end() :], encoding="utf-8")
        for words in block.commands:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
                code = main(words)
            assert code == 0, (words, err.getvalue())
