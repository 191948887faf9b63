"""What an address asks for and does not get is said, in short and escaped, and nothing else is."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app import address
from dpviz.app.state import use_sample
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": "1000"}, "epsilon = `1000` is not 0.0001 to 100, 1 is used"),
        ({"epsilon": "nan"}, "epsilon = `nan` is not 0.0001 to 100, 1 is used"),
        ({"depth": "99"}, "depth = `99` is not auto or 1 to 12, auto is used"),
        ({"learner": "pf-tree"}, "learner = `pf-tree` is not an algorithm for this table, PF-tree is used"),
        ({"draw": "9" * 40}, f"draw = `{'9' * 20}…` is not 1 to 1,000,000, 1 is used"),
        ({"eps": "1"}, "`eps` is no setting"),
        ({":red[x]" * 9: "1"}, "`:red[x]:red[x]:red[x…` is no setting"),
    ],
)
def test_what_is_no_setting_is_said_with_what_is_used_instead(asked: dict[str, str], said: str) -> None:
    assert list(address.ignored(asked, use_sample("loans"))) == [said]


def test_what_is_used_is_not_said() -> None:
    asked = {"epsilon": "0.3", "depth": "auto", "learner": "PF-tree", "draw": "7", "pf-tree.bins": "8", "embed": "true"}
    assert not list(address.ignored(asked, use_sample("loans")))
    assert not list(address.ignored({"learner": "anything"}, use_sample("rents")))  # a setting of other tables


def test_every_name_that_a_widget_is_linked_by_is_known() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(ROOT / "dpviz" / "app").rglob("*.py")]
    names = {name for text in texts for name in re.findall(r'linked\(f?"([a-z-]+)', text)}
    assert len(names) > 30
    assert not [said for name in names for said in address.ignored({name: "1"}, use_sample("loans")) if "no setting" in said]


@pytest.mark.parametrize("page", ["tree", "register", "learn"])
def test_one_line_on_the_page_that_was_asked_for_and_it_stays(page: str) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["depth"] = "99"
    at.query_params["x" * 90] = "secret"
    at.switch_page(f"screens/{page}.py").run()
    at.run()
    (said,) = [box.value for box in at.warning if "Ignored in the address" in box.value]
    assert "depth = `99`" in said
    assert "secret" not in said
    assert "x" * 21 not in said
