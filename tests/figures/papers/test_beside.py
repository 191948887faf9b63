"""Pictures and words of the Papers page say what the stored numbers say."""

import re

import pytest

from dpviz.evaluation.papers.stored import Cell, Item, papers
from dpviz.figures.papers.beside import MANY, beside_figure, beside_rows, name_of, printed_text, reason_rows, sentence
from dpviz.figures.papers.beside import statements_sentence as in_words

ITEMS = [item for paper in papers() for item in paper.here]


def item_of(*cells, across="epsilon"):
    return Item("Table", "numbers", "tables.md", "", "", "accuracy", across, cells, None)


def cell_of(found, printed=(0.5, 0.5), measured=0.6):
    return Cell("loans", "a tree", "0.1", measured, 0.01, printed, None, found)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.name} {item.shows}")
def test_every_number_is_in_its_picture(item):
    figures = [beside_figure(item, data) for data in (item.data_sets if not item.printed and item.across else ("",))]
    shown = sum(len(trace.x) for figure in figures for trace in figure.data if trace.hoverinfo != "skip")
    lines = sum(len(figure.layout.shapes) for figure in figures)
    pairs = 0 < len(item.printed) < MANY
    assert shown + lines == (len(item.printed) or len(item.cells)) * (2 if pairs else 1)
    assert len(beside_rows(item.cells, item.across)) == len(item.cells)
    assert len(reason_rows(item)) == len(item.differing)


def test_the_sentence_counts_each_kind():
    item = item_of(cell_of("same"), cell_of("near"), cell_of("differs"), cell_of("differs"))
    assert sentence(item) == "1 of 4 printed numbers are found here, 1 nearly; 2 differ."
    assert sentence(item_of(cell_of("", None))) == "The paper prints no numbers of it; 1 number measured here."


def test_what_is_printed_reads_as_in_the_paper():
    assert printed_text(cell_of("same")) == "0.5"
    assert printed_text(cell_of("same", (2.0, 30.0))) == "2 to 30"
    assert printed_text(cell_of("same", (35.0, None))) == "over 35"
    assert name_of(cell_of("same")) == "loans: a tree, ε = 0.1"


def test_statements_of_a_paper_add_up():
    for paper in papers():
        total, *counts = map(int, re.findall(r"\d+", in_words(paper)))
        assert total == sum(counts) > 0
