from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from dpviz.figures.robustness import (
    MOST_ROWS,
    TELEPHONE,
    attack_table,
    attacked_sentence,
    full_name,
    guarantee_chart,
    guarantee_frame,
    guarantee_rows,
    headline,
    ring_texts,
    struck_text,
    verdict_text,
)
from dpviz.figures.theme import NEUTRAL, VOTES
from dpviz.learners import DEFAULT, get_learner
from dpviz.randomness import generator
from tests.support.curves import ALL, FIRST, PROVED, REFUSED, SECOND, SILENT, VOTERS, certified, lines, voted

#: Pixels of a digit of a ring's number, at most.
WIDE = 9


class TestGuaranteeFigure:
    def test_the_heavy_line_is_proved_the_thin_one_the_estimate_and_corollary_2_beside(self):
        figure = guarantee_chart([PROVED], up_to=0.01, unit="rows").figure
        (heavy,), (thin,) = lines(figure, ": proved"), lines(figure, ": estimate")
        assert list(heavy.x) == list(range(11))
        assert list(heavy.y) == [PROVED.table.low(k) for k in range(11)]
        assert list(thin.y) == [PROVED.table.tight(k) for k in range(11)]
        assert heavy.line.width > 2 * thin.line.width
        (dotted,) = lines(guarantee_chart([PROVED, REFUSED], up_to=0.01, unit="rows").figure, ": Corollary 2")
        assert list(dotted.y) == [PROVED.table.published(k) for k in range(11)]
        assert (dotted.line.dash, dotted.line.color) == (
            "dot",
            lines(guarantee_chart([PROVED], up_to=0.01, unit="rows").figure, ": proved")[0].line.color,
        )

    @pytest.mark.parametrize(
        ("item", "said"),
        [
            (PROVED, ["confidence: %{customdata[2]:.1%}, estimate %{customdata[3]:.1%}", "published: %{customdata[4]:.1%}"]),
            (REFUSED, ["published, but refused: %{customdata[4]:.1%}"]),
        ],
        ids=["proved", "refused"],
    )
    def test_a_point_says_its_rows_and_the_bounds_there(self, item, said):
        curve, *_ = guarantee_chart([item], up_to=0.01, unit="share").figure.data
        bounds = [item.table.low(4), item.table.tight(4), item.table.published(4)]
        assert curve.customdata[4] == pytest.approx([4, item.share(4), *bounds], nan_ok=True)
        assert all(words in curve.hovertemplate for words in ["%{customdata[0]:,} poisoned rows (%{customdata[1]:.2%})", *said])

    @pytest.mark.parametrize("unit", ["rows", "share"])
    def test_a_marker_says_how_many_rows_may_be_poisoned(self, unit):
        figure = guarantee_chart([PROVED, voted(), REFUSED], up_to=0.05, unit=unit).figure
        rings = lines(figure, "crossing")
        withstood = [item.table.protected_rows() for item in (PROVED, voted())]
        assert [ring.text[0] for ring in rings] == [f"<b>{rows}</b>" for rows in withstood]
        assert [ring.x[0] for ring in rings] == (withstood if unit == "rows" else [rows / 1000 for rows in withstood])
        assert [ring.y[0] for ring in rings] == [PROVED.table.majority, voted().table.majority]

    @pytest.mark.parametrize("across", [TELEPHONE, 271, 1300])
    @pytest.mark.parametrize("seed", range(6))
    def test_numbers_of_rings_never_meet_nor_leave_the_plot(self, seed, across):
        rng = generator(seed)
        rows = np.unique((16_000 * rng.random(8) ** 3).astype(int))
        texts = ring_texts({int(count): count / 16_000 for count in rows})
        for line in {text.count("<br>") for text, _ in texts.values()}:
            ends = [0.0]
            for count, (text, place) in texts.items():
                if text.count("<br>") == line:
                    at, width = across * count / 16_000, WIDE * len(f"{count:,}")
                    start = at - width * {"bottom right": 0, "bottom center": 0.5, "bottom left": 1}[place]
                    assert start >= ends[-1]
                    ends.append(start + width)
            assert ends[-1] <= across

    def test_equal_numbers_are_written_once_and_none_where_nothing_is_proved(self):
        figure = guarantee_chart([PROVED, PROVED], up_to=0.05, unit="rows").figure
        assert [bool(ring.text[0]) for ring in lines(figure, "crossing")] == [True, False]
        assert not lines(guarantee_chart([PROVED], up_to=0.01, unit="rows", wanted=0.99).figure, "crossing")
        assert not lines(guarantee_chart([PROVED], up_to=0.001, unit="rows").figure, "crossing")

    def test_what_is_refused_is_grey_dotted_crossed_out_and_says_so(self):
        figure = guarantee_chart([REFUSED], up_to=0.01, unit="rows").figure
        (line,) = figure.data
        assert line.line.color == NEUTRAL
        assert line.line.dash == "dot"
        assert line.marker.symbol == "x-thin"
        assert "<s>" in line.name
        assert "refused" in line.name
        assert list(line.y) == [REFUSED.table.published(k) for k in range(11)]

    def test_a_vote_is_a_staircase_and_without_any_claim_only_the_accuracy_is_drawn(self):
        figure = guarantee_chart([voted()], up_to=0.005, unit="rows").figure
        (line,) = lines(figure, "certified")
        assert line.line.shape == "hv"
        assert line.line.color == VOTES
        assert list(line.y) == [0.8, 0.8, 0.5, 0.3, 0.2, 0.1]
        (dot,) = guarantee_chart([SILENT], up_to=0.01, unit="rows").figure.data
        assert list(dot.x) == [0]
        assert list(dot.y) == [SILENT.table.accuracy]

    def test_the_majority_the_wanted_accuracy_and_every_row_are_on_the_axes(self):
        figure = guarantee_chart(ALL, up_to=0.01, unit="rows").figure
        (area,) = [shape for shape in figure.layout.shapes if shape.type == "rect"]
        assert area.y1 == PROVED.table.majority
        assert area.y0 == figure.layout.yaxis.range[0]
        assert any("majority class" in note.text for note in figure.layout.annotations)
        figure = guarantee_chart([PROVED], up_to=0.01, unit="rows", wanted=0.77).figure
        assert any(shape.type == "line" and shape.y0 == 0.77 for shape in figure.layout.shapes)
        assert guarantee_chart([certified(n_train=50)], up_to=0.1, unit="rows").figure.layout.xaxis.dtick == 1
        assert guarantee_chart([certified(n_train=1000)], up_to=0.1, unit="rows").figure.layout.xaxis.dtick is None
        assert guarantee_chart([certified(n_train=50)], up_to=0.1, unit="share").figure.layout.xaxis.dtick is None
        figure = guarantee_chart([certified(n_train=5)], up_to=0.01, unit="rows").figure
        assert list(lines(figure, ": proved")[0].x) == [0]

    def test_every_epsilon_has_its_hue_and_every_learner_its_dash(self):
        other = certified(SECOND)
        figure = guarantee_chart([PROVED, certified(epsilon=0.01), other], up_to=0.01, unit="rows").figure
        large, small, second = lines(figure, ": proved")
        assert large.line.color == second.line.color != small.line.color
        assert large.line.dash == small.line.dash != second.line.dash

    def test_attacks_are_dots_with_limits_and_stay_in_view(self):
        attacks = pd.DataFrame([attack_line("leaf-flips", FIRST, 0.1, 10, 0.3), attack_line("leaf-flips", SECOND, 9.0, 10, 0.3)])
        figure = guarantee_chart([PROVED], up_to=0.01, unit="rows", attacks=attacks).figure
        (dots,) = lines(figure, "labels of chosen leaves")
        assert dots.mode == "markers"
        assert list(dots.y) == [0.3]
        assert dots.error_y.array[0] == pytest.approx(0.05)
        assert dots.error_y.arrayminus[0] == pytest.approx(0.05)
        assert figure.layout.yaxis.range[0] < 0.25


