"""Data sets whose account adds up Renyi losses: what is booked, when it is full, and that nothing else changes."""

import hashlib
import json
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant

from dpviz.accounting.events import Noise
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.renyi import best_order, budget
from dpviz.errors import OverCap, ParameterError, RefusedRelease
from dpviz.figures.publish.account import Account, over_time_sentence
from dpviz.figures.publish.release import account_sentence, history_rows, spent_figure, spent_segments, spent_sentence
from dpviz.privacy.source import ExactNoise
from dpviz.release import publish as publishing
from dpviz.release.checking import findings, restored
from dpviz.release.export import register_json
from dpviz.release.publish import Promise, publish
from dpviz.release.records import RENYI, Balance, DataSet, Entry, State, total
from dpviz.release.register import ReleaseRegister
from dpviz.table.role import DataRole
from tests.release.rows import requested, small_rows

CAPS = {"epsilon_cap": 1.0, "delta_cap": 1e-6}
ORDER = best_order(1.0, 1e-6)
DECIDED = {"reason": "a second study", "made_by": "the data protection officer"}
LEARNERS = (
    *(("majority", {"epsilon": epsilon}) for epsilon in (0.02, 0.05, 0.1)),
    ("s-gbdt", {"epsilon": 0.1, "delta": 1e-7, "rounds": 4, "initial_share": 0}),
    *(("s-gbdt", {"epsilon": epsilon, "delta": 1e-7, "rounds": 4}) for epsilon in (0.05, 0.2)),
)


@pytest.fixture
def register(tmp_path):
    found = ReleaseRegister(tmp_path / "releases.db")
    found.declare("patients", **CAPS, unit="one patient", account=RENYI)
    found.assign("f1", "patients")
    found.assign(small_rows().identity, "patients")
    return found


def start(register, token, epsilon, **more):
    asked = {"learner": "pf-tree", "settings": {}, "file": Path("/nowhere/x.json"), "fingerprint": "f1"}
    return register.start(**asked, token=token, loss=PrivacyLoss(epsilon), **more)


def response_loss(epsilon, order):
    """Of randomised response, by its two outcomes."""
    right = 1 / (1 + math.exp(-epsilon))
    p, q = np.log([right, 1 - right]), np.log([1 - right, right])
    return float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)


def expected(document, order):
    """The Renyi loss of a released file, from its text, by outcomes and the library's accountant."""
    found, library = 0.0, RdpAccountant([order])
    for step in document["privacy"]["ledger"]:
        if step["kind"] == "gaussian rounds":
            one = GaussianDpEvent(step["noise_multiplier"])
            library.compose(one if step["sampling"] == 1 else PoissonSampledDpEvent(step["sampling"], one), step["rounds"])
        else:
            found += response_loss(step["epsilon"], order)
    return found + float(library.rdp[0])


@pytest.fixture(scope="module")
def pool():
    """(loss, event, what it costs by a computation of its own) of releases by several learners."""
    found = []
    for name, settings in LEARNERS:
        asked = requested(settings["epsilon"], name, **{k: v for k, v in settings.items() if k != "epsilon"})
        result = asked.fit(small_rows(), ExactNoise())
        loss, event = result.ledger.guarantee, asked.risk(small_rows().schema).event
        found.append((loss, event, expected(json.loads(result.to_json()), ORDER)))
    return found


