"""Fresh draws of the tree on screen, in the background, and what would have come out had the noise been other noise.

Not for private rows: every draw would spend epsilon again.
"""

from functools import partial

import streamlit as st

from dpviz.app import background
from dpviz.app.held_out import rows_of_the_tree
from dpviz.app.parts import plain
from dpviz.app.state import Loaded
from dpviz.app.trees import Trained, canonical_key
from dpviz.app.widgets import linked, show_chart
from dpviz.errors import DpvizError
from dpviz.evaluation.tree.resampling import Resamples, agreement, feature_use, resample
from dpviz.figures.tree import resampling as drawn_figures
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget, Schema

SLOT = "resampling"
DRAWS = 30
#: Deep trees take longer: from so many levels on, one in so many of the draws must do.
OF_DEEP = ((7, 6), (6, 3))
#: Results the server keeps, of all sessions.
KEPT = 60
#: Seconds that the page waits for them: the tree itself is not to wait longer, and takes its ink when they come.
SHORT = 0.12


def resampling_task(request: FitRequest, loaded: Loaded) -> background.Task:
    """These settings with fresh noise, again and again. The draws do not depend on the draw on screen."""
    rows = rows_of_the_tree(loaded)
    draws = draws_of(request, rows.schema)
    make = partial(resample, request, rows, draws=draws, seed=0, workers=background.WORKERS)
    return background.in_one(SLOT, canonical_key(loaded, request, draws=draws), make, priority="short", keep=KEPT, shared=True)


def draws_of(request: FitRequest, schema: Schema) -> int:
    """How often a tree that is trained by this schema is drawn again."""
    try:
        depth = request.plan(schema).depth
    except DpvizError:  # the fit says why
        return DRAWS
    return max(1, DRAWS // next((part for levels, part in OF_DEEP if depth >= levels), 1))


def is_resampled(request: FitRequest, loaded: Loaded) -> bool:
    """Whether a tree has noise that may be drawn again: never for private rows."""
    return loaded.role is not DataRole.PRIVATE and request.spec.spends_epsilon


def resamples_now(request: FitRequest, loaded: Loaded) -> Resamples | None:
    """The draws of these settings, which begin by themselves; None until they have ended, and where there are none.

    The shelf is shared: half the draws of a session that went away are not shown while the rest is being made.
    """
    if not is_resampled(request, loaded):
        return None
    status = background.autostart(resampling_task(request, loaded), SHORT)
    drawn: tuple[Resamples, ...] = () if status.job is not None else status.values
    return drawn[0] if drawn and drawn[0].n_done else None


# --- on the page


def resampling_screen(trained: Trained, loaded: Loaded) -> None:
    """On request: how the tree begins, which features are asked, how many draws agree."""
    drawn = resamples_now(trained.asked.request, loaded)
    if drawn is None or trained.tree is None or isinstance(loaded.schema.target, NumericTarget):
        return  # being drawn (the tree above says how far), or nothing is drawn again
    st.divider()
    if not st.toggle("Same data, new noise: what changes?", **linked("fresh")):
        return
    st.caption(f"{drawn.n_done} trees with the settings and rows of the one above, each with new noise. Simulations.")
    rows = rows_of_the_tree(loaded)
    agreeing = agreement(trained.tree.predict(rows), drawn, rows)
    sentences = drawn_figures.root_sentence(loaded.schema, drawn), drawn_figures.agreement_sentence(agreeing, drawn.n_done)
    st.markdown(plain(" ".join(sentences)))
    _features(drawn, loaded)


def _features(drawn: Resamples, loaded: Loaded) -> None:
    st.header("Which features are asked", anchor=False)
    uses = feature_use(drawn)
    st.markdown(plain(drawn_figures.feature_sentence(loaded.schema, uses, drawn.n_done)))
    if uses:
        show_chart(drawn_figures.feature_chart(loaded.schema, uses, drawn.n_done), "resampling-features")
