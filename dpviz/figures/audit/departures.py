"""Where learners differ from their sources, read from `dpviz/learners/differences.md`, which is also a page for readers."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import dpviz.learners

#: Columns of the tables.
PAPER, HERE, WHY = "the paper", "here", "why"


def departure_rows(learner: str) -> list[dict[str, str]]:
    """One row per difference, with the columns above; empty for none."""
    lines = re.findall(r"^\| (.+) \|$", sections().get(learner, ""), re.MULTILINE)[2:]  # below the head of the table
    cells = (line.replace("\\|", "\0").split(" | ") for line in lines)
    return [dict(zip((PAPER, HERE, WHY), (cell.replace("\0", "|") for cell in row), strict=True)) for row in cells]


@cache
def sections() -> Mapping[str, str]:
    """Name of every learner that spends epsilon -> its section of the page."""
    page = Path(dpviz.learners.__file__).with_name("differences.md").read_text(encoding="utf-8")
    _head, *found = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return {re.findall(r"\(`(.+)`\)$", section, re.MULTILINE)[0]: section.strip() for section in found}
