"""The registry: a file in `ours`, `published` or `references` that defines LEARNER is a learner. Adding one is one new file."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral
from pkgutil import walk_packages
from types import MappingProxyType
from typing import Any

from dpviz.accounting.ledger import Ledger
from dpviz.errors import CannotCount, NotRowWise, ParameterError, UnknownName, WrongTask
from dpviz.privacy.source import ExactNoise, NoiseSource, Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, Schema
from dpviz.training.contract import FitResult, LearnerSpec, schema_disclosures
from dpviz.training.counting.contract import Rows
from dpviz.training.honest.testing import fit_with_test, plan_with_test
from dpviz.training.params import Settings, make_params

#: The learner shown first, for classes and for a number.
DEFAULT = "pf-tree"
DEFAULT_OF_NUMBERS = "s-gbdt"


def declared() -> tuple[LearnerSpec, ...]:
    """All learners, also those whose package is not installed; the default first, private learners before baselines."""
    modules = (import_module(module.name) for module in walk_packages(__path__, f"{__name__}.") if not module.ispkg)
    specs = [module.LEARNER for module in modules if hasattr(module, "LEARNER")]
    return tuple(sorted(specs, key=lambda spec: (spec.name != DEFAULT, spec.is_baseline, spec.name)))


@cache
def registry() -> Mapping[str, LearnerSpec]:
    """Name -> LearnerSpec of those that can be used here, in the order of `declared`."""
    return MappingProxyType({spec.name: spec for spec in declared() if not spec.needs or find_spec(spec.needs)})


def learner_names() -> tuple[str, ...]:
    """Names of all learners, the default first."""
    return tuple(registry())


def get_learner(name: str) -> LearnerSpec:
    """The learner called `name`; raises UnknownName."""
    if name not in registry():
        raise UnknownName("learner", name, registry())
    return registry()[name]


def learners_for(schema: Schema) -> tuple[str, ...]:
    """Names of the learners that predict this kind of target: the one shown first, then in the order of `learner_names()`."""
    kind = _kind(schema)
    names = [name for name, spec in registry().items() if kind in spec.tasks]
    return tuple(sorted(names, key=lambda name: kind == "number" and name != DEFAULT_OF_NUMBERS))


def require_task(spec: LearnerSpec, schema: Schema) -> None:
    """Raise WrongTask when the learner does not predict this kind of target."""
    if _kind(schema) not in spec.tasks:
        kinds = ("classes", "a number") if _kind(schema) == "number" else ("numbers", "classes")
        raise WrongTask(spec.name, kinds[0], schema.target.name, kinds[1], learners_for(schema))


def require_counts(spec: LearnerSpec, data: Rows | Schema, test_share: float | None = None) -> None:
    """Raise CannotCount where a learner, or its test, needs more than whoever counts the rows answers.

    Given the schema alone: of rows that are to be counted where they are, before any of them is read.
    """
    if isinstance(data, EncodedDataset):
        return
    schema = data if isinstance(data, Schema) else data.schema
    able = [name for name in learners_for(schema) if registry()[name].counts_only]
    if not spec.counts_only:
        raise CannotCount(f"The learner {spec.name!r} needs the rows themselves, in memory.", able)
    if test_share and not spec.tests_itself:
        raise CannotCount(f"A test of the learner {spec.name!r} needs the rows themselves, in memory.", able)
    if not isinstance(data, Schema):
        data.refuse(spec.name)


def _kind(schema: Schema) -> str:
    return "classes" if isinstance(schema.target, ClassTarget) else "number"


def fit(
    name: str,
    data: Rows,
    *,
    epsilon: float,
    max_depth: int = 4,
    depth: int | str = "auto",
    delta: float = 0.0,
    seed: int | None = None,
    source: NoiseSource | None = None,
    test_share: float | None = None,
    **params: Any,
) -> FitResult:
    """Train a learner.

    Parameters
    ----------
    name : str
        One of `learner_names()`.
    data : EncodedDataset or CountedRows
        Private rows, in memory or counted where they are.
    epsilon, delta : float
        Privacy loss under add/remove one row.
    max_depth : int
        Caps the depth.
    depth : int or "auto"
        "auto" applies the learner's public depth rule where it has one; an integer fixes the depth.
    seed : int or None
        A seed simulates (repeatable, protects nobody). None releases with exact samplers and no seed.
    source : NoiseSource, optional
        Used instead of `seed`.
    test_share : float, optional
        Part of the rows, at most half, that secret coins keep for a private test result (`test_report`). It costs no further
        epsilon. None is the learner's rule: 5% where it has honest leaves (10% for a number), otherwise 0.
    **params
        The learner's own parameters.

    Raises
    ------
    UnknownName, ParameterError, WrongTask, SchemaError
        For what was asked.
    NotReleasable
        When seed is None and a mechanism has no exact sampler.
    CannotCount
        When rows are counted where they are, and the learner needs more than counts.
    NotRowWise
        When seed is None and one row may have changed others: parts of a permuted split, cells that span lines.
    """
    spec = get_learner(name)
    require_task(spec, data.schema)
    settings = Settings(epsilon, max_depth, depth, delta, test_share)  # type: ignore[arg-type]
    require_counts(spec, data, test_share)
    chosen = make_params(spec.Params, name, params)
    plan = plan_with_test(spec, data.schema, settings, chosen)
    noise = source or _source_of(seed)
    if isinstance(noise, ExactNoise) and data.not_row_wise:
        raise NotRowWise(data.not_row_wise)
    grown = fit_with_test(spec, data, plan, chosen, noise)
    return FitResult(
        learner=name,
        model=grown.model,
        ledger=Ledger(grown.event),
        claim=spec.claim(plan, chosen, data.schema),
        plan=plan,
        params=chosen,
        settings=settings,
        schema=data.schema,
        disclosures=(*schema_disclosures(data.schema), *grown.disclosures),
        noise=noise.name,
        seed=getattr(noise, "seed", None),
        test_report=grown.test_report,
        rows_per_person=data.rows_per_person,
    )


def _source_of(seed: int | None) -> NoiseSource:
    if seed is None:
        return ExactNoise()
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise ParameterError("fit", "seed", seed, "a whole number of at least 0, or None for a release")
    return Simulation(int(seed))
