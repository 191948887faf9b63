"""What learners say about their sources, and the stored page of all of it."""

import re
import runpy

import numpy as np
import pytest
from scipy.stats import laplace

from dpviz.figures.departures import departures_page, departures_section
from dpviz.installation import bundled
from dpviz.learners import declared
from dpviz.learners.papers import DIFFERENCES, STATEMENTS

PRIVATE = {spec.name: spec for spec in declared() if spec.spends_epsilon}
#: Without a paper, and as its source has it.
NONE_KNOWN = {"pf-tree", "majority"}


def stored_sections():
    page = (bundled("data") / "benchmarks" / "differences.md").read_text(encoding="utf-8")
    head, *sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return head.strip(), {re.search(r"\(`(.+?)`\)", section)[1]: section.strip() for section in sections}


def test_the_stored_page_is_what_the_learners_declare():
    head, sections = stored_sections()
    assert list(sections) == list(PRIVATE)
    assert head == departures_page([]).strip()
    for name, spec in PRIVATE.items():
        assert sections[name] == departures_section(spec), f"{name}: run `python -m benchmarks differences --out ...`"


@pytest.mark.parametrize("name", PRIVATE)
def test_every_private_learner_names_its_source_its_differences_and_the_parameters_they_name(name):
    spec, found = PRIVATE[name], DIFFERENCES.get(name, ())
    assert spec.citation
    assert bool(found) == (name not in NONE_KNOWN)
    assert len(set(found)) == len(found)
    for sentence in found:
        assert sentence.endswith(".")
        for parameter in re.findall(r"`([a-z_]+)`", sentence):
            assert parameter in spec.Params.__dataclass_fields__


def test_papers_are_of_learners_a_learner_without_differences_says_so_and_a_bar_stays_in_its_cell():
    assert {*DIFFERENCES, *STATEMENTS} <= set(PRIVATE)
    assert departures_section(PRIVATE["pf-tree"]).endswith("No difference is known.")
    lines = departures_section(PRIVATE["s-gbdt-published"]).splitlines()
    assert all(re.sub(r"\\\|", "", line).count("|") == 5 for line in lines if line.startswith("|"))


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


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_statement_of_the_papers_has_one_status(paper):
    names = [one.name for spec in declared() if paper in spec.citation for one in STATEMENTS.get(spec.name, ())]
    single = [word for name in names for word in re.sub(r"Theorems (\d+) and (\d+)", r"Theorem \1,Theorem \2", name).split(",")]
    assert sorted(single) == sorted(NUMBERED[paper])


def test_what_does_not_hold_says_why_and_every_file_of_evidence_is_there():
    statements = [one for found in STATEMENTS.values() for one in found]
    for one in statements:
        files = [part.split(":")[0].strip() for part in one.evidence.split(";") if "/" in part]
        assert files, one.name
        assert all((bundled("data").parent / file).is_file() for file in files), one.evidence
        assert one.says.endswith(".")
    assert {one.name for one in statements if one.status == "refuted"} == {"Theorem 3"}
    assert {one.name for one in statements if one.status == "withdrawn"} == {"Theorem 1"}


def test_the_first_score_is_refuted_by_its_script(capsys):
    runpy.run_path(str(bundled("data/counterexamples/sgbdt_first_score.py")), run_name="__main__")
    said = capsys.readouterr().out
    assert said.count("REFUTED") == 2
    order, epsilon, shift = 2.0, 0.1, 2 / 1001
    scores = np.linspace(-2, 4, 600_001)
    laws = [laplace(mean, scale).pdf(scores) for mean, scale in ((1, 1 / 100), (1 - shift, 1 / 100.1))]
    whole = np.log(np.trapezoid(laws[0] ** order * np.maximum(laws[1], 1e-300) ** (1 - order), scores))
    stated = re.search(r"at least (.+?), stated (.+?):", said)
    assert float(stated[2]) == pytest.approx(np.log(2 / 3 * np.exp(epsilon) + np.exp(-2 * epsilon) / 3), abs=1e-4)
    assert float(stated[2]) < float(stated[1]) < whole
