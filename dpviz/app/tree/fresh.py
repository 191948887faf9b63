"""Fresh draws of the tree on screen, in the background. Not for private rows: every draw would spend epsilon again."""

from __future__ import annotations

from functools import partial

from dpviz.app.controls import Asked
from dpviz.app.state import Loaded
from dpviz.app.trees import canonical_key
from dpviz.app.work.pool import Lane
from dpviz.app.work.session import poll
from dpviz.app.work.tasks import Task, in_one
from dpviz.evaluation.compare.redraws import Redraws, redraws

SLOT = "redraws"
DRAWS = 100


def redraws_task(asked: Asked, loaded: Loaded) -> Task:
    """These settings with fresh noise, again and again. The draws do not depend on the draw on screen."""
    given = {**asked.settings, **asked.params}
    make = partial(redraws, asked.learner, loaded.data, draws=DRAWS, seed=0, **given)
    return in_one(SLOT, canonical_key(loaded, asked, draws=DRAWS), make, lane=Lane.SHORT, keep=4)


def redraws_now(asked: Asked, loaded: Loaded) -> Redraws | None:
    """The draws of these settings, once they have ended; None before, and without any."""
    drawn: tuple[Redraws, ...] = poll(redraws_task(asked, loaded)).values
    return drawn[0] if drawn and drawn[0].n_done else None
