"""The ratio of the probabilities of everything that a fit released, on two tables.

A fit on one table is recorded: every mechanism, what it was asked about, what came out. Then the learner runs on the other table
and is given the same outcomes, so it asks the same questions of other rows. The mechanisms' laws say how likely each answer was
on either table; the logarithms of their ratios add up.

Who is in which part of a random assignment is not released: probabilities are averaged over the parts of the canary, and all
other rows are taken to be in the first part, where most of them are. That is exact where there are no others, and near it where
only the first part tells of them. Nor is who takes part in a round on a Poisson sample: each round is averaged over whether the
canary does, which is exact where there are no others, the only case for which it is done. Of several equal canaries as many as
usual take part, which is near the average over all numbers of them.

The laws decide what is guessed, never whether it was right: a mechanism that does not keep its law is still found out.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import repeat
from typing import Any

import numpy as np

from dpviz.accounting.gaussian import bisect, gaussian_epsilon
from dpviz.accounting.guarantee import PrivacyLoss, for_unit
from dpviz.accounting.risk import MAX_ROWS
from dpviz.errors import DpvizError, ParameterError, UnsupportedError
from dpviz.evaluation.audit.evidence import BoundLearner, BoundVerdict, column_names, exceeds, rows_in_words, typical
from dpviz.evaluation.audit.verify import Pair, default_audit_pairs, empty_and_one_row, opposed_row, require_neighbours
from dpviz.evaluation.metrics import clopper_pearson
from dpviz.evaluation.repeat import Workers, checked_workers, in_chunks
from dpviz.learners import FitRequest, registry, require_task
from dpviz.models.base import Model, ScoreMixin
from dpviz.models.document import model_body
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.random_assignment import PoissonSample, RandomAssignment
from dpviz.privacy.source import Mechanism, Simulation
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import child_seeds, generator
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget
from dpviz.table.validation import validate_count, validate_fraction
from dpviz.training.contract import FitOutput, LearnerSpec

#: Outcomes whose ratio is remembered; noise in many steps never repeats.
_CACHE_SIZE = 4096


@dataclass(frozen=True, slots=True)
class Step:
    """A draw: what was asked of a mechanism, and what came out. `values` are private: those of a simulated or public table."""

    mechanism: Mechanism
    values: Any = field(repr=False)
    outcome: Any


class Recording(Simulation):
    """A simulation that keeps every draw, exact values too. It is for audits alone; nothing that came from it is a release."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.steps: list[Step] = []

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """One draw, which is kept."""
        outcome = super().draw(mechanism, values)
        self.steps.append(Step(mechanism, values.copy() if isinstance(values, np.ndarray) else values, outcome))
        return outcome


class Replay:
    """A NoiseSource that gives recorded outcomes again, and adds up how much likelier they are here than there."""

    name = "replay"
    seed = None

    def __init__(self, recorded: Sequence[Step], assigned: tuple[int, ...] = (), chance: float = 1.0, canaries: int = 1) -> None:
        self._left, self._canaries = list(reversed(recorded)), canaries
        self._assigned, self.chance = assigned, chance  #: The part of every row, where rows are assigned, and its probability
        self.values: list[Any] = []  #: Of every other draw
        self.rates = [1.0]  #: With what probability canaries take part in each round, and
        self.log_ratios = [0.0]  #: ln of the ratio of what came out in it, if they do

    def enter(self, place: int) -> None:
        """Nothing: outcomes are given."""

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """The recorded outcome. Raises UnsupportedError where something else was asked, or its law is not known."""
        if not self._left:
            raise _other_steps()
        step = self._left.pop()
        if type(mechanism) is not type(step.mechanism):
            raise _other_steps()
        if isinstance(mechanism, RandomAssignment):
            return np.array(self._assigned, dtype=np.uint8)
        if isinstance(mechanism, PoissonSample):
            if values > self._canaries:
                raise UnsupportedError(
                    "Rows are sampled in too many ways to average over.", remedy="Attack what is published instead."
                )
            usual = max(1, round(mechanism.rate * self._canaries))
            self.rates.append(min(1.0, mechanism.rate * self._canaries / usual))
            self.log_ratios.append(0.0)
            return np.arange(values) < usual
        self.values.append(values)
        self.log_ratios[-1] += _log_ratio(step, mechanism, values)
        return step.outcome

    def finish(self) -> np.ndarray:
        """ln of the ratio of all outcomes together, round by round. Raises UnsupportedError where some were not asked for."""
        if self._left:
            raise _other_steps()
        return np.array(self.log_ratios)


