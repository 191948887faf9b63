"""Small rows for releases: real enough to train on, quick enough to do it a hundred times."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.learners import FitRequest
from dpviz.release.records import ReleaseRecord
from dpviz.release.register import Register
from dpviz.release.release import release
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

FEATURES = (NumericFeature("age", 0.0, 10.0), CategoricalFeature("colour", ("red", "green")))
SCHEMA = Schema(FEATURES, ClassTarget("y", ("n", "p")), n_public=40)
#: Of patients with up to three rows, as the owner's word.
OF_PATIENTS = replace(SCHEMA, rows_per_person=3)


def small_rows(seed: int = 0, schema: Schema = SCHEMA) -> EncodedDataset:
    """Forty rows."""
    rng = np.random.default_rng(seed)
    age, colour = rng.uniform(0, 10, 40), rng.integers(0, 2, 40).astype(np.uint8)
    return EncodedDataset(schema, (age, colour), (age > 5).astype(np.uint8))


def small_numbers() -> EncodedDataset:
    """The same features with a number to predict."""
    rows = small_rows()
    return EncodedDataset(Schema(FEATURES, NumericTarget("y", 0.0, 1.0), 40), rows.columns, rows.columns[0] / 10)


def requested(epsilon: float = 0.1, learner: str = "pf-tree", **more) -> FitRequest:
    """A tree of one level."""
    return FitRequest.of(learner, epsilon=epsilon, max_depth=1, depth=1, **more)


def start(
    register: Register, token: str = "t1", epsilon: float = 0.1, delta: float = 0.0, *, name="rows", **more
) -> ReleaseRecord:
    """A release that is paid for and not finished, of small rows unless told."""
    how = {"fingerprint": small_rows().identity, "learner": "pf-tree", "settings": {}, "file": Path("/nowhere/x.json")} | more
    return register.start(name, token=token, loss=PrivacyLoss(epsilon, delta), **how)


def publish(register: Register, rows, request: FitRequest, **more) -> ReleaseRecord:
    """A release of the data set the rows are assigned to; else of "rows"."""
    known = register.data_set_of(rows.identity)
    return release(register, known.name if known else "rows", request, rows, **more)
