from __future__ import annotations

import pandas as pd
import pytest

from dpviz.figures.robustness.weaker import attacked_sentence
from dpviz.learners import DEFAULT
from tests.support.curves import SECOND, VOTERS


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
