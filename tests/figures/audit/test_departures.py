"""The page that tells where learners differ from their sources."""

import re

import pytest

from dpviz.figures.audit.departures import HERE, PAPER, departure_rows, sections
from dpviz.learners import declared
from dpviz.learners.published.boosted import dpboost

PRIVATE = {spec.name: spec for spec in declared() if spec.spends_epsilon}
#: Without a paper, and as its source has it.
NONE_KNOWN = {"pf-tree", "majority"}


def test_the_page_has_a_section_for_every_learner_that_names_its_source():
    assert list(sections()) == list(PRIVATE)
    for name, spec in PRIVATE.items():
        assert sections()[name].startswith(f"## {spec.title} (`{name}`)\n\nSource: {spec.citation}.")


@pytest.mark.parametrize("name", PRIVATE)
def test_every_private_learner_names_its_source_and_declares_its_differences(name):
    rows = departure_rows(name)
    assert PRIVATE[name].citation
    assert bool(rows) == (name not in NONE_KNOWN)
    for words in (words for row in rows for words in row.values()):
        assert words[0].isupper() or words[0].isdigit() or words[0] == "n"
        assert words.endswith(".")
    assert len({row[PAPER] for row in rows}) == len(rows)


def test_parameters_that_a_difference_names_exist():
    for name, spec in PRIVATE.items():
        for row in departure_rows(name):
            for parameter in re.findall(r"`([a-z_]+)`", row[HERE]):
                assert parameter in spec.Params.__dataclass_fields__, (name, parameter)


def test_the_numbers_of_trees_that_a_difference_names_are_the_defaults():
    told = f"{dpboost._FOR_CLASSES} trees for classes, {dpboost._FOR_NUMBER} for a number"
    assert departure_rows("dpboost")[0][HERE].startswith(told)


def test_a_learner_without_differences_says_so_and_every_line_of_a_table_is_a_row_of_three():
    assert departure_rows("pf-tree") == []
    assert sections()["pf-tree"].endswith("No difference is known.")
    lines = [line for section in sections().values() for line in section.splitlines() if line.startswith("|")]
    assert all(re.sub(r"\\\|", "", line).count("|") == 4 for line in lines)
    tables = [section for section in sections().values() if "|" in section]
    assert len(lines) == sum(map(len, map(departure_rows, PRIVATE))) + 2 * len(tables)
