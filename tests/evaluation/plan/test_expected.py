"""What to expect before epsilon is spent: the declared base rate and the strength of the signal are what the rows have."""

import numpy as np
import pytest

from dpviz.errors import Cancelled, DpvizError, ParameterError
from dpviz.evaluation.simulate import FIRST_DRAWS, STRENGTHS, Expected, expected_steps, region
from dpviz.figures.plan import expected_chart, expected_headline, expected_sentence, is_worth_it, strengths_text
from dpviz.learners import FitRequest
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

FEATURES = (NumericFeature("age", 0, 100, whole=True), CategoricalFeature("ward", ("a", "b", "c")), NumericFeature("dose", 0, 1))
SCHEMA = Schema(FEATURES, ClassTarget("stay", ("home", "back")), n_public=4000)


def expected(request, **asked):
    """What is known at the end."""
    *_, found = expected_steps(SCHEMA, request, seed=1, **asked)
    return found


@pytest.mark.parametrize("base_rate", [0.05, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("strength", STRENGTHS.values())
def test_simulated_rows_have_the_declared_base_rate_at_every_strength(base_rate, strength):
    world = region(SCHEMA, n_rows=20_000, base_rate=base_rate, strength=strength, seed=3)
    train, test = world.draw(20_000, seed=1)
    assert np.mean(train.target == 1) == pytest.approx(base_rate, abs=0.012)
    rare = ("home", "back").index("back" if base_rate <= 0.5 else "home")
    assert test.schema.classes == ("home", "back")
    outside, inside = (world.chances[part][rare] for part in (0, 1))
    assert 0 <= outside < inside <= 1


def test_the_stronger_the_signal_the_more_of_the_rarer_class_lies_where_two_questions_ask():
    found = expected(FitRequest.of("pf-tree", epsilon=1.0, max_depth=2), base_rate=0.3, n_rows=2000, draws=3)
    assert [one.strength for one in found] == ["little", "something", "much"]
    assert found[0].best < found[1].best < found[2].best
    assert found[2].accuracy > found[2].always == pytest.approx(0.7, abs=0.03)
    again = expected(FitRequest.of("pf-tree", epsilon=1.0, max_depth=2), base_rate=0.3, n_rows=2000, draws=3)
    assert again == found


def test_a_first_look_is_what_fewer_draws_give_and_is_worth_nothing_half_done():
    request, told = FitRequest.of("pf-tree", epsilon=1.0, max_depth=2), []
    asked = {"base_rate": 0.3, "n_rows": 2000, "seed": 1}
    first, last = expected_steps(SCHEMA, request, draws=5, progress=told.append, **asked)
    assert first == expected(request, draws=FIRST_DRAWS, base_rate=0.3, n_rows=2000)
    assert [one.draws for one in (*first, *last)] == [FIRST_DRAWS] * 3 + [5] * 3
    assert told == [pytest.approx((number + 1) / 15) for number in range(15)]
    request, asked = FitRequest.of("pf-tree", epsilon=1.0, max_depth=2), iter([False, True])
    with pytest.raises(Cancelled):
        expected(request, base_rate=0.3, n_rows=100, stop=lambda: next(asked))


def test_with_little_epsilon_even_a_strong_signal_gives_no_more_than_always_the_frequent_class():
    few = expected(FitRequest.of("pf-tree", epsilon=0.001, max_depth=2), base_rate=0.1, n_rows=300, draws=4)
    assert all(one.better <= 0.5 for one in few)
    assert not is_worth_it(few)
    assert (
        expected_sentence(few[2], "home", "back")
        == f"If features say much, no better than always 'home' ({few[2].always:.0%} right)."
    )


def test_a_tree_that_is_better_says_by_how_much_and_one_that_is_so_sometimes_says_how_often():
    good = Expected("much", 0.8, 0.8, 0.88, 0.71, 1.0, 10)
    assert expected_sentence(good, "home", "back") == (
        "If features say much, right for 88% of the rows, always 'home' for 80%; it finds 71 of 100 'back'."
    )
    unsure = expected_sentence(Expected("little", 0.5, 0.8, 0.81, 0.3, 0.7, 10), "home", "back")
    assert unsure.endswith("Only 70% of the trees do better than always 'home'.")
    assert is_worth_it((unsure, good, good))
    assert "say much 80, much 80." in strengths_text((good, good), "back")


def test_the_headline_never_calls_better_what_is_not_reliably_so_and_the_picture_has_the_numbers_of_the_sentences():
    def headline(*better):
        found = [Expected(name, 0.8, 0.8, 0.85, 0.6, share, 10) for name, share in zip(STRENGTHS, better, strict=True)]
        figure = expected_chart(found, "home", "back").figure
        assert [list(bars.x) for bars in figure.data] == [[0.85] * 3, [0.6] * 3]
        assert figure.layout.shapes[0].x0 == 0.8
        assert all(side == "inside" for bars in figure.data for side in bars.textposition)  # the dashed line crosses no number
        return expected_headline(found, "home")

    assert headline(1.0, 1.0, 1.0) == "Better than always 'home' (80% right), even if features say little."
    assert headline(0.4, 1.0, 1.0) == "If features say little, not reliably better than always 'home' (80% right)."
    assert headline(0.4, 0.89, 1.0) == "If features say little or something, not reliably better than always 'home' (80% right)."
    assert headline(0.4, 0.5, 0.6) == "Not reliably better than always 'home' (80% right), even if features say much."


def test_more_classes_and_impossible_base_rates_are_refused():
    three = Schema(FEATURES, ClassTarget("stay", ("home", "back", "moved")), n_public=100)
    with pytest.raises(DpvizError, match="two classes"):
        region(three, n_rows=100, base_rate=0.2, strength=0.5, seed=1)
    with pytest.raises(ParameterError):
        region(SCHEMA, n_rows=100, base_rate=1.0, strength=0.5, seed=1)
    with pytest.raises(DpvizError, match="No feature can be divided"):
        region(Schema((CategoricalFeature("one", ("a",)),), SCHEMA.target), n_rows=100, base_rate=0.2, strength=0.5, seed=1)
