import pytest

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.figures.tree.paths import guarantee_said
from dpviz.results.verdict import verdict


@pytest.mark.parametrize(
    ("epsilon", "odds"),
    [
        (1.0, "At most 74 of 100 guesses about one row can be right"),
        (0.01, "Fewer than 51 of 100 guesses about one row can be right"),
        (10.0, "More than 99 of 100 guesses about one row can be right"),
    ],
)
def test_the_line_above_a_tree_says_the_odds_in_words_that_fit_the_number(epsilon, odds):
    claim = Claim(epsilon, "somebody", "holds", "Because.")
    said = guarantee_said(verdict(claim, PrivacyLoss(epsilon), released=False))
    assert said["words"] == f"Preview: ε = {epsilon:g} (add/remove one row). {odds}, 50 by chance."
