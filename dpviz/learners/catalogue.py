"""The registry of learners. A learner is a `LearnerSpec` in `native`, `published` or `references`, and a line here."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any

from dpviz.errors import UnknownName, UnsupportedError
from dpviz.learners.native import pf_tree, s_gbdt
from dpviz.learners.published import (
    bdpt,
    diffprivlib_tree,
    dp_mean,
    dpgdf,
    fs_tree,
    jpw_forest,
    logistic,
    majority,
    pf_forest,
    privatree,
    privatree_corrected,
    rgv_forest,
    smooth_forest,
)
from dpviz.learners.published.boosted import dpboost, s_gbdt_published
from dpviz.learners.references import cart, dpa, gbdt, random_forest
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, Schema
from dpviz.training.contract import LearnerSpec
from dpviz.training.counted_rows import Rows
from dpviz.training.params import controls_of

#: The learner shown first, and the one that an estimator of numbers has by itself: for numbers, many small trees predict better.
DEFAULT = "pf-tree"
DEFAULT_OF_NUMBERS = "s-gbdt"
#: Parameters that documents written before may state.
FORMER_PARAMETERS = {
    "dpboost": ("leaf_clipping",),
    "s-gbdt": ("trees", "numeric_weight", "sampling", "filter", "extra_rounds", "static_noise"),
    "s-gbdt-published": ("printed_noise",),
}


#: Every learner: the default first, private learners before baselines.
LEARNERS: tuple[LearnerSpec, ...] = (
    pf_tree.LEARNER,
    bdpt.LEARNER,
    diffprivlib_tree.LEARNER,
    dpboost.LEARNER,
    dpgdf.LEARNER,
    fs_tree.LEARNER,
    jpw_forest.LEARNER,
    logistic.LEARNER,
    pf_forest.LEARNER,
    privatree.LEARNER,
    privatree_corrected.LEARNER,
    privatree.LEARNER_STAR,
    rgv_forest.LEARNER,
    s_gbdt.LEARNER,
    s_gbdt_published.LEARNER,
    smooth_forest.LEARNER,
    cart.LEARNER,
    cart.LEARNER_OF_NUMBERS,
    dp_mean.LEARNER,
    dpa.LEARNER,
    gbdt.LEARNER,
    majority.LEARNER,
    random_forest.LEARNER,
)


@cache
def registry() -> Mapping[str, LearnerSpec]:
    """Name -> LearnerSpec, in the order of `LEARNERS`."""
    return MappingProxyType({spec.name: spec for spec in LEARNERS})


def learner_names() -> tuple[str, ...]:
    """Names of all learners, the default first."""
    return tuple(registry())


def get_learner(name: str) -> LearnerSpec:
    """The learner called `name`; raises UnknownName."""
    if not isinstance(name, str) or name not in registry():
        raise UnknownName("learner", name, registry())
    return registry()[name]


def learners_for(schema: Schema) -> tuple[str, ...]:
    """Names of the learners that predict this kind of target, in the order of `learner_names()`: a tree first."""
    return tuple(name for name, spec in registry().items() if _kind(schema) in spec.tasks)


def require_task(spec: LearnerSpec, schema: Schema) -> None:
    """Raise UnsupportedError when the learner does not predict this kind of target."""
    if _kind(schema) not in spec.tasks:
        predicts, is_a = ("classes", "a number") if _kind(schema) == "number" else ("numbers", "classes")
        what = f"The learner {spec.name!r} predicts {predicts}, but the target {schema.target.name!r} is declared as {is_a}."
        fitting = learners_for(schema)
        named = f" ({', '.join(fitting[:4])}{', ...' if len(fitting) > 4 else ''})" if fitting else ""
        remedy = f"Choose a learner for this kind of target{named}, or declare the target differently."
        raise UnsupportedError(what, remedy=remedy, fitting=fitting)


def require_counts(
    spec: LearnerSpec, data: Rows | Schema, test_share: float | None = None, *, most_rows: int | None = None
) -> None:
    """Raise UnsupportedError where a learner, or its test, needs more of rows than their counts.

    Given the schema alone: of rows that are to be counted where they are, before any of them is read. So many fit into memory.
    """
    if isinstance(data, EncodedDataset):
        return
    able = [name for name in learners_for(data if isinstance(data, Schema) else data.schema) if registry()[name].counts]
    most_rows = most_rows or (None if isinstance(data, Schema) else data.most_rows_in_memory)
    memory = "in memory" if most_rows is None else f"in memory, where at most {most_rows:,} fit"
    if not spec.counts or (test_share and not spec.tests_itself):
        which = "A test of the learner" if spec.counts else "The learner"
        remedy = f"Choose a learner that needs only counts ({', '.join(able)})."
        raise UnsupportedError(f"{which} {spec.name!r} needs the rows themselves, {memory}.", remedy=remedy, fitting=able)


def _kind(schema: Schema) -> str:
    return "classes" if isinstance(schema.target, ClassTarget) else "number"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a learner: what it is called, what it is by itself, what it may be, and what it does."""

    name: str
    default: Any
    allowed: str  #: In words that follow "must be"
    about: str  #: One sentence or two


def parameters(learner: str) -> tuple[Parameter, ...]:
    """The learner's own parameters, which `dpviz.fit` takes beside epsilon, delta and the depths.

    Returns
    -------
    tuple of Parameter
        Each with `name`, `default`, `allowed` and `about`; empty for a learner without any.

    Raises
    ------
    UnknownName
        There is no such learner.
    """
    kind = get_learner(learner).Params
    usual, controls = kind(), controls_of(kind)
    told = ((item.name, controls[item.name]) for item in fields(kind))
    return tuple(Parameter(name, getattr(usual, name), of.allowed, f"{of.label}. {of.help}") for name, of in told)