def _log_ratio(step: Step, mechanism: Any, values: Any) -> float:
    if mechanism == step.mechanism and _equal(values, step.values):
        return 0.0  # such as choices that look at no row, whatever their law
    if hasattr(mechanism, "log_likelihood") and mechanism == step.mechanism:
        return float(mechanism.log_likelihood(values, step.outcome) - mechanism.log_likelihood(step.values, step.outcome))
    if hasattr(mechanism, "probabilities") and np.ndim(step.outcome) == 0:
        replayed, recorded = mechanism.probabilities(values), step.mechanism.probabilities(step.values)  # type: ignore[attr-defined]
        with np.errstate(divide="ignore"):
            return float(np.log(replayed[step.outcome]) - np.log(recorded[step.outcome]))
    raise UnsupportedError(
        f"How likely an outcome of the mechanism {mechanism.title!r} is on both tables is not known.",
        remedy="Attack what is published instead.",
    )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _other_steps() -> DpvizError:
    what = "On neighbouring tables this learner takes other steps, so no law says how likely its outcomes are on both."
    return UnsupportedError(what, remedy="Attack what is published instead.")


#: Of every step: the least and the largest numbers to which noise may have been added; None where that is not asked.
_Limits = list[tuple[np.ndarray, np.ndarray] | None]


class LikelihoodRatios:
    """ln P(released | with the canary) - ln P(released | without) of fits on a pair of tables."""

    def __init__(self, planned: BoundLearner, tables: Pair) -> None:
        self.planned, self.tables = planned, tables
        self._canaries = tables[1].n_rows - tables[0].n_rows
        self._known: dict[Any, float] = {}
        self._counted: dict[Any, _Limits] = {}

    def draw(self, place: int, seed: int) -> float:
        """The ratio of a fit on one of the tables. Raises UnsupportedError where laws are not known."""
        return self.ratio(place, self.record(place, seed)[1])

    def record(self, place: int, seed: int) -> tuple[FitOutput, list[Step]]:
        """A fit on one of the tables, and its steps."""
        source = Recording(seed)
        return self.planned.fit(self.tables[place], source), source.steps

    def ratio(self, place: int, recorded: list[Step]) -> float:
        """The ratio of the steps of a fit on this table. Raises UnsupportedError where laws are not known."""
        from scipy.special import logsumexp

        seen = [step for step in recorded if not isinstance(step.mechanism, RandomAssignment | PoissonSample)]
        chosen = tuple(step.outcome for step in seen if np.ndim(step.outcome) == 0)
        key = tuple(map(_telling, seen, self._counted.get(chosen, repeat(None))))
        if key in self._known:
            return self._known[key]
        if len(seen) == len(recorded):  # nothing is secret: the recorded fit has the ratio 1 to itself
            [other] = self._replays(self.tables[1 - place], recorded)
            ratio = float(other.finish().sum()) * (-1 if place else 1)
            values_of_fits = [[step.values for step in seen], other.values]
        else:  # averaged over what is secret about the canary
            [alone], with_canary = (self._replays(table, recorded) for table in self.tables)
            base = alone.finish()
            ratio = float(
                logsumexp(
                    [math.log(one.chance) + np.log1p(one.rates * np.expm1(one.finish() - base)).sum() for one in with_canary]
                )
            )
            values_of_fits = [one.values for one in (alone, *with_canary)]
        if len(self._known) < _CACHE_SIZE:
            self._known[key] = ratio
        self._note_counted(chosen, [_noise_limits(step, values) for step, *values in zip(seen, *values_of_fits, strict=True)])
        return ratio

    def _note_counted(self, chosen: Any, limits: _Limits) -> None:
        if not _equal(tuple(self._counted.setdefault(chosen, limits)), tuple(limits)):  # what is asked follows noise too
            self._counted[chosen] = [None] * len(limits)
            self._known.clear()

    def _replays(self, table: EncodedDataset, recorded: Sequence[Step]) -> list[Replay]:
        """What was released, given again on a table: per part of the canary."""
        parts = _assignments(recorded, table.n_rows, self._canaries if table is self.tables[1] else 0)
        replays = [Replay(recorded, assigned, chance, self._canaries) for chance, assigned in parts]
        for replay in replays:
            self.planned.fit(table, replay)
        return replays


