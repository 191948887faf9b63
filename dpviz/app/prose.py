"""Longer texts of the pages: Markdown files in `texts/`, one section per `## ` heading, with `{names}` for numbers."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "texts"


def prose(file: str, section: str, **values: str) -> str:
    """A section with its numbers filled in. Values stand in Markdown as they are. Raises KeyError when there is none."""
    return sections(file)[section].format_map(values)


@cache
def sections(file: str) -> Mapping[str, str]:
    """Heading -> text of every section of `texts/<file>.md`."""
    text = (_FOLDER / f"{file}.md").read_text(encoding="utf-8")
    _, *pieces = re.split(r"^## +(.+)$", text, flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(pieces[::2], pieces[1::2], strict=True)}
