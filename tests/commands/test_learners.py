"""The learners command."""

import re

from dpviz.commands.learners import verdict_in_words
from dpviz.commands.verify import bounds_in_words

from dpviz.evaluation.audit.evidence import typical
from dpviz.evaluation.audit.verdicts import StoredRun, stored_run
from dpviz.learners import registry

STORED = stored_run()


def test_every_learner_stands_in_the_table_with_its_verdict(run):
    code, out, err = run("learners")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert len(lines) == len(registry()) + 1
    for spec, line in zip(registry().values(), lines[1:], strict=True):
        assert line.startswith(f"{spec.name} ")
        assert spec.title in line
        assert spec.idea in line
        stored = STORED.of(spec.name, 1.0)
        assert f" {verdict_in_words(spec.name, STORED)} " in line
        assert typical(spec).claim.verdict in verdict_in_words(spec.name, STORED)
        assert stored is None or all(f" {words} " in line for words in bounds_in_words(stored))


def test_a_verdict_that_depends_on_epsilon_is_told_for_each():
    assert verdict_in_words("privatree-corrected", STORED) == "violated at 0.1, unproven at 1 and 3"
    assert verdict_in_words("pf-tree", StoredRun(())) == "holds"


def test_what_holds_and_what_does_not_is_told_apart(run):
    lines = {line.split()[0]: line for line in run("learners")[1].splitlines()}
    assert re.search("epsilon +holds +>= .* yes", lines["pf-tree"])
    assert re.search("epsilon, delta +holds +not listed +>= .* yes", lines["s-gbdt"])
    assert re.search("epsilon +violated +>= inf, beyond +>= .* no", lines["privatree"])
    assert re.search("nothing +none +>= inf, nothing claimed +>= .* no", lines["cart"])


def test_which_one_to_take(run):
    code, out, err = run("learners", "--for", "data/loans.schema.json", "--epsilon", "0.1")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["take", "s-gbdt"]
    assert "PF-tree is behind by" in out
