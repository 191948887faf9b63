"""What learners say about their sources, and the stored page of all of it."""

import re

from benchmarks.differences import departures_page, departures_section
from dpviz.installation import bundled
from dpviz.learners import declared
from dpviz.learners.papers import DIFFERENCES, STATEMENTS

PRIVATE = {spec.name: spec for spec in declared() if spec.spends_epsilon}
#: Without a paper, and as its source has it.
NONE_KNOWN = {"pf-tree", "majority"}
#: Every numbered theorem, lemma and corollary of the three papers.
NUMBERED = {
    "Vos": ["Theorem 1", "Theorem 2", "Corollary 1", "Theorem 3", "Theorem 4", "Corollary 2", "Corollary 3", "Corollary 4"],
    "Fletcher": ["Theorem 1", "Theorem 2"],
    "Kirschte": [
        *(f"Theorem {number}" for number in (5, 7, 8, 9, 14, 10, 11, 19, 12)),
        *("Lemma 13", "Theorem 16", "Corollary 17", "Theorem 18", "Theorem 20", "Corollary 21", "Corollary 22"),
        *("Theorem 23", "Corollary 24", "Lemma 26", "Corollary 27"),
    ],
}


def test_the_stored_page_is_what_the_learners_declare():
    page = (bundled("data") / "benchmarks" / "differences.md").read_text(encoding="utf-8")
    assert page == departures_page(PRIVATE.values()), "run `python -m benchmarks differences --out ...`"
    assert departures_section(PRIVATE["pf-tree"]).endswith("No difference is known.")
    for line in page.splitlines():
        assert not line.startswith("|") or re.sub(r"\\\|", "", line).count("|") == 5  # a bar stays in its cell


def test_every_private_learner_names_its_source_its_differences_and_the_parameters_they_name():
    assert {*DIFFERENCES, *STATEMENTS} <= set(PRIVATE)
    for name, spec in PRIVATE.items():
        found = DIFFERENCES.get(name, ())
        assert spec.citation
        assert bool(found) == (name not in NONE_KNOWN), name
        assert len(set(found)) == len(found)
        for sentence in found:
            assert sentence.endswith(".")
            assert set(re.findall(r"`([a-z_]+)`", sentence)) <= set(spec.Params.__dataclass_fields__), sentence


def test_every_numbered_statement_has_one_status_and_evidence_that_is_there():
    for paper, numbers in NUMBERED.items():
        names = [one.name for spec in declared() if paper in spec.citation for one in STATEMENTS.get(spec.name, ())]
        single = ",".join(re.sub(r"Theorems (\d+) and (\d+)", r"Theorem \1,Theorem \2", name) for name in names)
        assert sorted(single.split(",")) == sorted(numbers), paper
    statements = [one for found in STATEMENTS.values() for one in found]
    for one in statements:
        files = [part.split(":")[0].strip() for part in one.evidence.split(";") if "/" in part]
        assert files, one.name
        assert all((bundled("data").parent / file).is_file() for file in files), one.evidence
        assert one.says.endswith(".")
    assert {one.name for one in statements if one.status == "refuted"} == {"Theorem 3"}
    assert {one.name for one in statements if one.status == "withdrawn"} == {"Theorem 1"}
