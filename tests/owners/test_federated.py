"""Several owners train together (Algorithm 9): each releases leaves with the whole noise, and the model holds their means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

import dpviz
from dpviz.accounting.gaussian import covers
from dpviz.errors import Cancelled, ParameterError, PublicValuesWarning, RefusedRelease, SchemaError
from dpviz.learners.published.boosted import s_gbdt_published as s_gbdt
from dpviz.owners import federated
from dpviz.owners.federated import train_federated
from dpviz.privacy.source import Simulation
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.training.boosting.loss import loss_of
from dpviz.training.boosting.rounds import Rounds
from dpviz.training.params import Settings
from tests.support.numbers import SLOPE_AND_STEP as NUMBER
from tests.support.numbers import slope_and_step as numbers
from tests.support.recording import Recording
from tests.support.tables import schema_of, table

NOBODY = EncodedDataset(NUMBER, (np.empty(0), np.empty(0)), np.empty(0))
FEW = {"rounds": 6, "extra_rounds": 2, "delta": 1e-6, "sampling": 1.0, "least_support": 5.0}
ASKED = {"epsilon": 1.0, "public_seed": 5, "seed": 11, **FEW}


def parts_of(data, owners=3):
    """Unequal parts of unlike rows: owners hold stretches of the rows by target."""
    order = np.argsort(data.target, kind="stable")
    places = np.array_split(order, [data.n_rows // 8, data.n_rows // 2][: owners - 1])
    return [data.take(place, share=len(place) / data.n_rows) for place in places]


def public(data, asked=ASKED):
    """Loss, trees, recipe: what owners agree on."""
    chosen = s_gbdt.Params(initial_share=0.0, **{name: value for name, value in FEW.items() if name != "delta"})
    plan = s_gbdt.plan(data.schema, Settings(asked["epsilon"], 6, "auto", FEW["delta"]), chosen)
    recipe = s_gbdt.recipe_of(data.schema, plan.rounds("tree")[1], chosen)
    trees = s_gbdt.draw(data.schema, plan, chosen, recipe, Simulation(asked["public_seed"]))
    return loss_of(data.schema, newton=False), trees, recipe


@pytest.mark.parametrize(
    "make",
    [numbers, lambda: table(schema_of("mixed"), 300), lambda: table(schema_of("numbers", 3), 300)],
    ids=["number", "two classes", "three classes"],
)
def test_leaves_are_the_means_of_what_each_owner_releases_from_its_own_rows(make):
    """As the paper's Algorithm 9 says it, line by line, to the bit."""
    data = make()
    parts = parts_of(data)
    model = train_federated(parts, **ASKED).model
    loss, trees, recipe = public(data)
    seeds = child_seeds(11, 3)
    users = [Rounds(part, trees, loss, 0.0, recipe, Simulation(seed)) for part, seed in zip(parts, seeds, strict=True)]
    for tree in range(recipe.rounds):
        of_users = [user.release(tree) for user in users]
        aggregate = sum(of_users)
        for user in users:
            user.scores += (aggregate / 3)[user.cells]
        leaves = (aggregate / 3)[trees.cells_by_tree()[tree]].T.ravel()
        here = np.isin(model.splits.tree[model.splits.leaves], np.arange(tree * loss.n_scores, (tree + 1) * loss.n_scores))
        np.testing.assert_allclose(model.values[here], leaves * ((30 - 10) / 2 if data.schema == NUMBER else 1), rtol=1e-12)
    assert len(np.unique(model.values)) > 10


def test_every_owner_adds_the_whole_noise_so_that_nobody_need_be_trusted(monkeypatch):
    """Owners without rows: sums are noise alone, of the scale that the ledger prices, whoever else takes part."""
    sources = [Recording(number) for number in range(3)]
    monkeypatch.setattr(federated, "_sources", lambda *_: sources)
    cost = train_federated([NOBODY] * 3, **ASKED | {"rounds": 60}).ledger.event.cost
    assert covers(cost)
    _, _, recipe = public(numbers())
    priced = replace(recipe, noise_multiplier=cost.noise_multiplier).grid
    wanted = {scale * priced.steps for scale in priced.scales}
    drawn = [(mechanism.scale, noisy.ravel()) for source in sources for mechanism, _, noisy in source.draws]
    assert sorted({scale for scale, _ in drawn}) == pytest.approx(sorted(wanted))
    for scale in wanted:
        noise = np.concatenate([noisy for other, noisy in drawn if other == pytest.approx(scale)]) / scale
        assert chi2.ppf(1e-4, len(noise)) < np.square(noise).sum() < chi2.ppf(1 - 1e-4, len(noise))


@pytest.mark.slow
def test_the_result_is_that_of_one_trainer_with_the_same_settings(tmp_path):
    found = train_federated(parts_of(numbers()), **ASKED)
    alone = dpviz.fit("s-gbdt-published", numbers(), epsilon=1.0, max_depth=6, seed=11, initial_share=0.0, **FEW)
    assert (found.learner, found.params, found.settings) == (alone.learner, alone.params, alone.settings)
    assert (found.ledger, found.schema, found.plan) == (alone.ledger, alone.schema, alone.plan)
    assert found.claim.because.startswith(f"{alone.claim.because} Leaves are means of those of 3 owners (Algorithm 9). Assumed: ")
    path = tmp_path / "model.json"
    path.write_text(found.to_json(), encoding="utf-8")
    again = dpviz.load_result(path)
    np.testing.assert_array_equal(again.model.predict(numbers()), found.model.predict(numbers()))
    assert not again.released


