"""What learners say about their sources, and the stored page of all of it."""

import re

import pytest

from dpviz.figures.audit.departures import PAPER, departure_rows, departures_page, departures_section
from dpviz.installation import bundled
from dpviz.learners import declared

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
def test_every_private_learner_names_its_source_and_declares_its_differences(name):
    spec = PRIVATE[name]
    assert spec.citation
    assert bool(spec.departures) == (name not in NONE_KNOWN)
    for item in spec.departures:
        for words in (item.paper, item.here, item.why):
            assert words[0].isupper() or words[0].isdigit() or words[0] == "n"
            assert words.endswith(".")
    assert len({item.paper for item in spec.departures}) == len(spec.departures)


def test_parameters_that_a_difference_names_exist():
    for spec in PRIVATE.values():
        for item in spec.departures:
            for name in re.findall(r"`([a-z_]+)`", item.here):
                assert name in spec.Params.__dataclass_fields__, (spec.name, name)


def test_a_learner_without_differences_says_so_and_a_bar_stays_in_its_cell():
    assert departure_rows(PRIVATE["pf-tree"]) == []
    assert departures_section(PRIVATE["pf-tree"]).endswith("No difference is known.")
    lines = departures_section(PRIVATE["s-gbdt"]).splitlines()
    assert lines[4].startswith(f"| {PAPER} |")
    assert all(re.sub(r"\\\|", "", line).count("|") == 4 for line in lines[4:])
