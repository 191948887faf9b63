"""Questions that count right and wrong refuse a numeric target by name, whichever learner is asked."""

from functools import partial

import pytest

import dpviz
from dpviz.errors import NeedsClasses
from dpviz.evaluation.attacks import ATTACKS, attack_curve
from dpviz.evaluation.plan import Goal, consequences_steps, plan_steps
from dpviz.evaluation.simulate import Resampled, plant
from dpviz.learners import FitRequest
from dpviz.table.schema import require_classes
from tests.support.numbers import rows, schema_of_numbers
from tests.support.tables import schema_of

DATA = rows(schema_of_numbers(), 60)
LEARNERS = ("cart-regression", "pf-tree")
every_learner = pytest.mark.parametrize("name", LEARNERS)


def refused(what, ask):
    with pytest.raises(NeedsClasses) as problem:
        ask()
    assert str(problem.value) == (
        f"{what} needs a target of classes, but 'rent' is a number. "
        "Choose a table whose target is one of several classes, or declare ranges of this number as classes."
    )
    assert problem.value.target == "rent"


@every_learner
def test_a_curve_an_attack_and_a_plan_need_classes(name):
    refused("A poisoning guarantee", lambda: dpviz.poisoning_curve(name, DATA, DATA, epsilon=1.0, draws=20))
    setup = FitRequest.of(name, epsilon=1.0, max_depth=2)
    for attack in ATTACKS:
        refused("An attack", partial(attack_curve, attack, setup, DATA, DATA, poisoned_rows=[0, 3]))
    refused("A plan", lambda: list(plan_steps(Resampled(DATA), setup, "epsilon", Goal("accuracy", 0.8), seed=1)))
    steps = consequences_steps(Resampled(DATA), setup, seed=1, epsilons=(1.0,), draws=20)
    refused("A poisoning guarantee", lambda: list(steps))


def test_a_simulated_world():
    refused("A simulated world", lambda: plant(DATA.schema, n_rows=100, strength=0.5, seed=1))


def test_classes_pass():
    require_classes(schema_of(), "Anything")
