"""Coins enumerated: the mixture over them against listing whole fits, and what a wrong charge or too little noise looks like."""

import json
import math
from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dpviz.accounting.events import Parallel, PureDP
from dpviz.accounting.plan import HeldOutPart
from dpviz.errors import UnsupportedError
from dpviz.evaluation.audit.evidence import BoundLearner
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.evaluation.audit.verify import verify, verify_each
from dpviz.learners import get_learner
from dpviz.models.document import model_body
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.training.contract import FitByGrowing

ONE = Universe((2,), depth=1, max_rows=1)
TWO = Universe((2,), depth=1, max_rows=2)
NUMBERS, DEEP_NUMBERS = (Universe((2,), n_classes=0, depth=depth, max_rows=2) for depth in (1, 2))
HONEST = {"leaves": "honest"}
PF_TREE = get_learner("pf-tree")


class WithCoins(Enumeration):
    """Lists coins and noisy counts too. Counts beyond 0 .. `most` are those at the ends: no likelihood ratio changes."""

    def __init__(self, most):
        super().__init__()
        self.most = most

    def draw(self, mechanism, values):
        if isinstance(mechanism, RandomAssignment):
            chances = np.array([1 - sum(mechanism.shares), *mechanism.shares])
            parts = [np.array(drawn, dtype=np.uint8) for drawn in product(range(len(chances)), repeat=values)]
            return parts[super().draw(Listed(np.array([chances[drawn].prod() for drawn in parts])), None)]
        if isinstance(mechanism, GeometricNoise):
            cells = [super(WithCoins, self).draw(Listed(self._clipped(mechanism, cell)), None) for cell in np.ravel(values)]
            return np.reshape(cells, np.shape(values))
        return super().draw(mechanism, values)

    def _clipped(self, mechanism, cell):
        chances = mechanism.pmf(np.arange(self.most + 1) - cell)
        below, above = int(cell), int(self.most - cell)
        chances[0] = mechanism.tail(below) if below else 1 - mechanism.tail(1)
        chances[-1] = mechanism.tail(above) if above else 1 - mechanism.tail(1)
        return chances


class Listed:
    title = "listed"

    def __init__(self, chances):
        self.chances = chances

    def probabilities(self, values):
        return self.chances


def listed_ratio(universe, epsilon, spec=PF_TREE, **given):
    """The largest log ratio over whole outputs (tree, counts and table of the test) of the learner's own fit."""
    planned = BoundLearner.of(spec, universe.schema, epsilon=epsilon, depth=universe.depth, **{**HONEST, **given})

    def output(data, source):
        fitted = planned.fit(data, source)
        return json.dumps([model_body(fitted.model), fitted.test_report and fitted.test_report.counts.tolist()])

    laws = []
    for index in range(len(universe.keys)):
        source, law, data = WithCoins(universe.max_rows), defaultdict(float), universe.dataset(index)
        for found, chance in source.outcomes(lambda data=data, source=source: output(data, source)):
            law[found] += chance
        assert math.fsum(law.values()) == pytest.approx(1)
        laws.append(law)
    pairs = zip(*np.nonzero(universe.plus_one >= 0), strict=True)
    both = [(laws[small], laws[universe.plus_one[small, kind]]) for small, kind in pairs]
    return max(abs(math.log(many[key] / few[key])) for few, many in both for key in few)


def counted_alone(share, epsilon=None):
    """pf-tree with honest leaves and no test; the counts get noise for another epsilon if one is given."""

    def plan(schema, settings, params):
        made = PF_TREE.plan(schema, replace(settings, test_share=0.0), params)
        return replace(made, held_out=(HeldOutPart("leaf counts", share, epsilon or settings.epsilon),))

    return replace(PF_TREE, plan=plan)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("universe", "spec", "epsilon"),
    [
        *((ONE, counted_alone(0.3), epsilon) for epsilon in (0.5, 3.0)),
        pytest.param(TWO, counted_alone(0.3), 1.0, marks=pytest.mark.verify),
        pytest.param(ONE, PF_TREE, 1.0, marks=pytest.mark.verify),
    ],
    ids=["little", "much", "two rows", "with a test"],
)
def test_the_mixture_is_what_listing_every_assignment_and_count_of_whole_fits_gives(universe, spec, epsilon):
    found = verify(spec, epsilon=epsilon, universes=(universe,), **HONEST)
    assert found.log_ratio == pytest.approx(listed_ratio(universe, epsilon, spec), rel=1e-9)
    assert found.verdict == "holds"


