"""Names and sentences from strangers' files are shown as they are; tests/browser reads the same list back from a page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpviz.app import parts
from dpviz.app.parts import as_code, escape_markdown, names_text
from dpviz.learners import get_learner, learner_names
from dpviz.training.params import controls_of
from tests.support.paths import ROOT


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


#: What newcomers asked the meaning of when they read the pages aloud.
NOT_UNDERSTOOD = re.compile(
    r"\bdefaulted\b|(weak|middling) signal|count as:?$|what encoding did|golden row|^head$|off the axis|grow complete"
    r"|(?<!result\.)\bledger\b(?! violated)",  # in Python it is called so
    re.IGNORECASE,
)


def texts_in(path: Path) -> Iterator[str]:
    """Every text of a file that may be shown: of Python its constants, without docstrings and names in brackets."""
    if path.suffix == ".md":
        yield from path.read_text(encoding="utf-8").splitlines()
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    yield from (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in own
    )


def test_no_text_of_a_page_has_a_word_that_newcomers_did_not_understand() -> None:
    folders = ROOT / "pages", ROOT / "dpviz" / "app", ROOT / "dpviz" / "charts"
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".md")]
    shown = {text for path in files for text in texts_in(path) if " " in text or text[:1].isupper()}
    controls = [about for name in learner_names() for about in controls_of(get_learner(name).Params).values()]
    shown |= {text for about in controls for text in (about.label, about.help)}
    assert len(shown) > 1000
    assert not [text for text in shown if NOT_UNDERSTOOD.search(text)]
