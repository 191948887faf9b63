"""What is to be trained, in the one form in which sidebar, commands, planner, audits and sweeps ask for it, and on which rows.

What owners must hear before epsilon is spent on few of their rows is here too: private, for it follows from them.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache, singledispatch
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import guarantee, of_person
from dpviz.accounting.ledger import Ledger
from dpviz.accounting.plan import BudgetPlan
from dpviz.accounting.risk import Risk
from dpviz.errors import (
    LOST_ROWS,
    DpvizWarning,
    FewRowsWarning,
    ParameterError,
    PublicValuesWarning,
    RefusedRelease,
    SettingWarning,
    TableError,
    no_exact_sampler,
    not_row_wise,
)
from dpviz.learners.catalogue import get_learner, require_counts, require_task
from dpviz.privacy.source import ExactNoise, NoiseSource, Simulation
from dpviz.results.result import FitResult
from dpviz.results.verdict import Unit, Verdict, verdict
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.raw import load_readers
from dpviz.table.schema import Schema, require_no_persons, require_schema
from dpviz.table.validation import validate_count, validate_flag
from dpviz.training.contract import FitOutput, LearnerSpec, fit_with_test, plan_with_test, schema_disclosures
from dpviz.training.counted_rows import CountedRows, Rows
from dpviz.training.params import Settings, make_params

_SETTINGS = tuple(item.name for item in fields(Settings))
#: Settings that are always written out; the others only where they are not what they are by themselves.
_MAIN_SETTINGS = ("epsilon", "max_depth", "depth")
#: How often a fit is tried where rows are lost.
_TIMES = 3


@dataclass(frozen=True)
class FitRequest:
    """A learner, its settings and parameters, and whether the noise is simulated: everything about a fit but its rows.

    Checked once, when it is made. Raises UnknownName and ParameterError for what the learner does not take.
    """

    learner: str
    settings: Settings = field(default_factory=Settings)
    params: Any = field(default_factory=dict)  #: The learner's Params; given as a mapping, they are made from it
    seed: int | None = None  #: Simulates; None is a release
    unregistered: LearnerSpec | None = field(default=None, repr=False)  #: The learner itself where the registry does not know it

    def __post_init__(self) -> None:
        given = self.params if isinstance(self.params, Mapping) else asdict(self.params)
        object.__setattr__(self, "params", make_params(self.spec.Params, self.learner, dict(given)))
        if self.seed is not None:
            seed = validate_count("fit", "seed", self.seed, 0, allowed="a whole number of at least 0, or None for a release")
            object.__setattr__(self, "seed", seed)

    @classmethod
    def of(cls, learner: str | LearnerSpec, **given: Any) -> FitRequest:
        """From the arguments of `dpviz.fit`: seed, settings and the learner's own parameters in one.

        A `max_depth` of None, or none at all, is the learner's `default_max_depth`.
        """
        # a wrong name is told before a wrong setting
        spec = learner if isinstance(learner, LearnerSpec) else get_learner(learner)
        seed = given.pop("seed", None)
        settings = {name: given.pop(name) for name in _SETTINGS if name in given}
        if settings.get("max_depth") is None:
            settings["max_depth"] = spec.default_max_depth
        return cls(spec.name, Settings(**settings), given, seed, spec if isinstance(learner, LearnerSpec) else None)

    @property
    def spec(self) -> LearnerSpec:
        """The learner."""
        return self.unregistered or get_learner(self.learner)

    @property
    def given(self) -> dict[str, Any]:
        """The learner's own parameters that are not what they are by themselves."""
        usual = asdict(self.spec.Params())
        return {name: value for name, value in asdict(self.params).items() if value != usual[name]}

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `dpviz.fit` that say the same, but for learner and seed: plain JSON, defaults of most left out."""
        usual = Settings()
        told = {name: getattr(self.settings, name) for name in _SETTINGS}
        kept = {name: value for name, value in told.items() if name in _MAIN_SETTINGS or value != getattr(usual, name)}
        return kept | self.given

    @property
    def key(self) -> str:
        """One text for all seeds of a request, the same for equal ones: for caches."""
        return json.dumps([self.learner, self.arguments], sort_keys=True, allow_nan=False)

    def at(self, **changed: Any) -> FitRequest:
        """The same with another seed, other settings or parameters."""
        seed = changed.pop("seed", self.seed)
        settings = {name: changed.pop(name) for name in _SETTINGS if name in changed}
        params = {**asdict(self.params), **changed}
        return replace(self, settings=replace(self.settings, **settings), params=params, seed=seed)

    def plan(self, schema: Schema) -> BudgetPlan:
        """How its epsilon, that of a person, is to be spent by every row; raises SchemaError where a public value is missing."""
        return plan_with_test(self.spec, schema, self.settings, self.params)

    def comparison_depth(self, schema: Schema) -> int:
        """Levels of an ordinary tree to stand beside it: as many as its own, or as are usual, within its cap.

        Raises what `plan` does.
        """
        return max(self.plan(schema).depth, min(self.settings.max_depth, Settings().max_depth))

    def claim(self, schema: Schema) -> Claim:
        """What its source claims that a row loses by that plan, with our verdict."""
        return self.spec.claim(self.plan(schema), self.params, schema)

    def claim_of_person(self, schema: Schema) -> Claim:
        """The same of a person, who has up to `schema.rows_per_person` rows: the epsilon and delta that are asked for."""
        claim = self.claim(schema)
        return claim.of(of_person(claim.loss, schema.rows_per_person))

    def risk(self, schema: Schema, *, together: bool = False) -> Risk:
        """What a fit may tell about a row, whatever the rows; of a person `risk(schema).for_rows(schema.rows_per_person)`.

        `together`: the rows of a person are held out together, as those with a person column are. Raises what `plan` does, and
        `BudgetPlan.event`.
        """
        return _risk(self, schema, together)

    def releases(self, schema: Schema) -> bool:
        """True if a fit without a seed is a release: it spends epsilon, with exact samplers. Raises what `plan` does."""
        return self.spec.spends_epsilon and self.plan(schema).is_exact

    def verdict(self, schema: Schema, unit: Unit | None = None) -> Verdict:
        """What may be said of a release of it, without any row. Raises what `plan` does.

        `unit`: whom it protects, by default a person with up to `schema.rows_per_person` rows.
        """
        unit = unit or Unit(schema.rows_per_person)
        risk = self.risk(schema, together=unit.is_bounded)
        loss = guarantee(risk.event, unit.rows)
        return verdict(self.claim_of_person(schema), loss, released=True, unit=unit, risk=risk)

    def _noise(self) -> NoiseSource:
        return ExactNoise() if self.seed is None else Simulation(self.seed)

    def fit(self, rows: Rows, source: NoiseSource | None = None) -> FitResult:
        """Train. `source` is used instead of the seed. Raises what `dpviz.fit` does.

        Where a source lost what it kept of the rows, all begins anew, with fresh draws.
        """
        spec, schema = self.spec, rows.schema
        require_task(spec, schema)
        require_counts(spec, rows, self.settings.test_share)
        plan = self.plan(schema)
        noise = source or self._noise()
        if isinstance(noise, ExactNoise) and not plan.is_exact:
            raise no_exact_sampler(f"A mechanism of {spec.title}")
        if isinstance(noise, ExactNoise) and rows.not_row_wise:
            raise not_row_wise(rows.not_row_wise)
        for times_left in reversed(range(_TIMES)):
            try:
                grown = fit_with_test(spec, rows, plan, self.params, noise)
                break
            except TableError as error:
                if error.code != LOST_ROWS or not times_left:
                    raise
            noise = source or self._noise()  # nothing of the first times goes into anything
        return self.result(schema, plan, grown, noise, Unit(schema.rows_per_person, is_bounded=rows.rows_per_person is not None))

    def result(self, schema: Schema, plan: BudgetPlan, grown: FitOutput, noise: NoiseSource, unit: Unit) -> FitResult:
        """All that is to be said of what was trained by a plan, on rows of this schema, for this unit of privacy."""
        ledger = Ledger(grown.event)
        return FitResult(
            learner=self.spec.name,
            model=grown.model,
            ledger=ledger,
            claim=self.spec.claim(plan, self.params, schema),
            plan=plan,
            params=self.params,
            settings=self.settings,
            schema=schema,
            disclosures=(*schema_disclosures(schema), *grown.disclosures),
            noise=noise_of(noise, ledger),
            seed=getattr(noise, "seed", None),
            test_report=grown.test_report,
            unit=unit,
            releasable=plan.is_exact,
            planned=plan.event(shared=unit.is_bounded),
        )


def noise_of(source: NoiseSource, ledger: Ledger) -> str:
    """The kind of noise behind a ledger: "release" only where the source and every step say that its samplers were exact.

    Another source is a simulation, whatever it calls itself; so is a step that drew its noise past the source.
    """
    return (ExactNoise if type(source) is ExactNoise and ledger.is_exact else Simulation).name


@lru_cache(maxsize=256)
def _risk(request: FitRequest, schema: Schema, together: bool) -> Risk:
    return Risk(request.plan(schema).event(shared=together))


def fit(
    name: str,
    data: Any,
    *,
    epsilon: float,
    max_depth: int | None = None,
    depth: int | str = "auto",
    delta: float | None = None,
    seed: int | None = None,
    source: NoiseSource | None = None,
    schema: Schema | None = None,
    test_share: float | None = None,
    groups: str | None = None,
    accept_rows: bool = False,
    **params: Any,
) -> FitResult:
    """Train a learner.

    Parameters
    ----------
    name : str
        One of `learner_names()`.
    data : DataFrame of pandas or Polars, Arrow table, path, RawTable, EncodedDataset or CountedRows
        Private rows. Those that are not encoded yet need a schema.
    epsilon, delta : float
        Privacy loss of a person, all of whose rows (up to `schema.rows_per_person`; by default one) come or go together.
        delta None is automatic: 0, or the learner's own where it needs one. 0 where it needs one is an error.
    max_depth : int or None
        Caps the depth. None is the learner's own cap: 8 levels for PF-tree, 4 for others.
    depth : int or "auto"
        "auto" applies the learner's public depth rule where it has one; an integer fixes the depth.
    seed : int or None
        A seed simulates (repeatable, protects nobody). None releases with exact samplers and no seed.
    source : NoiseSource, optional
        Used instead of `seed`.
    schema : Schema, optional
        What is public about rows that are not encoded yet: the same as `encode` first.
    test_share : float, optional
        Part of the rows, at most half, held out at random for a private test result (`test_report`). It costs no further
        epsilon. None is the learner's rule: 5% where it has honest leaves (10% for a number), otherwise 0.
    groups : str, optional
        A categorical feature of 2 to 20 categories. The test then tells error and found share per category
        (`test_report.by_group`), at no further epsilon: its counts are divided, each with the same noise, so all its intervals
        are wider.
    accept_rows : bool
        Release although few of the rows are used, or far from as many as the schema declares; with a seed: do not warn of it.
    **params
        The learner's own parameters.

    Returns
    -------
    FitResult
        The model, made of released values alone, with its ledger and all that is to be said about it.

    Warns
    -----
    PublicValuesWarning
        When seed is None and something that must be public was read from the rows, or is disclosed by the learner.
    FewRowsWarning
        When no row, or fewer than half of them, can be used. It is as private as the rows.
    SettingWarning
        When a public rule replaced a value that was asked for, or the value changes nothing.

    Raises
    ------
    UnknownName, ParameterError, SchemaError
        For what was asked.
    UnsupportedError
        For another kind of target, or rows that are counted where they are, where the learner needs more than counts.
    RefusedRelease
        When seed is None and a mechanism of the learner has no exact sampler (no row was touched), or one row may have changed
        others (parts of a permuted split, cells that span lines), or few of the rows can be used, until `accept_rows`. That it is
        raised for these is private.
    """
    validate_flag("fit", "accept_rows", accept_rows)
    if source is not None and not hasattr(source, "draw"):
        raise ParameterError("fit", "source", source, "a source of noise, or None")
    settings = {"epsilon": epsilon, "max_depth": max_depth, "depth": depth, "delta": delta, "test_share": test_share}
    request, noise = FitRequest.of(name, seed=seed, groups=groups, **settings, **params), source
    rows = rows_of(data, schema)
    is_release = isinstance(noise, ExactNoise) or (noise is None and seed is None)
    if is_release and not accept_rows:
        require_task(request.spec, rows.schema)
        if request.releases(rows.schema):
            check_row_count(rows, accept="pass accept_rows=True")
    result = request.fit(rows, noise)
    warn_of_disclosures(result)
    warn_of(request, rows, accepted=accept_rows)
    return result


def warn_of(request: FitRequest, rows: Rows, *, accepted: bool = False, stacklevel: int = 3) -> None:
    """Warn the caller's caller of what `remarks` finds."""
    for remark in remarks(request, rows, accepted=accepted):
        warnings.warn(remark, stacklevel=stacklevel)


