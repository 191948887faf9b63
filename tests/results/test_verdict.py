import json
import math
from dataclasses import replace
from functools import cache

import pytest

import dpviz
from dpviz.accounting.claim import Claim
from dpviz.accounting.events import PureDP, Sequential, Step
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.charts.publish.test_result import summary
from dpviz.io.exports.contract import ExportInput
from dpviz.io.results import result_from_json
from dpviz.results.result import FitResult
from dpviz.results.verdict import Unit, loss_text, odds_text, verdict
from dpviz.results.wording import number_text, signs_spelled
from tests.support.release_rows import SCHEMA, small_rows


def claim(verdict_name, epsilon=0.1):
    return Claim(epsilon, "a paper", verdict_name, "Because.")


def said_of(verdict_name, loss, *, claimed=None, **more):
    """Of a release that nothing was read for."""
    return verdict(claim(verdict_name, loss.epsilon if claimed is None else claimed), loss, released=True, **more)


FOUR_LEVELS = Risk(Sequential(tuple(Step(PureDP(0.25), "node", level, mechanism="permute-and-flip") for level in range(4))))
PATIENT = Unit(3, "one patient")


@cache
def rounds() -> FitResult:
    """Of Gaussian noise, on many rows."""
    return dpviz.fit("s-gbdt", small_rows(schema=replace(SCHEMA, n_public=30_000)), epsilon=1, max_depth=1, rounds=5, seed=0)


@cache
def tree() -> FitResult:
    return dpviz.fit("pf-tree", small_rows(), epsilon=1, max_depth=1, seed=0)


# --- numbers in words


def test_numbers_are_short_and_an_epsilon_is_never_without_its_neighbours():
    for value, text in [
        *[(0.1, "0.1"), (10, "10"), (0.001, "0.001"), (0.12345, "0.123"), (1234.5, "1,234"), (0, "0"), (math.inf, "∞")],
        *[(1e-9, "1e-09"), (100.0, "100"), (0.0999999, "0.1")],
    ]:
        assert number_text(value) == text
    assert loss_text(PrivacyLoss(0.1)) == "ε = 0.1 (add/remove one row)"
    assert loss_text(PrivacyLoss(1, 1e-5)) == "ε = 1, δ = 0.00001 (add/remove one row)"
    assert loss_text(PrivacyLoss(3, 1e-6), PATIENT) == "ε = 3, δ = 0.000001 (add/remove one patient, up to 3 rows)"


def test_odds_are_e_to_epsilon_over_one_plus_it_and_never_round_to_certainty_or_nothing():
    for epsilon, guesses in [(0.5, 63), (1, 74), (2, 89)]:
        assert f"at most {guesses} times in 100" in odds_text(PrivacyLoss(epsilon))
        assert guesses == math.ceil(100 * math.exp(epsilon) / (1 + math.exp(epsilon)))
    for epsilon, text in [(10, "more than 99 times in 100"), (0.001, "fewer than 51 times in 100"), (math.inf, "Nothing limits")]:
        assert text in odds_text(PrivacyLoss(epsilon))


# --- what kind of statement


@pytest.mark.parametrize(
    ("kind", "name", "claimed", "loss"),
    [
        ("released", "holds", 0.1, PrivacyLoss(0.1)),
        ("unproven", "holds", 0.1, PrivacyLoss(0.2)),
        ("unproven", "holds", 0.1, PrivacyLoss(math.inf)),
        ("unproven", "holds", 0.1, PrivacyLoss(0.1, 1e-6)),
        ("unproven", "unproven", 0.1, PrivacyLoss(0.1)),
        ("violated", "violated", 0.1, PrivacyLoss(0.1)),
        ("violated", "violated", 0.1, PrivacyLoss(math.inf)),
        ("none", "none", math.inf, PrivacyLoss(math.inf)),
    ],
)
def test_only_a_claim_that_holds_and_composes_is_a_guarantee(kind, name, claimed, loss):
    said = said_of(name, loss, claimed=claimed)
    assert said.kind == kind
    assert said.headline.startswith("Guaranteed" if kind == "released" else "Not guaranteed, because")


def test_a_result_is_guaranteed_would_be_or_is_not_and_never_two_of_them():
    read = "39 values were read from the data"
    for released, why, head in [
        (True, "", "Guaranteed: ε = 0.1 (add/remove one row)"),
        (False, "", "Would be guaranteed if released: ε = 0.1 (add/remove one row)"),
        *((released, read, f"Not guaranteed, because {read}") for released in (True, False)),
    ]:
        said = verdict(claim("holds"), PrivacyLoss(0.1), released=released, why_not=why)
        assert said.headline == head
        assert not why or said.odds == odds_text(PrivacyLoss(math.inf))  # what is not covered has no odds


