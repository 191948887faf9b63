"""How many terms somebody who knows scikit-learn meets before training on a table of their own, and before a release.

A term is an entry of the glossary, under any of its names, or one of `ELSEWHERE`: names of the field or of dpviz that the
glossary leaves out. It counts from where it first stands, in prose, in a picture's text or in code, explained or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.support.paths import ROOT

#: Known from machine learning.
KNOWN = {"accuracy", "AUC", "non-private tree, CART", "balanced accuracy", "log loss", "R²"}
KNOWN |= {"held-out rows, held out", "fit", "quantile"}
ELSEWHERE = """
add/remove one row; coins; counterexample; disclosure; draft; exact sampler; exploration; FitRequest; geometric
noise; ledger; lookahead; mutant; noise; private choice; random parts; read from the data; rehearsal;
Rényi; role; row-wise; smooth sensitivity; two levels at once; worst pair
"""
#: Names that terms have in other words than their own.
ALSO = {
    "differential privacy": "differentially private",
    "budgeted data set": "--data-set",
    "privacy budget": "budget, epsilon-cap",
    "unit of privacy": "--unit, rows-per-unit, who is protected",
    "private rows": "as private",
    "right guesses": "guesses are right",
    "declared": "declare, publicly known, public knowledge, without looking",
    "rehearsal": "rehearse",
    "simulation": "simulated",
    "exploration": "explore",
    "read from the data": "read from the rows",
}
README, FIRST, PATIENTS = "README.md", "docs/tutorials/first-tree.md", "docs/tutorials/patients.md"
#: What is read, in order, each page up to these words: README sends its readers to the first tree, and that to the patients.
OWN_TABLE = ((README, "## On the command line"), (FIRST, "To publish it"))
RELEASE = ((README, "## On the command line"), (FIRST, "in the dashboard]"), (PATIENTS, "## 6. Read"))


def concepts(pages: tuple[tuple[str, str], ...]) -> list[str]:
    """The terms met, in order, each with the page and line of its first appearance."""
    met: dict[str, str] = {}
    for page, end in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        for number, line in enumerate(text[: text.index(end)].splitlines(), 1):
            for term in _named_in(re.sub(r"\]\([^)]*\)", "]", line)):
                met.setdefault(term, f"{term} ({page}, line {number})")
    return list(met.values())


@cache
def _glossary() -> set[str]:
    """The terms, each with its other forms after commas."""
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    return {term.rstrip(")").replace(" (", ", ") for term in re.findall(r"^(.+)\n: .", page, re.MULTILINE)}


def _named_in(line: str) -> Iterator[str]:
    for entry in (*(_glossary() - KNOWN), *ELSEWHERE.strip().split(";")):
        term, *forms = " ".join(entry.split()).split(", ")
        names = [term, *forms, *ALSO.get(term, "").split(", ")]
        if any(re.search(rf"(?<![\w]){re.escape(name)}(s|d|ed)?(?!\w)", line, re.IGNORECASE) for name in names if name):
            yield term


@pytest.mark.parametrize(("pages", "most"), [(OWN_TABLE, 9), (RELEASE, 16)], ids=["own table", "release"])
def test_few_terms_are_met_before(pages, most):
    met = concepts(pages)
    assert len(met) <= most, met


def test_a_term_is_noticed_in_prose_in_code_and_under_its_other_names():
    assert set(_named_in("dpviz.fit('pf-tree', epsilon=1) of rows")) == {"ε", "PF-tree"}
    assert set(_named_in("No budget is left, and releases were refused.")) == {"privacy budget", "release"}
