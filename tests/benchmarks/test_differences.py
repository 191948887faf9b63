"""What is said of learners and their sources, on the one page of all of it."""

import re

from dpviz.installation import bundled
from dpviz.learners import LEARNERS
from dpviz.learners.papers import PAGE, differences, statement_rows

PRIVATE = {spec.name: spec for spec in LEARNERS if spec.spends_epsilon}
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


def test_every_private_learner_has_its_section_with_its_source_and_names_parameters_that_it_has():
    page = bundled(PAGE).read_text(encoding="utf-8")
    sections = [f"## {spec.title} (`{name}`)\n\nSource: {spec.citation}." for name, spec in PRIVATE.items()]
    assert [page.count(section) for section in sections] == [1] * len(PRIVATE)
    assert len(re.findall("^## ", page, re.M)) == len(PRIVATE)
    for name, spec in PRIVATE.items():
        found = differences(name)
        assert bool(found) == (name not in NONE_KNOWN), name
        assert f"Source: {spec.citation}. No difference is known." in page or found
        assert len(set(found)) == len(found)
        for sentence in found:
            assert sentence.endswith(".")
            assert set(re.findall(r"`([a-z_]+)`", sentence)) <= set(spec.Params.__dataclass_fields__), sentence


def test_every_numbered_statement_has_one_status_and_evidence_that_is_there():
    for paper, numbers in NUMBERED.items():
        names = [row["statement"] for spec in PRIVATE.values() if paper in spec.citation for row in statement_rows(spec.name)]
        single = ",".join(re.sub(r"Theorems (\d+) and (\d+)", r"Theorem \1,Theorem \2", name) for name in names)
        assert sorted(single.split(",")) == sorted(numbers), paper
    rows = [row for name in PRIVATE for row in statement_rows(name)]
    for row in rows:
        files = [part.split(":")[0].strip() for part in row["evidence"].split(";") if "/" in part]
        assert files, row["statement"]
        assert all((bundled("data").parent / file).is_file() for file in files), row["evidence"]
        assert row["what it says, and why"].endswith(".")
        assert row["status"] in ("holds", "corrected here", "refuted", "withdrawn")
    assert {row["statement"] for row in rows if row["status"] == "refuted"} == {"Theorem 3"}
    assert {row["statement"] for row in rows if row["status"] == "withdrawn"} == {"Theorem 1"}
