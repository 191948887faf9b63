import json
import math
from dataclasses import replace
from functools import cache

import dpviz
from dpviz.accounting.claim import Claim
from dpviz.accounting.events import PureDP, Sequential, Step
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.figures.publish.summary import summary
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import result_from_json
from dpviz.learners import result_verdict
from dpviz.results.result import FitResult
from dpviz.results.verdict import Unit, loss_text, odds_text, unit_of, verdict
from dpviz.results.wording import number_text, signs_spelled
from tests.support.release_rows import SCHEMA, small_rows


def test_numbers_are_short_and_plain():
    for value, text in [
        (0.1, "0.1"),
        (1.2, "1.2"),
        (10, "10"),
        (0.001, "0.001"),
        (0.12345, "0.123"),
        (1234.5, "1,234"),
        (0, "0"),
        (math.inf, "∞"),
        (1e-9, "1e-09"),
        (100.0, "100"),
        (0.0999999, "0.1"),
    ]:
        assert number_text(value) == text


def test_an_epsilon_is_never_without_its_neighbours():
    assert loss_text(PrivacyLoss(0.1)) == "ε = 0.1 (add/remove one row)"
    assert loss_text(PrivacyLoss(1, 1e-5)) == "ε = 1, δ = 0.00001 (add/remove one row)"


def test_odds_are_e_to_epsilon_over_one_plus_it():
    for epsilon, guesses in [(0.5, 63), (1, 74), (2, 89)]:
        assert f"at most {guesses} times in 100" in odds_text(PrivacyLoss(epsilon))
        assert guesses == math.ceil(100 * math.exp(epsilon) / (1 + math.exp(epsilon)))


def test_the_ends_of_the_scale_do_not_round_to_certainty_or_to_nothing():
    assert "more than 99 times in 100" in odds_text(PrivacyLoss(10))
    assert "fewer than 51 times in 100" in odds_text(PrivacyLoss(0.001))
    assert "Nothing limits" in odds_text(PrivacyLoss(math.inf))


FOUR_LEVELS = Risk(Sequential(tuple(Step(PureDP(0.25), "node", level, mechanism="permute-and-flip") for level in range(4))))


@cache
def rounds() -> FitResult:
    """Of Gaussian noise, on many rows."""
    return dpviz.fit("s-gbdt", small_rows(schema=replace(SCHEMA, n_public=30_000)), epsilon=1, max_depth=1, rounds=5, seed=0)


def test_the_guesses_are_those_of_the_steps_and_the_bound_of_any_algorithm_is_one_click_away():
    said = verdict(claim("holds", 1.0), PrivacyLoss(1.0), released=True, risk=FOUR_LEVELS)
    assert "at most 60 times in 100; a coin flip, 50." in said.odds
    assert "at most 74 times in 100." in said.plain_bound
    assert said.plain_bound.startswith("Any algorithm with ε = 1 (add/remove one row)")
    without = replace(said, risk=None)
    assert "74 times in 100, whatever the algorithm; a coin flip, 50." in without.odds
    assert not without.plain_bound


def test_a_delta_does_not_hide_what_gaussian_noise_allows():
    assert "at most 55 times in 100" in result_verdict(rounds()).odds
    assert "at most 74 times in 100" in result_verdict(rounds()).plain_bound


def test_the_rows_of_a_person_are_composed_and_not_multiplied():
    said = verdict(claim("holds", 1.0), PrivacyLoss(1.0), released=True, unit=Unit(3, "one patient"), risk=FOUR_LEVELS)
    composed = 100 * FOUR_LEVELS.for_rows(3).guesses()
    assert 62 < composed < 94
    assert said.right_guesses == composed
    assert f"at most {math.ceil(composed)} times in 100 (one row: 60)" in said.odds
    assert "at most 96 times in 100" in said.plain_bound


def test_no_number_of_steps_makes_a_refuted_ledger_a_bound():
    said = verdict(claim("violated", 1.0), PrivacyLoss(1.0), released=True, risk=FOUR_LEVELS)
    assert "Nothing limits" in said.odds
    assert said.right_guesses == 100
    assert not said.plain_bound


def test_files_and_terminal_say_the_sentence_of_the_banner():
    odds = signs_spelled(f"{result_verdict(rounds()).odds} {result_verdict(rounds()).plain_bound}")
    assert dict(summary(rounds()))["Odds"] == odds
    given = Exportable(rounds().to_json())
    assert odds in given.facts
    assert given.verdict.right_guesses == result_verdict(rounds()).right_guesses


def test_a_document_whose_steps_are_not_those_of_its_guarantee_has_the_bound_of_any_algorithm():
    document = json.loads(rounds().to_json())
    for step in document["privacy"]["ledger"][1:]:
        document["privacy"]["ledger"].remove(step)
    document["privacy"]["ledger"][0]["epsilon"] = 0.01
    assert Exportable(json.dumps(document)).verdict.risk is None


def claim(verdict_name, epsilon=0.1):
    return Claim(epsilon, "a paper", verdict_name, "Because.")


def said_of(found, loss):
    """Of a release that nothing was read for."""
    return verdict(found, loss, released=True)


