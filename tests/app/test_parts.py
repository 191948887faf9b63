"""Names and sentences from strangers' files are shown as they are; tests/browser reads the same list back from a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpviz.app import parts
from dpviz.app.parts import as_code, escape_markdown, names_text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("age", "`age`"),
        ("<b>a</b>", "`<b>a</b>`"),
        ("**[x](y)**", "`**[x](y)**`"),
        (":red[b]", "`:red[b]`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("``x```", "```` ``x``` ````"),
        ("two\nlines\tand  more", "`two lines and more`"),
        (":material/home:", "`:\u2060material/home:`"),
        ("pf-tree www.x.y", "`pf-tree www.x.y`"),
    ],
)
def test_a_name_is_code(name: str, shown: str) -> None:
    assert as_code(name) == shown


def test_no_mark_of_markdown_stays_bare_and_lines_become_one_sentence() -> None:
    for letter in "\\`*_{}[]()<>#+-.!|~$:&=^@/\"'":
        assert escape_markdown(f"x {letter} y") == f"x \\{letter} y"
    assert escape_markdown("one\n\n# two") == "one \\# two"


def test_icons_arrows_and_links_are_broken_up_and_other_texts_carry_nothing_unseen() -> None:
    for text in (":material/x:", ":streamlit:", "x -> y", "<=", "~= y", "_www.x.y", "WWW.x.y", "a@b.c", "ftp://x"):
        assert "\u2060" in escape_markdown(text), text
    for text in ("pf-tree", "add/remove", "a->b", "3-5", "12:30", ":red[b]", "1 - 2", "x = y", "at @ y"):
        assert "\u2060" not in escape_markdown(text), text


def test_many_names_are_counted() -> None:
    assert names_text(["a", "b"]) == "`a`, `b`"
    assert names_text(list("abcde")) == "`a`, `b`, `c` and 2 more"


def test_the_script_of_the_tree_reads_no_markup_from_a_name_and_no_script_fetches_anything() -> None:
    folder = Path(parts.__file__).parent
    scripts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.js")]
    assert len(scripts) > 2
    assert not [text for text in scripts if "fetch(" in text or "XMLHttpRequest" in text]
    assert "innerHTML" not in (folder / "tree_view.js").read_text(encoding="utf-8")
