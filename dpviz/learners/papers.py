"""Papers beside their learners: every known difference and every numbered statement, from the page that people read.

`data/benchmarks/differences.md` has a section per private learner: its source, its differences as a list, and the theorems,
lemmas and corollaries of its paper as a table.
"""

import re
from functools import cache

from dpviz.installation import bundled

PAGE = "data/benchmarks/differences.md"
_HEADING = re.compile(r"## .* \(`([a-z-]+)`\)")
_BAR = re.compile(r"(?<!\\)\|")


def differences(learner: str) -> tuple[str, ...]:
    """Its known differences from the source that its citation names; empty where none is known, or there is no paper."""
    return tuple(line[2:] for line in _sections().get(learner, ()) if line.startswith("- "))


def statement_rows(learner: str) -> list[dict[str, str]]:
    """One row per numbered statement of the learner's paper: what it says, whether it holds as printed, where that is shown."""
    lines = [line for line in _sections().get(learner, ()) if line.startswith("|")]
    cells = [[cell.strip().replace("\\|", "|") for cell in _BAR.split(line)[1:-1]] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


@cache
def _sections() -> dict[str, list[str]]:
    """Learner -> the lines of its section."""
    sections: dict[str, list[str]] = {}
    section: list[str] = []
    for line in bundled(PAGE).read_text(encoding="utf-8").splitlines():
        heading = _HEADING.fullmatch(line)
        if heading:
            section = sections.setdefault(heading[1], [])
        section.append(line)
    return sections
