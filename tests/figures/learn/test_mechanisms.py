import math

import pytest

from dpviz.evaluation.learn.growing import growing_tree
from dpviz.evaluation.learn.lessons import PoisonedStump, noisy_choice, noisy_counts
from dpviz.figures.learn import mechanisms
from dpviz.figures.learn import trees as lessons_trees
from dpviz.figures.wording import chance
from dpviz.results.wording import rounded_up
from tests.support.audits import HOLDS, VIOLATED


@pytest.fixture
def stump():
    import numpy as np

    return PoisonedStump((np.array([0.4, 0.8]), np.array([0.01, 1.0])), 0.1, 500, 0.6)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_a_hundred_guesses_are_a_hundred_dots(epsilon):
    coin, tree, top, wrong = mechanisms.guesses_figure(epsilon).data
    right, by_tree = math.ceil(mechanisms.guesses(epsilon)), math.ceil(mechanisms.guesses_by_tree(epsilon))
    assert [len(part.x) for part in (coin, tree, top, wrong)] == [50, by_tree - 50, right - by_tree, 100 - right]
    places = {(x, y) for part in (coin, tree, top, wrong) for x, y in zip(part.x, part.y, strict=True)}
    assert len(places) == 100


def test_the_sentence_of_the_guesses_says_odds_and_guesses():
    said = mechanisms.guesses_sentence(1.0)
    assert "add/remove one row" in said
    assert "2.72 to 1" in said
    by_tree = mechanisms.guesses_by_tree(1.0)
    assert 60 < by_tree <= 63
    assert f"74 of 100 guesses are right, whatever the algorithm. What PF-tree does allows {math.ceil(by_tree)}" in said
    (row,) = mechanisms.guesses_rows([1.0])
    assert list(row.values()) == ["1", "2.72 to 1", "73.2", rounded_up(by_tree, 1)]


def test_two_counts_are_drawn_with_their_ratio_between_the_bounds():
    noisy = noisy_counts((5, 4), 1, 1.0)
    figure = mechanisms.counts_figure(noisy)
    first, second, ratio = figure.data
    assert list(first.y) == list(noisy.first)
    assert list(second.y) == list(noisy.second)
    assert max(ratio.y) <= noisy.bound * (1 + 1e-9)
    assert sorted(shape.y0 for shape in figure.layout.shapes) == [1 / noisy.bound, noisy.bound]
    assert "2.72 times" in mechanisms.counts_sentence(noisy, (5, 4))
    assert len(mechanisms.counts_rows(noisy)) == len(noisy.outcomes)


def test_both_choices_stand_side_by_side():
    names, noisy = ["a", "b"], noisy_choice((3, 1), 1.0)
    flip, exponential = mechanisms.choice_figure(names, noisy).data
    assert list(flip.y) == list(noisy.flip)
    assert list(exponential.y) == list(noisy.exponential)
    assert chance(noisy.flip_best) in mechanisms.choice_sentence(noisy, 1.0)
    assert [row["option"] for row in mechanisms.choice_rows(names, noisy)] == names


def test_a_refuted_claim_is_hatched_and_said_and_one_that_holds_is_not():
    found, own = VIOLATED, HOLDS
    (bars,) = lessons_trees.adding_figure(found).data
    assert list(bars.x) == [found.claimed, found.log_ratio, found.composed]
    assert bars.marker.pattern.shape[1] == "/"
    said = lessons_trees.adding_sentence(found, own, 4)
    assert "4 features" in said
    assert "ε = 1," in said
    assert "add/remove one row" in said
    assert lessons_trees.adding_rows([(4, found)])[0]["features"] == "4"
    (bars,) = lessons_trees.adding_figure(own).data
    assert bars.marker.pattern.shape[1] == ""
    assert "one feature" in lessons_trees.adding_sentence(own, own, 1)


def test_the_drawn_option_is_marked_wherever_it_stands_and_nothing_before_a_draw():
    for seed in range(1, 20):
        node = growing_tree(0.3, seed, 2).nodes[1]
        bars, words = lessons_trees.options_figure(node).data
        marked = [name for name in words.text if name.startswith("▶ ")]
        assert marked == [f"▶ {node.drawn.words} · {chance(node.drawn.probability)}"]
        assert bars.marker.pattern.shape.index("/") == words.text.index(marked[0])
        assert sum(bars.x) == pytest.approx(1)
        assert len(bars.x) == len(words.text) <= lessons_trees.MOST_OPTIONS + 2
        assert node.drawn.words in lessons_trees.options_sentence(node)
    (root,) = growing_tree(2.0, 1, 0).waiting
    _, words = lessons_trees.options_figure(root).data
    assert not any(name.startswith("▶") for name in words.text)
    assert "drawn:" not in lessons_trees.options_sentence(root)
    assert len(lessons_trees.options_rows(root)) == len(root.options)


def test_the_poison_curves_are_the_bounds(stump):
    tight, published, majority = lessons_trees.poison_figure(stump, (0, 10)).data
    assert list(tight.y) == [stump.tight(0), stump.tight(10)]
    assert list(published.y) == [stump.published(0), stump.published(10)]
    assert set(majority.y) == {0.6}
    assert f"up to {stump.protected} rows of 500" in lessons_trees.poison_sentence(stump)
    assert lessons_trees.poison_rows(stump, (0, 10))[1]["rows added or removed"] == "10"
    hopeless = PoisonedStump(stump.distribution, stump.epsilon, stump.n_train, 0.99)
    assert "nothing better" in lessons_trees.poison_sentence(hopeless)
