"""A name from a file stays a name: in no target does it become syntax, a directive, a link or a formula."""

from __future__ import annotations

import ast
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from tests.support.hostile_exports import NAMES, written


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_python_calls_and_imports_nothing(name: str) -> None:
    def does(text: str) -> set[str]:
        nodes = list(ast.walk(ast.parse(text)))
        imports = {ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))}
        return imports | {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}

    assert does(written(name, "python")) <= does(written("plain", "python"))


class Elements(HTMLParser):
    """(element, attribute) of everything a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {(tag, ""), *((tag, name) for name, _ in attrs)}


def test_a_name_in_a_drawing_or_report_makes_no_element_and_no_link() -> None:
    for name in NAMES:
        drawn, plain = (ElementTree.fromstring(written(each, "svg")) for each in (name, "plain"))
        assert {node.tag for node in drawn.iter()} == {node.tag for node in plain.iter()}
        assert not [key for node in drawn.iter() for key in node.attrib if key.endswith(("href", "src")) or key.startswith("on")]
        assert Elements(written(name, "report")).found == Elements(written("plain", "report")).found