@pytest.mark.parametrize(
    ("universe", "epsilon", "least"),
    [
        *((TWO, epsilon, 0.3) for epsilon in (0.1, 1.0, 4.0)),
        pytest.param(NUMBERS, 1.0, 0.5, marks=pytest.mark.slow),
        *(pytest.param(NUMBERS, epsilon, 0.5, marks=pytest.mark.verify) for epsilon in (0.1, 4.0)),
        *(pytest.param(DEEP_NUMBERS, epsilon, 0.5, marks=pytest.mark.verify) for epsilon in (0.1, 1.0, 4.0)),
    ],
    ids=lambda given: getattr(given, "title", None),
)
def test_honest_leaves_hold_with_assignment_enumerated(universe, epsilon, least):
    found = verify("pf-tree", epsilon=epsilon, universes=(universe,), **(HONEST if universe is TWO else {}))
    assert found.verdict == "holds"
    assert least * epsilon < found.log_ratio <= epsilon
    assert found.composed == pytest.approx(epsilon, rel=1e-12)
    assert universe is TWO or found.output["root"]["median"] == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1])
def test_numbers_that_are_claimed_too_cheap_are_found(part):
    """Twice the epsilon for growing, or for the sums, of what the claim says."""

    def plan(schema, settings, params):
        made, twice = (PF_TREE.plan(schema, replace(settings, epsilon=e * settings.epsilon), params) for e in (1, 2))
        return replace(made, shares=(made, twice)[part == 0].shares, held_out=(made, twice)[part == 1].held_out)

    assert verify(replace(PF_TREE, plan=plan), epsilon=3.0, universes=(DEEP_NUMBERS,)).verdict == "violated"


def test_the_worst_output_is_a_pair_of_neighbours_and_settings_for_classes_leave_numbers_out():
    found = verify("pf-tree", epsilon=1.0, universes=(TWO,), **HONEST)
    assert len(found.worst_pair.second) == len(found.worst_pair.first) + 1
    small, large = found.worst_pair.probabilities
    assert abs(math.log(large / small)) == pytest.approx(found.log_ratio)
    assert set(found.output) == {"root", "test"}
    places = (ONE, NUMBERS)
    assert [found.searched for found in verify_each("pf-tree", universes=places, leaves="labels")] == [ONE.title]


@pytest.mark.parametrize("cheaper", [False, True])
def test_counts_at_half_the_noise_are_found_whatever_a_ledger_says(cheaper):
    spec = counted_alone(0.1, epsilon=6.0)

    class Cheaper(FitByGrowing):
        def __call__(self, data, plan, params, source):
            output = super().__call__(data, plan, params, source)
            growing, counts = output.event.events
            return replace(output, event=Parallel((growing, replace(counts, cost=PureDP(plan.epsilon)))))

    found = verify(replace(spec, fit=Cheaper(spec.prepare)) if cheaper else spec, epsilon=3.0, universes=(TWO,), **HONEST)
    assert found.log_ratio > 3.0
    assert (found.composed, found.verdict) == (6.0, "violated")  # the plan says 6, so this is the claim's fault


@pytest.mark.parametrize("lookahead", ["1", pytest.param("2", marks=pytest.mark.verify)])
def test_universes_with_too_many_partings_are_left_out_before_their_larger_tables_are_listed(lookahead):
    told, places = [], (Universe((3, 3), depth=2, max_rows=3),)
    with pytest.raises(UnsupportedError, match="too many ways to part these rows"):
        verify("pf-tree", universes=places, progress=told.append, **HONEST | {"lookahead": lookahead})
    assert told == [0.0]
