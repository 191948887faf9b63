"""Trees that were grown in this session, by one canonical key; longer work goes to the background.

The key is a SHA-256 of the rows and schema, with learner, settings, parameters and draw as one JSON text. Rows are never
hashed by Streamlit (it samples large tables). Noise: simulated and public rows use the draw number as a visible seed;
private rows get a release where every mechanism is exact, else a seed from the operating system that stays in the session.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
import streamlit as st

from dpviz.app.controls import Asked, note_shown
from dpviz.app.explorations import note_exploration
from dpviz.app.state import Loaded
from dpviz.app.work.jobs import Job, session_name, shared_jobs
from dpviz.errors import DpvizError
from dpviz.evaluation.compare.metrics import metrics
from dpviz.evaluation.compare.redraws import Redraws, redraws
from dpviz.learners import fit, get_learner
from dpviz.models.constant import Constant
from dpviz.models.tree import Leaf, Tree
from dpviz.privacy.source import ExactNoise, NoiseSource, Simulation
from dpviz.randomness import random_128_bits
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget
from dpviz.training.contract import FitResult

#: Work that is done within this many seconds is shown in the same run.
SHORT = 0.35
DRAWS = 100
TEST_SHARE = 0.2
_LAST_GOOD = "_last_good"
_ENTROPY = "_entropy"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Accuracy on rows kept aside, next to always predicting the class most frequent among the others."""

    accuracy: float
    majority: float
    majority_class: str
    n_rows: int


@dataclass(frozen=True, slots=True)
class HeldOutNumber:
    """R² (NaN where all rows are equal) and RMSE on rows kept aside, next to always predicting the mean of the others."""

    r2: float
    rmse: float
    mean_rmse: float
    mean: float
    n_rows: int


@dataclass(frozen=True, slots=True)
class Trained:
    """A tree and, unless the rows are private, how the same settings do on rows kept aside."""

    asked: Asked
    result: FitResult
    held_out: HeldOut | HeldOutNumber | None

    @property
    def tree(self) -> Tree | None:
        """The model as a complete tree; a constant is a single leaf. None for other kinds of model."""
        match self.result.model:
            case Tree() as tree:
                return tree
            case Constant(schema, label):
                return Tree(schema, Leaf(label))
        return None


@dataclass(frozen=True, slots=True)
class Screen:
    """What a page can draw: the tree asked for, or else the last good one and why it is not the one asked for.

    Attributes
    ----------
    trained : Trained or None
        None when no tree was grown from these rows yet.
    is_current : bool
        False: `trained` belongs to the settings before.
    problem : DpvizError or None
        Why the tree asked for cannot be grown.
    job : Job or None
        It is still growing, or was stopped.
    """

    trained: Trained | None
    is_current: bool
    problem: DpvizError | None = None
    job: Job | None = None


