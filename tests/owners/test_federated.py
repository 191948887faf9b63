"""Several owners train together: the central model's distribution, the sum of the noise, and who may go, lie or listen."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from dpviz.accounting.gaussian import covers
from dpviz.errors import Cancelled, FederationError, ParameterError
from dpviz.owners import owner_process
from dpviz.owners.aggregator import Aggregator
from dpviz.owners.data_owner import DataOwner, rows_to_text, serve
from dpviz.owners.federated import agreed, epsilon_when_pooled, train_federated
from dpviz.owners.owner_process import OwnerProcess, introduce
from dpviz.owners.terms import Terms
from dpviz.privacy.gaussian import GaussianNoise
from dpviz.privacy.source import Simulation
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.boosting.rounds import Rounds
from dpviz.training.params import Settings
from tests.contract.tables import schema_of, table
from tests.owners.in_threads import OwnerInThread

FEW = {"rounds": 6, "delta": 1e-6}
NUMBER = Schema((NumericFeature("x", 0, 1), NumericFeature("z", 0, 1)), NumericTarget("y", 10, 30), n_public=400)


def numbers(n_rows=400, seed=3):
    rng = np.random.default_rng(seed)
    x, z = rng.random(n_rows), rng.random(n_rows)
    return EncodedDataset(NUMBER, (x, z), 10 + 12 * x + 8 * (z > 0.6))


def parts_of(data, owners=3):
    """Unequal parts of unlike rows: owners hold stretches of the rows by target."""
    order = np.argsort(data.target, kind="stable")
    places = np.array_split(order, [data.n_rows // 8, data.n_rows // 2][: owners - 1])
    return [data.take(place, share=len(place) / data.n_rows) for place in places]


def terms_of(schema, owners=3, colluding=0, epsilon=1.0, **params):
    asked = {"rounds": 6} | params
    return agreed(schema, owners, Settings(epsilon=epsilon, delta=1e-6), asked, public_seed=5, colluding=colluding)


@pytest.fixture(params=["threads", pytest.param("processes", marks=pytest.mark.slow)])
def owners_run_in(request, monkeypatch):
    """Owners have processes of their own, whose start takes a second each; in the fast tests, threads."""
    if request.param == "threads":
        monkeypatch.setattr(owner_process.subprocess, "Popen", OwnerInThread)
    return request.param


in_both = pytest.mark.usefixtures("owners_run_in")


class Silent:
    """Adds no noise."""

    name = "simulation"

    def draw(self, mechanism, values):
        assert isinstance(mechanism, GaussianNoise)
        return values


class Together:
    """Draws the noise that owners' shares add up to."""

    name = "simulation"

    def __init__(self, terms, seeds):
        self.sources, self.share = [Simulation(seed) for seed in seeds], 1 / np.sqrt(len(seeds))
        self.n_scores = terms.loss.n_scores

    def draw(self, mechanism, values):
        noise = GaussianNoise(mechanism.scale * self.share)
        columns = values.reshape(len(values), -1).T
        drawn = [[source.draw(noise, np.zeros_like(column)) for column in columns] for source in self.sources]
        return values + np.sum(drawn, axis=0).T.reshape(values.shape)


def in_process(parts, terms, source_of):
    owners = [DataOwner(number, part, terms, source_of(number)) for number, part in enumerate(parts)]
    for owner in owners:
        owner.meet({other.number: other.public_key for other in owners})
    return owners, Aggregator(terms)


def trained_in_process(parts, terms, source_of):
    owners, aggregator = in_process(parts, terms, source_of)
    for tree in range(terms.recipe.rounds):
        total = aggregator.add(tree, {o.number: o.message(tree, aggregator.taking_part).tolist() for o in owners})
        for owner in owners:
            owner.learn(total)
    return aggregator.model()


def central(data, terms, source):
    return Rounds(data, terms.trees, terms.loss, 0.0, terms.recipe, source).run_all()