@pytest.mark.parametrize("n_histories", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_account_of_random_histories_is_that_of_an_independent_computation(pool, n_histories):
    rng = np.random.default_rng(n_histories)
    declared = DataSet("x", DataRole.PRIVATE, "one patient", 1, 1.0, 1e-6, "", ORDER)
    for _ in range(n_histories):
        balance, spent = Balance(declared, ()), 0.0
        for place in rng.integers(len(pool), size=rng.integers(1, 40)).tolist():
            loss, event, exact = pool[place]
            lost = declared.renyi_of(loss, event)
            assert balance.has_room_for(loss, lost) == (spent + exact <= declared.budget * (1 - 1e-4)) or (
                abs(spent + exact - declared.budget) < 1e-3 * declared.budget
            )
            if balance.has_room_for(loss, lost):
                spent += exact
                entry = Entry(0, str(place), "x", State.RELEASED, "", "", "a", {}, loss, (), "", "", lost)
                balance = replace(balance, releases=(*balance.releases, entry))
        assert spent <= balance.renyi_spent == pytest.approx(spent, rel=1e-4)
        assert balance.renyi_spent <= declared.budget
        assert balance.spent.epsilon <= max(1.0, total(entry.loss for entry in balance.releases).epsilon)


def test_many_boosted_releases_fit_where_their_sum_would_not(pool):
    loss, event, exact = pool[3]
    declared = DataSet("x", DataRole.PRIVATE, "one patient", 1, 1.0, 1e-6, "", ORDER)
    assert loss == PrivacyLoss(0.1, 1e-7)
    assert declared.budget / declared.renyi_of(loss, event) > 30
    assert replace(declared, renyi_order=None).renyi_of(loss, event) is None
    assert declared.budget / exact == pytest.approx(declared.budget / declared.renyi_of(loss, event), rel=1e-3)


def test_epsilons_chosen_by_what_came_before_stay_below_the_budget(register):
    rng, spent = np.random.default_rng(3), 0.0
    most = budget(ORDER, **{name.removesuffix("_cap"): cap for name, cap in CAPS.items()})
    epsilon = 0.02
    for number in range(40):
        lost = response_loss(epsilon, ORDER)
        if spent + lost > most:
            with pytest.raises(OverCap):
                start(register, f"t{number}", epsilon)
        else:
            spent += start(register, f"t{number}", epsilon).renyi
        epsilon = float(rng.uniform(0.01, 0.12)) * (2.0 if rng.random() < 1 / (1 + math.exp(-epsilon)) else 1.0)
    found = register.balance("patients")
    assert 10 < len(found.releases) < 40
    assert found.renyi_spent == pytest.approx(spent)
    assert 0.9 * most < found.renyi_spent <= most == found.data_set.budget
    assert found.spent.epsilon <= 1.0


def test_without_its_steps_a_release_is_any_algorithm_and_one_with_a_delta_has_no_loss(register):
    assert start(register, "t1", 0.1).renyi == pytest.approx(response_loss(0.1, ORDER), rel=1e-6)
    assert start(register, "t2", 0.1, event=Noise(0.02, "geometric", "x")).renyi == pytest.approx(response_loss(0.02, ORDER))
    with pytest.raises(OverCap, match=f"no Renyi loss at order {ORDER:g}"):
        register.start(
            token="t3", loss=PrivacyLoss(0.01, 1e-9), learner="x", settings={}, file=Path("/nowhere/x"), fingerprint="f1"
        )
    with pytest.raises(OverCap, match="without a delta fits") as refused:
        start(register, "t4", 5.0)
    assert start(register, "t5", refused.value.left).token == "t5"
    assert register.balance("patients").left.epsilon < 1e-3


def test_the_account_is_chosen_when_a_data_set_is_declared_and_stays(register):
    assert register.data_set("patients").renyi_order == ORDER
    assert register.declare("others", epsilon_cap=1.0).renyi_order is None
    assert register.declare("third", **CAPS, account=RENYI, order=32.0).renyi_order == 32.0
    for wrong in ({"account": "zcdp"}, {"order": 8.0}, {"account": RENYI, "order": 1.0}):
        with pytest.raises(ParameterError):
            register.declare("wrong", **CAPS, **wrong)
    with pytest.raises(ParameterError, match="delta_cap"):
        register.declare("wrong", epsilon_cap=1.0, account=RENYI)
    with pytest.raises(ParameterError, match="epsilon_cap"):
        register.declare("wrong", epsilon_cap=0.01, delta_cap=1e-6, account=RENYI, order=8.0)
    with closing(sqlite3.connect(register.path)) as other, pytest.raises(sqlite3.DatabaseError):
        other.execute("UPDATE renyi_account SET renyi_order = 2")


def test_its_cap_is_raised_with_a_reason_and_never_lowered_and_its_delta_is_fixed(register):
    for caps in ({"epsilon_cap": 0.9, "delta_cap": 1e-6}, {"epsilon_cap": 2.0, "delta_cap": 1e-5}):
        with pytest.raises(RefusedRelease, match="its delta is fixed, and its cap is never lowered"):
            register.change_caps("patients", **caps, **DECIDED)
    with pytest.raises(RefusedRelease, match="only with a reason"):
        register.change_caps("patients", epsilon_cap=2.0, delta_cap=1e-6)
    before = register.data_set("patients").budget
    assert register.change_caps("patients", epsilon_cap=2.0, delta_cap=1e-6, **DECIDED).budget == pytest.approx(before + 1)


def test_another_order_or_a_smaller_loss_in_the_file_is_found(register):
    start(register, "t1", 0.1)
    assert findings(register) == ()
    with closing(sqlite3.connect(register.path)) as other:
        other.execute("DROP TRIGGER account_keeps")
        other.execute("DROP TRIGGER loss_keeps")
        other.execute("DROP TRIGGER renyi_account_update_is_an_entry")
        other.execute("DROP TRIGGER renyi_loss_update_is_an_entry")
        other.execute("UPDATE renyi_account SET renyi_order = 2")
        other.execute("UPDATE renyi_loss SET renyi = 0")
        other.commit()
    found = findings(register)
    assert "An account of Renyi losses was changed outside the chain." in found
    assert "The Renyi loss of a release was changed outside the chain." in found


def test_an_old_copy_goes_on_with_nothing_left(register, tmp_path):
    start(register, "t1", 0.05)
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file() and "head" not in path.name}
    start(register, "t2", 0.05)
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    restored(register, **DECIDED)
    assert register.balance("patients").left == PrivacyLoss(0.0)
    with pytest.raises(OverCap):
        start(register, "t3", 1e-3)


