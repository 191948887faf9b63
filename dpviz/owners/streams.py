"""Rows that arrive after the regular rounds, from another distribution: what `s-gbdt-published` can still learn from them.

Four ways. *stop*: nothing; without individual accounts the budget counts as spent. *new rows alone*: more rounds with the same
noise on the new rows only, which were in no round before; disjoint rows, so no more epsilon. *filter*: more rounds for all rows,
old and new, with something left in their accounts. *from the start*: all rows are there from the first round, for comparison.

Held-out errors and accounts are computed from exact rows: for the owner of the rows only. All of it is a simulation, to choose
a way with; `docs/how-to/several-owners.md` explains it.

Source: Kirschte et al. 2023, section VIII-E and Figure 7 (*stop* and *filter*; how they cut the stream is not said).
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpviz.accounting.events import Parallel, sequence
from dpviz.accounting.ledger import Ledger
from dpviz.errors import DpvizError, ParameterError
from dpviz.learners.published.boosted import s_gbdt_published as s_gbdt
from dpviz.models.base import predict_class
from dpviz.models.boosted import BoostedTrees
from dpviz.privacy.source import Simulation
from dpviz.progress import Progress, Stop, all_steps
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.table.validation import validate_count, validate_fraction
from dpviz.training.boosting.filter import BUDGET_UNITS
from dpviz.training.boosting.loss import initial_score, loss_of
from dpviz.training.boosting.rounds import Rounds, boosted_model
from dpviz.training.contract import plan_with_test
from dpviz.training.params import Settings, make_params

STRATEGIES = ("stop", "new rows alone", "filter", "from the start")
_, _ALONE, _FILTER, _START = STRATEGIES
GROUPS = ("old", "new", "all")


@dataclass(frozen=True)
class Stream:
    """Training rows in order of arrival (first the old ones, then all new ones at once), and test rows.

    A row arrives once; rows of a table that was joined twice count, and pay, twice.
    """

    train: EncodedDataset
    test: EncodedDataset
    #: is_new, is_new_test: which training and which test rows are new, bool.
    is_new: np.ndarray = field(repr=False)
    is_new_test: np.ndarray = field(repr=False)
    share: float  #: Rough share of new training rows. Public


def stream_of(train: EncodedDataset, test: EncodedDataset, feature: str, share: float) -> Stream:
    """The stream in which the rows with the largest values of `feature`, about a share `share`, come last.

    Categories count in their declared order. Raises UnknownName, ParameterError, and DpvizError when all rows have one value.
    """
    share = validate_fraction("stream_of", "share", share)
    train.schema.feature(feature)
    place = train.schema.feature_names.index(feature)
    values = train.columns[place].astype(np.float64)
    below = np.unique(values)[:-1]
    if not len(below):
        raise DpvizError("All rows have the same value, so none are new.", where=feature, remedy="Choose another feature.")
    cut = min(np.quantile(values, 1 - share, method="lower"), below[-1])  # where the largest value is common, it alone is new
    return Stream(train, test, values > cut, test.columns[place] > cut, share)


@dataclass(frozen=True)
class StreamRun:
    """The result of training on a stream."""

    way: str
    model: BoostedTrees
    ledger: Ledger
    regular: int  #: Number of trees when the new rows arrived
    #: Arrays of shape (n_trees + 1,). By group of test rows ("old", "new", "all"): RMSE, or share of wrong
    #: classes, after 0, 1, 2, ... trees.
    errors: dict[str, np.ndarray]
    #: Shape (n_rows,). Share of the budget for rounds that each training row has left at the end.
    left: np.ndarray = field(repr=False)

    def before(self, group: str) -> float:
        """Error when the new rows arrived."""
        return float(self.errors[group][self.regular])

    def after(self, group: str) -> float:
        """Error at the end."""
        return float(self.errors[group][-1])


def train_on_stream(
    stream: Stream,
    way: str,
    *,
    epsilon: float,
    delta: float | None = None,
    max_depth: int = 6,
    seed: int,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> StreamRun:
    """Train `s-gbdt-published` on rows of which some arrive late. A simulation, whose errors are exact: for the owner alone.

    Source: Kirschte et al. 2023, section VIII-E.

    Parameters
    ----------
    stream : Stream
        Such as from `dpviz.stream_of`. Private rows.
    way : str
        What happens when the new rows arrive: "stop", "new rows alone", "filter" or "from the start".
    epsilon, delta : float
        Total privacy loss of every person, all of whose rows, old or new, come or go together. `delta` None is the learner's
        default.
    seed : int
        For simulated noise.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between rounds.
    **params
        Those of `s-gbdt-published`; `extra_rounds` follow the regular ones (for new rows alone at most `rounds`), and `filter`
        follows from `way`.

    Returns
    -------
    StreamRun
        The model and its ledger; `before` and `after` are its errors on held-out rows ("old", "new", "all") when the new rows
        arrive and at the end, as RMSE or share of wrong classes.

    Raises
    ------
    ParameterError, SchemaError, DpvizError
        For invalid arguments.
    Cancelled
        When stopped.
    """
    source = Simulation(validate_count("train_on_stream", "seed", seed, 0))
    settings = Settings(epsilon=epsilon, max_depth=max_depth, delta=delta)
    if way not in STRATEGIES:
        raise ParameterError("train_on_stream", "way", way, f"one of {', '.join(map(repr, STRATEGIES))}")
    if "filter" in params:
        raise ParameterError("train_on_stream", "filter", params["filter"], "left out: the way says it")
    chosen = make_params(s_gbdt.Params, s_gbdt.NAME, {**params, "filter": way == _FILTER})
    schema = stream.train.schema
    plan = plan_with_test(s_gbdt.LEARNER, schema, settings, chosen)
    step, cost = plan.rounds("tree")
    recipe = s_gbdt.recipe_of(schema, cost, chosen)
    regular, extra = chosen.rounds, chosen.extra_rounds if way == _ALONE else recipe.rounds - chosen.rounds
    if way == _ALONE and extra > regular:
        raise ParameterError("train_on_stream", "extra_rounds", extra, f"at most {regular}, the regular rounds")
    early, late = ~stream.is_new, stream.is_new if way == _ALONE else None  # None: all rows
    n_public = schema.scaled(1 - stream.share).n_public
    if way == _START:
        early, n_public = np.ones(stream.train.n_rows, dtype=bool), schema.n_public
    loss = loss_of(schema, newton=False)
    initial, before = initial_score(loss, stream.train.target[early], n_public or 1, plan.of("initial score"), source)
    trees = s_gbdt.draw(schema, plan, chosen, replace(recipe, rounds=regular + extra), source)
    rounds = Rounds(stream.train, trees, loss, initial, recipe, source)
    values = []
    for tree in all_steps(range(regular + extra), progress, stop):
        rounds.present = early if tree < regular else late
        values.append(rounds.run(tree))
    model = boosted_model(trees, loss, initial, values)
    # the new rows alone are disjoint from those of the regular rounds
    ledger = Ledger(sequence(*before, Parallel((step, step)) if way == _ALONE else step))
    if rounds.accounts is None:
        left = 1 - np.where(early, regular, extra) / regular
    else:
        left = 1 - rounds.accounts.spent / BUDGET_UNITS
    return StreamRun(way, model, ledger, regular, _errors(model, stream, loss.n_scores), left)


def _errors(model: BoostedTrees, stream: Stream, n_scores: int) -> dict[str, np.ndarray]:
    """By group, after every round; NaN for a group without test rows."""
    groups = dict(zip(GROUPS, (~stream.is_new_test, stream.is_new_test, np.ones(stream.test.n_rows, dtype=bool)), strict=True))
    errors: dict[str, list[float]] = {name: [] for name in GROUPS}
    target, is_number = stream.test.schema.target, False
    for tree, scores in enumerate(model.accumulated(stream.test)):
        if tree % n_scores == 0:
            if is_number := isinstance(target, NumericTarget):
                missed = np.square(np.clip(scores, target.low, target.high) - stream.test.target)
            else:
                missed = predict_class(scores) != stream.test.target
            for name, rows in groups.items():
                errors[name].append(float(missed[rows].mean()) if rows.any() else np.nan)
    return {name: np.sqrt(values) if is_number else np.array(values) for name, values in errors.items()}