@pytest.mark.parametrize(
    "data",
    [numbers(), table(schema_of("mixed"), 300), table(schema_of("numbers", 3), 300)],
    ids=["number", "two classes", "three classes"],
)
@pytest.mark.parametrize("params", [{}, {"filter": True, "rounds": 2, "extra_rounds": 6, "clip": 0.4}], ids=["all", "filter"])
def test_without_noise_owners_train_the_central_model_to_the_bit(data, params):
    terms, _ = terms_of(data.schema, epsilon=50.0, **params)
    model = trained_in_process(parts_of(data), terms, lambda _: Silent())
    assert model == central(data, terms, Silent())
    assert len(np.unique(model.values)) > 10


@in_both
def test_owners_train_the_central_model_with_the_noise_of_all_shares_to_the_bit():
    data = numbers()
    result = train_federated(parts_of(data), epsilon=1.0, public_seed=5, seed=11, **FEW)
    assert result.model == central(data, result.terms, Together(result.terms, child_seeds(11, 3)))
    assert result.void == result.gone == ()
    assert (result.ledger.guarantee.epsilon, result.ledger.guarantee.delta) == (1.0, 1e-6)
    assert covers(result.ledger.event)


def test_a_leaf_is_a_ratio_of_sums_and_no_mean_of_ratios():
    data = numbers()
    terms, _ = terms_of(NUMBER, rounds=1, spread=100.0)
    parts = parts_of(data)
    together = trained_in_process(parts, terms, lambda _: Silent())
    apart = np.mean([central(part, terms, Silent()).values for part in parts], axis=0)
    assert np.abs(together.values - apart).max() > 0.1


def test_trees_come_from_the_public_seed_alone():
    terms, _ = terms_of(NUMBER)
    assert Terms.from_dict(json.loads(json.dumps(terms.to_dict()))).fingerprint == terms.fingerprint
    assert replace(terms, public_seed=6).fingerprint != terms.fingerprint
    assert replace(terms, public_seed=6).trees.splits != terms.trees.splits


@pytest.mark.parametrize("colluding", [0, 2])
@pytest.mark.parametrize("taking_part", [3, 5])
def test_shares_add_up_to_the_noise_of_the_ledger_whoever_colludes(colluding, taking_part):
    """With `colluding` shares taken off again, the variance is that of the ledger; all five together have that of the recipe."""
    terms, event = terms_of(NUMBER, owners=5, colluding=colluding)
    scales = terms.share_scales(taking_part)
    priced = replace(terms.recipe, noise_multiplier=event.noise_multiplier).grid
    wanted = np.array(priced.scales) * terms.recipe.grid.steps
    np.testing.assert_allclose(np.square(scales) * (taking_part - colluding), np.square(wanted), rtol=1e-12)
    if taking_part == 5:
        np.testing.assert_allclose(scales * np.sqrt(5), np.array(terms.recipe.grid.scales) * terms.recipe.grid.steps, rtol=1e-12)
    noise = sum(GaussianNoise(scales[0]).add(np.zeros(4000, dtype=np.int64), source=Simulation(s)) for s in range(taking_part))
    statistic = np.square(noise / (scales[0] * np.sqrt(taking_part))).sum()
    assert chi2.ppf(1e-4, 4000) < statistic < chi2.ppf(1 - 1e-4, 4000)


def test_messages_carry_a_share_of_the_noise_each():
    """Owners without rows: what adds up is noise of the recipe's variance."""
    terms, _ = terms_of(NUMBER, rounds=60)
    nobody = [EncodedDataset(NUMBER, (np.empty(0), np.empty(0)), np.empty(0)) for _ in range(3)]
    owners, aggregator = in_process(nobody, terms, Simulation)
    wanted, found = np.array(terms.recipe.grid.scales) * terms.recipe.grid.steps, []
    for tree in range(60):
        total = aggregator.add(tree, {o.number: o.message(tree, [0, 1, 2]).tolist() for o in owners})
        found.append(np.square(total.reshape(-1, 2) / wanted))
    statistic, count = np.concatenate(found).sum(axis=0), len(np.concatenate(found))
    assert (chi2.ppf(1e-4, count) < statistic).all()
    assert (statistic < chi2.ppf(1 - 1e-4, count)).all()


