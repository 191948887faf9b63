from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpviz.figures.robustness.weaker import attacked_sentence, backdoor_weaker, widest_gap
from dpviz.installation import bundled
from dpviz.learners import DEFAULT
from tests.figures.robustness.curves import SECOND, VOTERS


def curves(ours: float, other: float, *, learner: str = SECOND, epsilon: float = 0.1, width: float = 0.01) -> pd.DataFrame:
    rows = [(DEFAULT, 0.1, ours, 0.9), (learner, epsilon, other, np.nan)]
    frame = pd.DataFrame(rows, columns=["learner", "epsilon", "success", "tight_high"])
    about = {"success_low": frame.success - width, "success_high": frame.success + width, "poisoned_rows": 12, "n_draws": 20}
    return frame.assign(accuracy=[0.99, 0.98], **about)


def test_a_better_private_learner_is_named_with_both_numbers() -> None:
    said = backdoor_weaker(curves(0.73, 0.008))
    assert "is the weaker one here. At ε = 0.1 (add/remove one row) with 12 poisoned rows" in said
    assert "work on 73.0%" in said
    assert "on 0.8%" in said
    assert "the 95% limits do not overlap. Nothing is proved about" in said
    assert "from 20 draws each, and the 95% limits overlap" in backdoor_weaker(curves(0.73, 0.008, width=0.5))


def test_a_gap_of_many_standard_errors_is_not_hidden_behind_wide_limits() -> None:
    found = curves(0.73, 0.03, width=0.5)
    assert "from 20 draws each, 7.0 standard errors apart" in backdoor_weaker(found.assign(success_error=[0.06, 0.08]))
    assert "and the 95% limits overlap" in backdoor_weaker(found.assign(success_error=[0.3, 0.3]))


def test_a_smaller_budget_as_accurate_as_the_other_is_named_where_there_is_one() -> None:
    found, less = curves(0.73, 0.008), curves(0.05, 0.008).iloc[:1]
    assert "A smaller budget" not in backdoor_weaker(found)
    at = [less.assign(epsilon=epsilon, accuracy=accuracy) for epsilon, accuracy in ((0.05, 0.985), (0.03, 0.981), (0.01, 0.97))]
    assert "A smaller budget" not in backdoor_weaker(pd.concat([found, *(line.assign(success=0.8) for line in at)]))
    said = backdoor_weaker(pd.concat([found, *at]))
    assert "at ε = 0.03 its accuracy on clean rows is 98.1%" in said
    assert said.endswith("at ε = 0.1: 98.0%), and the trigger works on 5.0%.")


@pytest.mark.parametrize(
    "found",
    [
        curves(0.008, 0.73),
        curves(0.5, 0.49),
        curves(0.73, 0.008, learner=VOTERS),
        curves(0.73, 0.008, epsilon=1.0),
    ],
    ids=["stronger", "as good as equal", "not private", "another epsilon"],
)
def test_nothing_is_said_where_it_is_not_weaker(found: pd.DataFrame) -> None:
    assert backdoor_weaker(found) == ""


def test_the_stored_run_is_told_as_it_is() -> None:
    stored = pd.read_csv(bundled("data/benchmarks/backdoor.csv"))
    gap = widest_gap(stored, "success")
    assert gap is not None
    here = stored[(stored.epsilon == gap.epsilon) & (stored.poisoned_rows == gap.rows)].set_index("learner")
    assert (gap.ours_value, gap.other_value) == (here.success[DEFAULT], here.success[gap.other])
    assert gap.ours_value - gap.other_value > 6 * np.hypot(here.success_error[DEFAULT], here.success_error[gap.other])
    assert f"{here.success[DEFAULT]:.1%}" in backdoor_weaker(stored)
    assert gap.errors is not None
    assert f"{gap.errors:.1f} standard errors apart" in backdoor_weaker(stored)


def test_an_attack_on_accuracy_is_compared_the_same_way() -> None:
    about = {"attack": "leaf-flips", "epsilon": 0.1, "poisoned_rows": 9, "n_draws": 10}
    frame = pd.DataFrame({"learner": [DEFAULT, SECOND], "accuracy": [0.5, 0.7], "low": [0.4, 0.65], "high": [0.6, 0.75], **about})
    assert "keeps 50.0% accuracy" in attacked_sentence(frame)
    assert "70.0%" in attacked_sentence(frame)
    assert attacked_sentence(frame.assign(accuracy=[0.7, 0.5])) == ""
