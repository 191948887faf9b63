import math
from dataclasses import replace

import numpy as np
import pytest

from dpviz.charts.compare import (
    MIN_FITS,
    bandable,
    box_chart,
    compare_chart,
    curve_rows,
    difference_rows,
    gap_unit,
    headline,
    is_cut,
    line_styles,
    measure_text,
    probability_text,
    unbounded,
)
from dpviz.charts.theme import SERIES
from dpviz.evaluation.comparison import Curve, Difference, Point, at_equal_risk, with_guesses
from dpviz.learners import get_learner, learner_names
from tests.support.golden_charts import assert_golden


def curve(learner, xs, *, verdict="holds", factor=1.0, height=0.8):
    points = tuple(Point(x, x * factor, height - 0.02, height, height + 0.01, 30) for x in xs)
    return Curve(learner, verdict, points)


SOUND = curve("pf-tree", (0.01, 0.1, 1.0))
FALSE = curve("privatree", (0.01, 0.1, 1.0), verdict="violated", factor=math.inf, height=0.9)
OPEN = curve("bdpt", (0.01, 0.1, 1.0), verdict="unproven", factor=12, height=0.7)
PLAIN = Curve("cart", "none", (Point(math.inf, math.inf, 0.84, 0.85, 0.86, 5),))
ALL = (SOUND, FALSE, OPEN, PLAIN)
EPSILON = {"along": "epsilon", "metric": "accuracy", "level": 0.76}


NOISY = Curve("s-gbdt", "holds", tuple(Point(x, x, low, 0.3, 0.4, 30) for x, low in ((0.01, -9.0), (1.0, 0.25))))
TREE = Curve("cart-regression", "none", (Point(math.inf, math.inf, 0.44, 0.45, 0.46, 5),))
R2 = {"along": "epsilon", "metric": "r2", "level": 0.0}
ERRORS = [Curve(name, "holds", (Point(1.0, 1.0, at, at, at, 3),)) for name, at in (("dp-mean", 880.0), ("s-gbdt", 412.25))]
FEW = Curve("pf-tree", "holds", (*SOUND.points[:2], replace(SOUND.points[2], n_fits=MIN_FITS - 1)))
IN_UNITS = Difference("s-gbdt", "dp-mean", 1.0, 0.9, 1.0, 400.0, 467.75, 470.0, 5, 20)
BOXES = {"pf-tree": np.array([0.1, 0.2, 0.3, 0.4]), "privatree": np.array([0.5])}


def found(probability=0.8, n_draws=150):
    return Difference("pf-tree", "privatree", probability, 0.72, 0.86, -0.01, 0.02, 0.05, 5, n_draws)


REVIEWED = {
    "lines": lambda: compare_chart(ALL, **EPSILON, banded=SOUND.learner, summary="So."),
    "depths": lambda: compare_chart((curve("pf-tree", (1, 2)),), along="max_depth", metric="accuracy", level=None, summary="So."),
    "r2": lambda: compare_chart((NOISY, TREE), **R2, banded="s-gbdt", summary="So."),
    "errors": lambda: compare_chart(ERRORS, along="epsilon", metric="rmse", level=900.0, summary="So."),
    "boxes": lambda: box_chart(BOXES, line_styles({"pf-tree": "holds", "privatree": "violated"})),
    "differences": lambda: [*difference_rows([found()]), *difference_rows([IN_UNITS], "rmse")],
    "words": lambda: [
        headline(ALL, along="epsilon", x=0.1, metric="accuracy", level=0.76),
        headline((FALSE,), along="epsilon", x=0.1, metric="accuracy", level=None),
        headline((FEW,), along="epsilon", x=1.0, metric="accuracy", level=None),
        headline((NOISY, TREE), **R2, x=1.0),
        headline(ERRORS, along="epsilon", x=1.0, metric="rmse", level=900.0),
        headline((curve("pf-tree", (1, 2)),), along="max_depth", x=2, metric="accuracy", level=None, epsilon=0.1),
        headline((curve("pf-tree", (50, 200)),), along="n_rows", x=200, metric="accuracy", level=None, epsilon=0.1),
    ],
}


@pytest.mark.parametrize("name", REVIEWED)
def test_picture_words_and_table_are_the_reviewed_ones(name):
    assert_golden(f"compare-{name}", REVIEWED[name]())


def lines(chart):
    """Name -> trace of every line in the legend."""
    return {trace.name: trace for trace in chart.figure.data if trace.showlegend is not False}


def at_risk(curves, guesses):
    def known(learner, epsilon):
        return guesses.get(learner, {}).get(epsilon, math.inf)

    return with_guesses(curves, known, lambda epsilon: 50 + 10 * epsilon)


GUESSES = {"pf-tree": {0.01: 50.2, 0.1: 52.0, 1.0: 62.0}, "bdpt": {0.01: 50.1, 0.1: 50.5, 1.0: 54.0}}


def test_over_equal_risk_a_curve_stands_where_its_guesses_are_and_the_best_is_the_best_there():
    """Equal epsilon: pf-tree, .8 against .7. Where at most 55 guesses may be right the other one has ten times the epsilon."""
    rising = replace(OPEN, verdict="holds", points=tuple(replace(it, median=0.7 + 0.2 * it.x) for it in OPEN.points))
    found = at_risk((SOUND, rising, PLAIN), GUESSES)
    assert list(lines(compare_chart(found, **EPSILON, axis="guesses", chosen=55, summary=""))["PF-tree"].x) == [
        pytest.approx(x) for x in (0.2, 2.0, 12.0)
    ]
    assert headline(found, **EPSILON, x=0.1).startswith("At ε = 0.1 (add/remove one row), PF-tree")
    said = headline(found, **EPSILON, x=55, about="one patient")
    assert said.startswith("Where at most 55 of 100 guesses about one patient may be right, BDPT (ε = 1, add/remove one row)")
    assert {name: point.x for name, point in at_equal_risk(found, 55).items()} == {"pf-tree": 0.1, "bdpt": 1.0, "cart": math.inf}
    assert "No algorithm" in headline(found, **EPSILON, x=50.05, about="one row")


