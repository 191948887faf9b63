from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from dpviz.charts.robustness import (
    MAX_LEGEND_LENGTH,
    MAX_ROWS,
    attack_table,
    attacked_sentence,
    end_of_axis,
    guarantee_chart,
    guarantee_rows,
    headline,
    struck_text,
    verdict_text,
)
from dpviz.learners import DEFAULT
from tests.support.curves import ALL, DRAWS, FIRST, PROVED, REFUSED, SECOND, SILENT, VOTERS, certified, lines, voted
from tests.support.golden_charts import assert_golden


def attack_line(attack, learner, epsilon, rows, accuracy):
    about = {"attack": attack, "learner": learner, "epsilon": epsilon, "poisoned_rows": rows}
    return about | {"accuracy": accuracy, "low": accuracy - 0.05, "high": accuracy + 0.05, "n_draws": 100}


ATTACKS = pd.DataFrame([attack_line("leaf-flips", FIRST, 0.1, 10, 0.3), attack_line("leaf-flips", SECOND, 9.0, 10, 0.3)])


def attacked(ours: float, other: float, *, learner: str = SECOND, epsilon: float = 0.1, width: float = 0.01) -> pd.DataFrame:
    about = {"attack": "leaf-flips", "poisoned_rows": 12, "n_draws": 20, "epsilon": [0.1, epsilon]}
    frame = pd.DataFrame({"learner": [DEFAULT, learner], "accuracy": [ours, other], **about})
    return frame.assign(low=frame.accuracy - width, high=frame.accuracy + width)


#: No better than always saying the most frequent class.
HOPELESS = certified(draws=DRAWS - 0.2)
REVIEWED = {
    "all": lambda: guarantee_chart(ALL, up_to=0.005),
    "wanted": lambda: guarantee_chart([PROVED], up_to=0.003, threshold=0.77, attacks=ATTACKS),
    "few-rows": lambda: guarantee_chart([certified(n_train=50)], up_to=0.1),
    "words": lambda: [
        *(headline(*given) for given in ((ALL, None), ([voted(), REFUSED], None), ([REFUSED, SILENT], None), (ALL, 0.99))),
        *(f"{verdict_text(item, None)} {struck_text(item, None)}" for item in (*ALL, HOPELESS)),
        attacked_sentence(attacked(0.5, 0.7)),
        attacked_sentence(attacked(0.5, 0.7, width=0.5)),
    ],
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"robustness-{name}", REVIEWED[name]())


def drawn(*found, up_to: float = 0.01, **how):
    return guarantee_chart(found, up_to=up_to, **how).figure


def test_the_heavy_line_is_proved_the_thin_one_the_estimate_and_corollary_2_beside():
    figure = drawn(PROVED, REFUSED)
    (heavy,), (thin,), (dotted,) = (lines(figure, name) for name in (": proved", ": estimate", ": Corollary 2"))
    assert list(heavy.x) == list(range(11))
    assert list(heavy.y) == [PROVED.table.low(k) for k in range(11)]
    assert list(thin.y) == [PROVED.table.tight(k) for k in range(11)]
    assert list(dotted.y) == [PROVED.table.published(k) for k in range(11)]
    assert heavy.line.width > 2 * thin.line.width
    assert (dotted.line.dash, dotted.line.color) == ("dot", heavy.line.color)
    large, small, second = lines(drawn(PROVED, certified(epsilon=0.01), certified(SECOND)), ": proved")
    assert large.line.color == second.line.color != small.line.color  # a hue per epsilon, a dash per learner
    assert large.line.dash == small.line.dash != second.line.dash
    expected = math.ceil(math.log(PROVED.table.accuracy / 0.7) / 0.1) - 1
    assert PROVED.published_rows(0.7) == expected < PROVED.table.protected_rows()


@pytest.mark.slow
def test_a_ring_stands_where_the_proof_ends_and_the_legend_says_how_many_rows():
    figure = drawn(PROVED, voted(), REFUSED, up_to=0.05)
    withstood = [item.table.protected_rows() for item in (PROVED, voted())]
    rings = lines(figure, "crossing")
    assert [ring.x[0] for ring in rings] == withstood
    assert [ring.y[0] for ring in rings] == [PROVED.table.majority, voted().table.majority]
    assert [int(trace.name.rpartition("up to ")[2].split()[0]) for trace in lines(figure, ", up to ")] == withstood
    assert not lines(drawn(PROVED, threshold=0.99), "crossing")
    end = end_of_axis([PROVED, REFUSED], 0.75 * PROVED.share(withstood[0]))
    assert [ring.x[0] for ring in lines(drawn(PROVED, up_to=end), "crossing")] == withstood[:1]
    assert [end_of_axis([PROVED], share) for share in (0.001, 0.05)] == [0.001, 0.05]  # too far to the right, there already
    cut = drawn(PROVED, up_to=0.001)
    assert not lines(cut, "crossing")
    assert len(lines(cut, " rows (further right)")) == 1
    assert not lines(figure, "further right")
    measured = drawn(voted(), attacks=pd.DataFrame([attack_line("leaf-flips", VOTERS, 0.1, 10, 0.3)]), up_to=0.0001)
    named = [trace.name for trace in measured.data if trace.showlegend is not False]
    assert all(len(part) <= MAX_LEGEND_LENGTH for name in named for part in name.split("<br>"))


def test_tables_have_every_point_and_attacks_and_a_weaker_default_is_said_where_it_is_weaker():
    rows = guarantee_rows(ALL, 0.01)
    assert len(rows) == 5 * 11
    assert all("refused" in row["published"] for row in rows[22:33])
    assert {row["proved"] for row in rows[22:33]} == {"nothing"}
    assert all(len(guarantee_rows([certified(n_train=n)], 0.01)) <= MAX_ROWS for n in (1, 50, 100_000))
    (row,) = attack_table([PROVED], pd.DataFrame([attack_line("leaf-flips", FIRST, 0.1, 10, 0.8)]))
    assert (row["mean accuracy"], row["proved"]) == ("80.0%", f"{PROVED.table.low(10):.1%}")
    for found in (attacked(0.7, 0.5), attacked(0.5, 0.51), attacked(0.5, 0.7, learner=VOTERS), attacked(0.5, 0.7, epsilon=1.0)):
        assert attacked_sentence(found) == ""  # stronger, as good as equal, not private, another epsilon


def test_rows_of_an_attack_count_as_no_fewer_persons_than_have_them():
    item = replace(PROVED, table=replace(PROVED.table, rows_per_person=3))
    attacks = pd.DataFrame([attack_line("leaf-flips", FIRST, 0.1, rows, 0.8) for rows in (1, 3, 4, 9, 10)])
    persons = [1, 1, 2, 3, 4]
    (dots,) = (trace for trace in drawn(item, attacks=attacks).data if trace.error_y.array is not None)
    assert list(dots.x) == persons
    assert [text.split(" poisoned")[0] for text in dots.customdata] == list(map(str, persons))
    cells = [(row["poisoned persons"], row["proved"]) for row in attack_table([item], attacks)]
    assert cells == [(str(count), f"{item.table.low(count):.1%}") for count in persons]
