from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpviz.accounting.events import Select, Sequential
from dpviz.accounting.risk import Risk
from dpviz.figures.robustness.tradeoff import (
    ends_sentence,
    guesses_of,
    three_numbers,
    tradeoff_figure,
    tradeoff_rows,
    tradeoff_sentence,
)
from dpviz.results.verdict import Unit
from tests.figures.robustness.curves import PROVED, REFUSED, certified


def test_three_panels_hold_the_three_numbers():
    found = [certified(epsilon=e) for e in (0.01, 0.1, 1.0)]
    figure = tradeoff_figure(found, chosen=0.1, wanted=None)
    guesses, accuracy, rows = figure.data
    assert guesses.y[2] == pytest.approx(100 * math.e / (1 + math.e))
    assert list(accuracy.y) == [item.table.accuracy for item in found]
    assert list(rows.y) == [item.table.protected_rows() for item in found]
    assert rows.y[0] > rows.y[1] > rows.y[2]
    (cursor,) = [shape for shape in figure.layout.shapes if shape.x0 == shape.x1 == 0.1]
    assert (cursor.yref, cursor.y0, cursor.y1) == ("paper", 0, 1)


def test_words_and_table_say_the_same():
    guesses, accuracy, rows = three_numbers(PROVED, None)
    assert (guesses, accuracy) == ("52.5 of 100", f"{PROVED.table.accuracy:.1%}")
    assert list(tradeoff_rows([PROVED], None)[0].values()) == ["0.1", guesses, accuracy, rows]
    assert all(text in tradeoff_sentence(PROVED, None) for text in (guesses, accuracy, rows, "add/remove one row"))


def test_a_refused_learner_has_no_limit_and_withstands_none():
    assert three_numbers(REFUSED, None)[::2] == ("no limit", "none")


def test_two_points_are_not_joined_and_the_sentence_names_both_ends():
    found = [certified(epsilon=e) for e in (0.01, 0.1, 1.0)]
    assert {trace.mode for trace in tradeoff_figure(found, chosen=0.1, wanted=None).data} == {"lines+markers"}
    assert {trace.mode for trace in tradeoff_figure(found[:2], chosen=0.1, wanted=None).data} == {"markers"}
    said = ends_sentence(found, None)
    assert said.startswith("From ε = 0.01 to 1: ")
    for low, high in zip(three_numbers(found[0], None), three_numbers(found[2], None), strict=True):
        assert f"from {low} to {high}" in said


def test_guesses_are_those_of_the_algorithm_and_of_all_rows_of_a_person():
    four = Risk(Sequential(tuple(Select(PROVED.epsilon / 4, "permute-and-flip", "node", level) for level in range(4))))
    item, patient = replace(PROVED, risk=four), Unit(3, "one patient")
    assert guesses_of(item) < guesses_of(PROVED)
    assert guesses_of(item) < guesses_of(item, patient) < guesses_of(PROVED, patient)
    assert "guesses about one patient can be right" in tradeoff_sentence(item, None, patient)
    assert "right guesses about one patient" in tradeoff_rows([item], None, patient)[0]
    assert guesses_of(replace(REFUSED, risk=four)) is None