def test_a_claim_beyond_its_proof_gets_the_odds_of_what_is_proven():
    for name in ("unproven", "violated"):
        said = said_of(name, PrivacyLoss(1.2), claimed=0.1)
        assert said.kind == name
        assert (said.proven, said.odds) == (PrivacyLoss(1.2), odds_text(PrivacyLoss(1.2)))
        assert "ε = 1.2 (add/remove one row)" in said.headline


def test_a_refuted_ledger_bounds_nothing_on_any_surface():
    """Banner, promises, files: a violated claim whose ledger is no larger leaves no epsilon to rely on."""
    said = said_of("violated", PrivacyLoss(0.1), unit=PATIENT)
    assert not said.proven.is_finite
    assert "prove" not in said.headline
    assert said.odds == "Nothing limits what can be learned about one patient."
    (promise,) = said.promises
    assert promise.startswith("Nothing.")
    by_steps = said_of("violated", PrivacyLoss(1.0), risk=FOUR_LEVELS)
    assert ("Nothing limits" in by_steps.odds, by_steps.right_guesses, by_steps.plain_bound) == (True, 100, "")
    result = replace(tree(), claim=replace(tree().claim, verdict="violated"))
    files = " ".join(ExportInput(result.to_json()).facts) + repr(result) + " ".join(line for _, line in summary(result)[:3])
    for phrase in ("add up to", "Guaranteed", "steps prove"):
        assert phrase not in files


# --- guesses by the steps, and the bound of any algorithm


def test_the_guesses_are_those_of_the_steps_and_the_bound_of_any_algorithm_is_one_click_away():
    said = said_of("holds", PrivacyLoss(1.0), risk=FOUR_LEVELS)
    assert "at most 60 times in 100" in said.odds
    assert "ε = 1 (add/remove one row)" in said.plain_bound
    assert "at most 74 times in 100" in said.plain_bound
    without = replace(said, risk=None)
    assert "74 times in 100" in without.odds
    assert not without.plain_bound


def test_the_rows_of_a_person_are_composed_and_no_other_number_is_said():
    said = said_of("holds", PrivacyLoss(3.0), unit=PATIENT, risk=FOUR_LEVELS)
    composed = 100 * FOUR_LEVELS.for_rows(3).guesses()
    assert 62 < composed < 94
    assert said.right_guesses == composed
    assert f"at most {math.ceil(composed)} times in 100;" in said.odds
    assert "at most 96 times in 100" in said.plain_bound
    plain = said_of("holds", PrivacyLoss(3.0), unit=PATIENT)
    assert plain.headline == "Guaranteed: ε = 3 (add/remove one patient, up to 3 rows)"
    assert "at most 96 times in 100, whatever" in plain.odds
    assert plain.proven == PrivacyLoss(3.0)
    enforced = replace(plain, unit=Unit(3, "one patient", True))  # else it is the owner's word
    assert ["nothing enforces it" in " ".join(each.promises) for each in (plain, enforced)] == [True, False]


def test_files_and_terminal_say_what_the_banner_says():
    banner = rounds().verdict()
    assert "at most 55 times in 100" in banner.odds  # a delta does not hide what Gaussian noise allows
    assert "at most 74 times in 100" in banner.plain_bound
    odds = signs_spelled(f"{banner.odds} {banner.plain_bound}")
    assert dict(summary(rounds()))["Odds"] == odds
    given = ExportInput(rounds().to_json())
    assert odds in given.facts
    assert given.verdict.right_guesses == banner.right_guesses
    document = json.loads(rounds().to_json())  # whose steps are not those of its guarantee
    document["privacy"]["ledger"] = [document["privacy"]["ledger"][0] | {"epsilon": 0.01}]
    assert ExportInput(json.dumps(document)).verdict.risk is None


def test_documents_of_before_say_whom_they_protect():
    document = json.loads(replace(tree(), unit=Unit(3, is_bounded=True)).to_json())
    del document["privacy"]["per_person"]["bounded"]
    assert result_from_json(json.dumps(document)).unit == Unit(3, is_bounded=True)
    del document["privacy"]["per_person"]
    assert result_from_json(json.dumps(document)).unit.is_row
