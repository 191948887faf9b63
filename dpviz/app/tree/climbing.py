"""Steps of a ladder, fitted and drawn where Streamlit is not: worker processes import this."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dpviz.errors import DpvizError
from dpviz.evaluation.tree.ladder import references, rung
from dpviz.evaluation.workers import kept_here
from dpviz.figures.tree.ladder import Step, step
from dpviz.models.constant import as_tree
from dpviz.table.dataset import EncodedDataset


@dataclass(frozen=True)
class Climb:
    """What is the same at every step of a ladder; `same` are arguments of `rung` besides the rows and the settings of a step.

    `fold` draws the folded tree; with `counts_rows`, lines may be as wide as the rows they stand for.
    """

    learner: str
    train: EncodedDataset
    test: EncodedDataset
    same: Mapping[str, Any]
    fold: bool
    counts_rows: bool

    def steps(self, wanted: Sequence[tuple[float, Mapping[str, Any]]]) -> list[Step | DpvizError]:
        """One step, or why the learner refuses it, per (value, settings); the fits share their counts."""
        train, rows = kept_here(self.train), self.train if self.counts_rows else None
        lines = cache(lambda depth: references(self.train, self.test, max_depth=depth))

        def made(value: float, settings: Mapping[str, Any]) -> Step | DpvizError:
            try:
                found = rung(self.learner, train, self.test, **self.same, **settings)
            except DpvizError as problem:
                return problem.with_traceback(None)
            tree = as_tree(found.result.model)
            assert tree is not None
            return step(value, found, tree, lines(settings["max_depth"]), rows=rows, fold=self.fold)

        return [made(*one) for one in wanted]
