"""What releases cost together, drawn and in words."""

import math

import pytest

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.figures.publish.release import (
    history_rows,
    odds_rows,
    spent_chart,
    spent_segments,
    spent_sentence,
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


def test_the_bar_is_as_long_as_what_was_spent_and_is_asked_told_apart_by_more_than_colour():
    segments = dict(spent_segments(balance(), PrivacyLoss(0.5)))
    assert segments == {"released": 0.5, "interrupted": 0.25, "this release": 0.25, "over the cap": 0.25}
    assert sum(segments.values()) == 1.25
    assert spent_segments(balance(()), None) == []
    assert [trace.name for trace in spent_chart(balance(SPENT[:1]), PrivacyLoss(0.5)).figure.data] == ["released", "this release"]
    figure = spent_chart(balance(), PrivacyLoss(0.5)).figure
    assert len({trace.marker.pattern.shape for trace in figure.data}) == 4
    assert figure.layout.shapes[0].x0 == 1.0
    assert "add/remove one row" in figure.layout.xaxis.title.text


@pytest.mark.parametrize(
    ("spent", "cap", "said"),
    [
        ((), 1.0, "Nothing was released yet: all of ε = 1 is left."),
        (SPENT, 1.0, "Permanently spent by 2 releases: ε = 0.75. Left: ε = 0.25 of 1."),
        (SPENT[:1], 0.3, "Permanently spent by 1 release: ε = 0.5. Left: ε = 0 of 0.3. It is above the cap."),
    ],
)
def test_the_sentence_says_what_is_left(spent, cap, said):
    assert spent_sentence(balance(spent, cap=cap)) == said


def test_guesses_and_history_carry_the_running_total_and_the_person_leads():
    (row,) = odds_rows(balance(), PrivacyLoss(0.25))
    assert row["by this release alone"] == "at most 57"
    assert row["by all releases together"] == "at most 74"
    person, row = odds_rows(balance(rows=3), PrivacyLoss(0.25))
    assert person["what is promised"].startswith("One patient, up to 3 rows")
    assert person["by this release alone"] == f"at most {math.ceil(100 / (1 + math.exp(-0.75)))}"
    assert row["by this release alone"] == "at most 57"
    rows = history_rows(balance())
    assert [row["running total, one patient"] for row in rows] == ["0.5", "0.75"]
    assert [row["status"] for row in rows] == ["released", "interrupted, counted"]
    assert rows[0]["SHA-256"] == "no file"


def test_a_person_with_three_rows_leads_the_bar_the_sentence_and_the_history():
    of_three = balance(rows=3, cap=2.0)
    figure = spent_chart(of_three, PrivacyLoss(0.5)).figure
    assert [trace.x[0] for trace in figure.data] == [1.5, 0.75, 1.5]
    assert figure.layout.shapes[0].x0 == 6.0
    assert figure.layout.xaxis.title.text == "ε (add/remove one patient, up to 3 rows)"
    said = "ε = 2.25 (one row: ε = 0.75). Left: ε = 3.75 of 6 (one row: 1.25 of 2)."
    assert spent_sentence(of_three) == f"Permanently spent by 2 releases: {said}"
    of_person, of_row = ([name for name in history_rows(of_three)[1] if name.endswith(end)] for end in ("one patient", "one row"))
    assert [history_rows(of_three)[1][name] for name in of_person] == ["0.75", "2.25"]
    assert [history_rows(of_three)[1][name] for name in of_row] == ["0.25", "0.75"]