def test_a_result_is_guaranteed_would_be_or_is_not_and_never_two_of_them():
    sound, loss = claim("holds"), PrivacyLoss(0.1)
    heads = {
        (released, why): verdict(sound, loss, released=released, why_not=why).headline
        for released in (True, False)
        for why in ("", "39 values were read from the data")
    }
    assert heads[True, ""] == "Guaranteed: ε = 0.1 (add/remove one row)"
    assert heads[False, ""] == "Would be guaranteed if released: ε = 0.1 (add/remove one row)"
    not_so = "Not guaranteed, because 39 values were read from the data"
    assert {head for (_, why), head in heads.items() if why} == {not_so}


def test_what_is_not_covered_has_no_odds():
    said = verdict(claim("holds"), PrivacyLoss(0.1), released=True, why_not="1 value was read from the data")
    assert said.odds == odds_text(PrivacyLoss(math.inf))


def test_only_a_claim_that_holds_and_composes_is_sound():
    assert said_of(claim("holds"), PrivacyLoss(0.1)).kind == "released"
    assert said_of(claim("holds"), PrivacyLoss(0.2)).kind == "unproven"
    assert said_of(claim("holds"), PrivacyLoss(math.inf)).kind == "unproven"
    assert said_of(claim("holds"), PrivacyLoss(0.1, 1e-6)).kind == "unproven"
    assert said_of(claim("unproven"), PrivacyLoss(0.1)).kind == "unproven"
    assert said_of(claim("violated"), PrivacyLoss(0.1)).kind == "violated"
    assert said_of(claim("none", math.inf), PrivacyLoss(math.inf)).kind == "none"


def test_what_is_not_sound_never_says_guaranteed():
    for name in ["unproven", "violated", "none"]:
        for loss in (PrivacyLoss(0.1), PrivacyLoss(math.inf)):
            assert said_of(claim(name), loss).headline.startswith("Not guaranteed, because")


def test_an_unproven_claim_gets_the_odds_of_what_is_proven():
    said = said_of(claim("unproven"), PrivacyLoss(1.2))
    doubt = "Not guaranteed, because the claim of ε = 0.1 (add/remove one row) is not proven"
    wanted = f"{doubt}; the steps prove ε = 1.2 (add/remove one row)"
    assert said.headline == wanted
    assert said.odds == odds_text(PrivacyLoss(1.2))


def test_a_violated_claim_with_a_larger_ledger_is_still_bounded_by_it():
    said = said_of(claim("violated"), PrivacyLoss(1.2))
    assert said.kind == "violated"
    assert said.proven == PrivacyLoss(1.2)
    assert said.odds == odds_text(PrivacyLoss(1.2))


def test_a_refuted_ledger_bounds_nothing_on_any_surface():
    """Banner, promises, files: a violated claim whose ledger is no larger leaves no epsilon to rely on."""
    said = verdict(claim("violated"), PrivacyLoss(0.1), released=True, unit=Unit(3, "one patient"))
    assert not said.proven.is_finite
    assert not said.per_person.is_finite
    assert "prove" not in said.headline
    assert said.odds == "Nothing limits what can be learned about one patient."
    assert said.promises == (
        "Nothing. Whoever sees this model may learn anything about one patient of the data it was trained on.",
    )
    sound = dpviz.fit("pf-tree", small_rows(), epsilon=1, max_depth=1, seed=0)
    result = replace(sound, claim=replace(sound.claim, verdict="violated"))
    files = " ".join(Exportable(result.to_json()).facts) + repr(result) + " ".join(line for _, line in summary(result)[:3])
    assert "add up to" not in files
    assert "Guaranteed" not in files
    assert "steps prove" not in files


def test_the_persons_number_leads_and_a_word_of_the_owner_is_said_to_be_one():
    unit = Unit(3, "one patient")
    assert loss_text(PrivacyLoss(1, 1e-6), unit).startswith(
        "ε = 3, δ = 0.0000222 (add/remove one patient, up to 3 rows; one row: ε = 1"
    )
    said = verdict(claim("holds", 1.0), PrivacyLoss(1.0), released=True, unit=unit)
    assert said.headline == "Guaranteed: ε = 3 (add/remove one patient, up to 3 rows; one row: ε = 1)"
    assert said.odds.startswith(
        "Someone guessing whether one patient is in the data is right at most 96 times in 100 (one row: 74)"
    )
    assert "nothing enforces it" in " ".join(said.promises)
    assert "nothing enforces it" not in " ".join(replace(said, unit=Unit(3, "one patient", True)).promises)


def test_delta_is_explained_as_a_slack():
    said = verdict(claim("holds", 1.0), PrivacyLoss(1.0, 0.0), released=True)
    with_delta = replace(said, proven=PrivacyLoss(1.0, 1e-6))
    assert any("additive slack" in line for line in with_delta.promises)


def test_documents_of_before_say_whom_they_protect():
    document = json.loads(replace(dpviz.fit("pf-tree", small_rows(), epsilon=1, max_depth=1, seed=0), unit=unit_of(3)).to_json())
    del document["privacy"]["per_person"]["bounded"]
    assert result_from_json(json.dumps(document)).unit == Unit(3, is_bounded=True)
    del document["privacy"]["per_person"]
    assert result_from_json(json.dumps(document)).unit.is_row
