"""The answer that most draws give for one person, and how many poisoned rows it withstands.

Rows that somebody adds or removes change the probability of every answer by no more than privacy allows: the frequent one has
at least what `certificates.remains` says of it, every other one rises to at most what is left of its own absence. While the first
is larger, more draws still give the same answer. Probabilities are estimated from the draws, with exact limits that hold for all
classes at once.

Source: Ma, Zhu & Hsu 2019 and Lecuyer et al. 2019 (privacy against poisoned and changed rows); the bounds are this project's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.costs import assignments_of, cost_of
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.evaluation.intervals import clopper_pearson
from dpviz.evaluation.robustness.certificates import remains
from dpviz.evaluation.robustness.draws import proved_loss, proved_risk, why_unproved
from dpviz.models.base import Model
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset

#: What is said of an answer fails with at most this probability over the draws.
BETA = 0.05


@dataclass(frozen=True, slots=True)
class FrequentAnswer:
    """What most draws answer for one person."""

    label: int  #: Code of the class
    times: int  #: Draws that give it
    n_draws: int
    rows: int  #: Rows that may be added or removed, in any way, and it stays the most frequent answer
    n_rows: int  #: Rows there are; `rows` is never above


def frequent_answer(models: Sequence[Model], person: EncodedDataset, result: FitResult, n_rows: int) -> FrequentAnswer | None:
    """The answer that most of these draws give for one person, and what it withstands; None where nothing is proved.

    Parameters
    ----------
    models : sequence
        Independent draws of the learner and settings of `result`, on the same rows; not empty.
    person : EncodedDataset
        One row.
    n_rows : int
        Rows they were trained on.
    """
    composed = result.ledger.guarantee.epsilon
    if why_unproved(result, composed):
        return None
    given = np.bincount([int(model.predict(person)[0]) for model in models], minlength=len(person.schema.classes))
    label = int(given.argmax())
    low, high = answer_limits(given)
    risk = proved_risk(result, composed)
    if risk is not None and any(assignments_of(cost_of(risk.event))):
        risk = None  # a group spreads over the parts in many ways: seconds, for a row or two more
    rows = withstood(low[label], np.delete(high, label), proved_loss(result, composed), risk, n_rows)
    return FrequentAnswer(label, int(given[label]), len(models), rows, n_rows)


def answer_limits(given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the probability of each class, given how often it came; all hold at once but for a chance of `BETA`."""
    sides = 2 if len(given) == 2 else 2 * len(given)  # of two classes one limit is that of the other
    return clopper_pearson(given, int(given.sum()), BETA / sides)


def withstood(low: float, others: np.ndarray, loss: PrivacyLoss, risk: Risk | None, most: int) -> int:
    """The most rows, up to `most`, after which an answer of at least probability `low` is still the most probable.

    `others`: the most that each other answer may have.
    """
    above = float(min(1 - low, others.max(initial=0.0)))

    def holds(rows: int, risk: Risk | None) -> bool:
        kept = float(remains(np.array([1 - low]), rows, loss, risk)[0])
        risen = 1 - float(remains(np.array([above]), rows, loss, risk)[0])
        return kept > min(1 - kept, risen)

    if not holds(0, None):
        return 0
    plain = _largest(lambda rows: holds(rows, None), 0, most)
    return plain if risk is None else _largest(lambda rows: holds(rows, risk), plain, most)


def _largest(holds: Callable[[int], bool], fits: int, most: int) -> int:
    """The largest number from `fits`, which holds, up to `most` that holds: larger steps first, since large groups take long."""
    step = 1
    while fits + step <= most and holds(fits + step):
        fits, step = fits + step, 2 * step
    fails = min(fits + step, most + 1)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if holds(middle) else (fits, middle)
    return fits
