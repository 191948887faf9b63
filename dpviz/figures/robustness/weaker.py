"""Where the default learner is weaker against an attack than another private one, said with the numbers that were measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.figures.wording import counted
from dpviz.learners import DEFAULT, get_learner
from dpviz.results.wording import number_text

if TYPE_CHECKING:
    import pandas as pd

#: A smaller difference of means is not worth a sentence.
LEAST = 0.02
#: So many standard errors of a difference are no chance.
SURE = 3.0


@dataclass(frozen=True)
class Gap:
    """The default learner and a better one, at one epsilon and one number of poisoned rows."""

    epsilon: float
    rows: int
    other: str
    ours_value: float
    other_value: float
    are_apart: bool
    is_proved: bool
    n_draws: int
    errors: float | None  #: How many standard errors of the difference it is; None where they are not known


def widest_gap(frame: pd.DataFrame, column: str) -> Gap | None:
    """The place where the default learner's `column` (more is worse) exceeds another private learner's most; None below `LEAST`.

    `frame` has the columns learner, epsilon, poisoned_rows, n_draws, `column`, and its limits `column`_low and `column`_high; it
    may have standard errors, `column`_error.
    """
    private = frame[[get_learner(str(name)).spends_epsilon for name in frame.learner]]
    places = ["epsilon", "poisoned_rows"]
    both = private[private.learner == DEFAULT].merge(private[private.learner != DEFAULT], on=places, suffixes=("", "_other"))
    both = both.assign(size=both[column] - both[f"{column}_other"])
    if not len(both) or both["size"].max() < LEAST:
        return None
    worst = both.loc[both["size"].idxmax()]
    return Gap(
        float(worst.epsilon),
        int(worst.poisoned_rows),
        str(worst.learner_other),
        float(worst[column]),
        float(worst[f"{column}_other"]),
        bool(worst[f"{column}_low"] > worst[f"{column}_high_other"]),
        "tight_high_other" not in worst or bool(worst.tight_high_other == worst.tight_high_other),
        int(min(worst.n_draws, worst.n_draws_other)),
        _errors_apart(worst, column),
    )


def _errors_apart(worst: pd.Series[Any], column: str) -> float | None:
    names = (f"{column}_error", f"{column}_error_other")
    error = math.hypot(*(float(worst.get(name, 0.0)) for name in names))
    return float(worst["size"]) / error if error > 0 else None


def attacked_sentence(attacks: pd.DataFrame) -> str:
    """Where the default learner loses more accuracy to a measured attack than another private one; empty where nowhere."""
    frame = attacks.assign(loss=1 - attacks.accuracy, loss_low=1 - attacks.high, loss_high=1 - attacks.low)
    gaps = {str(name): widest_gap(part, "loss") for name, part in frame.groupby("attack")}
    known = {name: gap for name, gap in gaps.items() if gap is not None}
    if not known:
        return ""
    name, gap = max(known.items(), key=lambda entry: entry[1].ours_value - entry[1].other_value)
    kept = f"keeps {1 - gap.ours_value:.1%} accuracy, {{other}} {1 - gap.other_value:.1%}"
    return _sentence(gap, f'under the attack "{ATTACKS[name].title}" ', kept)


def _sentence(gap: Gap, under: str, compared: str) -> str:
    ours, other = get_learner(DEFAULT).title, get_learner(gap.other).title
    place = f"At ε = {number_text(gap.epsilon)} ({NEIGHBOURS}) with {counted(gap.rows, 'poisoned row')}"
    sure = "the 95% limits do not overlap" if gap.are_apart else f"from {gap.n_draws} draws each, {_how_sure(gap)}"
    unproved = "" if gap.is_proved else f" Nothing is proved about {other}."
    return f"{ours} is the weaker one here. {place} {under}it {compared.format(other=other)}; {sure}.{unproved}"


def _how_sure(gap: Gap) -> str:
    """Limits that hold whatever the distribution may overlap where means are far apart."""
    if gap.errors is None or gap.errors < SURE:
        return "and the 95% limits overlap"
    return f"{gap.errors:.1f} standard errors apart"
