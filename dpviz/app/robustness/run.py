"""What the Robustness page computes: one tile per curve, per measured attack, and per curve of the backdoor."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpviz.app.explorations import note_exploration
from dpviz.app.robustness import tiles
from dpviz.app.robustness.ask import Cell, Question
from dpviz.app.robustness.tiles import Tile
from dpviz.app.state import Loaded, encoded_sample
from dpviz.app.work import long_work
from dpviz.errors import SchemaError
from dpviz.evaluation.robustness.attacks import attack_curve
from dpviz.evaluation.robustness.backdoor import Backdoor, backdoor_curve, corner_backdoor, two_classes
from dpviz.evaluation.robustness.poisoning import certify
from dpviz.figures.robustness.certified import Certified
from dpviz.learners import get_learner
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.training.params import Settings, make_params

if TYPE_CHECKING:
    import pandas as pd

TEST_SHARE = 0.2
#: Shares of the training rows at which attacks are measured.
ATTACKED = (0.005, 0.01)
RUNS = 2
PICTURES = "digits"
#: Copies with the trigger among about 250 pictures.
TRIGGERED = (0, 1, 2, 3, 5, 10, 20)
#: What a learner that spends no epsilon is asked with; it changes nothing.
ANY_EPSILON = 1.0

Split = tuple[EncodedDataset, EncodedDataset]


def curve_tiles(question: Question, loaded: Loaded) -> list[Tile]:
    """One tile per curve; its value is a Certified."""
    return [Tile(_key("curve", question, loaded, cell), _certifying(question, loaded, cell)) for cell in question.cells]


def attack_tiles(question: Question, loaded: Loaded, attacks: Sequence[str]) -> list[Tile]:
    """One tile per attack and curve; its value is a frame of `attack_curve`."""
    pairs = [(attack, cell) for attack in attacks for cell in question.cells]
    return [Tile(_key(attack, question, loaded, cell), _attacking(attack, question, loaded, cell)) for attack, cell in pairs]


def begin(lane: str, wanted: Sequence[Tile], question: Question, loaded: Loaded) -> None:
    """Compute what is missing; on private rows that is a look no guarantee covers, and it is noted."""
    times = max(1, tiles.look(lane, wanted).n_missing * question.draws * question.splits)
    note_exploration(loaded, "curves on the Robustness page", ", ".join(question.learners), {}, times=times)
    tiles.begin(lane, wanted)


def _key(kind: str, question: Question, loaded: Loaded, cell: Cell) -> str:
    about = [question.depth, question.draws, question.splits, question.seed]
    return json.dumps([kind, loaded.data.fingerprint, str(loaded.role), cell.learner, cell.epsilon, *about])


def _splits(question: Question, loaded: Loaded) -> list[Split]:
    both = (loaded.data.split(TEST_SHARE, seed=question.seed + number) for number in range(question.splits))
    return [(train.with_cached_counts(), test) for train, test in both]


def told_rows(loaded: Loaded, train: EncodedDataset) -> int:
    """Training rows as they may be told: of private rows the public count. Raises SchemaError where there is none."""
    if loaded.role is not DataRole.PRIVATE:
        return train.n_rows
    if train.schema.n_public is None:
        raise SchemaError(
            "Poisoned rows are counted against all rows, and of private rows no count is public.",
            field="n_public",
            remedy="Declare a public row count on the Data page; rounded is fine.",
        )
    return train.schema.n_public


def _certifying(question: Question, loaded: Loaded, cell: Cell) -> Callable[..., Certified]:
    def make(progress: Callable[[float], None], stop: Callable[[], bool]) -> Certified:
        epsilon = cell.epsilon or ANY_EPSILON
        look: dict[str, Any] = {"workers": long_work.WORKERS, "progress": progress, "stop": stop}
        how: dict[str, Any] = {"epsilon": epsilon, "draws": question.draws, "seed": question.seed, **question.given}
        splits = _splits(question, loaded)
        n_train = told_rows(loaded, splits[0][0])
        table = replace(certify(cell.learner, splits, **how, **look), n_train=n_train)
        return Certified(cell.epsilon, claim_of(cell.learner, loaded.schema, epsilon, question.given), table)

    return make


def claim_of(learner: str, schema: Schema, epsilon: float, given: dict[str, Any]) -> str:
    """The verdict on a learner's claim with these settings."""
    spec = get_learner(learner)
    params = make_params(spec.Params, learner, {})
    return spec.claim(spec.plan(schema, Settings(epsilon=epsilon, **given), params), params, schema).verdict


def _attacking(attack: str, question: Question, loaded: Loaded, cell: Cell) -> Callable[..., pd.DataFrame]:
    def make(progress: Callable[[float], None], stop: Callable[[], bool]) -> pd.DataFrame:
        train, test = _splits(question, loaded)[0]
        look: dict[str, Any] = {"workers": long_work.WORKERS, "progress": progress, "stop": stop}
        n_train = told_rows(loaded, train)
        rows = sorted({max(2, round(share * n_train)) for share in ATTACKED})
        runs = RUNS if cell.epsilon is not None else 1  # without noise a run says all there is to say
        how: dict[str, Any] = {"draws": question.draws // runs, "runs": runs, "seed": question.seed, **question.given}
        how |= {"epsilon": cell.epsilon or ANY_EPSILON, "poisoned_rows": rows}
        found = attack_curve(attack, cell.learner, train, test, **how, **look)
        return found.assign(poisoned_share=found["poisoned_rows"] / n_train)

    return make


@st.cache_resource(show_spinner=False)
def pictures() -> tuple[EncodedDataset, EncodedDataset, Backdoor]:
    """(train, test, trigger): zeros and ones of the bundled digits, and a trigger in their corner."""
    data = two_classes(encoded_sample(PICTURES), 0, 1)
    train, test = data.split(0.3, seed=0)
    return train.with_cached_counts(), test, corner_backdoor(data.schema)


def backdoor_tiles(cells: Sequence[Cell], draws: int) -> list[Tile]:
    """One tile per curve of the backdoor; its value is a frame of `backdoor_curve`. Of public pictures, never of your rows."""
    return [Tile(json.dumps(["backdoor", cell.learner, cell.epsilon, draws]), _backdooring(cell, draws)) for cell in cells]


def _backdooring(cell: Cell, draws: int) -> Callable[..., pd.DataFrame]:
    def make(progress: Callable[[float], None], stop: Callable[[], bool]) -> pd.DataFrame:
        train, test, trigger = pictures()
        look: dict[str, Any] = {"workers": long_work.WORKERS, "progress": progress, "stop": stop}
        how: dict[str, Any] = {"runs": RUNS, "draws": draws // RUNS, "bound_draws": draws, "seed": 0}
        epsilon = cell.epsilon or ANY_EPSILON
        return backdoor_curve(cell.learner, train, test, trigger, epsilon=epsilon, poisoned_rows=TRIGGERED, **how, **look)

    return make
