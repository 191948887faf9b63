"""What leaves as a release: drawn by exact samplers alone, no seed, no number of the rows except through a mechanism."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import Parallel, PureDP, RandomPartition, Sequential, Step, walk
from dpviz.errors import DpvizError, RefusedRelease
from dpviz.evaluation.audit.evidence import typical
from dpviz.io.results import result_from_json
from dpviz.learners import get_learner
from dpviz.learners.native import pf_tree
from dpviz.learners.request import FitRequest
from dpviz.models.tree import Leaf, Tree
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.contract import FitOutput
from dpviz.training.params import controls_of
from tests.support.fits import FEW, fit
from tests.support.tables import schema_of, table

#: Of those that predict classes; `test_every_learner.py` asks the others, too.
RELEASABLE = [
    name
    for name in dpviz.learner_names()
    if typical(name).plan.is_exact and get_learner(name).spends_epsilon and "classes" in get_learner(name).tasks
]
releasable = pytest.mark.parametrize("name", RELEASABLE)
#: The others disclose exact things, and say so.
SOUND = [name for name in RELEASABLE if typical(name).claim.is_sound]


def release(name, data):
    return fit(name, data, max_depth=2, depth=2, seed=None, accept_rows=True)


def without_model(document):
    """Everything in a document but what the model predicts by, and its test."""
    return {key: value for key, value in document.items() if key not in {"root", "leaf", "trees", "initial", "test_report"}}


def numbers_in(value):
    match value:
        case dict():
            return [number for key, item in value.items() if key not in ("counts", "shares") for number in numbers_in(item)]
        case list():
            return [number for item in value for number in numbers_in(item)]
        case bool() | str() | None:
            return []
        case _:
            return [value]


def test_rows_that_others_may_have_changed_are_not_released():
    rows = table(schema_of("mixed"), 30).take(np.arange(20), share=2 / 3)
    for name in RELEASABLE:
        with pytest.raises(RefusedRelease, match="chosen by their positions"):
            release(name, rows)
        assert fit(name, rows, max_depth=2, depth=2, seed=1).model


@pytest.mark.parametrize("name", SOUND)
def test_around_the_model_a_release_is_the_same_whatever_the_rows_are(name):
    # other rows, other extremes, another number of rows: nothing but the model may show it
    schema = schema_of("mixed")
    few, many = table(schema, 37, seed=1), table(schema, 1013, seed=2)
    narrow = EncodedDataset(schema, tuple(column[:9] for column in few.columns), np.zeros(9, dtype=np.uint8))
    around = [_ledger_as_set(without_model(json.loads(release(name, data).to_json()))) for data in (few, many, narrow)]
    assert around[0] == around[1] == around[2]
    assert "pf-tree" in SOUND


def _ledger_as_set(document):
    """The ledger has a row per node, so its length is that of the released model; what a row says must not depend on rows."""
    rows = {(row["mechanism"], row["part"], row["epsilon"], row["note"]) for row in document["privacy"]["ledger"]}
    return {**document, "privacy": {**document["privacy"], "ledger": rows}}


def test_every_threshold_of_a_release_comes_from_the_schema():
    schema = Schema((NumericFeature("x", 0.0, 100.0), NumericFeature("z", -7.0, 9.0)), ClassTarget("y", ("n", "p")), n_public=300)
    rng = np.random.default_rng(4)
    x, z = 41 + rng.random(300) * 0.137, rng.random(300) * 0.731
    data = EncodedDataset(schema, (x, z), (x > 41.07).astype(np.uint8))
    allowed = {float(t) for feature in multiscale_grid(schema).features for t in feature.thresholds}
    for _ in range(5):
        document = json.loads(release("pf-tree", data).to_json())
        thresholds = numbers_in(document["root"])
        assert set(thresholds) <= allowed
        assert not set(thresholds) & {*x.tolist(), *z.tolist()}


@pytest.mark.filterwarnings("ignore::dpviz.errors.PublicValuesWarning")
@releasable
def test_a_bound_read_from_the_rows_is_named_and_makes_no_release(name):
    colour, target = CategoricalFeature("colour", ("red", "green")), ClassTarget("y", ("n", "p"))
    for read in ((), ("high",), ("low", "high")):
        schema = Schema((NumericFeature("height", -2.5, 7.5, read_from_data=read), colour), target, n_public=200)
        result = release(name, table(schema, 60))
        privacy = json.loads(result.to_json())["privacy"]
        found = {(item["code"], item["field"]) for item in privacy["disclosures"] if item["code"].startswith("schema-")}
        assert found == {(f"schema-{bound}", "height") for bound in read}
        if read:
            assert not result.released
            assert privacy["noise"]["source"] != "release"
            assert privacy["noise"]["warning"].startswith("Not a release: ")


pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.DpvizWarning")
#: Draws that look at no cell: whatever their law, what follows costs no more.
FREE = ("uniform choice", "uniform point", "keys of random trees", "random assignment", "Poisson sample")
MAX_REQUESTS = 24


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
    return [asked for asked in every[:: max(1, len(every) // MAX_REQUESTS)] if is_possible(name, asked, schema)]


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


@pytest.mark.slow
@pytest.mark.parametrize("name", dpviz.learner_names())
def test_a_release_is_what_exact_samplers_alone_drew(name, drawn):
    for rows in (rows_for(kind) for learner, kind in CASES if learner == name):
        for asked in settings_of(name, rows.schema):
            require_exact_samplers(name, rows, asked, drawn)


def require_exact_samplers(name, rows, asked, drawn):
    simulated = dpviz.fit(name, rows, seed=3, **asked)
    assert not simulated.released
    assert simulated.verdict().kind != "released"
    assert not any(step.exact for _, step in walk(simulated.ledger.event))
    drawn.clear()
    try:
        result = dpviz.fit(name, rows, seed=None, accept_rows=True, **asked)
    except RefusedRelease:
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
    document, seeded = (json.loads(one.to_json())["privacy"] for one in (result, simulated))
    assert result_from_json(result.to_json()).released == result.released
    assert document["noise"] == {"source": "release"} if covered else document["noise"]["warning"].startswith("Not a release: ")
    assert "seed" not in json.dumps(document).replace("no seed", "")
    assert (seeded["noise"]["seed"], seeded["noise"]["warning"]) == (3, "A simulation, not a release.")


@pytest.mark.parametrize("name", [name for name in dpviz.learner_names() if get_learner(name).spends_epsilon])
def test_every_release_is_guarded_by_the_row_count(name):
    for rows in (rows_for(kind) for learner, kind in CASES if learner == name):
        for declared, asked in product((1_000_000, 2), settings_of(name, rows.schema)):
            far = replace(rows, schema=replace(rows.schema, n_public=declared))
            for given in ({"seed": None}, {"seed": 5, "source": ExactNoise()}):
                with pytest.raises(RefusedRelease):
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
