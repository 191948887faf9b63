"""Fresh draws of the tree on screen, in the background. Not for private rows: every draw would spend epsilon again."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from dpviz.app.controls import Asked
from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.state import Loaded
from dpviz.app.trees import canonical_key
from dpviz.app.work import tasks
from dpviz.app.work.pool import Lane
from dpviz.app.work.session import begin_unasked
from dpviz.app.work.tasks import Task, in_one
from dpviz.evaluation.tree.redraws import Redraws, redraws
from dpviz.learners import get_learner
from dpviz.table.role import DataRole

SLOT = "redraws"
DRAWS = 30
#: A tree that may be deeper than this takes so long that a third of the draws must do.
DEEP = 5
#: Results the server keeps, of all sessions.
KEPT = 60
#: Seconds that the page waits for them: the tree itself is not to wait longer, and takes its ink when they come.
SHORT = 0.12


def redraws_task(asked: Asked, loaded: Loaded) -> Task:
    """These settings with fresh noise, again and again. The draws do not depend on the draw on screen."""
    given, draws = {**asked.settings, **asked.params}, draws_of(asked.settings)
    make = partial(redraws, asked.learner, rows_of_the_tree(loaded), draws=draws, seed=0, workers=tasks.WORKERS, **given)
    return in_one(SLOT, canonical_key(loaded, asked, draws=draws), make, lane=Lane.SHORT, keep=KEPT, is_shared=True)


def draws_of(settings: Mapping[str, Any]) -> int:
    """How often a tree with these settings is drawn again."""
    return DRAWS if settings["max_depth"] <= DEEP else max(1, DRAWS // 3)


def is_drawn_again(asked: Asked, loaded: Loaded) -> bool:
    """Whether a tree has noise that may be drawn again: never for private rows."""
    return loaded.role is not DataRole.PRIVATE and get_learner(asked.learner).spends_epsilon


def redraws_now(asked: Asked, loaded: Loaded) -> Redraws | None:
    """The draws of these settings, which begin by themselves; None until they have ended, and where there are none.

    The shelf is shared: half the draws of a session that went away are not shown while the rest is being made.
    """
    if not is_drawn_again(asked, loaded):
        return None
    status = begin_unasked(redraws_task(asked, loaded), SHORT)
    drawn: tuple[Redraws, ...] = () if status.job is not None else status.values
    return drawn[0] if drawn and drawn[0].n_done else None
