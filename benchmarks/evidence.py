"""The page that says where every table and figure of the three papers is, and what proves each claim of the README.

Nothing is measured: a test reads that every page, heading and test named here is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.page import markdown_table


@dataclass(frozen=True, slots=True)
class Item:
    """A table or figure of a paper.

    `page` is a file in data/benchmarks, with "#" and a heading of it; empty where the item is not here, and `not_here` says why.
    `differs` says what is otherwise than in the paper beyond what every page says at its head.
    """

    name: str
    shows: str
    page: str = ""
    differs: str = ""
    not_here: str = ""


_NO_NUMBERS = "a drawing or a survey: nothing to measure"
_NO_PRINTED = "the paper prints no numbers of it"
ITEMS = {
    "PrivaTree (Vos et al. 2023)": (
        Item("Table I", "earlier learners", not_here=_NO_NUMBERS),
        Item("Table II", "accuracy at .1", "tables.md#Epsilon 0.1", "17 of 29 data sets; 3 draws per fold, the paper has 1"),
        Item("Table III", "guarantees, numbers", "poisoning.md#Epsilon 0.1", "6 of 16 data sets; logistic regression is ours"),
        Item("Table IV", "sizes of the data sets", not_here="no result; the manifest of the folder says where its files agree"),
        Item("Table V", "run times", "tables.md#Time of one fit", "one fit, on another machine; the paper times five folds"),
        Item("Table VI", "accuracy at .01", "tables.md#Epsilon 0.01", "17 of 29 data sets"),
        Item("Table VII", "accuracy at 1", "tables.md#Epsilon 1", "17 of 29 data sets"),
        Item("Table VIII", "guarantees, with categories", "poisoning.md#Epsilon 0.01", "9 of 13 data sets"),
        Item("Tables VI and VII, corrected", "accuracy at .01 and 1", "tables.md#Corrected columns of the comparators"),
        Item(
            "Table VIII, corrected",
            "guarantees, with categories",
            "tables.md#Corrected Table VIII",
            "accuracies alone, of which the guarantees follow",
        ),
        Item("Figure 1", "accuracy against epsilon", "curves.md#PrivaTree, Figure 1", f"10 runs, not 50; {_NO_PRINTED}"),
        Item(
            "Figure 2",
            "how epsilon is divided",
            "curves.md#PrivaTree, Figure 2",
            "on vote and compas-two-years; pol is not at hand",
        ),
        Item("Figure 3", "guarantees from 0 to 1%", "poisoning_figure_3.csv", _NO_PRINTED),
        Item(
            "Figure 4",
            "a backdoor on MNIST",
            "backdoor.md#Attack success",
            "one split of MNIST, every attack with poison and noise of its own; fewer attacks at .01 and without privacy",
        ),
        Item("Section VI-C", "that backdoor in numbers", "backdoor.md#What Section VI-C states", "as Figure 4"),
    ),
    "Smooth random forest (Fletcher & Islam 2017)": (
        Item("Figures 1 to 3", "diagrams", not_here=_NO_NUMBERS),
        Item(
            "Table 1", "the synthetic data", "forests.md#What the paper states", "drawn anew: the paper's rows are not published"
        ),
        Item("Table 2", "examples of a formula", not_here="arithmetic; tests/privacy/test_smooth.py"),
        Item("Table 3", "leaves without rows", "forests.md#Leaves without rows"),
        Item("Table 4", "depths", "forests.md#What the paper states"),
        Item("Table 5", "changes of a formula", not_here=_NO_NUMBERS),
        Item("Table 6", "two laws for a label", "forests.md#Two laws for a label"),
        Item("Figure 4", "smooth against global", "forests.md#The smooth forest with one thing changed"),
        Item("Figure 5a", "disjoint against shared rows", "forests.md#The smooth forest with one thing changed"),
        Item("Figure 5b", "smooth sensitivity", "curves.md#Smooth forest, Figure 5b", "synthetic data, at most 8 levels"),
        Item("Figure 6", "depths", "forests.md#The smooth forest with one thing changed", "at most 12 levels"),
        Item("Figure 7", "number of trees", "curves.md#Smooth forest, Figure 7", "at most 12 levels, two runs per point"),
        Item("Figure 8", "flipped labels", "curves.md#Smooth forest, Figure 8", "at most 12 levels, two runs per point"),
        Item("Figure 9", "number of rows", "curves.md#Smooth forest, Figure 9", "at most 12 levels, two runs per point"),
        Item("Figure 10", "Adult against epsilon", "curves.md#Smooth forest, Figure 10", _NO_PRINTED),
        Item("Figure 11", "accuracy", "forests.md#Accuracy", "FS is not pruned"),
        Item("Figure 12", "AUC", "forests.md#Area under the ROC curve"),
        Item("Figure 13", "F1", "forests.md#F1 of the rarer class"),
        Item("Figure 14", "against RGV", "forests.md#Accuracy", "RGV is a reconstruction: its paper was not to be had"),
        Item("Section 5.2", "rank tests", "forests.md#Rank tests over data sets", "over data sets, not over repetitions on each"),
    ),
    "S-GBDT (Kirschte et al. 2023)": (
        Item("Figure 1", "abalone, an extract of 4a", "boosting.md#Abalone: R²"),
        Item("Figure 2", "a diagram", not_here=_NO_NUMBERS),
        Item("Figure 3", "what each row loses", "curves.md#S-GBDT, Figure 3", f"with the redesign; {_NO_PRINTED}"),
        Item(
            "Figure 4a",
            "abalone",
            "boosting.md#Abalone: R²",
            "delta is not named in the paper; best of few settings, not of many",
        ),
        Item("Figure 4b", "adult", "boosting.md#Adult: error", "30,162 rows; best of few settings, not of many"),
        Item("Released later", "abalone and adult", "boosting.md#What is stated", "best of few settings, not of many"),
        Item("Figures 4a and 4b, DPBoost", "its level", "dpboost.md#Adult", "best of few settings, not of many"),
        Item("Figure 5", "static noise", "boosting.md#Who is ahead", "our reading, as no formula is printed"),
        Item("Figure 6", "the filter", "boosting.md#Who is ahead", "default settings with and without it"),
        Item(
            "Figure 7",
            "rows that come late",
            "boosting.md#Abalone: rows that come late",
            "with the redesign, which alone can follow a stream; how the paper cuts its streams it does not say",
        ),
        Item("Figure 8", "DPBoost's filter", "boosting.md#Who is ahead"),
        Item("Algorithm 9", "several owners", "boosting.md#Abalone: several owners", "as published, in one process"),
    ),
}


@dataclass(frozen=True, slots=True)
class Backed:
    """A claim of the README, the file that backs it, and a line of that file (a test's name, or words of a page)."""

    claim: str
    file: str
    line: str


CLAIMS = (
    Backed(
        "The guarantee of every learner that holds covers its ledger",
        "tests/contract/test_every_learner.py",
        "def test_a_claim_that_holds_covers_the_ledger_of_any_table",
    ),
    Backed(
        "One row changes a released outcome by no more than the ledger says",
        "tests/contract/test_neighbours.py",
        "def test_one_row_changes_what_the_ledger_says",
    ),
    Backed(
        "That test would notice half of the noise",
        "tests/contract/test_neighbours.py",
        "def test_half_of_the_noise_would_be_noticed",
    ),
    Backed("More than 400 changes that break privacy are noticed", "data/benchmarks/mutants.md", "were noticed, 0 survived"),
    Backed(
        "Samplers follow their distributions", "tests/statistical/test_samplers.py", "def test_selection_follows_its_distribution"
    ),
    Backed(
        "A release needs exact samplers and keeps no seed",
        "tests/contract/test_every_learner.py",
        "def test_a_release_needs_exact_samplers_and_keeps_no_seed",
    ),
    Backed(
        "A released file holds no row counts", "tests/contract/test_every_learner.py", "def test_a_document_holds_no_row_counts"
    ),
    Backed(
        "What was read from the data is disclosed",
        "tests/contract/test_every_learner.py",
        "def test_what_was_read_from_the_data_is_disclosed",
    ),
    Backed(
        "The odds and guesses of an epsilon",
        "tests/docs/test_measured.py",
        "def test_right_guesses_are_those_of_four_levels_on_the_loans",
    ),
    Backed(
        "A person's rows cost that many times epsilon",
        "tests/table/test_persons.py",
        "def test_a_person_more_or_less_changes_at_most_that_many_rows_all_of_that_person",
    ),
    Backed(
        "The register refuses what exceeds the cap",
        "tests/release/test_publish.py",
        "def test_over_the_cap_is_refused_with_what_is_left_and_costs_nothing",
    ),
    Backed(
        "Two releases cost the sum of their epsilons",
        "tests/release/test_publish.py",
        "def test_two_releases_of_the_same_rows_differ_in_noise_and_add_up",
    ),
    Backed(
        "No release is lost or counted twice",
        "tests/release/test_crashes.py",
        "def test_no_release_is_lost_or_counted_twice_however_it_is_killed",
    ),
    Backed(
        "Every export agrees with the model on golden rows",
        "tests/io/test_exports.py",
        "def test_every_export_agrees_on_golden_rows_and_on_random_ones",
    ),
    Backed(
        "Another host name or page is refused",
        "tests/app/test_serving.py",
        "def test_a_foreign_name_or_page_never_reaches_streamlit",
    ),
    Backed("No font or picture is fetched", "tests/test_project.py", "def test_no_font_or_picture_is_fetched"),
    Backed(
        "Examples and command lines run, and print what their page says",
        "tests/docs/test_pages.py",
        "def test_every_block_of_a_page_runs_and_prints_what_the_page_says",
    ),
    Backed(
        "What is claimed and what holds, for every learner",
        "tests/test_readme.py",
        "def test_the_stored_table_of_learners_is_what_they_declare",
    ),
    Backed("Verdicts that were searched and attacked", "data/benchmarks/verdicts.json", '"attacked": {"learner"'),
    Backed("Accuracy beside PrivaTree and others", "data/benchmarks/tables.md", "## Where PF-tree leads"),
    Backed("Honest leaves cost this much accuracy", "data/benchmarks/probabilities.md", "## What was tried"),
    Backed("Poisoned rows a tree provably withstands", "data/benchmarks/poisoning.md", "## How many rows PF-tree withstands"),
    Backed("A backdoor works on PF-tree at .1", "data/benchmarks/backdoor.md", "## Attack success"),
    Backed("Boosted trees, and what their paper prints", "data/benchmarks/boosting.md", "## What is stated"),
    Backed("Forests, and what a claim that holds costs there", "data/benchmarks/forests.md", "## Accuracy"),
    Backed("Every known difference from a paper", "data/benchmarks/differences.md", "# Differences from the papers"),
)


def evidence_page() -> str:
    """The whole page."""
    head = """# Where it stands

Every table and figure of the three papers, and what backs the claims of the README. Made from `benchmarks/evidence.py`;
`make check` fails where a page, heading or test named here is missing.
Rerun: `python -m benchmarks evidence --out data/benchmarks/evidence.md`."""
    papers = [_paper(name, items) for name, items in ITEMS.items()]
    claims = markdown_table(["claim", "backed by"], [[one.claim, f"`{one.file}`: {_words(one.line)}"] for one in CLAIMS])
    return "\n\n".join([head, *papers, f"## What the README claims\n\n{claims}"]) + "\n"


def _paper(name: str, items: Sequence[Item]) -> str:
    here = [item for item in items if item.page]
    rows = [[item.name, item.shows, _link(item.page), item.differs or "-", item.not_here or "-"] for item in items]
    table = markdown_table(["item", "what", "here", "differs because", "not possible here because"], rows)
    return f"## {name}\n\n{len(here)} of {len(items)} are measured here.\n\n{table}"


def _link(page: str) -> str:
    if not page:
        return "-"
    file, _, heading = page.partition("#")
    return f"[{heading or file}]({file})"


def _words(line: str) -> str:
    return f"`{line.removeprefix('def ')}`" if line.startswith("def ") else line.strip("# ") or "the page"
