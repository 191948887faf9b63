"""The learners command."""

import re

from dpviz.commands.learners import typical_claim
from dpviz.learners import registry


def test_every_learner_stands_in_the_table_with_its_verdict(run):
    code, out, err = run("learners")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert len(lines) == len(registry()) + 1
    for spec, line in zip(registry().values(), lines[1:], strict=True):
        assert line.startswith(f"{spec.name} ")
        assert spec.title in line
        assert spec.idea in line
        assert f" {typical_claim(spec).verdict} " in line


def test_what_holds_and_what_does_not_is_told_apart(run):
    lines = {line.split()[0]: line for line in run("learners")[1].splitlines()}
    assert re.search("epsilon +holds +yes", lines["pf-tree"])
    assert re.search("epsilon, delta +holds +yes", lines["s-gbdt"])
    assert re.search("epsilon +violated +no", lines["privatree"])
    assert re.search("nothing +none +no", lines["cart"])
