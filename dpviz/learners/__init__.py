"""Learners, a file for each and its close variants: `native`, `published` and `references` (without privacy)."""

from dpviz.learners.catalogue import (
    DEFAULT,
    DEFAULT_OF_NUMBERS,
    LEARNERS,
    get_learner,
    learner_names,
    learners_for,
    registry,
    require_counts,
    require_task,
)
from dpviz.learners.request import FitRequest, fit

__all__ = [
    "DEFAULT",
    "DEFAULT_OF_NUMBERS",
    "FitRequest",
    "LEARNERS",
    "fit",
    "get_learner",
    "learner_names",
    "learners_for",
    "registry",
    "require_counts",
    "require_task",
]
