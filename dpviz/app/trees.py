"""Which tree the settings ask for, and its training in the background. Tree, Budget and Publish speak of the same one.

A tree's key is one canonical JSON text of the rows' fingerprint, role, learner, settings, parameters and draw. Rows are never
hashed by Streamlit (it samples large tables). Noise: simulated and public rows use the draw number as a visible seed; private
rows get exact noise where every mechanism has an exact sampler, else a seed from the operating system that stays in the session.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.app import background
from dpviz.app.controls import Sidebar
from dpviz.app.explorations import note
from dpviz.app.held_out import HeldOut, HeldOutNumber, Parts, held_out, parts_of
from dpviz.app.state import Loaded
from dpviz.errors import Cancelled, DpvizError
from dpviz.learners import FitRequest
from dpviz.models.constant import as_tree
from dpviz.models.tree import Tree
from dpviz.privacy.source import ExactNoise, NoiseSource, Simulation
from dpviz.progress import Progress, Stop, is_stopped
from dpviz.randomness import random_128_bits
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole
from dpviz.training.contract import LearnerSpec

SLOT, LANE = "tree", "tree"
#: Trees of this session that can be shown again without training.
KEPT = 32
_ENTROPY = "_entropy"


@dataclass(frozen=True, slots=True)
class Trained:
    """A tree and, unless the rows are private, how it does on rows held out from its training.

    `unnoted` is why an exploration of private rows could not be noted in the register.
    """

    asked: Sidebar
    result: FitResult
    held_out: HeldOut | HeldOutNumber | None
    unnoted: DpvizError | None = None

    @property
    def tree(self) -> Tree | None:
        """The model as a complete tree; None for other kinds of model."""
        return as_tree(self.result.model)


class UnseenSimulation(Simulation):
    """A simulation whose seed nobody can read: neither the result nor the file it is written to knows it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seed = None

    def enter(self, place: int) -> None:
        """Nothing: trees of private rows never share noise, because two that do cancel it."""


def canonical_key(loaded: Loaded, request: FitRequest, **more: Any) -> str:
    """One text per question: equal questions, equal text; different rows, settings or roles, different text."""
    parts = {"data": loaded.data.fingerprint, "role": str(loaded.role), "request": request.key, **more}
    return json.dumps(parts, sort_keys=True, allow_nan=False)


def tree_task(asked: Sidebar, loaded: Loaded) -> background.Task:
    """The training of the tree asked for. Raises DpvizError for a learner that is not shown on these rows."""
    spec = asked.request.spec
    if loaded.role is DataRole.PRIVATE and not spec.spends_epsilon:
        raise DpvizError(f"{spec.title} is not shown on private rows.", remedy="Choose an algorithm that spends ε.")
    key = canonical_key(loaded, asked.request, draw=asked.draw)
    if loaded.role is DataRole.PRIVATE:
        make = partial(_private_tree, asked, loaded, _source(spec, key))
    else:  # also the simulated rows that stand for private ones, whose request has no seed
        seeded = replace(asked, request=asked.request.at(seed=asked.draw))
        make = partial(_tree, seeded, loaded, parts_of(loaded.data))
    return background.in_one(SLOT, key, make, fallback_key=_about(loaded), priority=LANE, keep=KEPT)


def last_tree(loaded: Loaded) -> Trained | None:
    """The tree of these rows that was on screen last."""
    shown = background.last_shown(SLOT, _about(loaded))
    return shown[0] if shown else None


def _about(loaded: Loaded) -> tuple[str, str]:
    return loaded.data.fingerprint, str(loaded.role)


def _tree(asked: Sidebar, loaded: Loaded, parts: Parts | None, *, progress: Progress, stop: Stop) -> Trained:
    request = asked.request.at(seed=asked.draw)  # of rows that stand in for private ones the sidebar names no seed
    result = request.fit(parts[0] if parts else loaded.data)
    _require_wanted(stop)
    progress(0.5)
    counted = held_out(result.model, parts) if parts and not loaded.is_made_up else None
    _require_wanted(stop)
    return Trained(asked, result, counted)


def _private_tree(asked: Sidebar, loaded: Loaded, source: NoiseSource, *, progress: Progress, stop: Stop) -> Trained:
    result = asked.request.fit(loaded.data, source)
    _require_wanted(stop)
    return Trained(asked, result, None, note(loaded, "tree on screen", asked.request.learner, asked.request.arguments))


def _require_wanted(stop: Stop) -> None:
    """A tree that nobody wants any more is not shown, whole as it is."""
    if is_stopped(stop):
        raise Cancelled


def _source(spec: LearnerSpec, key: str) -> NoiseSource:
    """Noise that nobody can repeat."""
    if spec.exact:
        return ExactNoise()
    if _ENTROPY not in st.session_state:
        st.session_state[_ENTROPY] = random_128_bits()
    secret = f"{st.session_state[_ENTROPY]} {key}".encode()
    return UnseenSimulation(int.from_bytes(hashlib.sha256(secret).digest(), "big"))