def remarks(request: FitRequest, rows: Rows, *, accepted: bool = False) -> tuple[DpvizWarning, ...]:
    """What must not pass in silence about a fit on these rows, for Python, command line and page alike.

    Few usable rows (unless their owner has accepted them), values that a rule has replaced, and values without effect. The first
    is private, as the rows are; the others follow from public values. Ask after the fit: rows of a source are encoded by then.
    """
    few = "" if accepted else few_usable(rows)
    return (*((FewRowsWarning(few),) if few else ()), *remarks_on_settings(request, rows.schema))


def remarks_on_settings(request: FitRequest, schema: Schema) -> tuple[DpvizWarning, ...]:
    """What `remarks` says from public values alone. Raises what `FitRequest.plan` does."""
    asked, plan, spec = request.settings, request.plan(schema), request.spec
    notices: list[DpvizWarning] = [SettingWarning(sentence) for sentence in plan.replaced]
    if asked.delta and not plan.delta and spec.spends_epsilon:
        notices.append(SettingWarning(f"delta has no effect: {request.learner!r} spends none."))
    if getattr(request.params, "level_shares", None) and len({share.level for share in plan.shares}) == 1:
        together = f"its {plan.depth} levels are chosen together" if plan.depth > 1 else "the tree has one level"
        notices.append(SettingWarning(f"level_shares has no effect: {together}."))
    if asked.depth == "auto" and asked.max_depth > max(plan.depth, spec.default_max_depth) and spec.spends_epsilon:
        deepest = request.plan(replace(schema, n_public=_ANY_NUMBER)).depth  # by its rule, however many rows there are
        if deepest < asked.max_depth:
            what = f"max_depth = {asked.max_depth} has no effect: {request.learner!r} takes {deepest} levels at most by its rule."
            notices.append(SettingWarning(f"{what} depth={asked.max_depth} fixes them."))
    return tuple(notices)


