"""What all releases of a data set tell together, against a computation of its own, and what it never changes."""

import hashlib
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.release.check import compose_releases
from dpviz.release.records import Balance, DataSet, ReleaseRecord, State, total
from dpviz.table.role import DataRole
from tests.support.release_rows import requested, small_rows

#: A release of a pure step (a randomised response), or of such a step and of Gaussian rounds.
LEARNERS = (
    *(("majority", {"epsilon": epsilon}) for epsilon in (0.05, 0.1, 0.3, 0.7)),
    ("s-gbdt", {"epsilon": 0.1, "delta": 1e-7, "rounds": 4, "initial_share": 0}),
    *(("s-gbdt", {"epsilon": epsilon, "delta": 1e-7, "rounds": 4}) for epsilon in (0.5, 1.5)),
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """Entries whose files are there, one per learner and epsilon."""
    folder = tmp_path_factory.mktemp("released")
    return [_entry(number, name, settings, folder) for number, (name, settings) in enumerate(LEARNERS)]


def _entry(number, name, settings, folder):
    result = requested(settings["epsilon"], name, seed=1, **{k: v for k, v in settings.items() if k != "epsilon"}).fit(
        small_rows()
    )
    file, text = folder / f"{number}.json", result.to_json()
    file.write_text(text, encoding="utf-8")
    hashed = hashlib.sha256(text.encode()).hexdigest()
    loss = result.ledger.guarantee
    return ReleaseRecord(number, f"t{number}", "x", State.RELEASED, "", "", name, settings, loss, (), str(file), hashed)


def balance(entries, rows=1):
    return Balance(DataSet("x", DataRole.PRIVATE, "one patient", rows, 100.0, 0.1, ""), tuple(entries))


def exact_delta(entries, loss):
    """By outcomes of the pure steps, and of all Gaussian rounds as one Gaussian (Balle & Wang 2018, Theorem 8)."""
    pures, squares = [], 0.0
    for entry in entries:
        for step in json.loads(Path(entry.file).read_text(encoding="utf-8"))["privacy"]["ledger"]:
            if step["kind"] == "gaussian rounds":
                squares += step["rounds"] / step["noise_multiplier"] ** 2
            else:
                pures.append(step["epsilon"])
    found = 0.0
    for signs in itertools.product((1, -1), repeat=len(pures)):
        chance = math.prod(1 / (1 + math.exp(-sign * epsilon)) for sign, epsilon in zip(signs, pures, strict=True))
        found += chance * _gaussian_delta(loss - float(np.dot(signs, pures)), math.sqrt(squares))
    return found


def _gaussian_delta(loss, mu):
    if not mu:
        return max(0.0, -math.expm1(loss))
    return float(ndtr(mu / 2 - loss / mu) - math.exp(loss) * ndtr(-mu / 2 - loss / mu))


@pytest.mark.slow
@pytest.mark.parametrize("n_histories", [40, pytest.param(1000, marks=pytest.mark.verify)])
def test_the_total_of_random_histories_is_that_of_an_independent_computation(pool, n_histories):
    rng = np.random.default_rng(n_histories)
    for _ in range(n_histories):
        entries = [pool[k] for k in rng.integers(len(pool), size=rng.integers(2, 7))]
        found = compose_releases(entries)
        for loss in (0.0, float(rng.uniform(0.05, 1.0))):
            exact, ours = exact_delta(entries, loss), found.risk.delta(loss)
            assert exact - 1e-9 <= ours <= exact + 0.002
        assert found.risk.guesses() == pytest.approx(0.5 + exact_delta(entries, 0.0) / 2, abs=0.001)
        booked = total(entry.loss for entry in entries)
        assert found.loss.epsilon <= booked.epsilon * (1 + 1e-12)
        assert exact_delta(entries, found.loss.epsilon) <= found.loss.delta + 1e-9


def test_ten_boosted_releases_tell_less_than_their_sum_and_give_nothing_back(pool):
    entries = [pool[4]] * 10
    assert total(entry.loss for entry in entries).epsilon == pytest.approx(1.0)
    found = compose_releases(entries)
    assert found.loss.delta == 1e-7
    assert 0.3 < found.loss.epsilon < 0.4
    assert found.risk.guesses() < 0.52 < total(entry.loss for entry in entries).guesses_right
    account = balance(entries)
    assert account.spent == total(entry.loss for entry in entries)
    assert account.left.epsilon == pytest.approx(99.0)
    assert not replace(account, data_set=replace(account.data_set, epsilon_cap=1.05)).has_room_for(PrivacyLoss(0.1, 1e-7))


def test_a_release_without_its_file_or_with_another_counts_as_any_algorithm(pool, tmp_path):
    known, gone = [pool[5], pool[5]], [pool[5], replace(pool[5], file=str(tmp_path / "gone.json"))]
    assert compose_releases(known).n_unread == 0
    assert compose_releases(gone).n_unread == 1
    assert compose_releases(gone).risk.guesses() > compose_releases(known).risk.guesses() + 0.01
    other = [pool[5], replace(pool[5], file=pool[4].file)]  # that of a smaller release: not the file that was released
    assert compose_releases(other).risk.guesses() == compose_releases(gone).risk.guesses()
    dearer = [pool[5], replace(pool[5], loss=PrivacyLoss(0.1, 1e-7))]  # its steps cost more than was booked
    assert compose_releases(dearer).n_unread == 1
    interrupted = [pool[5], replace(pool[5], state=State.STARTED, file="", sha256="")]
    assert compose_releases(interrupted).n_unread == 1
    assert compose_releases([pool[5]]) is None


def test_releases_without_their_files_cost_a_unit_of_many_rows_no_more_than_was_booked(pool):
    """What is booked is of all rows of a unit; a row has its part."""
    gone = [replace(pool[3], file="", sha256="")] * 2
    booked = total(one.loss for one in gone).epsilon
    assert 0.9 * booked < compose_releases(gone, 3).loss.epsilon <= booked * (1 + 1e-9)
