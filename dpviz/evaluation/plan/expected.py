"""What rows, epsilon and depth give before a row is touched: where features say little, something or much, at a base rate.

Everything comes from the schema and two declared numbers: how many rows, and how frequent the rarer class is. Its rows lie in one
region of the columns, which two questions ask for; the stronger the signal, the more of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.errors import ParameterError, SchemaError
from dpviz.evaluation.plan.simulate import Planted, drawn_columns, rule_for
from dpviz.learners import FitRequest
from dpviz.models.tree import Branch, Leaf, Node, Tree
from dpviz.progress import Progress, Stop, all_steps
from dpviz.randomness import generator, seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema, require_classes

#: How strong a signal is: which share of the rarer class lies in the region because of it; the rest is spread evenly.
STRENGTHS = {"little": 0.35, "something": 0.5, "much": 0.75}
#: Draws of a first look, and of all.
FIRST_DRAWS, DRAWS = 3, 10
#: Of more rows so many are simulated.
MOST_ROWS = 50_000
#: Better than always saying one class in so many of the draws: it may be expected, or it may not.
USUALLY, RARELY = 0.9, 0.5


@dataclass(frozen=True, slots=True)
class Expected:
    """What trees reach at one strength of the signal, as shares of test rows: medians over draws of rows and noise."""

    strength: str  #: One of STRENGTHS
    best: float  #: Share of the rarer class that the two questions find
    always: float  #: Accuracy of always saying the more frequent class
    accuracy: float
    found: float  #: Share of the rarer class that is found
    better: float  #: Share of the draws in which the tree is right more often than always saying the more frequent class
    draws: int  #: Of how many draws so far


def region(schema: Schema, *, n_rows: int, base_rate: float, strength: float, seed: int) -> Planted:
    """A world of this base rate, the share of the second class, in (0, 1): its tree gives the second class inside the region.

    Raises ParameterError, or SchemaError for a schema without two classes or without a feature that can be divided.
    """
    require_classes(schema, "What to expect")
    if len(schema.classes) != 2:
        remedy = "Work backwards from a goal instead: Compare, “What ε do I need?”."
        raise SchemaError("What to expect is worked out for two classes.", remedy=remedy)
    if not 0 < base_rate < 1:
        raise ParameterError("what to expect", "base_rate", base_rate, "between 0 and 1")
    share = min(base_rate, 1 - base_rate)
    known = Schema(schema.features, schema.target, n_public=n_rows)
    rng = generator(seed)
    rule = Tree(known, _inside(known, share, rng))
    columns = drawn_columns(known, {}, 50_000, rng)
    width = float(np.mean(rule.predict(EncodedDataset(known, columns, np.zeros(50_000, dtype=np.uint8))) == 1))
    inside = min(share + strength * (1 - share), share / width)
    outside = max(0.0, (share - width * inside) / (1 - width))
    frequent_and_rare = [(1 - rare, rare) for rare in (outside, inside)]
    chances = frequent_and_rare if base_rate <= 0.5 else [pair[::-1] for pair in frequent_and_rare]
    return Planted(known, rule, tuple(chances), n_rows, {})


def _inside(schema: Schema, share: float, rng: np.random.Generator) -> Node:
    """Two questions that about this share of the rows pass; one where only one feature can be divided."""
    found = [
        (place, rule)
        for place in rng.permutation(schema.n_features).tolist()
        if (rule := rule_for(schema, place, share**0.5, rng)) is not None
    ][:2]
    if not found:
        what = "No feature can be divided: each has a single value."
        raise SchemaError(what, remedy="Declare a wider range or more categories for at least one feature.")
    node: Node = Leaf(1)
    for _, rule in found:
        node = Branch(rule, node, Leaf(0))
    return node


def expected_steps(
    schema: Schema,
    request: FitRequest,
    *,
    base_rate: float,
    n_rows: int,
    seed: int,
    draws: int = DRAWS,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Iterator[tuple[Expected, ...]]:
    """One line per strength of the signal: after FIRST_DRAWS draws of each, and after all.

    Raises what `region` and the fit raise; Cancelled once stopped.

    `base_rate`: share of the second class. `n_rows`: as declared; of more than MOST_ROWS so many are simulated.
    """
    count = min(n_rows, MOST_ROWS)
    worlds = [region(schema, n_rows=count, base_rate=base_rate, strength=value, seed=seed) for value in STRENGTHS.values()]
    wanted = [(world, seed_from(seed, number)) for number in range(draws) for world in worlds]
    always, outcomes = max(base_rate, 1 - base_rate), list[tuple[float, float, float, float]]()
    for world, of_draw in all_steps(wanted, progress, stop):
        outcomes.append(_outcome(world, request, int(base_rate <= 0.5), of_draw))
        if len(outcomes) in (FIRST_DRAWS * len(worlds), len(wanted)):
            measured = np.array(outcomes).reshape(-1, len(worlds), 4).swapaxes(0, 1)
            yield tuple(_summed_up(name, always, lines) for name, lines in zip(STRENGTHS, measured, strict=True))


def _summed_up(strength: str, always: float, lines: np.ndarray) -> Expected:
    """Accuracy is `always` and what trees gain over it on the rows that both are tested on."""
    gains = lines[:, 2] - lines[:, 1]
    best, found = np.median(lines[:, [0, 3]], axis=0).tolist()
    better = float(np.mean(gains > 0))
    return Expected(strength, best, always, always + float(np.median(gains)), found, better, draws=len(lines))


def _outcome(world: Planted, request: FitRequest, rare: int, seed: int) -> tuple[float, float, float, float]:
    """What the two questions find, accuracy of always saying the frequent class, accuracy and found share of one tree."""
    train, test = world.draw(seed=seed)
    is_rare, inside = test.target == rare, world.rule.predict(test) == 1
    said = request.at(seed=seed % 2**31).fit(train).model.predict(test)
    found, best = (float(np.mean(picked[is_rare])) if is_rare.any() else 0.0 for picked in (said == rare, inside))
    return best, float(np.mean(~is_rare)), float(np.mean(said == test.target)), found
