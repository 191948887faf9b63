"""The split of epsilon at one look: its numbers are those of plan, claim and ledger; what fails does not look like what holds."""

import math
import re
from dataclasses import replace

import pytest

from dpviz.accounting.claim import Disclosure
from dpviz.charts.budget import HALF, split_html, split_of, split_sentence, widths
from dpviz.learners import learner_names
from tests.support.fits import fitted

NAMES = [name for name in learner_names() if name not in ("cart-regression", "dp-mean")]
#: One look at every kind: what holds, fails without a bound, fails with one, refutes its own steps, claims nothing.
KINDS = {"pf-tree": True, "privatree": False, "rgv-forest": False, "smooth-forest": False, "cart": False}


def bars(html: str) -> list[str]:
    return re.findall(r'<div class="line ([a-z ]+)"', html)


def drawn_widths(html: str) -> list[list[float]]:
    """Of the pieces of every bar, in percent."""
    found = (re.findall(r'width:([0-9.]+)%"><b>', bar) for bar in re.findall('<div class="bar">(.*?)</div>', html))
    return [[float(width) for width in bar] for bar in found]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_makes_the_claim_what_is_paid_is_the_ledger_and_a_claim_that_fails_is_drawn_unlike_one_that_holds(name):
    result = fitted(name)
    split = split_of(result)
    if result.claim.is_private:
        assert sum(step.epsilon for step in split.asked) == pytest.approx(result.claim.epsilon)
    else:
        assert split.asked == ()
    paid = {(step.part, step.epsilon) for step in split.paid if step.level}
    assert paid == {(part, epsilon) for (part, _), epsilon in result.ledger.spent().items() if epsilon}
    assert split.is_sound == (result.claim.is_sound and not result.disclosures) == KINDS.get(name, split.is_sound)
    html = split_html(split)
    for bar in drawn_widths(html):
        assert all(0 < width <= 100 for width in bar)
        assert sum(bar) <= 100.1
    asked = ["asked unsound"] if split.asked else []
    assert bars(html) == (["asked"] if split.is_sound else [*asked, "paid unsound"])
    has_bound = result.ledger.guarantee.is_finite and (result.claim.is_sound or split.proven.is_finite)
    assert ("∞" in html or "no bound" in html) == (not has_bound)
    assert "nan" not in html.lower()


def test_quantiles_are_a_part_of_the_bar_and_rows_held_out_pay_for_theirs_instead():
    split = split_of(fitted("privatree"))
    share = fitted("privatree").plan.of("quantile", None, "numeric")
    assert [step.epsilon for step in split.asked if step.part == "quantile"] == [share]
    assert "quantiles" in split_html(split)
    result = fitted("pf-tree", n_rows=2000)
    split = split_of(result)
    assert {part.part for part in split.held_out} == {"leaf counts", "test"}
    assert split_html(split).count('class="bar kept"') == 2
    assert all(part.epsilon == result.claim.epsilon for part in split.held_out)


def test_what_was_read_from_the_rows_has_no_bound():
    result = replace(fitted("pf-tree"), disclosures=(Disclosure("schema-range", "Read.", "Declare it."),))
    split = split_of(result)
    assert not split.is_sound
    assert math.isinf(split.paid[-1].epsilon)
    assert "asked unsound" in split_html(split)
    assert sum(widths(split.paid, split)) <= 100
    assert "no bound" in split_sentence(split)
    split = split_of(fitted("bdpt"))
    pieces = zip(split.paid, widths(split.paid, split), strict=True)
    assert sum(width for step, width in pieces if math.isinf(step.epsilon)) <= HALF + 1e-9