@in_both
def test_an_owner_who_goes_voids_one_round_and_the_others_go_on():
    data = numbers()
    result = train_federated(parts_of(data), epsilon=1.0, public_seed=5, seed=11, leaving={1: 2}, **FEW)
    assert (result.void, result.gone) == ((2,), (1,))
    values = [result.model.values[result.terms.trees.leaves_of(tree)] for tree in range(6)]
    assert not values[2].any()
    assert all(values[tree].any() for tree in (0, 1, 3, 4, 5))
    assert result.ledger.event.rounds == 6


def test_a_message_that_arrives_late_opens_one_total_with_all_of_its_noise():
    """The rest were sent once: in the next round masks, noise and keys in use are others."""
    terms, _ = terms_of(NUMBER)
    owners, aggregator = in_process(parts_of(numbers()), terms, Simulation)
    sent = {o.number: o.message(0, [0, 1, 2]).tolist() for o in owners}
    late = sent.pop(1)
    assert aggregator.add(0, sent) is None
    assert aggregator.taking_part == [0, 2]
    again = Aggregator(terms)
    other_owners, other = in_process(parts_of(numbers()), terms, Simulation)
    whole = other.add(0, {o.number: o.message(0, [0, 1, 2]).tolist() for o in other_owners})
    np.testing.assert_array_equal(again.add(0, {**sent, 1: late}), whole)
    for number in (0, 2):
        owners[number].learn(None)
        with pytest.raises(FederationError, match="asked about round 1 after round 1"):
            owners[number].message(0, [0, 2])
    assert aggregator.add(1, {n: owners[n].message(1, [0, 2]).tolist() for n in (0, 2)}) is not None


def test_a_void_round_moves_no_score():
    terms, _ = terms_of(NUMBER)
    owners, _ = in_process(parts_of(numbers()), terms, Simulation)
    before = owners[0]._rounds.scores.copy()
    owners[0].message(0, [0, 1, 2])
    owners[0].learn(None)
    np.testing.assert_array_equal(owners[0]._rounds.scores, before)


@pytest.mark.parametrize(
    ("tree", "taking_part"),
    [(6, [0, 1, 2]), (-1, [0, 1, 2]), (0, [1, 2]), (0, [0, 1, 3]), (0, [0])],
    ids=["beyond the last", "before the first", "without itself", "with a stranger", "alone"],
)
def test_an_owner_answers_only_what_was_agreed(tree, taking_part):
    terms, _ = terms_of(NUMBER)
    owners, _ = in_process(parts_of(numbers()), terms, Simulation)
    with pytest.raises(FederationError) as caught:
        owners[0].message(tree, taking_part)
    assert (caught.value.code, caught.value.owner) == ("round", 0)


def test_whoever_was_left_out_never_comes_back():
    terms, _ = terms_of(NUMBER)
    owners, _ = in_process(parts_of(numbers()), terms, Simulation)
    owners[0].message(0, [0, 2])
    with pytest.raises(FederationError, match=r"add up with owners \[0, 1, 2\], but knows \[0, 2\]"):
        owners[0].message(1, [0, 1, 2])


def test_a_message_of_another_length_is_refused_and_nothing_is_added_up():
    terms, _ = terms_of(NUMBER)
    owners, aggregator = in_process(parts_of(numbers()), terms, Simulation)
    sent = {o.number: o.message(0, [0, 1, 2]).tolist() for o in owners}
    sent[2].append(0)
    with pytest.raises(FederationError, match=r"owner 2: It sent \d+ numbers where \d+ were due. Nothing was added up") as caught:
        aggregator.add(0, sent)
    assert (caught.value.code, caught.value.owner) == ("length", 2)
    assert aggregator.totals == []