def test_nothing_is_released_from_parts_that_depend_on_other_rows():
    with pytest.raises(RefusedRelease, match="chosen by their positions"):
        train_federated(parts_of(numbers()), **ASKED | {"seed": None})


SHORT = ASKED | {"rounds": 1, "extra_rounds": 0, "seed": None, "depth": 1}


def releasing(factor=1):
    """Two parts, each declared to have so many times its rows."""
    parts = parts_of(numbers(80), 2)
    return [EncodedDataset(replace(NUMBER, n_public=factor * part.n_rows), part.columns, part.target) for part in parts]


@pytest.mark.slow
def test_rows_given_twice_are_refused_and_for_a_release_parts_of_one_table_too():
    data, other = numbers(200), numbers(200, seed=8)
    copy = EncodedDataset(data.schema, data.columns, data.target)
    backwards = EncodedDataset(data.schema, tuple(column[::-1] for column in data.columns), data.target[::-1])
    parts, asked = data.parts(0.5), {"epsilon": 1.0, "public_seed": 5, "accept_rows": True, "rounds": 1}
    for given in ([data, data], [data, copy], [other, data, copy]):
        for seed in (None, 0):
            with pytest.raises(RefusedRelease, match=r"Owners \d and \d have the same rows: a row would pay twice"):
                train_federated(given, **asked, seed=seed)
    for given in ([data, backwards], list(parts), [data, parts[0]], [parts[0], other, backwards]):
        with pytest.raises(RefusedRelease, match=r"Owners \d and \d have rows of one table"):
            train_federated(given, **asked, seed=None)


@pytest.mark.slow
def test_rows_of_different_tables_are_released_and_what_is_assumed_of_them_is_said():
    data, other = numbers(200), numbers(200, seed=8)
    asked = {"epsilon": 1.0, "public_seed": 5, "accept_rows": True, "rounds": 1}
    assert train_federated(list(data.parts(0.5)), **asked, seed=0).ledger.guarantee.is_finite
    result = train_federated([data, other], **asked, seed=None)
    assert result.released
    assert "Assumed: nobody's rows are with two of them" in result.claim.because


def test_owners_refuse_a_release_from_few_rows_until_they_are_accepted():
    one, two = releasing()
    for parts in (releasing(2), [one, releasing(2)[1]], [replace(NOBODY, schema=one.schema), two]):
        with pytest.raises(RefusedRelease, match=r"^Owner [01]: .*pass accept_rows=True\. Nothing was spent"):
            train_federated(parts, **SHORT)
        assert train_federated(parts, **SHORT, accept_rows=True).released
        assert not train_federated(parts, **SHORT | {"seed": 0}).released
    assert train_federated([one, two], **SHORT).released


def test_what_one_owner_read_from_its_rows_is_warned_of_and_disclosed_by_all():
    one, two = releasing()
    read = replace(two, schema=replace(two.schema, read_from_data=("n_public",)))
    with pytest.warns(PublicValuesWarning, match="discloses what the ledger does not cover") as caught:
        train_federated([one, read], **SHORT)
    assert [warning.filename for warning in caught] == [__file__]
    train_federated([one, read], **SHORT | {"seed": 0})
    parts = parts_of(numbers())
    read = replace(parts[1], schema=replace(parts[1].schema, read_from_data=("n_public",)))
    found = train_federated([parts[0], read, parts[2]], **ASKED)
    assert [item.what for item in found.disclosures] == ["The row count was read from the data."]


def test_owners_release_with_exact_noise_that_nobody_can_repeat():
    one, two = (train_federated(releasing(), **SHORT) for _ in range(2))
    assert one.released
    assert one.model.splits == two.model.splits
    assert not np.array_equal(one.model.values, two.model.values)


def test_a_person_may_have_rows_at_every_owner():
    bounded = [replace(part, rows_per_person=2) for part in parts_of(numbers())]
    assert train_federated(bounded, **ASKED).rows_per_person == 6
    assert train_federated([*bounded[:2], parts_of(numbers())[2]], **ASKED).rows_per_person is None


def test_what_cannot_be_is_refused():
    with pytest.raises(SchemaError, match="owner 1: Its features or target are declared differently"):
        train_federated([numbers(), table(schema_of("numbers"), 20)], **ASKED)
    with pytest.raises(ParameterError, match="0: owners start from 0"):
        train_federated(parts_of(numbers()), **ASKED, initial_share=0.1)
    for owners in [0, 1]:
        with pytest.raises(ParameterError, match="at least two owners"):
            train_federated([numbers()][:owners], **ASKED)


def test_training_says_how_far_it_is_and_stops_when_asked():
    shares: list[float] = []
    with pytest.raises(Cancelled):
        train_federated(parts_of(numbers()), **ASKED, progress=shares.append, stop=lambda: len(shares) == 3)
    assert shares == [1 / 8, 2 / 8, 3 / 8]
