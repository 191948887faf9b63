"""Where nothing can be learned, pictures say so, and every number they state is the library's, computed here once more."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from dpviz.evaluation.compare.comparison import curves, difference, majority_level, rows_at
from dpviz.evaluation.compare.sweep import sweep
from dpviz.evaluation.plan.consequences import Consequences, consequences_steps
from dpviz.evaluation.plan.planner import Goal, outcomes, plan_steps
from dpviz.evaluation.plan.simulate import Resampled
from dpviz.figures import robustness as text
from dpviz.figures.compare import compare_chart, headline, probability_text
from dpviz.figures.plan import answer_headline, answer_sentence, consequence_sentences
from dpviz.figures.robustness import Certified, guarantee_chart
from dpviz.figures.wording import percent
from dpviz.learners import FitRequest
from dpviz.randomness import generator, seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

PLACES, REPEATS = (0.1, 1.0), 12


@cache
def coins() -> EncodedDataset:
    """The class is a coin: no model is better than guessing."""
    rng, n = generator(3), 400
    schema = Schema((NumericFeature("a", 0, 10), NumericFeature("b", 0, 10)), ClassTarget("y", ("no", "yes")), n_public=n)
    return EncodedDataset(schema, (rng.uniform(0, 10, n), rng.uniform(0, 10, n)), (rng.random(n) < 0.5).astype(np.uint8))


@cache
def compared() -> pd.DataFrame:
    return sweep(["pf-tree", "diffprivlib-tree", "cart"], coins(), epsilon=PLACES, folds=2, repeats=REPEATS, max_depth=(3,))


def test_curves_of_coins_stay_at_guessing_and_their_headline_is_the_best_median_of_the_frame():
    frame = compared()
    found, level = curves(frame, "epsilon", "accuracy"), majority_level(frame, "accuracy")
    said = headline(found, along="epsilon", x=1.0, metric="accuracy", level=level)
    private = frame[(frame.epsilon == 1.0) & frame.learner.isin(["pf-tree", "diffprivlib-tree"])]
    medians = private.groupby("learner").accuracy.quantile(0.5, interpolation="linear")
    best = medians.idxmax()
    low, high = np.quantile(private[private.learner == best].accuracy, (0.05, 0.95))
    assert f"reaches accuracy {medians.max():.1%} (nine of ten draws: {low:.1%} to {high:.1%})" in said
    assert f"guessing {level:.1%}" in said
    assert 0.4 < medians.max() < 0.6
    drawn = compare_chart(found, summary=said, along="epsilon", metric="accuracy", level=level).figure
    (line,) = [trace for trace in drawn.data if trace.name and trace.name.startswith("PF-tree")]
    expected = frame[frame.learner == "pf-tree"].groupby("epsilon").accuracy.median()
    assert list(line.y) == list(expected)


def test_a_probability_between_equals_is_counted_pair_by_pair():
    rows = rows_at(compared(), "epsilon", 1.0)
    item = difference(rows, "pf-tree", "diffprivlib-tree")
    shares = []
    for fold in (0, 1):
        ours, theirs = (rows[(rows.learner == name) & (rows.fold == fold)].accuracy for name in (item.learner, item.other))
        pairs = [(a > b) + (a == b) / 2 for a in ours for b in theirs]
        shares.append(np.mean(pairs))
    assert probability_text(item).startswith(f"{np.mean(shares):.0%} (")
    assert item.probability_low < 0.5 < item.probability_high


@cache
def found_consequences() -> Consequences:
    setup = FitRequest.of("pf-tree", epsilon=0.1, max_depth=2, depth=2)
    *_, found = consequences_steps(Resampled(coins()), setup, seed=1, epsilons=PLACES, draws=60)
    return found


@pytest.mark.slow
def test_no_poisoned_row_is_withstood_where_guessing_does_as_well():
    found = found_consequences()
    for item in found.found:
        accuracy, _, poison = consequence_sentences(item, found, candidates=2, above=found.majority)
        low, middle, high = np.quantile(item.accuracies, (0.05, 0.5, 0.95))
        shares = [percent(round(share, 3)) for share in (middle, low, high)]
        assert "right on {} of the held-out rows, nine of ten on {} to {}".format(*shares) in accuracy
        assert poison.startswith("No protection is shown")


@pytest.mark.slow
def test_a_curve_that_proves_nothing_says_so_with_the_number_that_is_certain():
    table = found_consequences().found[0].certificate
    item = Certified(0.1, "holds", table)
    assert text.headline([item], None).startswith("No curve here is proved to stay above the majority class")
    assert f"without poison {table.low(0):.1%} is certain" in text.verdict_text(item, None)
    assert table.low(0) <= np.mean(found_consequences().found[0].accuracies) <= table.majority + 0.1
    guarantee_chart([item], up_to=0.01, unit="rows", wanted=None)


def test_what_no_assignment_can_reach_is_refuted_with_the_trees_that_were_drawn():
    world, setup = Resampled(coins()), FitRequest.of("pf-tree", epsilon=1.0, max_depth=2, depth=2)
    goal = Goal("accuracy", 0.8)
    *_, answer = plan_steps(world, setup, "epsilon", goal, seed=5, grid=PLACES)
    last = answer.points[-1]
    seeds = [seed_from(5, number) for number in range(last.n_draws)]
    [again] = outcomes(world, [(setup, None)], "accuracy", seeds)
    assert np.array_equal(last.outcomes, again)
    assert answer_headline(answer, "epsilon") == "Not reachable, not even with ε = 1 (add/remove one row)"
    assert f"With ε = 1, {int((again >= 0.8).sum())} of {len(again)} did" in answer_sentence(answer, "epsilon", goal)
