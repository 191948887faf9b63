"""Names and sentences from strangers' files are shown as they are; tests/browser reads the same list back from a page."""

from __future__ import annotations

import pytest

from dpviz.app.parts import literal, names_text, plain


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
    ],
)
def test_a_name_is_code(name: str, shown: str) -> None:
    assert literal(name) == shown


def test_a_long_name_is_cut_at_sixty() -> None:
    assert literal("n" * 200) == "`" + "n" * 59 + "…`"
    assert literal("n" * 60) == "`" + "n" * 60 + "`"


@pytest.mark.parametrize("letter", list("\\`*_{}[]()<>#+-.!|~$:&=^@/\"'"))
def test_no_mark_of_markdown_stays_bare(letter: str) -> None:
    assert plain(f"x {letter} y") == f"x \\{letter} y"


def test_directives_icons_arrows_and_links_are_broken_up() -> None:
    assert plain(":red[b]") == "\\:\u2060red\\[b\\]"
    assert plain("a->b") == "a\\-\u2060\\>\u2060b"
    assert plain("www.x.y") == "www\u2060\\.x\\.y"
    assert plain("a@b.c") == "a\\@\u2060b\\.c"


def test_lines_become_one_sentence() -> None:
    assert plain("one\n\n# two") == "one \\# two"


def test_many_names_are_counted() -> None:
    assert names_text(["a", "b"]) == "`a`, `b`"
    assert names_text(list("abcde")) == "`a`, `b`, `c` and 2 more"
