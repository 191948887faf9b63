"""Curves that the tests of the robustness figures share: proved, refused, silent and certified by vote."""

from __future__ import annotations

import math

import numpy as np

from dpviz.charts.robustness import CertifiedCurve
from dpviz.evaluation.poisoning import Certificate, PoisoningTable, VoteCertificate
from dpviz.learners import get_learner, learner_names
from dpviz.randomness import generator

DRAWS = np.sort(generator(3).uniform(0.78, 0.82, 400))
FIRST, SECOND = [name for name in learner_names() if get_learner(name).spends_epsilon and not get_learner(name).is_baseline][:2]
VOTERS = "dpa"


def certified(
    learner: str = FIRST, epsilon: float | None = 0.1, *, reason: str = "", n_train: int = 1000, draws=DRAWS
) -> CertifiedCurve:
    claimed = math.inf if epsilon is None else epsilon
    bound = Certificate(draws, claimed, 0.0, claimed, reason, 0.05)
    return CertifiedCurve(epsilon, PoisoningTable(learner, (bound,), n_train, 0.7, 0.05, (0,), 400, 400))


def voted() -> CertifiedCurve:
    bound = VoteCertificate(np.array([5, 4, 3, 2, 2, 1, 1, 1, -1, -1]))
    return CertifiedCurve(None, PoisoningTable(VOTERS, (bound,), 1000, 0.5, 0.05, (0,), 1, 1))


PROVED, REFUSED, SILENT = (
    certified(),
    certified(SECOND, reason="Its claim is violated."),
    certified(SECOND, None, reason="Exact."),
)
ALL = (PROVED, certified(epsilon=0.01), REFUSED, voted(), SILENT)


def lines(figure, name):
    return [trace for trace in figure.data if trace.name and name in trace.name]