_ANY_NUMBER = 10**9


def rows_of(rows: Any, schema: Schema | None = None) -> Rows:
    """Encoded rows as they are; any other rows encoded by `schema`.

    Raises ParameterError where encoded rows come with another schema, or others with none; and what `encode` raises.
    """
    if not isinstance(rows, (EncodedDataset, CountedRows)):
        if schema is None:
            allowed = "given with rows that are not encoded yet: a Schema, such as from load_schema or propose_schema"
            raise ParameterError("dpviz", "schema", None, allowed)
        load_readers(rows)
        return read_rows(rows, schema)
    if schema is not None:
        require_schema(schema)
    most = rows.schema.rows_per_person
    same = schema is None or replace(schema, person=None, rows_per_person=most) == rows.schema
    if schema is not None and not (same and schema.rows_per_person in (1, most)):
        raise ParameterError("dpviz", "schema", schema, "left out, or the one by which the rows were encoded")
    if schema is not None and schema.person is not None and rows.rows_per_person is None:
        require_no_persons(schema)
    return rows


def encoded_in_memory(owner: str, rows: Any, schema: Schema | None) -> EncodedDataset:
    """As `rows_of`, of rows that are looked at more than once; raises ParameterError where they are counted elsewhere."""
    encoded = rows_of(rows, schema)
    if not isinstance(encoded, EncodedDataset):
        raise ParameterError(owner, "data", type(encoded).__name__, "rows in memory")
    return encoded


