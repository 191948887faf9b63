"""What releases cost together, drawn and in words."""

import math

import pytest

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.figures.publish.release import (
    history_rows,
    risk_sentence,
    spent_figure,
    spent_segments,
    spent_sentence,
    statement_rows,
)
from dpviz.release.records import Balance, DataSet, Entry, State
from dpviz.table.role import DataRole

SPENT = ((0.5, State.RELEASED), (0.25, State.STARTED))


def balance(spent=SPENT, *, cap=1.0, rows=1, delta=0.0):
    entries = tuple(
        Entry(
            k, f"t{k}", "x", state, "2026-01-02T03:04:05+00:00", "", "pf-tree", {"epsilon": e}, PrivacyLoss(e, delta), (), "", ""
        )
        for k, (e, state) in enumerate(spent, start=1)
    )
    return Balance(DataSet("x", DataRole.PRIVATE, "one patient", rows, cap, delta, ""), entries)


def test_the_bar_is_as_long_as_what_was_spent_and_is_asked():
    segments = dict(spent_segments(balance(), PrivacyLoss(0.5)))
    assert segments == {"released": 0.5, "interrupted": 0.25, "this release": 0.25, "over the cap": 0.25}
    assert sum(segments.values()) == 1.25


def test_what_is_nothing_is_not_drawn():
    assert spent_segments(balance(()), None) == []
    assert [trace.name for trace in spent_figure(balance(SPENT[:1]), PrivacyLoss(0.5)).data] == ["released", "this release"]


def test_each_part_of_the_bar_differs_by_more_than_colour():
    figure = spent_figure(balance(), PrivacyLoss(0.5))
    assert len({trace.marker.pattern.shape for trace in figure.data}) == 4
    assert figure.layout.shapes[0].x0 == 1.0
    assert "add/remove one row" in figure.layout.xaxis.title.text


@pytest.mark.parametrize(
    ("spent", "cap", "said"),
    [
        ((), 1.0, "Nothing was released yet: all of ε = 1 is left (add/remove one row)."),
        (SPENT, 1.0, "Spent for good by 2 releases: ε = 0.75 (add/remove one row). Left: ε = 0.25 of 1."),
        (SPENT[:1], 0.3, "Spent for good by 1 release: ε = 0.5 (add/remove one row). Left: ε = 0 of 0.3. It is above the cap."),
    ],
)
def test_the_sentence_says_what_is_left(spent, cap, said):
    assert spent_sentence(balance(spent, cap=cap)) == said


def test_statements_weaken_under_the_running_total():
    rows = statement_rows(balance(), PrivacyLoss(0.25))
    alone, together = ([row[key] for row in rows] for key in ("by this release alone", "by all releases together"))
    assert alone[0] == "at most 56.2"
    assert together[0] == "at most 73.1"
    assert alone[1] == f"{100 * math.exp(-0.25):.1f}%"
    assert together[1] == f"{100 * math.exp(-1.0):.1f}%"
    assert together[-1] == "less than 0.1%"


def test_a_person_with_several_rows_gets_a_line_of_their_own():
    (line,) = [row for row in statement_rows(balance(rows=3), PrivacyLoss(0.25)) if "one patient" in row["what is promised"]]
    assert line["by this release alone"] == f"at most {100 / (1 + math.exp(-0.75)):.1f}"


def test_poison_is_not_bounded_by_this_formula_where_there_is_a_delta():
    rows = statement_rows(balance(delta=1e-6), PrivacyLoss(0.25, 1e-6))
    assert rows[1]["by all releases together"] == "not proved with δ"


def test_the_risk_is_that_of_everything_released():
    assert risk_sentence(balance(()), PrivacyLoss(1.0)).endswith("is right at most about 73 times in 100; a coin flip, 50.")
    assert risk_sentence(balance(), PrivacyLoss(0.25)).startswith("With the releases before, ε = 1 (add/remove one row) in all.")


def test_the_history_carries_the_running_total_and_says_what_was_interrupted():
    rows = history_rows(balance())
    assert [row["running total"] for row in rows] == ["0.5", "0.75"]
    assert [row["status"] for row in rows] == ["released", "interrupted, counted"]
    assert rows[0]["SHA-256"] == "no file"