@pytest.mark.slow
def test_an_owner_whose_process_is_killed_has_gone():
    terms, _ = terms_of(NUMBER, owners=2)
    owners = {number: OwnerProcess() for number in range(2)}
    try:
        introduce(owners, parts_of(numbers(), 2), terms, [1, 2])
        owners[1]._process.kill()
        owners[1]._process.wait()
        for owner in owners.values():
            owner.ask({"tree": 0, "taking_part": [0, 1]})
        assert len(owners[0].hear()["masked"]) == terms.length(0)
        assert owners[1].hear() is None
    finally:
        for owner in owners.values():
            owner.end()


@pytest.mark.slow
def test_an_owner_who_means_other_trees_is_found_out_before_the_first_round(monkeypatch):
    monkeypatch.setattr(Terms, "fingerprint", "what the one who adds up means")
    with pytest.raises(FederationError, match="owner 0: It draws other trees, or means other settings") as caught:
        train_federated(parts_of(numbers()), epsilon=1.0, public_seed=5, seed=1, **FEW)
    assert caught.value.code == "plan"


def test_pretending_that_somebody_takes_part_opens_nothing():
    """Shares of noise shrink with the number who take part; claim too many, and the masks do not cancel."""
    terms, _ = terms_of(NUMBER)
    owners, _ = in_process(parts_of(numbers()), terms, lambda _: Silent())
    messages = [owners[n].message(0, [0, 1, 2]) for n in (0, 2)]
    pretended = np.sum(messages, axis=0, dtype=np.uint64).view(np.int64) / terms.recipe.grid.steps
    assert np.median(np.abs(pretended)) > 1e4 * 400  # 400 rows contribute at most 1 each


@pytest.mark.slow
def test_every_owner_draws_its_own_rows_for_a_round():
    terms, _ = terms_of(NUMBER, rounds=40, sampling=0.3)

    class Coins(Silent):
        def __init__(self, seed):
            self.simulation = Simulation(seed)

        def draw(self, mechanism, values):
            return values if isinstance(mechanism, GaussianNoise) else self.simulation.draw(mechanism, values)

    owners, aggregator = in_process(parts_of(numbers()), terms, Coins)
    drawn = 0.0
    for tree in range(40):
        total = aggregator.add(tree, {o.number: o.message(tree, [0, 1, 2]).tolist() for o in owners})
        drawn += total.reshape(-1, 2)[:, 1].sum() / terms.recipe.grid.steps
    assert abs(drawn - 0.3 * 400 * 40) < 4 * np.sqrt(400 * 40 * 0.3 * 0.7)


@in_both
def test_too_few_owners_do_not_go_on():
    with pytest.raises(FederationError, match="Only 1 of 2 owners are left, too few to hide among") as caught:
        train_federated(parts_of(numbers(), 2), epsilon=1.0, public_seed=5, seed=1, leaving={1: 0}, **FEW)
    assert caught.value.code == "few"


def test_pooling_by_as_many_as_were_reckoned_with_costs_nothing_and_by_more_costs_more():
    terms, event = terms_of(NUMBER, owners=5, colluding=1)
    left = [epsilon_when_pooled(event, terms, pooled) for pooled in range(5)]
    assert left == sorted(left)
    assert left[1] == pytest.approx(event.epsilon, rel=1e-3)
    assert left[1] <= event.epsilon
    assert left[4] > 1.8 * event.epsilon
    with pytest.raises(ParameterError, match="pooled"):
        epsilon_when_pooled(event, terms, 5)