@singledispatch
def read_rows(rows: Any, schema: Schema) -> Rows:
    """Rows encoded by a schema; `dpviz.rows` registers files that are larger than memory."""
    return encode(rows, schema)


#: Shares of the rows, in percent: the smallest that exceeds what is used unchanged is said, never the exact one.
SHARES = (10, 25, 50, 75, 90)
#: The used row count is far from the declared one beyond this factor, either way.
FAR = 1.25
_MAX_NAMES = 5


def doubts(data: Rows) -> tuple[str, ...]:
    """Sentences: few rows are used as they are, or far fewer or more than were declared; none where all is well. Private."""
    if not data.n_rows:
        return (few_usable(data),)
    sentences, report, declared = [], data.report, data.schema.n_public
    if report is not None and report.unchanged is not None and report.rows_read + report.malformed:
        used = 100 * report.unchanged / (report.rows_read + report.malformed)
        share = next((share for share in SHARES if used < share), None)
        if share:
            sentences.append(f"Fewer than {share}% of the rows are used unchanged; the others are dropped, clipped or replaced.")
    if declared is not None and not declared / FAR <= data.n_rows <= declared * FAR:
        which = "fewer" if data.n_rows < declared else "more"
        chosen = "depth and budget were chosen for those"
        sentences.append(f"Far {which} rows are used than the {declared:,} that are declared; {chosen}.")
    return tuple(sentences)


