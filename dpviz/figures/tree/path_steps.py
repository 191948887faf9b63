"""Steps of a path, fitted and drawn where Streamlit is not: worker processes import this."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from dpviz.errors import DpvizError
from dpviz.evaluation.paths import path_step, references
from dpviz.evaluation.repeat import kept_here
from dpviz.figures.tree.paths import DrawnStep, step
from dpviz.learners import FitRequest
from dpviz.models.constant import as_tree
from dpviz.results.verdict import ROW, Unit
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole


@dataclass(frozen=True)
class PathSteps:
    """What is the same at every step of a path. `fold` draws the folded tree, `unit` is whom the rows protect."""

    train: EncodedDataset
    test: EncodedDataset
    role: DataRole
    fold: bool
    unit: Unit = ROW

    def steps(self, wanted: Sequence[tuple[float, FitRequest, int]]) -> list[DrawnStep | DpvizError]:
        """One step, or why the learner refuses it, per (value, request, draws to have room for); the fits share their counts."""
        train, rows = kept_here(self.train), self.train if self.role.may_show_rows else None
        lines = cache(lambda depth: references(self.train, self.test, max_depth=depth))

        def made(value: float, request: FitRequest, draws: int) -> DrawnStep | DpvizError:
            try:
                found = path_step(request, train, self.test, role=self.role)
            except DpvizError as problem:
                return problem.with_traceback(None)
            tree = as_tree(found.result.model)
            assert tree is not None
            beside = lines(request.depth_beside(train.schema))
            return step(value, found, tree, beside, rows=rows, fold=self.fold, draws=draws, unit=self.unit)

        return [made(*one) for one in wanted]
