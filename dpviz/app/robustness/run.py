"""What the Robustness page computes: curves and measured attacks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dpviz.app import background
from dpviz.app.explorations import keep_unnoted, note
from dpviz.app.robustness.ask import Cell, RobustnessRequest
from dpviz.app.state import Loaded
from dpviz.errors import SchemaError
from dpviz.evaluation.robustness.attacks import attack_curve
from dpviz.evaluation.robustness.poisoning import certify
from dpviz.figures.robustness import Certified
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole

if TYPE_CHECKING:
    import pandas as pd

CURVES, ATTACK = "robustness", "robustness-attack"
#: Other curves, or attacks, that can be shown again without computing: of this session, and of all about the bundled samples.
KEPT = 400
TEST_SHARE = 0.2
#: Shares of the training rows at which attacks are measured.
ATTACKED = (0.005, 0.01)
RUNS = 2

Split = tuple[EncodedDataset, EncodedDataset]


def curves_task(request: RobustnessRequest, loaded: Loaded) -> background.Task:
    """A part per curve; values are Certified."""
    makes = {_key("curve", request, loaded, cell): partial(_curve, request, loaded, cell) for cell in request.cells}
    about = (loaded.data.fingerprint, str(loaded.role))
    more: dict[str, Any] = {"keep": KEPT, "shared": loaded.is_as_bundled}
    return background.in_parts(CURVES, makes, fallback_key=about, asked=request, **more)


def attacks_task(request: RobustnessRequest, loaded: Loaded, attacks: Sequence[str]) -> background.Task:
    """A part per attack and curve; values are frames of `attack_curve`."""
    pairs = [(attack, cell) for attack in attacks for cell in request.cells]
    makes = {_key(attack, request, loaded, cell): partial(_attack, attack, request, loaded, cell) for attack, cell in pairs}
    return background.in_parts(ATTACK, makes, asked=request, keep=KEPT, shared=loaded.is_as_bundled)


def begin_noted(task: background.Task, request: RobustnessRequest, loaded: Loaded) -> None:
    """Begin; on private rows that is an exploration no guarantee covers, and it is noted."""
    times = max(1, background.state(task).n_missing * request.draws * request.splits)
    keep_unnoted(note(loaded, "curves on the Robustness page", ", ".join(request.learners), {}, times=times))
    background.start(task)


def _key(kind: str, request: RobustnessRequest, loaded: Loaded, cell: Cell) -> Hashable:
    about = (request.depth, request.draws, request.splits, request.seed)
    return (kind, loaded.data.fingerprint, str(loaded.role), cell.learner, cell.epsilon, *about)


def _splits(request: RobustnessRequest, loaded: Loaded) -> list[Split]:
    both = (loaded.data.split(TEST_SHARE, seed=request.seed + number) for number in range(request.splits))
    return [(train.with_cached_counts(), test) for train, test in both]


def told_rows(loaded: Loaded, train: EncodedDataset) -> int:
    """Training rows as they may be told: of private rows the public count. Raises SchemaError where there is none."""
    if loaded.role is not DataRole.PRIVATE:
        return train.n_rows
    if train.schema.n_public is None:
        what = "Poisoned rows are counted against all rows, and of private rows no count is public."
        remedy = "Declare a public row count on the Data page; rounded is fine."
        raise SchemaError(what, field="n_public", remedy=remedy)
    return train.schema.n_public


def _curve(request: RobustnessRequest, loaded: Loaded, cell: Cell, **how: Any) -> Certified:
    asked, splits = request.fit_of(cell), _splits(request, loaded)
    n_train = told_rows(loaded, splits[0][0])
    table = certify(asked, splits, draws=request.draws, seed=request.seed, workers=background.WORKERS, **how)
    risk = None if cell.epsilon is None else asked.risk(loaded.schema)
    return Certified(cell.epsilon, asked.claim(loaded.schema).verdict, replace(table, n_train=n_train), risk)


def _attack(attack: str, request: RobustnessRequest, loaded: Loaded, cell: Cell, **how: Any) -> pd.DataFrame:
    train, test = _splits(request, loaded)[0]
    n_train = told_rows(loaded, train)
    rows = sorted({max(2, round(share * n_train)) for share in ATTACKED})
    runs = RUNS if cell.epsilon is not None else 1  # without noise a run says all there is to say
    how |= {"draws": request.draws // runs, "runs": runs, "seed": request.seed, "workers": background.WORKERS}
    found = attack_curve(attack, request.fit_of(cell), train, test, poisoned_rows=rows, **how)
    return found.assign(poisoned_share=found["poisoned_rows"] / n_train)
