"""Three owners: the central model's distribution, one who is lost, one who lies, and what they have in the end."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, ks_2samp

import dpviz
from dpviz.errors import FederationError, NotRowWise
from dpviz.owners import federated, owner_process
from dpviz.owners.aggregator import Aggregator
from dpviz.owners.federated import epsilon_when_pooled, train_federated
from dpviz.owners.owner_process import OwnerProcess
from dpviz.privacy.gaussian import GaussianNoise
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.training.params import Settings
from tests.conftest import ROOT
from tests.owners.in_threads import OwnerInThread
from tests.owners.test_federated import FEW, NUMBER, Silent, central, in_process, numbers, parts_of, terms_of, trained_in_process

NOBODY = EncodedDataset(NUMBER, (np.empty(0), np.empty(0)), np.empty(0))
ASKED = {"epsilon": 1.0, "public_seed": 5, "seed": 11, **FEW}


@pytest.fixture
def in_threads(monkeypatch):
    monkeypatch.setattr(owner_process.subprocess, "Popen", OwnerInThread)


# --- the distribution of the model


def leaves(models):
    """Values of five leaves of the first tree and five of the second, shape (n_models, 10)."""
    return np.array([np.concatenate([np.ravel(model.values)[:5], np.ravel(model.values)[-5:]]) for model in models])


def log_ratio_of_variances(one, other):
    return np.log(one.var(axis=0).mean() / other.var(axis=0).mean())


class Louder:
    """Noise of another scale than the recipe's."""

    name = "simulation"

    def __init__(self, seed, factor):
        self.source, self.factor = Simulation(seed), factor

    def draw(self, mechanism, values):
        return self.source.draw(GaussianNoise(mechanism.scale * self.factor), values)


@pytest.mark.slow
def test_the_model_of_three_owners_has_the_distribution_of_the_central_one():
    """Each leaf by itself (Kolmogorov and Smirnov), and all variances together: those at .7 and 1.3 times the noise stand out."""
    data, draws = numbers(), 200
    terms, _ = terms_of(NUMBER, rounds=2)
    parts = parts_of(data)
    sources = [[Simulation(3 * draw + number) for number in range(3)] for draw in range(draws)]
    found = leaves(trained_in_process(parts, terms, those.__getitem__) for those in sources)
    apart = leaves(central(data, terms, Simulation(10**6 + draw)) for draw in range(10 * draws))
    assert min(ks_2samp(found[:, leaf], apart[:, leaf]).pvalue for leaf in range(10)) > 1e-4
    assert abs(log_ratio_of_variances(found, apart)) < 0.2
    for factor in (0.7, 1.3):
        wrong = leaves(central(data, terms, Louder(draw, factor)) for draw in range(draws))
        assert abs(log_ratio_of_variances(wrong, apart)) > 0.3


class Recording(Aggregator):
    kept: list[np.ndarray]

    def add(self, tree, sent):
        total = super().add(tree, sent)
        self.kept.append(total)
        return total


@pytest.mark.slow
def test_exact_noise_of_three_processes_adds_up_to_that_of_the_ledger(monkeypatch):
    """Owners without rows, so the totals are noise alone."""
    monkeypatch.setattr(Recording, "kept", [], raising=False)
    monkeypatch.setattr(federated, "Aggregator", Recording)
    found = train_federated([NOBODY] * 3, epsilon=1.0, delta=1e-6, public_seed=5, seed=None, schema=NUMBER, rounds=8)
    scales = np.array(found.terms.recipe.grid.scales) * found.terms.recipe.grid.steps
    noise = np.concatenate([total.reshape(-1, 2) for total in Recording.kept]) / scales
    assert found.result.released
    assert len(Recording.kept) == 8
    for statistic in np.square(noise).sum(axis=0):
        assert chi2.ppf(1e-4, len(noise)) < statistic < chi2.ppf(1 - 1e-4, len(noise))


# --- one is lost, one lies


@pytest.fixture
def started(monkeypatch):
    """The processes of the owners, in order; `lie` changes what the last of them says."""
    processes = []

    class Watched(OwnerProcess):
        lie = None

        def __init__(self):
            super().__init__()
            processes.append(self)

        def hear(self):
            answer = super().hear()
            if Watched.lie and self is processes[-1] and answer and "masked" in answer:
                answer["masked"] = Watched.lie(answer["masked"])
            return answer

    monkeypatch.setattr(federated, "OwnerProcess", Watched)
    return Watched, processes


