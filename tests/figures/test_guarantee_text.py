import math

import pytest

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.figures.guarantee_text import epsilon_text, number_text, odds_text, verdict


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (1.2, "1.2"), (10, "10"), (0.001, "0.001"), (0.12345, "0.123"), (1234.5, "1,234"), (0, "0"), (math.inf, "∞"),
     (1e-9, "1e-09"), (100.0, "100"), (0.0999999, "0.1")],
)  # fmt: skip
def test_numbers_are_short_and_plain(value, text):
    assert number_text(value) == text


def test_an_epsilon_is_never_without_its_neighbours():
    assert epsilon_text(PrivacyLoss(0.1)) == "ε = 0.1 (add/remove one row)"
    assert epsilon_text(PrivacyLoss(1, 1e-5)) == "ε = 1, δ = 0.00001 (add/remove one row)"


@pytest.mark.parametrize(("epsilon", "guesses"), [(0.5, 62), (1, 73), (2, 88)])
def test_odds_are_e_to_epsilon_over_one_plus_it(epsilon, guesses):
    assert f"at most about {guesses} times in 100" in odds_text(PrivacyLoss(epsilon))
    assert guesses == round(100 * math.exp(epsilon) / (1 + math.exp(epsilon)))


def test_the_ends_of_the_scale_do_not_round_to_certainty_or_to_nothing():
    assert "more than 99 times in 100" in odds_text(PrivacyLoss(10))
    assert "fewer than 51 times in 100" in odds_text(PrivacyLoss(0.001))
    assert "Nothing limits" in odds_text(PrivacyLoss(math.inf))


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


@pytest.mark.parametrize("name", ["unproven", "violated", "none"])
def test_what_is_not_sound_never_says_guaranteed(name):
    for loss in (PrivacyLoss(0.1), PrivacyLoss(math.inf)):
        assert said_of(claim(name), loss).headline.startswith("Not guaranteed, because")


def test_a_violated_claim_gets_no_odds_however_small_its_ledger():
    assert said_of(claim("violated"), PrivacyLoss(0.1)).odds == odds_text(PrivacyLoss(math.inf))


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
