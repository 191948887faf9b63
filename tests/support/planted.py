"""Broken learners, for the tests of verification and audits."""

from dataclasses import replace

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import NO_STEP, BoundedRange, Free, Parallel, PureDP, Sequential, Step
from dpviz.accounting.plan import BudgetPlan
from dpviz.learners import get_learner
from dpviz.learners.native import pf_tree
from dpviz.training.contract import FitByGrowing
from dpviz.training.growing import Label, Split

#: pf-tree that grows from all rows, whatever else is asked: coins have their own tests.
GROWING = replace(
    get_learner("pf-tree"),
    plan=lambda schema, settings, params: pf_tree.plan(schema, settings, replace(params, leaves="labels")),
)


def grower(prepare, name):
    """pf-tree with another `prepare`."""
    return replace(GROWING, name=name, fit=FitByGrowing(prepare))


def whole(spec):
    """The learner as one black box, which does not say how it grows a tree."""
    return replace(spec, fit=lambda *given: spec.fit(*given))


def _halved(event):
    match event:
        case Sequential(events):
            return Sequential(tuple(map(_halved, events)))
        case Parallel(events):
            return Parallel(tuple(map(_halved, events)))
        case Step(PureDP() | BoundedRange() as cost):
            return replace(event, cost=replace(cost, epsilon=cost.epsilon / 2))


def _half_noise(data, plan, params, source):
    """Mechanisms get twice the epsilon, events are charged once."""
    doubled = BudgetPlan(2 * plan.epsilon, plan.depth, tuple(replace(s, epsilon=2 * s.epsilon) for s in plan.shares), plan.notes)
    growth = pf_tree.prepare(data, doubled, params, source)

    def step(node):
        decision = growth.step(node)
        return replace(decision, event=_halved(decision.event))

    return replace(growth, step=step)


def _exact_labels(data, plan, params, source):
    """Leaves take the exact majority and say nothing of it."""
    growth = pf_tree.prepare(data, plan, params, source)

    def step(node):
        decision = growth.step(node)
        if isinstance(decision, Split) and decision.below is None:
            return decision
        return Label(int(node.class_counts.argmax()), decision.event)

    return replace(growth, step=step)


def _looks_at_all_rows(data, plan, params, source):
    """The exact majority of all rows, read while preparing, labels every leaf on the right."""
    growth = pf_tree.prepare(data, plan, params, source)
    majority = int(data.class_counts().argmax()) if data.n_rows else 0

    def step(node):
        decision = growth.step(node)
        if isinstance(decision, Split) and decision.below is not None:
            return replace(decision, below=(decision.below[0], Label(majority, NO_STEP)))
        return decision

    return replace(growth, step=step)


def _free(data, plan, params, source):
    """Nothing is looked at."""
    growth = pf_tree.prepare(data, plan, params, source)
    return replace(growth, step=lambda node: Label(0, Step(Free(), "nothing")))


HALF_NOISE = grower(_half_noise, "half-noise")
EXACT_LABELS = grower(_exact_labels, "exact-labels")
LOOKS_AT_ALL_ROWS = replace(
    grower(_looks_at_all_rows, "looks-at-all-rows"),  # two levels at once would be chosen at the root, where all rows are its own
    plan=lambda schema, settings, params: pf_tree.plan(schema, settings, replace(params, leaves="labels", lookahead="1")),
)
FREE = grower(_free, "free")
#: Sound, but its paper claims half of what it spends.
MODEST = replace(
    GROWING,
    name="modest",
    claim=lambda plan, params, schema: Claim(plan.epsilon / 2, "nobody", "violated", "It claims half of what it spends."),
)
