from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpviz.figures.robustness.backdoor import backdoor_figure, backdoor_rows, backdoor_sentence
from tests.figures.robustness.curves import FIRST, VOTERS, lines


def backdoor_curves():
    about = {"poisoned_rows": [0, 10], "poisoned_share": [0.0, 0.1], "success_low": 0.0, "success_high": 1.0, "accuracy": 0.9}
    private = pd.DataFrame(
        {"learner": FIRST, "epsilon": 0.1, "success": [0.0, 0.2], "published": 0.9, "tight_high": 0.5, **about}
    )
    open_ = pd.DataFrame(
        {"learner": VOTERS, "epsilon": 1.0, "success": [0.0, 1.0], "published": np.nan, "tight_high": np.nan, **about}
    )
    return pd.concat([private, open_], ignore_index=True)


def test_measured_curves_have_limits_and_only_what_is_proved_has_a_ceiling():
    figure = backdoor_figure(backdoor_curves())
    assert len(lines(figure, ": measured")) == 2
    (ceiling,) = lines(figure, "at most, proved")
    assert list(ceiling.y) == [0.5, 0.5]
    assert figure.data[0].error_y.array[1] == pytest.approx(0.8)


def test_epsilon_is_said_only_where_it_is_spent():
    said, rows = backdoor_sentence(backdoor_curves()), backdoor_rows(backdoor_curves())
    assert said.count("ε = ") == 1
    assert "works on 100%" in said
    assert [row["at most, proved"] for row in rows] == ["50.0%"] * 2 + ["nothing"] * 2