@pytest.mark.parametrize(
    ("axis", "gone", "where"),
    [
        ("asked", (), [0.01, 0.1, 1.0]),
        ("guesses", ("privatree", "s-gbdt"), [0.1, 1.0, 10.0]),
    ],
)
def test_no_curve_leaves_the_figure_and_one_without_a_bound_is_dashed_and_said(axis, gone, where):
    """A claim that holds may have no finite bound on an axis either."""
    guesses = GUESSES | {"s-gbdt": {0.01: 50.1}}  # a bound at one of three points
    found = at_risk((SOUND, FALSE, replace(FALSE, verdict="holds", learner="s-gbdt"), OPEN, PLAIN), guesses)
    drawn = lines(compare_chart(found, **EPSILON, axis=axis, summary=""))
    assert len(drawn) == 6  # and the majority
    assert unbounded(found, axis) == gone
    dashes = {name: drawn[get_learner(name).title].line.dash for name in ("pf-tree", "s-gbdt")}
    assert dashes == {"pf-tree": "solid", "s-gbdt": "dash" if gone else "solid"}
    assert list(drawn[get_learner("s-gbdt").title].x) == pytest.approx(where)
    assert len(compare_chart((), **EPSILON, axis=axis, summary="").figure.data) == 0


def test_learners_of_one_figure_never_look_alike_and_another_learner_changes_nobody_s_look(rng):
    """Whatever is added or taken away, in any order, as in a session."""
    every = line_styles(dict.fromkeys(learner_names(), "holds"))
    assert len({(look.colour, look.symbol) for look in every.values()}) == len(every)
    private = [name for name in learner_names() if not get_learner(name).is_baseline]
    few = private[: len(SERIES)]
    assert len({look.colour for look in line_styles(dict.fromkeys(few, "holds")).values()}) == len(few)
    for _ in range(50):
        before, chosen = {}, []
        for name in rng.permutation([*private, "pf-tree(lookahead=1)"]):
            chosen.append(str(name))
            if len(chosen) > 3 and rng.random() < 0.4:
                chosen.pop(rng.integers(len(chosen)))
            styles = line_styles(dict.fromkeys(chosen, "holds"), before)
            kept = styles.keys() & before.keys()
            assert {name: styles[name] for name in kept} == {name: before[name] for name in kept}
            before |= styles


def test_a_probability_is_never_a_bare_certainty_and_no_range_is_shown_of_too_few_draws():
    texts = {0.8: "80% (72% to 86%)", 1.0: "at least 72% (always ahead)", 0.0: "at most 86% (never ahead)"}
    texts |= {0.001: "0.10% (72% to 86%)"}
    assert {share: probability_text(found(share)) for share in texts} == texts
    assert probability_text(found(1.0, n_draws=0)) == "100% (neither draws noise)"
    assert bandable(ALL) == ("pf-tree", "privatree", "bdpt")
    assert bandable((FEW, PLAIN)) == ()
    cases = ((NOISY, "r2", "s-gbdt"), (NOISY, "r2", None), (TREE, "r2", None), (NOISY, "rmse", "s-gbdt"))
    assert [is_cut((it,), metric, band) for it, metric, band in cases] == [True, False, False, False]  # a band that is drawn
    worse = replace(NOISY, points=tuple(replace(it, median=-9.0) for it in NOISY.points))
    assert is_cut((worse, TREE), "r2")
    few = Difference("s-gbdt", "dp-mean", 0.5, 0.3, 0.7, 400.0, 467.75, 470.0, 5, MIN_FITS - 1)
    row, _ = difference_rows([few, replace(few, n_draws=MIN_FITS)], "rmse")
    assert (row["median difference in RMSE, units of the target"], row["5%"]) == ("+467.8", "too few fits")
    assert "5%" not in difference_rows([few], "rmse")[0]
    (row,) = difference_rows([found()], epsilons={"pf-tree": 0.1, "privatree": 0.3})  # at equal risk
    assert (row["its ε (add/remove one row)"], row["5%"]) == ("0.3", "−1.0")
    assert [gap_unit(metric) for metric in ("accuracy", "r2", "auc", "mae")] == [
        "points",
        "hundredths",
        "hundredths",
        "units of the target",
    ]
    assert curve_rows([FEW], along="epsilon", metric="accuracy")[-1]["95%"] == "too few fits"


def test_a_box_has_every_fit_its_quarters_and_the_look_and_name_of_its_learner(rng):
    metric = "rmse"
    styles = line_styles({"pf-tree": "holds", "privatree": "violated", "cart": "none"})
    outcomes = {name: rng.normal(0.8, 0.02, size) for name, size in zip(styles, (200, 20, 1), strict=True)}
    chart = box_chart(outcomes, styles, metric)
    for (name, values), trace, row in zip(outcomes.items(), chart.figure.data, chart.rows, strict=True):
        assert (trace.type, trace.boxpoints, tuple(trace.x)) == ("box", "all", tuple(values))
        assert (trace.marker.color, trace.marker.symbol) == (styles[name].colour, styles[name].symbol)
        assert trace.name.replace("<br>", " ") == styles[name].name
        ends = {"lowest": values.min(), "median": np.median(values), "highest": values.max()}
        assert {end: row[end] for end in ends} == {end: measure_text(float(value), metric) for end, value in ends.items()}
        assert f"{styles[name].name}: half of" in chart.summary