def few_usable(data: Rows) -> str:
    """A sentence where no row can be used, or fewer than half of them; else empty. No count, but private all the same.

    A row that is clipped, rounded or replaced by a rule is used; so is one beyond the rows that are kept of a person.
    """
    report = data.report
    if not data.n_rows:
        return f"No row is used. {_of_column(data)}".strip()
    if report is None or 2 * (report.rows_kept + report.over_limit) >= report.rows_read + report.malformed:
        return ""
    return f"Fewer than 50% of the rows can be used; the others have missing or undeclared values. {_of_column(data)}".strip()


def _of_column(data: Rows) -> str:
    """Which column leaves out most rows, and what the schema wants of it; empty where none does."""
    left_out = Counter[str]()
    for counts in (
        () if data.report is None else (data.report.dropped_missing, data.report.dropped_unknown, data.report.dropped_target)
    ):
        left_out.update(dict(counts))
    if not left_out:
        return ""
    name = max(left_out, key=left_out.__getitem__)
    column = next((one for one in (*data.schema.features, data.schema.target) if one.name == name), None)
    known = getattr(column, "categories", getattr(column, "classes", ()))
    more = f" and {len(known) - _MAX_NAMES} more" if len(known) > _MAX_NAMES else ""
    wanted = (
        f"one of {', '.join(f'{text!r:.40}' for text in known[:_MAX_NAMES])}{more}" if known else "a number or date as declared"
    )
    return f"Most are left out by {name!r:.80}" + (f", which must be {wanted}." if column is not None else ".")


def check_row_count(data: Rows, *, accept: str, where: str = "") -> None:
    """Raise RefusedRelease where there are doubts, until the owner of the rows accepts them; `accept` says how."""
    sentences = doubts(data)
    if sentences:
        remedy = f"Correct the schema, or how the table is read, by what you know without the rows, or {accept}."
        remedy += " Nothing was spent. Keep this private."
        raise RefusedRelease(" ".join(sentences), where=where, remedy=remedy)


def warn_of_disclosures(result: FitResult) -> None:
    """Warn the caller's caller where exact noise went into something that is no release all the same: it discloses more."""
    if result.noise == ExactNoise.name and result.disclosures and result.ledger.guarantee.is_finite:
        warnings.warn(str(result.not_released_because), PublicValuesWarning, stacklevel=3)
