"""What one row risks, for every learner: right guesses of 100 by e^epsilon and by what was really run.

Every learner is trained once on a small seeded table, so that its ledger is that of its own mechanisms; the numbers follow from
the ledger alone. Persons: three rows of one person, and three persons with one row each.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError
from dpviz.learners import fit, registry
from dpviz.randomness import generator
from dpviz.results.wording import rounded_up
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema, Target
from dpviz.training.contract import LearnerSpec

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.1, 1.0, 3.0)
#: Rows that are declared public, as many as usual tables have; the ledger depends on them, not on the rows.
N_PUBLIC = 30_000
NUMBERS = ("delta", "e^epsilon", "what was run", "3 rows of one person", "3 persons", "e^(3 epsilon)")
_TARGETS: dict[str, Target] = {"classes": ClassTarget("y", ("a", "b")), "number": NumericTarget("y", 0, 1)}


def table_of(task: str, n_rows: int = 300) -> EncodedDataset:
    """Seeded rows with two numbers and a category, three of each person."""
    rng = generator(7)
    features = (NumericFeature("x", 0, 1), NumericFeature("z", 0, 1), CategoricalFeature("c", ("p", "q", "r")))
    schema = Schema(features, _TARGETS[task], n_public=N_PUBLIC)
    x, z = rng.random((2, n_rows))
    target = (x > 0.5).astype(np.uint8) if task == "classes" else x
    columns = (x, z, rng.integers(3, size=n_rows).astype(np.uint8))
    return EncodedDataset(schema, columns, target, rows_per_person=3, persons=np.arange(n_rows) // 3)


def listed_settings() -> Iterator[tuple[str, LearnerSpec, str, dict[str, object]]]:
    """(title, learner, task, settings) of every line: each private learner as it comes, pf-tree in its forms too."""
    for spec in registry().values():
        if spec.spends_epsilon:
            for task in spec.tasks:
                yield f"`{spec.name}`" + (", a number" if task == "number" else ""), spec, task, {}
    tree = registry()["pf-tree"]
    yield "`pf-tree`, labels alone", tree, "classes", {"leaves": "labels"}
    yield "`s-gbdt-published`, no filter", registry()["s-gbdt-published"], "classes", {"filter": False}


def add_arguments(parser: ArgumentParser) -> None:
    """None: tables are made here."""


def measure(_: Namespace) -> pd.DataFrame:
    """Columns learner, epsilon, levels, delta, then right guesses of 100, rounded up: by e^epsilon alone, by what was run, for
    three rows of one person, for three persons, by e^(3 epsilon); why, where a learner refuses.
    """
    import pandas as pd

    lines = []
    for title, spec, task, settings in listed_settings():
        data = table_of(task)
        for epsilon in EPSILONS:
            line = {"learner": title, "epsilon": f"{epsilon:g}"}
            try:
                result = fit(spec.name, data, epsilon=epsilon, seed=1, **settings)  # type: ignore[arg-type]
                found = numbers(result.risk)
                lines.append(line | {"levels": f"{result.plan.depth}"} | dict(zip(NUMBERS, found, strict=True)))
            except DpvizError as problem:
                lines.append(line | {"why": str(problem)})
    return pd.DataFrame(lines)


def numbers(risk: Risk) -> list[str]:
    """The cells of a line after its levels: delta, and right guesses of 100."""
    if not risk.plain.is_finite:
        return ["", "100", "100", "100", "100", "100"]
    person, persons = risk.for_rows(3), risk.for_persons(3)
    found = (risk.plain.guesses_right, risk.guesses(), person.guesses(), persons.guesses(), person.plain.guesses_right)
    return [f"{risk.plain.delta:.3g}" if risk.plain.delta else "0", *(rounded_up(100 * share, 1) for share in found)]
