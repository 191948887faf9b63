"""A person with up to three rows: every page counts what three rows cost, and says whose number that is."""

from dataclasses import replace
from functools import partial

import pytest

from dpviz.app import plan_tab
from dpviz.app.frame import PLAN_TAB
from dpviz.evaluation import plan as consequences
from dpviz.release.register import Register
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.pages import after_work, click, in_use, opened, records, shown

PERSON = "ε = 0.9 (add/remove one person, up to 3 rows)"


def of_three():
    """The clinic, a person of which is whoever has this age: three rows of it are kept."""
    now = in_use(DataRole.SIMULATED)
    schema = replace(now.schema, features=tuple(found for found in now.schema.features if found.name != "age"))
    data = encode(now.table, schema, person="age", rows_per_person=3)
    return replace(now, schema=schema, data=data, person="age")


@pytest.mark.slow
def test_the_guarantee_is_that_of_the_person():
    said = shown(opened("tree", rows=of_three(), epsilon="0.9"))
    assert PERSON in said
    assert "(add/remove one row)" not in said


@pytest.mark.slow
def test_plan_counts_the_persons_epsilon_beside_guesses_about_the_person(monkeypatch):
    few = partial(consequences.consequences_steps, epsilons=(0.3, 0.9, 3.0), draws=5)
    monkeypatch.setattr(consequences, "consequences_steps", few)
    test = opened("compare", tab=PLAN_TAB, rows=of_three(), epsilon="0.9", wanted="Accuracy → rows")
    assert f"Held fixed: PF-tree, {PERSON}" in shown(test)
    said = shown(after_work(click(test, "Compute the three curves"), plan_tab.CURVES))
    boxes = [line for line in said.splitlines() if line.startswith("**:material/") and "** at " in line]
    assert len(boxes) == 3
    assert all("ε = 0.9" in line and "one row" not in line for line in boxes), boxes
    assert "Move ε (add/remove one person, up to 3 rows)" in said


@pytest.mark.slow
def test_publish_and_register_say_the_relation_once_and_the_persons_number_everywhere(monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    now, book = of_three(), Register()
    test = opened("publish", rows=now, epsilon="0.9")
    assert "Cap on ε (add/remove one person, up to 3 rows)" in [box.label for box in test.number_input]
    book.declare("clinic", epsilon_cap=3.0, unit="one patient", rows_per_unit=3, role=DataRole.SIMULATED)
    book.assign(now.data.identity, "clinic")
    test = opened("publish", rows=now, epsilon="0.9")
    said = shown(test)
    assert "cap ε = 3 (add/remove one patient, up to 3 rows)" in said
    assert "Nothing was released yet: all of ε = 3 is left." in said
    assert "One tree by PF-tree, ε = 0.9." in said
    assert "Spend ε = 0.9 permanently" in "".join(box.label for box in test.checkbox).replace("\\", "")
    assert said.count("add/remove one patient") == 2  # the cap, and the promise word for word
    (person,) = records(test, "Right guesses")
    assert person["what is promised"].startswith("One patient, up to 3 rows")
    assert "one row" not in said
    said = shown(opened("publish", **{"publish-view": "Register"}))
    assert "Every ε: add/remove one patient, up to 3 rows." in said
    assert "all of ε = 3 is left" in said