@pytest.mark.slow
def test_an_owner_whose_process_is_killed_in_the_middle_voids_one_round(started, monkeypatch):
    """What the others know then is what they know of an owner who leaves by itself."""
    _, processes = started

    def kill(share):
        if share == 3 / 6:
            processes[1]._process.kill()
            processes[1]._process.wait()

    found = train_federated(parts_of(numbers()), **ASKED, progress=kill)
    assert (found.void, found.gone) == ((3,), (1,))
    monkeypatch.setattr(owner_process.subprocess, "Popen", OwnerInThread)
    assert found.model == train_federated(parts_of(numbers()), **ASKED, leaving={1: 3}).model
    whole = train_federated(parts_of(numbers()), **ASKED)
    before = found.model.splits.tree[found.model.splits.leaves] < 3
    np.testing.assert_array_equal(found.model.values[before], whole.model.values[before])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_ctrl_c_is_for_the_process_that_started_the_owners():
    """An owner, still importing, would print where it was interrupted."""
    code = (
        "import os, signal\n"
        "from dpviz.owners.owner_process import OwnerProcess\n"
        "signal.signal(signal.SIGINT, lambda *_: None)\n"
        "owner = OwnerProcess()\n"
        "os.killpg(0, signal.SIGINT)\n"
        "owner.end()\n"
        "print(owner._process.returncode)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, start_new_session=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def one_number_more(masked):
    return [*masked, 0]


def invented(masked):
    return [(number + (1 << 50)) % (1 << 64) for number in masked]


@pytest.mark.usefixtures("in_threads")
def test_a_message_of_another_length_names_its_owner_and_ends_all(started):
    watched, processes = started
    watched.lie = staticmethod(one_number_more)
    with pytest.raises(FederationError, match=r"owner 2: It sent .* Nothing was added up"):
        train_federated(parts_of(numbers()), **ASKED)
    assert all(owner.hear() is None for owner in processes)


@pytest.mark.parametrize("where", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_invented_numbers_go_unnoticed_and_move_the_model(started, where, monkeypatch):
    """What secure sums cannot see: nothing fails, and every leaf of the model is what the liar made of it."""
    watched, processes = started
    with monkeypatch.context() as patched:
        patched.setattr(owner_process.subprocess, "Popen", OwnerInThread)
        honest = train_federated(parts_of(numbers()), **ASKED)
        processes.clear()
        if where == "processes":
            patched.undo()
        monkeypatch.setattr(watched, "lie", staticmethod(invented))
        lied = train_federated(parts_of(numbers()), **ASKED)
    assert (lied.void, lied.gone) == ((), ())
    assert not np.isclose(lied.model.values, honest.model.values, rtol=1e-3).any()


def test_an_owner_who_leaves_its_noise_out_costs_the_others_what_pooling_costs():
    """Two of three shares are left: the others' epsilon is `epsilon_when_pooled` of one, as a two-sided test of the sum shows."""
    terms, event = terms_of(NUMBER, rounds=60)
    owners, aggregator = in_process([NOBODY] * 3, terms, lambda number: Silent() if number == 2 else Simulation(number))
    scales, found = np.array(terms.recipe.grid.scales) * terms.recipe.grid.steps * np.sqrt(2 / 3), []
    for tree in range(60):
        total = aggregator.add(tree, {o.number: o.message(tree, [0, 1, 2]).tolist() for o in owners})
        found.append(np.square(total.reshape(-1, 2) / scales))
    statistic, count = np.concatenate(found).sum(axis=0), len(np.concatenate(found))
    assert (chi2.ppf(1e-4, count) < statistic).all()
    assert (statistic < chi2.ppf(1 - 1e-4, count)).all()
    assert epsilon_when_pooled(event, terms, 1) == pytest.approx(1.24, abs=0.01)


@pytest.mark.parametrize(
    ("owners", "colluding", "epsilons"),
    [(3, 0, (1, 1.24, 1.80)), (3, 1, (0.81, 1, 1.45)), (5, 0, (1, 1.13, 1.31, 1.63, 2.36)), (5, 2, (0.76, 0.86, 1, 1.24, 1.80))],
)
def test_what_the_page_says_about_pooling_is_true(owners, colluding, epsilons):
    asked = Settings(epsilon=1.0)
    terms, event = federated.agreed(NUMBER, owners, asked, {}, public_seed=1, colluding=colluding)
    found = [epsilon_when_pooled(event, terms, pooled) for pooled in range(owners)]
    np.testing.assert_allclose(found, epsilons, atol=0.006)


# --- what they have in the end


@pytest.mark.usefixtures("in_threads")
def test_the_result_is_that_of_one_trainer_with_all_rows_who_starts_from_0(tmp_path):
    found = train_federated(parts_of(numbers()), **ASKED).result
    alone = dpviz.fit("s-gbdt", numbers(), epsilon=1.0, max_depth=6, seed=11, initial_share=0.0, histogram_share=0.0, **FEW)
    assert (found.learner, found.params, found.settings) == (alone.learner, alone.params, alone.settings)
    assert (found.ledger, found.schema, found.plan) == (alone.ledger, alone.schema, alone.plan)
    assert replace(found.claim, because=alone.claim.because) == alone.claim
    path = tmp_path / "model.json"
    path.write_text(found.to_json(), encoding="utf-8")
    again = dpviz.load_result(path)
    np.testing.assert_array_equal(again.model.predict(numbers()), found.model.predict(numbers()))
    assert not again.released
    leans_on = "it covers an owner's rows as long as no other owner passes on what it knows or leaves its noise out."
    assert again.claim.because == f"{alone.claim.because} Trained by 3 owners, who share the noise: {leans_on}"


@pytest.mark.usefixtures("in_threads")
def test_nothing_is_released_from_parts_that_depend_on_other_rows():
    with pytest.raises(NotRowWise, match="chosen by their positions"):
        train_federated(parts_of(numbers()), **ASKED | {"seed": None})


@pytest.mark.usefixtures("in_threads")
def test_what_one_owner_read_from_its_rows_all_disclose():
    parts = parts_of(numbers())
    read = replace(parts[1], schema=replace(parts[1].schema, read_from_data=("n_public",)))
    found = train_federated([parts[0], read, parts[2]], **ASKED).result
    assert [item.what for item in found.disclosures] == ["The row count was read from the data."]


@pytest.mark.usefixtures("in_threads")
def test_a_person_may_have_rows_at_every_owner():
    bounded = [replace(part, rows_per_person=2) for part in parts_of(numbers())]
    assert train_federated(bounded, **ASKED).result.rows_per_person == 6
    assert train_federated([*bounded[:2], parts_of(numbers())[2]], **ASKED).result.rows_per_person is None