def attack_line(attack, learner, epsilon, rows, accuracy):
    about = {"attack": attack, "learner": learner, "epsilon": epsilon, "poisoned_rows": rows, "poisoned_share": rows / 1000}
    return about | {"accuracy": accuracy, "low": accuracy - 0.05, "high": accuracy + 0.05, "n_draws": 100}


class TestWords:
    def test_the_headline_is_the_private_learner_that_stands_most_or_that_nothing_is_proved(self):
        said = headline(ALL, None)
        rows = ALL[1].table.protected_rows()
        assert said.startswith(full_name(ALL[1]))
        assert f"withstands up to {rows:,} poisoned rows of 1,000" in said
        assert "add/remove one row" in said
        assert "95% confidence" in said
        assert "majority class, 70.0%" in said
        said = headline([voted(), REFUSED], None)
        assert get_learner(VOTERS).title in said
        assert "confidence" not in said
        assert "No curve here is proved" in headline([REFUSED, SILENT], None)
        assert "99.0% you asked for" in headline(ALL, 0.99)
        said = guarantee_chart(ALL, up_to=0.01, unit="rows").summary
        assert all(full_name(item) in said for item in ALL)

    def test_what_is_refused_has_a_reason_and_the_published_bound_stands_beside_what_is_proved(self):
        assert verdict_text(REFUSED, None) == "no guarantee. Its claim is violated."
        assert re.fullmatch(r"published: up to \d+ poisoned rows", struck_text(REFUSED, None))
        assert struck_text(PROVED, None) == struck_text(SILENT, None) == ""
        mean = PROVED.table.accuracy
        expected = math.ceil(math.log(mean / 0.7) / 0.1) - 1
        assert PROVED.published_rows(0.7) == expected
        assert f"by the published bound {expected}" in verdict_text(PROVED, None)
        assert expected < PROVED.table.protected_rows()


