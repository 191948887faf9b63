"""The stored numbers of the Papers page are those of the stored pages."""

import json
import re

import pytest

from benchmarks.__main__ import main
from benchmarks.evidence import ITEMS
from benchmarks.papers import papers_file, rows_of
from dpviz.evaluation.papers import stored
from dpviz.evaluation.papers.stored import papers, papers_of
from dpviz.installation import bundled
from dpviz.learners import learner_names

FOUND = {(paper.author, item.name): item for paper in papers() for item in paper.items}


@pytest.mark.slow
def test_the_stored_file_is_the_one_that_the_stored_pages_make(capsys):
    again = "run: python -m benchmarks papers --out data/benchmarks/papers.json"
    assert bundled(stored.FILE).read_text(encoding="utf-8") == papers_file(), again
    assert main(["papers"]) == 0
    assert papers_of(json.loads(capsys.readouterr().out)) == papers()


def test_every_item_of_the_papers_is_there_with_numbers_a_page_or_a_reason():
    assert [[item.name for item in paper.items] for paper in papers()] == [
        [one.name for one in items] for items in ITEMS.values()
    ]
    assert all(item.cells or item.file or item.not_here for item in FOUND.values())


def test_numbers_are_those_of_the_pages():
    page = (bundled("data") / "benchmarks" / "tables.md").read_text(encoding="utf-8")
    found = re.search(r"(\d+) of (\d+) cells of private learners are as published", page)
    cells = [
        cell
        for name in ("Table II", "Table VI", "Table VII")
        for cell in FOUND["Vos", name].cells
        if "not private" not in cell.series
    ]
    assert len(cells) == int(found[2])
    assert sum(cell.found == "same" for cell in cells) == int(found[1])
    forests = (bundled("data") / "benchmarks" / "forests.md").read_text(encoding="utf-8")
    stated = re.search(r"Of (\d+) statements (\d+) are met here, (\d+) are not met but near", forests)
    of_forests = [cell for (author, _), item in FOUND.items() if author == "Fletcher" for cell in item.printed]
    counts = [len(of_forests), *(sum(cell.found == found for cell in of_forests) for found in ("same", "near"))]
    assert counts == [int(number) for number in stated.groups()]


def test_guarantees_that_differ_are_those_that_the_page_names():
    named = {(row["data"], row["epsilon"]) for row in rows_of("poisoning.md", "PrivaTree measured again")}
    differing = {
        (cell.data, cell.x)
        for name in ("Table III", "Table VIII")
        for cell in FOUND["Vos", name].differing
        if cell.series.endswith(" 0 poisoned")
    }
    assert differing == named


def test_a_known_reason_stands_with_the_cell_it_explains():
    [cell] = [cell for cell in FOUND["Vos", "Table VII"].differing if (cell.data, cell.series) == ("breast-w", "BDPT")]
    assert "error of that code" in cell.why
    assert all(not cell.why for item in FOUND.values() for cell in item.cells if cell.found != "differs")


def test_experiments_name_learners_that_there_are():
    known = set(learner_names())
    assert all(set(item.experiment.learners) <= known for item in FOUND.values() if item.experiment)


def test_a_table_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="no table below"):
        rows_of("tables.md", "Epsilon 7")