def test_owners_with_another_schema_are_told_so():
    parts = [numbers(), table(schema_of("numbers"), 20)]
    with pytest.raises(FederationError, match="owner 1: Its features or target are declared differently") as caught:
        train_federated(parts, epsilon=1.0, public_seed=5, seed=1, **FEW)
    assert caught.value.code == "plan"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"colluding": 3}, "a whole number from 0 to 2"),
        ({"static_noise": True}, "owners share the noise of sums"),
        ({"initial_share": 0.1}, "0: owners start from 0"),
        ({"histogram_share": 0.1}, "0: owners cut declared ranges"),
        ({"leaving": {7: 1}}, "an owner from 0 to 2"),
    ],
)
def test_what_cannot_be_is_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        train_federated(parts_of(numbers()), epsilon=1.0, public_seed=5, seed=1, **FEW, **given)


@pytest.mark.parametrize("owners", [0, 1])
def test_one_owner_is_nobody_to_share_with(owners):
    with pytest.raises(ParameterError, match="at least two owners"):
        train_federated([numbers()][:owners], epsilon=1.0, public_seed=5, seed=1, **FEW)


@in_both
def test_training_says_how_far_it_is_and_stops_when_asked():
    shares: list[float] = []
    with pytest.raises(Cancelled):
        train_federated(
            parts_of(numbers()),
            epsilon=1.0,
            public_seed=5,
            seed=1,
            **FEW,
            progress=shares.append,
            stop=lambda: len(shares) == 3,
        )
    assert shares == [1 / 6, 2 / 6, 3 / 6]


@pytest.mark.slow
def test_owners_release_with_exact_noise_that_nobody_can_repeat():
    asked = {"epsilon": 1.0, "delta": 1e-6, "rounds": 1, "public_seed": 5, "seed": None, "depth": 1}
    parts = [replace(part, not_row_wise="") for part in parts_of(numbers(80), 2)]
    one, two = (train_federated(parts, **asked) for _ in range(2))
    assert one.result.released
    assert one.model.splits == two.model.splits
    assert not np.array_equal(one.model.values, two.model.values)


def test_an_owner_s_process_says_what_it_cannot_answer():
    terms, _ = terms_of(NUMBER)
    join = {"number": 0, "terms": terms.to_dict(), "rows": rows_to_text(numbers(20)), "seed": 1}
    asked = [join, {"keys": {"0": "5", "1": "1"}}, {"tree": 0, "taking_part": [0, 1]}]
    said = io.StringIO()
    serve(io.StringIO("".join(json.dumps(request) + "\n" for request in asked)), said)
    joined, refused = map(json.loads, said.getvalue().splitlines())
    assert joined["terms"] == terms.fingerprint
    assert refused == {
        "error": "owner 1: Its public key lies outside the group. Leave this owner out, or let it make another key."
    }


def test_an_owner_s_process_ends_quietly_when_its_input_breaks_off():
    terms, _ = terms_of(NUMBER)
    join = json.dumps({"number": 0, "terms": terms.to_dict(), "rows": rows_to_text(numbers(20)), "seed": 1})
    said = io.StringIO()
    serve(io.StringIO(join[: len(join) // 2]), said)
    assert said.getvalue() == ""


@in_both
def test_an_owner_without_rows_takes_part():
    parts = [numbers(), numbers().take(np.empty(0, dtype=np.int64), share=0.5)]
    result = train_federated(parts, epsilon=5.0, public_seed=5, seed=1, **FEW)
    assert np.isfinite(result.model.values).all()


@in_both
def test_classes_are_learned_together():
    schema = Schema(NUMBER.features, ClassTarget("big", ("no", "yes")), n_public=3000)
    rng = np.random.default_rng(4)
    x, z = rng.random(3000), rng.random(3000)
    data = EncodedDataset(schema, (x, z), (x + 0.2 * z > 0.6).astype(np.uint8))
    result = train_federated(parts_of(data), epsilon=2.0, public_seed=5, seed=1, colluding=1, rounds=40)
    assert np.mean(result.model.predict(data) == data.target) > 0.9
