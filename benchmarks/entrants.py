"""Who takes part in `boosting`: learners, their settings, and the titles they are shown by.

The paper shows its two learners at their best of many settings at each epsilon, so a few others stand beside the defaults. They
come from a random search on these tables (other folds, one to four fits each), as the paper's must have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.histogram_splits import STYLES
from dpviz.learners import learners_for
from dpviz.table.schema import Schema

MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Entrant:
    """A learner (or one of STYLES) with parameters under the title it is shown by."""

    title: str
    learner: str
    params: dict[str, Any] = field(default_factory=dict)
    max_depth: int = MAX_DEPTH


OURS = "S-GBDT, redesigned"
PUBLISHED, PUBLISHED_BEST = "S-GBDT as published", "S-GBDT as published, best at each epsilon"
NO_FILTER, STATIC = "S-GBDT as published, no filter", "S-GBDT as published, static noise"
RIVAL, RIVAL_FILTERED, RIVAL_BEST = "DPBoost", "DPBoost, filter by gradient", "DPBoost, best at each epsilon"
HIST, DRAWN = "in the style of Maddock et al., splits by noisy histograms", "in the style of Maddock et al., random splits"
CONSTANT, LINE, ONE_TREE = "constant", "boosted, not private", "one tree, not private"
ENTRANTS = (
    Entrant(PUBLISHED, "s-gbdt-published"),
    Entrant(NO_FILTER, "s-gbdt-published", {"filter": False}),
    Entrant(STATIC, "s-gbdt-published", {"static_noise": True}),
    Entrant(OURS, "s-gbdt"),
    Entrant(RIVAL, "dpboost", max_depth=5),
    Entrant(RIVAL_FILTERED, "dpboost", {"filter": True}, max_depth=5),
    Entrant(HIST, "histogram-splits"),
    Entrant(DRAWN, "random-splits"),
    Entrant(CONSTANT, "dp-mean"),
    Entrant(CONSTANT, "majority"),
    Entrant(LINE, "gbdt"),
    Entrant(ONE_TREE, "cart-regression"),
    Entrant(ONE_TREE, "cart"),
)


def _others(title: str, learner: str, settings: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, tuple[Entrant, ...]]:
    """By table; a setting has the depth, and parameters."""
    return {
        data: tuple(
            Entrant(
                f"{title} {place}", learner, {name: value for name, value in given.items() if name != "depth"}, given["depth"]
            )
            for place, given in enumerate(of_data)
        )
        for data, of_data in settings.items()
    }


#: What is tried of S-GBDT as published beside the defaults, by table.
_SETTINGS: dict[str, Sequence[dict[str, Any]]] = {
    "Abalone": (
        {"depth": 4, "rounds": 200, "least_support": 500, "learning_rate": 0.1, "extra_rounds": 0},
        {"depth": 7, "rounds": 200, "least_support": 100, "numeric_weight": 2.0, "support_share": 0.1, "extra_rounds": 0},
        {
            "depth": 8,
            "rounds": 200,
            "least_support": 200,
            "learning_rate": 1.0,
            "clip": 0.15,
            "sampling": 0.3,
            "numeric_weight": 2.0,
            "extra_rounds": 0,
        },
    ),
    "Adult": (
        {
            "depth": 8,
            "rounds": 200,
            "learning_rate": 0.4,
            "numeric_weight": 2.0,
            "support_share": 0.1,
            "extra_rounds": 0,
        },
        {"depth": 8, "rounds": 50, "least_support": 500, "learning_rate": 0.7, "clip": 1.0, "support_share": 0.3},
    ),
}
#: Title of the best -> table -> settings beside the defaults.
OTHERS = {
    PUBLISHED_BEST: _others(PUBLISHED, "s-gbdt-published", _SETTINGS),
    RIVAL_BEST: _others(
        RIVAL,
        "dpboost",
        {
            "Abalone": (
                {"depth": 3, "trees": 20, "clip": 0.1},
                {"depth": 4, "trees": 2, "ridge": 200.0, "numeric_weight": 30.0, "initial_share": 0.05},
                {"depth": 4, "trees": 2, "ridge": 500.0, "numeric_weight": 3.0, "initial_share": 0.2},
                {"depth": 6, "trees": 10, "ensembles": 2, "numeric_weight": 3.0, "clip": 0.2},
                {"depth": 1, "trees": 3, "ensembles": 2, "numeric_weight": 30.0, "clip": 0.2, "initial_share": 0.0},
            ),
            "Adult": (
                {"depth": 2, "trees": 1, "ridge": 500.0, "numeric_weight": 100.0},
                {"depth": 5, "trees": 1, "ridge": 500.0, "numeric_weight": 1.0},
                {"depth": 5, "trees": 1, "ridge": 200.0, "numeric_weight": 30.0},
                {"depth": 4, "trees": 1, "ridge": 50.0, "numeric_weight": 30.0},
                {"depth": 5, "trees": 5, "ridge": 50.0, "numeric_weight": 100.0},
            ),
        },
    ),
}
#: Title of the best -> title of the defaults.
_DEFAULTS = {PUBLISHED_BEST: PUBLISHED, RIVAL_BEST: RIVAL}


def settings_of(best: str) -> set[str]:
    """The titles of all settings that one of OTHERS is the best of."""
    return {_DEFAULTS[best], *(entrant.title for entrants in OTHERS[best].values() for entrant in entrants)}


def entrants_for(data: str, schema: Schema) -> list[Entrant]:
    """Those of ENTRANTS and OTHERS that are installed and predict this kind of target."""
    able = (*learners_for(schema), *STYLES)
    others = (entrant for of_data in OTHERS.values() for entrant in of_data.get(data, ()))
    return [entrant for entrant in (*ENTRANTS, *others) if entrant.learner in able]