class TestTables:
    def test_tables_have_every_point_what_is_refused_and_attacks_beside_what_is_proved(self):
        frame = guarantee_frame(ALL, 0.01)
        assert len(frame) == 5 * 11
        assert {"learner", "epsilon", "claim", "reason", "poisoned_rows", "published", "tight", "tight_low"} <= set(frame)
        assert frame[frame.learner == SECOND].tight.isna().all()
        rows = guarantee_rows(ALL, 0.01)
        assert len(rows) == 5 * 11
        assert all("refused" in row["published"] for row in rows[22:33])
        assert {row["proved"] for row in rows[22:33]} == {"nothing"}
        assert all(len(guarantee_rows([certified(n_train=n)], 0.01)) <= MOST_ROWS for n in (1, 50, 100_000))
        ((row,),) = [attack_table([PROVED], pd.DataFrame([attack_line("leaf-flips", FIRST, 0.1, 10, 0.8)]))]
        assert row["mean accuracy"] == "80.0%"
        assert row["proved"] == f"{PROVED.table.low(10):.1%}"


def attacked(ours: float, other: float, *, learner: str = SECOND, epsilon: float = 0.1, width: float = 0.01) -> pd.DataFrame:
    about = {"attack": "leaf-flips", "poisoned_rows": 12, "n_draws": 20, "epsilon": [0.1, epsilon]}
    frame = pd.DataFrame({"learner": [DEFAULT, learner], "accuracy": [ours, other], **about})
    return frame.assign(low=frame.accuracy - width, high=frame.accuracy + width)


def test_a_better_private_learner_is_named_with_both_numbers() -> None:
    said = attacked_sentence(attacked(0.5, 0.7))
    assert "is the weaker one here. At ε = 0.1 (add/remove one row) with 12 poisoned rows" in said
    assert "keeps 50.0% accuracy" in said
    assert "70.0%" in said
    assert "the 95% limits do not overlap" in said
    assert "from 20 draws each, and the 95% limits overlap" in attacked_sentence(attacked(0.5, 0.7, width=0.5))


@pytest.mark.parametrize(
    "found",
    [attacked(0.7, 0.5), attacked(0.5, 0.51), attacked(0.5, 0.7, learner=VOTERS), attacked(0.5, 0.7, epsilon=1.0)],
    ids=["stronger", "as good as equal", "not private", "another epsilon"],
)
def test_nothing_is_said_where_it_is_not_weaker(found: pd.DataFrame) -> None:
    assert attacked_sentence(found) == ""
