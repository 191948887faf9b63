"""What releases cost together, drawn and in words."""

import math

import pytest

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.publish.release import history_rows, odds_rows, spent_chart, spent_segments, spent_sentence
from dpviz.learners import FitRequest
from dpviz.release.records import Balance, DataSet, ReleaseRecord, State
from dpviz.table.role import DataRole
from tests.support.golden_charts import assert_golden
from tests.support.release_rows import SCHEMA

SPENT = ((0.5, State.RELEASED), (0.25, State.STARTED))


def balance(spent=SPENT, *, cap=1.0, rows=1):
    at = "2026-01-0{}T03:04:05+00:00"
    entries = tuple(
        ReleaseRecord(k, f"t{k}", "x", state, at.format(k + 1), "", "pf-tree", {"epsilon": e}, PrivacyLoss(e), (), "", "")
        for k, (e, state) in enumerate(spent, start=1)
    )
    return Balance(DataSet("x", DataRole.PRIVATE, "one patient", rows, cap, 0.0, at.format(1)), entries)


REVIEWED = {
    "spent": lambda: spent_chart(balance(), PrivacyLoss(0.5)),
    "spent-person": lambda: spent_chart(balance(rows=3, cap=2.0), PrivacyLoss(0.5)),
    "release-words": lambda: [
        *map(spent_sentence, (balance(()), balance(), balance(SPENT[:1], cap=0.3), balance(rows=3, cap=2.0))),
        *history_rows(balance(rows=3)),
        *odds_rows(balance(rows=3), PrivacyLoss(0.25)),
    ],
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"publish-{name}", REVIEWED[name]())


def test_the_bar_is_as_long_as_what_was_spent_and_is_asked_told_apart_by_more_than_colour():
    segments = dict(spent_segments(balance(), PrivacyLoss(0.5)))
    assert segments == {"released": 0.5, "interrupted": 0.25, "this release": 0.25, "over the cap": 0.25}
    assert spent_segments(balance(()), None) == []
    figure = spent_chart(balance(), PrivacyLoss(0.5)).figure
    assert len({trace.marker.pattern.shape for trace in figure.data}) == 4


def test_guesses_are_those_of_all_losses_together_of_the_person_and_only_a_single_release_is_told_by_its_steps():
    """Whoever makes another has seen the first: together they are any algorithms of their cost."""
    (said,) = odds_rows(balance(rows=3), PrivacyLoss(0.25))
    alone, together = (math.ceil(100 / (1 + math.exp(-epsilon))) for epsilon in (0.25, 1.0))
    assert (said["by this release alone"], said["by all releases together"]) == (f"at most {alone}", f"at most {together}")

    asked, risk = PrivacyLoss(0.25), FitRequest.of("pf-tree", epsilon=0.25, depth=2).risk(SCHEMA)
    own, any_algorithm = (math.ceil(100 * share) for share in (risk.guesses(), asked.guesses_right))
    assert own < any_algorithm
    (first,), (later,) = (odds_rows(found, asked, risk) for found in (balance(()), balance()))
    assert first["by this release alone"] == first["by all releases together"] == f"at most {own}"
    assert later["by this release alone"] == f"at most {own}"
    assert later["by all releases together"] == "at most 74"