class UnseenSimulation(Simulation):
    """A simulation whose seed nobody can read: neither the result nor the file it is written to knows it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seed = None  # type: ignore[assignment]


class StillGrowing(Exception):
    """Not done yet; raised so that nothing is cached."""

    def __init__(self, job: Job) -> None:
        self.job = job
        super().__init__(job.key)


def canonical_key(loaded: Loaded, asked: Asked, **more: Any) -> str:
    """One text per question: equal questions, equal text; different rows, settings or roles, different text."""
    parts = {
        "data": loaded.data.fingerprint,
        "role": str(loaded.role),
        "learner": asked.learner,
        "settings": asked.settings,
        "params": asked.params,
        **more,
    }
    return json.dumps(parts, sort_keys=True, allow_nan=False)


def tree_now(asked: Asked, loaded: Loaded) -> Screen:
    """Grow what is asked, or join what is growing; the last good tree stays until there is a new one."""
    key = canonical_key(loaded, asked, draw=asked.draw)
    try:
        _require_shown(asked, loaded)
        trained = _kept(session_name(), key, lambda: _grown(key, asked, loaded))
    except StillGrowing as growing:
        return Screen(_last_good(loaded), False, job=growing.job)
    except DpvizError as problem:
        return Screen(_last_good(loaded), False, problem=problem)
    st.session_state[_LAST_GOOD] = (loaded.data.fingerprint, trained)
    note_shown(asked)
    return Screen(trained, True)


def _require_shown(asked: Asked, loaded: Loaded) -> None:
    """Private rows are never shown through a learner that publishes them as they are, whoever asks."""
    if loaded.role is DataRole.PRIVATE and not get_learner(asked.learner).spends_epsilon:
        title = get_learner(asked.learner).title
        raise DpvizError(f"{title} is not shown on private rows.", remedy="Choose a learner that spends ε.")


@st.cache_resource(scope="session", max_entries=32, show_spinner=False)
def _kept(session: str, key: str, _make: Callable[[], Trained]) -> Trained:
    """`session` besides the scope: a tree of private rows must not depend on one lock only."""
    return _make()


def _last_good(loaded: Loaded) -> Trained | None:
    fingerprint, trained = st.session_state.get(_LAST_GOOD, (None, None))
    return trained if fingerprint == loaded.data.fingerprint else None


def _grown(key: str, asked: Asked, loaded: Loaded) -> Trained:
    jobs, session = shared_jobs(), session_name()
    job = jobs.find(session, "grow", key)
    if job is None:
        job = jobs.submit(session, "grow", key, _growing(key, asked, loaded))
    if job.is_stopped or not job.wait(SHORT):
        raise StillGrowing(job)
    try:
        grown = job.result()
        note_exploration(loaded, "tree on screen", asked.learner, {**asked.settings, **asked.params})
        return grown
    finally:
        jobs.forget(session, "grow")  # the cache keeps a tree; an error is met again when it is asked for again


def _growing(key: str, asked: Asked, loaded: Loaded) -> Callable[[Callable[[float], None], Event], Trained]:
    source = _source(key, asked, loaded.role)
    parts = None if loaded.role is DataRole.PRIVATE else _parts(loaded.data.fingerprint, loaded.data)

    def work(progress: Callable[[float], None], stop: Event) -> Trained:
        given = {**asked.settings, **asked.params}
        if source is not None:
            return Trained(asked, fit(asked.learner, loaded.data, source=source, **given), None)
        result = fit(asked.learner, loaded.data, seed=asked.draw, **given)
        progress(0.5)
        return Trained(asked, result, held_out(asked, *parts) if parts else None)

    return work


def _source(key: str, asked: Asked, role: DataRole) -> NoiseSource | None:
    """None: the draw number is the seed. Otherwise noise that nobody can repeat."""
    if role is not DataRole.PRIVATE:
        return None
    if get_learner(asked.learner).exact:
        return ExactNoise()
    if _ENTROPY not in st.session_state:
        st.session_state[_ENTROPY] = random_128_bits()
    secret = f"{st.session_state[_ENTROPY]} {key}".encode()
    return UnseenSimulation(int.from_bytes(hashlib.sha256(secret).digest(), "big"))


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _parts(fingerprint: str, _data: EncodedDataset) -> tuple[EncodedDataset, EncodedDataset] | None:
    """(four fifths, one fifth) of the rows, always the same ones; None when there are too few to keep any aside."""
    return _data.split(TEST_SHARE, seed=0) if _data.n_rows >= 10 else None


def held_out(asked: Asked, train: EncodedDataset, test: EncodedDataset) -> HeldOut | HeldOutNumber:
    """Grow the same way on `train` and count on `test`. For rows that may be looked at, never for private ones."""
    result = fit(asked.learner, train, seed=asked.draw, **asked.settings, **asked.params)
    if isinstance(train.schema.target, NumericTarget):
        return HeldOutNumber(**metrics(result.model, train, test), mean=float(train.target.mean()), n_rows=test.n_rows)
    label = int(train.class_counts().argmax())
    return HeldOut(result.score(test), float(np.mean(test.target == label)), train.schema.classes[label], test.n_rows)


def regrow() -> None:
    """Grow what was stopped after all."""
    shared_jobs().forget(session_name(), "grow")


def redraws_job(asked: Asked, loaded: Loaded) -> Job | None:
    """The job that draws these settings again and again, if it was started. Its draws do not depend on the draw on screen."""
    return shared_jobs().find(session_name(), "redraws", canonical_key(loaded, asked, draws=DRAWS))


def start_redraws(asked: Asked, loaded: Loaded) -> Job:
    """Draw these settings again and again, in the background. Not for private rows: every draw would spend epsilon again."""
    key = canonical_key(loaded, asked, draws=DRAWS)
    given = {**asked.settings, **asked.params}

    def work(progress: Callable[[float], None], stop: Event) -> Redraws:
        return redraws(asked.learner, loaded.data, draws=DRAWS, seed=0, progress=progress, stop=stop, **given)

    return shared_jobs().submit(session_name(), "redraws", key, work)


def finished_redraws(asked: Asked, loaded: Loaded) -> Redraws | None:
    """What the redraws of these settings found, once they ended; None before, and when they failed."""
    job = redraws_job(asked, loaded)
    if job is None or not job.is_done:
        return None
    try:
        return job.result()
    except DpvizError:  # the node card says what went wrong
        return None