def _noise_limits(step: Step, values: Sequence[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    if not isinstance(step.mechanism, GeometricNoise):
        return None
    return np.min(values, axis=0), np.max(values, axis=0)


def _telling(step: Step, limits: tuple[np.ndarray, np.ndarray] | None) -> Any:
    """What of an outcome tells the tables apart: beyond the limits every geometric count is equally telling."""
    if np.ndim(step.outcome) == 0:
        return step.outcome
    return (step.outcome if limits is None else np.clip(step.outcome, *limits)).tobytes()


def _assignments(recorded: Sequence[Step], n_rows: int, canaries: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every part of the canary with its probability, others in the first; one that says nothing where none was drawn.

    Several canaries are in the parts as the shares say.
    """
    random = [step.mechanism for step in recorded if isinstance(step.mechanism, RandomAssignment)]
    if len(random) > 1:
        what = "Rows are assigned more than once, in too many ways to average over."
        raise UnsupportedError(what, remedy="Attack what is published instead.")
    others = (0,) * (n_rows - canaries)
    if not random or not canaries:
        yield 1.0, (0,) * n_rows
        return
    shares = (1 - sum(random[0].shares), *random[0].shares)
    if canaries > 1:
        ends = np.round(np.cumsum(shares) * canaries)
        yield 1.0, (*others, *np.searchsorted(ends, np.arange(canaries), side="right").tolist())
        return
    for part, share in enumerate(shares):
        yield share, (*others, part)


# --- Audit by attack: a lower confidence bound on epsilon from many draws of a learner.

# Every draw includes the canary, one row, with probability 1/2, and a guesser who sees what was released says whether it is
# there, or nothing. Under epsilon a guess is right with probability at most e^epsilon / (1 + e^epsilon), whatever was guessed
# before; delta adds a little. So many right guesses refute every epsilon under which they are unlikely. How to guess is chosen
# on draws of its own.
#
# Next to a small delta that shows hardly anything of Gaussian noise: what makes its epsilon is seen once in millions of draws.
# There the guesser guesses every time. The share of right guesses that a ledger allows follows from all of its steps (`risk`);
# more than that refutes it. Of Gaussian noise that moves by mu it is Phi(mu / 2), so a lower limit of the share is one of mu, and
# that one of epsilon at the delta: for Gaussian noise alone. What guesses show of any noise is computed too, at a tenth of the
# doubt, and decides on claims.
#
# The best guess is by the ratio of the probabilities of everything released, with the canary and without it (Neyman & Pearson
# 1933; `LikelihoodRatios`), where these are known; else by what the model says.
#
# One row at a small epsilon moves hardly anything: to show half of it takes draws by the square of 1 / epsilon. So several equal
# canaries are in or out together. What k rows move is k times as much at most, of epsilon and of mu alike (group privacy), and
# what is shown of k rows is shown of one, divided by k.
#
# The bound is the least privacy loss at the stated confidence; a small bound shows nothing.
#
# Source: Steinke, Nasr & Jagielski 2023, "Privacy auditing with one (1) training run", Algorithm 1 and Theorem 2.1; Nasr et al.
# 2023, "Tight auditing of differentially private machine learning" (a bound on mu, then on epsilon); Dong, Roth & Su 2022 (also
# Theorem 2.14: groups).

#: Draws between two checks of `stop`.
CHUNK = 50
#: Rows of a group of canaries times epsilon: of pure noise, and next to a delta, where larger groups are seen in fewer draws, up
#: to as many as a ledger's trade-off curve is known for.
GROUP, GROUP_BESIDE_DELTA = 1.0, 5.0
#: Draws on each pair that choose the pair and what is looked at: a twentieth of the draws, at least and at most so many.
PILOT = (100, 200)
#: Quantiles of the scores among which the limits of a guess are chosen.
LIMITS = 20
#: What a guess may rest on.
RATIO = "the likelihood ratio of everything released"
SCORE = "the score of the canary"
RULE = "the rule at the root"
RULE_AND_PREDICTION = "the rule at the root and the prediction for the canary"
#: Cells of the declared range to which a predicted number is rounded.
CELLS = 16
#: No bound is above this.
_MAX_BOUND = 30.0
#: The share of the doubt that goes to the bound of Gaussian noise, where there is a delta.
_OF_GAUSSIANS = 0.9
#: At most so many looks at models compete, whose bounds by few draws of Gaussian noise exceed what is proved by chance.
_LOOKS = 20
#: Nearly every guess: more is that of no Gaussian mechanism.
_SURE = 1 - 1e-15
_STEPS = 50


@dataclass(frozen=True, kw_only=True)
class LowerBound(BoundVerdict):
    """The least privacy loss of a learner that an attack shows; "holds" says only that nothing was found."""

    #: Lower bound on epsilon, with confidence `confidence`. With a delta: every Gaussian mechanism is refuted whose epsilon at
    #: that delta is less, because it allows fewer right guesses than `right`; of other noise `any_noise` is the bound.
    #: It is of one row, however many canaries there were.
    bound: float
    confidence: float
    #: The bound that as many tries show of a mechanism that loses all that is proved: randomised response, or with a delta the
    #: Gaussian mechanism. Half of such attacks show more.
    perfect: float
    event: str  #: What the guesses rest on
    hits: tuple[int, int]  #: Wrong and right guesses
    n_tested: int  #: Tries: draws that were guessed about, or not
    #: n_asked, n_done: draws; fewer are done after a stop.
    n_asked: int
    n_done: int
    canary: tuple[tuple[str, str], ...] = field(repr=False)  #: (column, value) of the extra row. Private, if the rows are
    delta: float = 0.0  #: Of the guarantee under attack
    right: float | None = None  #: With a delta: lower limit of the share of right guesses, where one is made every time
    any_noise: float | None = None  #: With a delta: lower bound on epsilon whatever the noise
    rows: int = 1  #: Equal canaries that were in or out together

    @property
    def unconditional(self) -> float:
        """The lower bound on epsilon that supposes nothing of the noise: `bound`, or with a delta `any_noise`."""
        return self.bound if self.any_noise is None else self.any_noise

    @property
    def strength(self) -> float:
        """The bound as a share of what is proved, under delta of `perfect`; 0 where nothing finite is proved."""
        most = self.perfect if self.delta else self.composed
        return self.bound / most if 0 < most < math.inf else 0.0


def audit(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    seed: int,
    pair: Pair | None = None,
    draws: int = 8000,
    beta: float = 0.05,
    max_depth: int = 1,
    delta: float | None = None,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> LowerBound:
    """Attack a learner with a canary and bound its epsilon from below.

    Source: Steinke, Nasr & Jagielski 2023; with a delta Nasr et al. 2023.

    Parameters
    ----------
    learner : str or LearnerSpec
    epsilon, delta : float
        Claimed privacy loss under add/remove one row; delta as `dpviz.fit` takes it.
    seed : int
        Repeatable; the number of workers changes nothing.
    pair : (EncodedDataset, EncodedDataset), optional
        Without and with the canary, which is the last row. By default the best of a few, and beside a delta
        the one that tells most of boosting; at a small epsilon several equal canaries are in or out together.
    draws : int
        Fits, besides those that choose what is looked at.
    beta : float
        The bound is above the truth with at most this probability.
    max_depth : int
        Depth of the trees.
    workers : int or concurrent.futures.Executor
        Processes that draw. Only for registered learners.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between chunks of draws; the bound from the draws done so far is returned.
    **params
        The learner's own parameters.

    Returns
    -------
    LowerBound
        Of the epsilon of one row, with what a perfect attack would have shown; `verdict` says whether the claim can hold.

    Raises
    ------
    ParameterError, UnsupportedError, DpvizError
        For what was asked; for a learner of another task; for a pair that are not neighbours.
    """
    started = time.perf_counter()
    draws, seed = validate_count("audit", "draws", draws, 2), validate_count("audit", "seed", seed, 0)
    max_depth, beta = validate_count("audit", "max_depth", max_depth), validate_fraction("audit", "beta", beta)
    if checked_workers("audit", workers) != 1 and not isinstance(learner, str):
        raise ParameterError("audit", "workers", workers, "1 for a learner that is not given by name")
    request = FitRequest.of(learner, epsilon=epsilon, max_depth=max_depth, depth=max_depth, delta=delta, **params)
    for_pilot, for_draws = child_seeds(seed, 2)
    if pair is None:
        tasks = [_Canary(request, *tables) for tables in _groups(request)]
    else:
        require_neighbours(*pair)
        tasks = [_Canary(request, pair)]
    task = _choose_task(tasks, _seeds(for_pilot, min(max(draws // 20, PILOT[0]), PILOT[1])), draws, beta, stop)
    how: dict[str, Any] = {"workers": workers, "progress": progress, "stop": stop}
    show = replace(task).show  # without what was computed here
    observations = [one for chunk in in_chunks(show, _seeds(for_draws, draws), CHUNK, **how) for one in chunk]
    composed, delta = task.planned.composed, task.planned.delta  # not of one fit, which may have stopped early
    included, seen = ([one[side] for one in observations] for side in (0, 1))
    test = partial(task.guess, np.array(included, dtype=bool), np.array(seen), beta=beta)
    risk = task.planned.request.risk(task.planned.schema).for_persons(task.rows).guesses() if delta else 1.0
    guesses = test(always=delta > 0)
    if not delta:
        bound = guesses.bound(beta=beta, rows=task.rows)
        fields: dict[str, Any] = task.planned.verdict_fields(bound)
    else:
        right = guesses.least_right(_OF_GAUSSIANS * beta)
        bound = gaussian_bound(right, delta, task.rows)
        any_noise = test(always=False).bound(beta=(1 - _OF_GAUSSIANS) * beta, delta=delta, rows=task.rows)
        fields = task.planned.verdict_fields(any_noise) | {"right": right, "any_noise": any_noise}
        if exceeds(right, risk):
            fields["verdict"] = "ledger violated"
    return LowerBound(
        **fields | {"seconds": time.perf_counter() - started},
        bound=bound,
        confidence=1 - beta,
        perfect=perfect_bound(guesses.n_tried, composed.epsilon, risk, beta=beta, delta=delta, rows=task.rows),
        event=f"{task.observed}: {guesses.words}",
        hits=(guesses.n_guesses - guesses.n_right, guesses.n_right),
        n_tested=guesses.n_tried,
        n_asked=draws,
        n_done=len(observations),
        canary=tuple(zip(column_names(task.canary.schema), rows_in_words(task.canary)[0], strict=True)),
        delta=delta,
        rows=task.rows,
    )


def _groups(request: FitRequest) -> Iterator[tuple[Pair, int]]:
    """Pairs of tables, and how many equal canaries the second has more: as many as epsilon hides and, without a delta, one.

    What has a delta boosts. Among others that it learns instead a canary tells the most, but samples are averaged over only where
    there are no others. Of a learner that is not registered nobody knows whether it samples.
    """
    task, epsilon = request.spec.tasks[0], request.settings.epsilon
    has_delta = typical(request.spec, epsilon=epsilon, delta=request.settings.delta, **request.given).delta > 0
    together = min(math.ceil(GROUP_BESIDE_DELTA / epsilon), MAX_ROWS) if has_delta else math.ceil(GROUP / epsilon)
    boosted: tuple[Pair, ...] = (empty_and_one_row(task), opposed_row(task))
    if registry().get(request.learner) is request.spec:
        is_sampled = getattr(request.params, "sampling", 1.0) < 1.0
        boosted = boosted[:1] if is_sampled else boosted[1:]
    for rows in {together} if has_delta else sorted({1, together}):
        for pair in boosted if has_delta else default_audit_pairs(task, rows * epsilon):
            with_canaries = pair[1].take(np.repeat(np.arange(pair[1].n_rows), rows), share=1.0)
            yield (with_canaries.take(np.arange(with_canaries.n_rows - rows), share=1.0), with_canaries), rows


#: Two seeds per draw: of who is included, and of the noise.
Seeds = Sequence[tuple[int, int]]


def _seeds(seed: int, draws: int) -> Seeds:
    seeds = child_seeds(seed, 2 * draws)
    return list(zip(seeds[::2], seeds[1::2], strict=True))


@dataclass(frozen=True)
class _Canary:
    """What every draw on a pair needs; it can be sent to another process unless the learner is unregistered."""

    request: FitRequest
    tables: Pair
    rows: int = 1  #: Equal canaries: the last rows of the second table
    observed: str = RATIO
    limit: float = 0.0  #: Of a likelihood ratio: its least size that is guessed by

    def __post_init__(self) -> None:
        """Raises UnsupportedError or DpvizError for a pair that is unfit for this learner."""
        first, second = self.tables
        require_task(self.request.spec, first.schema)
        if second.n_rows < first.n_rows:
            raise DpvizError("The canary must be the last row of the second data set.", remedy="Swap the two data sets.")

    @cached_property
    def planned(self) -> BoundLearner:
        """The learner on the schema of the pair."""
        return BoundLearner(self.request, self.tables[0].schema)

    @cached_property
    def canary(self) -> EncodedDataset:
        """The row."""
        return self.tables[1].take(np.array([self.tables[1].n_rows - 1]), share=1.0)

    @cached_property
    def _ratios(self) -> LikelihoodRatios:
        return LikelihoodRatios(self.planned, self.tables)

    def show(self, seeds: Seeds) -> list[tuple[bool, Any]]:
        """Whether the canary is included, and what is looked at. A likelihood ratio that is not known is 0."""
        included = [_is_included(one) for one, _ in seeds]
        return [(present, self._observe(present, of_noise)) for present, (_, of_noise) in zip(included, seeds, strict=True)]

    def _observe(self, included: bool, seed: int) -> Any:
        if self.observed == RATIO:
            try:
                return self._ratios.draw(int(included), seed)
            except UnsupportedError:
                return 0.0
        return self._looks(self.planned.fit(self.tables[included], Simulation(seed)).model)[self.observed]

    def _looks(self, model: Model) -> dict[str, float | str]:
        """What a model shows, by what is looked at: numbers are the larger the more they speak for the canary."""
        root = json.dumps(
            {key: value for key, value in model_body(model).get("root", {}).items() if key not in ("left", "right")}
        )
        score = float(_score_at(model, self.canary)[0])
        return {SCORE: score, RULE: root, RULE_AND_PREDICTION: f"{root} {self._label(model)}"}

    def _label(self, model: Model) -> int:
        predicted, target = model.predict(self.canary)[0], self.canary.schema.target
        if isinstance(target, ClassTarget):
            return int(predicted)
        share = (float(predicted) - target.low) / (target.high - target.low)
        return math.floor(min(max(share, 0.0), 1.0) * CELLS)

    def promises(self, seeds: Seeds, draws: int, beta: float) -> list[tuple[float, float, _Canary]]:
        """Of everything that can be looked at (what so many draws show at least, about, how to look), by these few.

        Of likelihood ratios that follows from the laws; of all else it is a bound by these draws.
        """
        delta = self.planned.delta
        included = np.array([_is_included(one) for one, _ in seeds])
        drawn = [self._ratios.record(int(present), of_noise) for present, (_, of_noise) in zip(included, seeds, strict=True)]
        looks = [self._looks(fitted.model) for fitted, _ in drawn]
        promises = []
        for name in (SCORE, RULE, RULE_AND_PREDICTION):
            task = replace(self, observed=name)
            guesses = task.guess(included, np.array([look[name] for look in looks]), beta=beta, always=delta > 0)
            least = guesses.least_right(beta / _LOOKS)
            shows = gaussian_bound(least, delta, self.rows) if delta else guesses.bound(beta=beta, rows=self.rows)
            promises.append((shows, guesses.excess, task))
        try:
            ratios = [self._ratios.ratio(int(present), recorded) for present, (_, recorded) in zip(included, drawn, strict=True)]
        except UnsupportedError:
            return promises
        sizes = np.sort(np.abs(ratios))[::-1]
        right = np.cumsum(1 / (1 + np.exp(-sizes)))
        scale = draws / len(sizes)
        steps = np.flatnonzero(np.append(sizes[:-1] > sizes[1:] + 1e-9, True))
        bounds = [bound_from(draws, int((k + 1) * scale), int(right[k] * scale), beta=beta, rows=self.rows) for k in steps]
        best = int(np.argmax(bounds))
        shows = gaussian_bound(right[-1] / len(sizes), delta, self.rows) if delta else bounds[best]
        return [(shows, math.inf, replace(self, limit=float(sizes[steps[best]]) * (1 - 1e-9))), *promises]

    def guess(self, included: np.ndarray, seen: np.ndarray, *, beta: float, always: bool) -> Guesses:
        """Guess by what was seen; where it is no number, by how much oftener it was seen with the canary in a first part.

        `always` says whether every draw is guessed.
        """
        if self.observed == RATIO:
            limit = 0.0 if always else self.limit
            return Guesses.count(included, seen, -limit, limit)
        if self.observed != SCORE:
            first = len(seen) // 4
            seen = _log_odds(included[:first], seen[:first], seen[first:])
            included = included[first:]
        return guess(included, seen, beta=beta, always=always)


def _is_included(seed: int) -> bool:
    return bool(generator(seed).random() < 0.5)


def _log_odds(included: np.ndarray, known: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """How much oftener each thing was seen with the canary than without, as a logarithm; 0 for what was not."""
    names, place = np.unique(known, return_inverse=True)
    counts = [np.bincount(place[included == side], minlength=len(names)) + 0.5 for side in (False, True)]
    odds = dict(zip(names.tolist(), np.log(counts[1] / counts[0]).tolist(), strict=True))
    return np.array([odds.get(one, 0.0) for one in seen.tolist()])


def _choose_task(tasks: Sequence[_Canary], seeds: Seeds, draws: int, beta: float, stop: Stop | None) -> _Canary:
    """The pair, and what to look at, that promise the most; pairs that this learner cannot be trained on are left out.

    Nothing tells more than a likelihood ratio that is known, unless something else is published, or a bound shows that the laws
    are not kept.
    """
    promises, problem = [], None
    for task in steps(tasks, None, stop, at_least=1):
        try:
            promises += task.promises(seeds, draws, beta)
        except DpvizError as refused:
            problem = refused
    if not promises and problem is not None:
        raise problem
    most = max(promises, key=lambda one: one[:2])
    known = [one for one in promises if one[2].observed == RATIO]
    proved = most[2].planned.composed.epsilon
    if known and math.isfinite(proved) and most[0] <= proved:
        most = max(known, key=lambda one: one[0])
    return most[2]


def _score_at(model: Model, rows: EncodedDataset) -> np.ndarray:
    """How much the model is for class 1 (or the number it predicts) at each row, float64 of shape (n_rows,)."""
    if isinstance(rows.schema.target, ClassTarget) and isinstance(model, ScoreMixin):
        scores = model.scores(rows)
        return np.asarray(scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0], dtype=np.float64)
    return np.asarray(model.predict(rows), dtype=np.float64)


@dataclass(frozen=True)
class Guesses:
    """How often a guess was right."""

    #: low, high: guessed absent at a score of at most `low`, present from `high` on; no guess between, and at 0 where both are 0.
    low: float
    high: float
    #: n_tried, n_guesses, n_right: in the draws that were tested.
    n_tried: int
    n_guesses: int
    n_right: int

    @classmethod
    def count(cls, included: np.ndarray, scores: np.ndarray, low: float, high: float) -> Guesses:
        """Guess by these limits, which must not have been chosen on these draws."""
        return cls(low, high, included.size, *_counts(included, scores, low, high))

    def bound(self, *, beta: float, delta: float = 0.0, rows: int = 1) -> float:
        """Lower bound on epsilon of a row beside delta, above the truth with probability at most `beta`."""
        return bound_from(self.n_tried, self.n_guesses, self.n_right, beta=beta, delta=delta, rows=rows)

    def least_right(self, beta: float) -> float:
        """Lower limit of the probability that a guess is right, above the truth with probability at most `beta`."""
        return float(clopper_pearson(self.n_right, self.n_guesses, beta)[0])

    @property
    def excess(self) -> float:
        """Right guesses beyond half of them, in standard deviations of a coin; 0 where there are none."""
        return (2 * self.n_right - self.n_guesses) / math.sqrt(max(self.n_guesses, 1))

    @property
    def words(self) -> str:
        """The rule of the guesses."""
        sides = [f"absent up to {self.low:.3g}"] if math.isfinite(self.low) else []
        sides += [f"present from {self.high:.3g}"] if math.isfinite(self.high) else []
        return ", ".join(sides) or "no guess"


def guess(included: np.ndarray, scores: np.ndarray, *, beta: float, always: bool = False) -> Guesses:
    """Choose the limits on the first half of the draws, guess on the second.

    `included`, `scores`: shape (n_draws,), or any other whose first axis is that of independent draws.
    `beta`: the doubt that a bound will be allowed.
    `always`: guess on every draw.
    """
    half = len(included) // 2
    low, high = _limits(included[:half], scores[:half], beta, always)
    return Guesses.count(included[half:], scores[half:], low, high)


def _limits(included: np.ndarray, scores: np.ndarray, beta: float, always: bool) -> tuple[float, float]:
    """The pair of limits with the largest share of right guesses, at least; guesses need no more than one of the two."""
    if not scores.size:
        return -math.inf, math.inf
    steps = np.unique(np.quantile(scores, np.linspace(0, 1, LIMITS + 1)))
    pairs = [(low, high) for low in (-math.inf, *steps) for high in (*steps, math.inf) if low < high]
    if always:
        pairs = [(step, step) for step in steps]
    guesses, right = np.array([_counts(included, scores, *pair) for pair in pairs]).T
    return pairs[int(np.argmax(clopper_pearson(right, guesses, beta)[0]))]


def _counts(included: np.ndarray, scores: np.ndarray, low: float, high: float) -> tuple[int, int]:
    """(guesses, right ones)."""
    said_in = scores >= high
    was_right = (included == said_in)[said_in | (scores <= low)]
    return len(was_right), int(was_right.sum())


def gaussian_bound(right: float, delta: float, rows: int = 1) -> float:
    """Epsilon at delta of the Gaussian mechanism that allows this share of right guesses at even odds; rounded down.

    The guesses are about so many equal rows, epsilon and delta of one.
    """
    return gaussian_epsilon(delta * (1 + 1e-5), _mu(min(right, _SURE)) / rows)


def _mu(right: float) -> float:
    from scipy.special import ndtri

    return 2 * float(ndtri(max(right, 0.5)))


def bound_from(n_tried: int, n_guesses: int, n_right: int, *, beta: float, delta: float = 0.0, rows: int = 1) -> float:
    """The largest epsilon (0 at least) at which so many right guesses about `rows` rows have a probability of at most `beta`."""
    from scipy.special import logit

    if not delta:  # e^epsilon / (1 + e^epsilon) is the lower limit of the share of right guesses
        return max(0.0, float(logit(clopper_pearson(n_right, n_guesses, beta)[0]))) / rows

    def is_likely(epsilon: float) -> bool:
        group = for_unit(PrivacyLoss(epsilon, delta), rows)
        return chance_of(n_tried, n_guesses, n_right, epsilon=group.epsilon, delta=group.delta) > beta

    return 0.0 if is_likely(0.0) else bisect(is_likely, 0.0, _MAX_BOUND, times=_STEPS)[0]


def chance_of(n_tried: int, n_guesses: int, n_right: int, *, epsilon: float, delta: float) -> float:
    """An upper bound on the probability of `n_right` or more right guesses under (epsilon, delta)."""
    from scipy.stats import binom

    right = 1 / (1 + math.exp(-epsilon))
    at_least = float(binom.sf(n_right - 1, n_guesses, right))
    if not delta or not n_right:
        return at_least
    nearly = np.cumsum(binom.pmf(np.arange(n_right - 1, -1, -1), n_guesses, right)) / np.arange(1, n_right + 1)
    return min(1.0, at_least + 2 * n_tried * delta * float(nearly.max()))


def perfect_bound(n_tried: int, epsilon: float, right: float, *, beta: float, delta: float = 0.0, rows: int = 1) -> float:
    """What so many tries show, as often as not, of a mechanism that loses all that is proved.

    Every guess is right where `epsilon` is infinite. Else it is randomised response of `epsilon`; with a delta Gaussian noise
    whose epsilon there is no larger, and which allows no larger share of right guesses about `rows` rows than `right`.
    """
    from scipy.special import ndtr

    if not delta:
        return bound_from(n_tried, n_tried, round(n_tried / (1 + math.exp(-rows * epsilon))), beta=beta, rows=rows)
    if math.isfinite(epsilon):
        most = _mu(min(right, _SURE)) / rows
        mu, _ = bisect(lambda mu: gaussian_epsilon(delta, mu) > epsilon, 0.0, most, times=_STEPS)
        right = float(ndtr(rows * mu / 2))
    return gaussian_bound(float(clopper_pearson(round(n_tried * right), n_tried, _OF_GAUSSIANS * beta)[0]), delta, rows)