def test_a_release_books_the_losses_of_its_steps_and_more_than_that_writes_nothing(register, monkeypatch):
    asked = requested(0.1, "s-gbdt", delta=1e-7, rounds=4)
    entry = publish(register, small_rows(), asked)
    text = Path(entry.file).read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() == entry.sha256
    assert entry.renyi == pytest.approx(expected(json.loads(text), ORDER), rel=1e-4)
    of_less = lambda *a, **k: replace(_promise(*a, **k), risk=asked.at(epsilon=0.05).risk(small_rows().schema))  # noqa: E731
    _promise = publishing.promise
    monkeypatch.setattr(publishing, "promise", of_less)
    with pytest.raises(RefusedRelease, match="Training cost more than was promised"):
        publish(register, small_rows(), asked)
    assert [found.state for found in register.releases()] == [State.RELEASED, State.STARTED]
    assert isinstance(_promise(small_rows().schema, asked), Promise)


def test_every_surface_says_which_account_holds(register):
    start(register, "t1", 0.1)
    found = register.balance("patients")
    account = Account(found, register.cap_changes("patients"))
    assert f"Renyi losses of order {ORDER:g} add up" in account_sentence(found.data_set)
    assert "whatever is chosen next, all releases together keep ε = 1, δ = 0.000001" in account_sentence(found.data_set)
    assert "12.5% of the budget" in spent_sentence(found)
    assert f"Cap on Renyi loss of order {ORDER:g} (add/remove one row): 0.58. Spent: 0.0724" in over_time_sentence(account)
    assert history_rows(found)[0][f"Renyi loss of order {ORDER:g}"] == "0.0724"
    drawn = spent_figure(found, PrivacyLoss(0.5), 0.6)
    assert [(bar.name, round(bar.x[0], 2)) for bar in drawn.data] == [
        ("interrupted", 0.07),
        ("this release", 0.51),
        ("over the cap", 0.09),
    ]
    assert spent_segments(found, None) == [("interrupted", 0.1)]
    told = json.loads(register_json(register))
    assert told["data_sets"][0]["renyi_budget"] == found.data_set.budget
    assert told["releases"][0]["renyi"] == found.releases[0].renyi


def test_a_sum_stays_a_sum(register):
    register.declare("others", epsilon_cap=1.0, unit="one row")
    register.assign("f2", "others")
    entry = register.start(
        token="s1", fingerprint="f2", learner="x", settings={}, loss=PrivacyLoss(0.6), file=Path("/x"), event=Noise(0.1, "g", "x")
    )
    assert entry.renyi is None
    assert register.balance("others").left.epsilon == pytest.approx(0.4)
    assert "Epsilons and deltas add up under the cap" in account_sentence(register.balance("others").data_set)
