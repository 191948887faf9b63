"""A result is called a release if exact samplers drew all of its noise, and only then: every learner with every setting."""

import json
from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import Parallel, PureDP, RandomPartition, Sequential, Step, walk
from dpviz.errors import DpvizError, NotReleasable, RefusedRelease
from dpviz.io.results import result_from_json
from dpviz.learners import get_learner
from dpviz.learners.catalogue import result_verdict
from dpviz.learners.native import pf_tree
from dpviz.learners.request import FitRequest
from dpviz.models.tree import Leaf, Tree
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.contract import FitOutput
from dpviz.training.params import controls_of
from tests.support.fits import FEW
from tests.support.tables import schema_of, table

pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.DpvizWarning")
#: Draws that look at no cell: whatever their law, what follows costs no more.
FREE = ("uniform choice", "uniform point", "keys of random trees", "random assignment", "Poisson sample")
MOST = 24


def settings_of(name, schema):
    """Every combination of the learner's flags and choices that is not refused (evenly picked where there are many)."""
    controls = controls_of(get_learner(name).Params)
    options = {
        item.name: (True, False) if controls[item.name].kind == "flag" else controls[item.name].options
        for item in fields(get_learner(name).Params)
        if controls[item.name].kind in ("flag", "choice")
    }
    usual = {"epsilon": 1.0, "max_depth": 2} | FEW.get(name, {})
    every = [usual | dict(zip(options, values, strict=True)) for values in product(*options.values())]
    return [asked for asked in every[:: max(1, len(every) // MOST)] if is_possible(name, asked, schema)]


def is_possible(name, asked, schema):
    try:
        return bool(FitRequest.of(name, **asked).plan(schema))
    except DpvizError:
        return False


def rows_for(kind, n_rows=60):
    """Of kind "number": mixed features and a number to predict."""
    data = table(schema_of("mixed" if kind == "number" else kind), n_rows)
    if kind != "number":
        return data
    return EncodedDataset(
        Schema(data.schema.features, NumericTarget("rent", 0, 100), 200), data.columns, np.linspace(0, 100, n_rows)
    )


#: Learner and kind of rows.
CASES = [
    (name, kind)
    for name in dpviz.learner_names()
    for kind in ("mixed", "categories", "number")
    if ("number" if kind == "number" else "classes") in get_learner(name).tasks
]


@pytest.fixture
def drawn(monkeypatch):
    """The title of every mechanism that drew, and whether by its exact sampler."""
    seen = []
    of_release, of_simulation = ExactNoise.draw, Simulation.draw

    def watched(original, is_exact):
        def draw(self, mechanism, values):
            seen.append((mechanism.title, is_exact))
            return original(self, mechanism, values)

        return draw

    monkeypatch.setattr(ExactNoise, "draw", watched(of_release, True))
    monkeypatch.setattr(Simulation, "draw", watched(of_simulation, False))
    return seen


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_release_is_what_exact_samplers_alone_drew(name, kind, drawn):
    rows = rows_for(kind)
    for asked in settings_of(name, rows.schema):
        require_exact_samplers(name, rows, asked, drawn)


def require_exact_samplers(name, rows, asked, drawn):
    simulated = dpviz.fit(name, rows, seed=3, **asked)
    assert not simulated.released
    assert result_verdict(simulated).kind != "released"
    assert not any(step.exact for _, step in walk(simulated.ledger.event))
    drawn.clear()
    try:
        result = dpviz.fit(name, rows, seed=None, accept_rows=True, **asked)
    except NotReleasable:
        assert not simulated.releasable
        assert drawn == []  # refused before any row was touched
        assert "Would be" not in repr(simulated)
        return
    assert simulated.releasable
    noisy = [is_exact for title, is_exact in drawn if title not in FREE]
    covered = result.ledger.guarantee.is_finite and not result.disclosures
    assert result.released == (all(noisy) and result.ledger.is_exact and covered)
    assert result.released == (result.not_released_because is None)
    assert ("A release." in repr(result)) == result.released
    assert ("Guaranteed" in repr(result)) == (result.released and result.claim.is_sound)
    assert (result.noise, result.seed) == ("release", None)
    if result.model.kind != "hashed forest":
        document, seeded = (json.loads(one.to_json())["privacy"] for one in (result, simulated))
        assert result_from_json(result.to_json()).released == result.released
        assert document["noise"] == {"source": "release"} if covered else document["noise"]["warning"].startswith("Not a release: ")
        assert "seed" not in json.dumps(document).replace("no seed", "")
        assert (seeded["noise"]["seed"], seeded["noise"]["warning"]) == (3, "A simulation, not a release.")


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if get_learner(case[0]).spends_epsilon])
def test_every_release_is_guarded_by_the_row_count(name, kind):
    rows = rows_for(kind)
    for declared, asked in product((1_000_000, 2), settings_of(name, rows.schema)):
        far = replace(rows, schema=replace(rows.schema, n_public=declared))
        for given in ({"seed": None}, {"seed": 5, "source": ExactNoise()}):
            with pytest.raises((RefusedRelease, NotReleasable)):
                dpviz.fit(name, far, **given, **asked)


def _past_its_source(data, plan, params, source):
    """A learner that draws noise by itself and writes its own event."""
    counts = np.bincount(data.target, minlength=2) + np.random.default_rng(0).laplace(size=2)
    return FitOutput(Tree(data.schema, Leaf(int(counts.argmax()))), Step(PureDP(plan.epsilon), "leaf", mechanism="Laplace"))


@pytest.mark.parametrize(
    "around",
    [
        lambda honest, own: own,
        lambda honest, own: Sequential((honest, own)),
        lambda honest, own: Parallel((own, honest)),
        lambda honest, own: RandomPartition((honest, own), (0.5, 0.5)),
    ],
)
def test_noise_drawn_past_the_source_is_no_release(around):
    def fit(data, plan, params, source):
        honest, own = pf_tree.LEARNER.fit(data, plan, params, source), _past_its_source(data, plan, params, source)
        return FitOutput(own.model, around(honest.event, own.event))

    rows = rows_for("mixed")
    for learner, released in ((pf_tree.LEARNER, True), (replace(pf_tree.LEARNER, name="own", fit=fit), False)):
        result = FitRequest.of(learner, epsilon=1.0).fit(rows, ExactNoise())
        assert result.released == released
        assert result.ledger.is_exact == released


def test_a_source_that_calls_itself_exact_is_no_release():
    class Calling(Simulation):
        name, is_exact, seed = "release", True, None

        def __init__(self):
            self._key, self._rng = 1, np.random.default_rng(1)

    assert not dpviz.fit("pf-tree", rows_for("mixed"), epsilon=1.0, source=Calling()).released
