"""README is short and says what is true: its tables agree with what was measured and computed. `tests/docs` runs its blocks."""

import csv
import re
import tomllib

from benchmarks.learners import learners_page
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.installation import bundled
from dpviz.learners import LEARNERS
from dpviz.learners.native import pf_tree
from tests.support.pages_of_docs import README, blocks
from tests.support.paths import ROOT

TEXT = README.read_text(encoding="utf-8")
DOCS = ROOT / "docs"
GUARANTEE = (DOCS / "explanation" / "guarantee.md").read_text(encoding="utf-8")
MOST_LINES = 110


def table_row(text, first_cell):
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {first_cell} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_it_is_short_and_says_first_how_far_it_may_be_trusted():
    assert len(TEXT.splitlines()) <= MOST_LINES
    status = TEXT[: TEXT.index("## ")]
    for said in ("alpha", "nobody\n> outside has reviewed", "Windows is untried"):
        assert said in status


def test_the_stored_table_of_learners_is_what_they_declare():
    stored = (bundled("data") / "benchmarks" / "learners.md").read_text(encoding="utf-8")
    assert stored == learners_page(LEARNERS, stored_run()), "run `python -m benchmarks learners --out ...`"


def test_the_accuracies_are_those_of_the_measured_page():
    measured = measured_accuracies()
    lines = [line for line in TEXT.splitlines() if line.startswith("| ") and line.count("| .") == 5]
    assert len(lines) == 4
    for line in lines:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        asked = [(learner, epsilon) for learner in ("PF-tree", "PrivaTree") for epsilon in ("0.1", "1")]
        assert cells == [measured[name, *one] for one in (*asked, ("Decision tree (not private)", "1"))], name


def measured_accuracies():
    """(data, learner, epsilon) -> mean accuracy, as stored, without the leading zero."""
    with (bundled("data") / "benchmarks" / "accuracy.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return {
        (line["data"], re.split(r": |, any", line["learner"])[0], line["epsilon"]): line["mean"].removeprefix("0")
        for line in lines
    }


def test_the_constants_of_pf_tree_are_named():
    page = (DOCS / "explanation" / "why-private-can-beat-ordinary.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"Constants of PF-tree \((.*?)\)", page, re.DOTALL)
    values = tuple(float(number) for number in re.findall(r"([\d.]+) (?:and 3 )?for", sentence))
    constants = (pf_tree.LEVEL_GROWTH, pf_tree.DEPTH_CONSTANT, pf_tree.SPLITS_PER_CONSTANT, pf_tree.BLOCK_CONSTANT)
    assert values == constants


def test_make_targets_named_here_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert next(block.text for block in blocks(README) if block.language == "sh") == "make run\nmake test\n"
    for target in set(re.findall(r"`make (\w+)`", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_workflow_citation_and_sources_are_what_they_are_elsewhere():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert re.findall(r"- run: (.*)", workflow) == [".ci/run"]
    declared_version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\nversion: {declared_version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = (DOCS / "reference" / "literature.md").read_text(encoding="utf-8")
    for paper in ("2305.15394", "1606.03572", "2309.12041", "McKenna", "Gillenwater", "OpenDP", "Athey"):
        assert paper in cited
