"""Worlds to plan in: sources of training rows and fresh test rows that can be drawn from again and again.

Either public rows, split and resampled; or rows simulated from a schema alone: uniform features and a planted tree. The second
reads no row at all, so it can be used before private rows are touched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.learners import FitRequest
from dpviz.models.linear import height
from dpviz.models.tree import Branch, Leaf, Node, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.progress import Progress, Stop, all_steps
from dpviz.randomness import generator, seed_from
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, Schema, require_classes

#: Fresh rows to measure an outcome on.
TEST_ROWS = 2_000
#: Held-out share of given rows.
TEST_SHARE = 0.2
#: A planted rule sends at least this share of its rows to each side.
MIN_SIDE = 0.2
#: Below the root a planted rule sends about this share of its rows to the class of its subtree: with equal halves the rule above
#: would be worth nothing by itself (an exclusive or), and no tree grown from the root could find it.
AIM = 0.7
#: Up to this many categories any subset may be planted; of more, the first ones as declared.
FEW_CATEGORIES = 10

Split = tuple[EncodedDataset, EncodedDataset]


@dataclass(frozen=True, eq=False)
class ResampledRows:
    """Given rows. Each draw holds out another fifth; more rows than the rest has are drawn with replacement."""

    data: EncodedDataset

    def __post_init__(self) -> None:
        if self.data.n_rows < 10:
            what = "A plan needs at least 10 rows, so that some of them can be held out for testing."
            raise DpvizError(what, remedy="Give more rows, or describe a table to simulate.")

    @property
    def schema(self) -> Schema:
        """Of the given rows."""
        return self.data.schema

    @property
    def n_rows(self) -> int:
        """Rows that are not held out."""
        return self.data.n_rows - self._n_test

    @property
    def _n_test(self) -> int:
        return min(TEST_ROWS, round(self.data.n_rows * TEST_SHARE))

    def draw(self, n_rows: int | None = None, *, seed: int) -> Split:
        """Holds out a fifth (at most 2,000 rows), stratified, and trains on the rest: all, fewer, or more with replacement."""
        rng = generator(seed)
        order = self.data.stratified_order(rng)
        test, training = order[: self._n_test], order[self._n_test :]
        size = len(training) if n_rows is None else n_rows
        train = training[:size] if size <= len(training) else rng.choice(training, size)
        parts = [self.data.take(np.sort(rows), share=len(rows) / self.data.n_rows) for rows in (train, test)]
        return parts[0], parts[1]


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """Rows simulated from a schema: uniform, independent features, and a class drawn at the odds of the planted tree's leaf."""

    declared: Schema
    rule: Tree  #: The planted tree
    chances: tuple[tuple[float, ...], ...]  #: Of every class, for a row to which the tree gives the first class, the second, ...
    n_rows: int

    @property
    def schema(self) -> Schema:
        """With the number of training rows as the public row count."""
        return replace(self.declared, n_public=self.n_rows, read_from_data=())

    def draw(self, n_rows: int | None = None, *, seed: int) -> Split:
        """Fresh rows on both sides."""
        rng = generator(seed)
        size = self.n_rows if n_rows is None else n_rows
        return self._rows(size, rng), self._rows(TEST_ROWS, rng)

    def _rows(self, count: int, rng: np.random.Generator) -> EncodedDataset:
        columns = _drawn_columns(self.declared, count, rng)
        schema = replace(self.declared, n_public=count, read_from_data=())
        rows = EncodedDataset(schema, columns, np.zeros(count, dtype=np.uint8))
        bounds = np.cumsum(self.chances, axis=1)[self.rule.predict(rows), :-1]
        return replace(rows, target=(rng.random((count, 1)) >= bounds).sum(axis=1).astype(np.uint8))

    @cached_property
    def most_frequent(self) -> float:
        """Share of the most frequent class, estimated from many rows."""
        rows = self._rows(50_000, generator(seed_from(self.n_rows, 7)))
        return float(rows.class_counts().max() / rows.n_rows)


#: Where rows come from. `draw` gives (train, test), the same for the same seed; `n_public` of train is its number of rows as the
#: schema would declare it.
World = ResampledRows | SyntheticTable
#: What is trained, and on how many rows; None: as many as the world has.
Setup = tuple[FitRequest, int | None]


def fit_setups(
    world: World, setups: Sequence[Setup], seed: int, *, noise: int
) -> Iterator[tuple[FitResult, EncodedDataset, EncodedDataset]]:
    """A fit of every setup with its training and test rows, in one draw of the world: (result, train, test).

    Setups of as many rows share them, and the noise as far as they use the same.
    """
    for n_rows, alike in groupby(setups, key=lambda setup: setup[1]):
        train, test = world.draw(n_rows, seed=seed)
        rows = train.with_cached_counts() if len(setups) > 1 else train
        for request, _ in alike:
            yield request.at(seed=noise).fit(rows), rows, test


def plant(schema: Schema, *, n_rows: int, strength: float, depth: int = 2, seed: int) -> SyntheticTable:
    """A world made from a schema alone.

    Raises ParameterError or SchemaError for arguments that cannot be simulated.

    `schema`: with a class target.
    `n_rows`: training rows.
    `strength`: 0: the class is random; 1: the planted tree is always right. The class follows the tree with probability
    1/n_classes + strength (1 - 1/n_classes).
    `depth`: levels of the planted tree, fewer where features run out.
    `seed`: chooses the planted tree.
    """
    require_classes(schema, "A simulated world")
    for name, value, low, high in (("strength", strength, 0, 1), ("depth", depth, 1, 6), ("n_rows", n_rows, 2, 10**7)):
        if not low <= value <= high:
            raise ParameterError("a simulated world", name, value, f"in [{low}, {high:,}]")
    n_classes = len(schema.classes)
    root = _random_subtree(schema, depth, 0, frozenset(), generator(seed))
    if isinstance(root, Leaf):
        raise _indivisible_error()
    chances = strength * np.eye(n_classes) + (1 - strength) / n_classes
    return SyntheticTable(schema, Tree(schema, root), tuple(map(tuple, chances.tolist())), n_rows)


def synthetic_rows(schema: Schema, *, n_rows: int, seed: int) -> EncodedDataset:
    """Rows made from a schema alone, to look at where nobody may look at rows: uniform features, and a target they explain.

    Classes follow a planted tree; a number rises with every feature. Raises SchemaError where no feature can be divided.
    """
    if isinstance(schema.target, ClassTarget):
        return plant(schema, n_rows=n_rows, strength=0.6, seed=seed).draw(seed=seed)[0]
    rng, target = generator(seed), schema.target
    columns = _drawn_columns(schema, n_rows, rng)
    heights = [height(feature, column) for feature, column in zip(schema.features, columns, strict=True)]
    share = 0.7 * np.mean(heights, axis=0) + 0.3 * rng.random(n_rows)
    values = target.low + (target.high - target.low) * share
    return EncodedDataset(replace(schema, n_public=n_rows, read_from_data=()), columns, values)


def _indivisible_error() -> SchemaError:
    problem = "No feature can be divided: each has a single value."
    return SchemaError(problem, remedy="Declare a wider range or more categories for at least one feature.")


def _drawn_columns(schema: Schema, count: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """`count` values of every feature, independent of each other."""
    return tuple(_draw_values(feature, count, rng) for feature in schema.features)


def _draw_values(feature: Feature, count: int, rng: np.random.Generator) -> np.ndarray:
    if isinstance(feature, CategoricalFeature):
        n = len(feature.categories)
        return rng.integers(n, size=count).astype(np.uint8 if n <= 256 else np.uint16)
    values = feature.low + (feature.high - feature.low) * rng.random(count)
    return np.clip(np.round(values), np.ceil(feature.low), np.floor(feature.high)) if feature.whole else values


def _random_subtree(schema: Schema, depth: int, label: int, path_features: frozenset[int], rng: np.random.Generator) -> Node:
    """A subtree whose sibling leaves differ. Most of its rows have the class `label`, so its parent's rule is worth finding."""
    places = [place for place in range(schema.n_features) if place not in path_features]
    aim = AIM if path_features else 0.5
    rules = (_rule_for(schema, place, aim, rng) for place in rng.permutation(places).tolist())
    rule = next((rule for rule in rules if rule is not None), None) if depth else None
    if rule is None:
        return Leaf(label)
    other_label = (label + 1 + int(rng.integers(len(schema.classes) - 1))) % len(schema.classes)
    features = path_features | {rule.feature}
    left, right = (_random_subtree(schema, depth - 1, side, features, rng) for side in (label, other_label))
    return Branch(rule, left, right)


def _rule_for(schema: Schema, place: int, share: float, rng: np.random.Generator) -> Rule | None:
    """A rule on this feature that sends about this share of the rows left; None when no rule comes near."""
    feature = schema.features[place]
    sample = _draw_values(feature, 2_000, rng)
    rules: list[Rule]
    if isinstance(feature, CategoricalFeature):  # the first categories in an order, which is random when they are few
        count = len(feature.categories)
        order = rng.permutation(count).tolist() if count <= FEW_CATEGORIES else list(range(count))
        rules = [SubsetRule(place, tuple(sorted(order[:k]))) for k in range(1, count)]
    else:
        cut = float(np.quantile(sample, share))
        cuts = (np.floor(cut) - 0.5, np.floor(cut) + 0.5) if feature.whole else (cut,)
        rules = [ThresholdRule(place, float(value)) for value in cuts]
    if not rules:
        return None
    shares = np.array([rule.goes_left(sample).mean() for rule in rules])
    best = int(np.abs(shares - share).argmin())
    return rules[best] if MIN_SIDE <= shares[best] <= 1 - MIN_SIDE else None


# --- What rows, epsilon and depth give before a row is touched: where features say little, something or much, at a base rate.

# Everything comes from the schema and two declared numbers: how many rows, and how frequent the rarer class is. Its rows lie in
# one region of the columns, which two questions ask for; the stronger the signal, the more of them.

#: How strong a signal is: which share of the rarer class lies in the region because of it; the rest is spread evenly.
STRENGTHS = {"little": 0.35, "something": 0.5, "much": 0.75}
#: Draws of a first look, and of all.
FIRST_DRAWS, DRAWS = 3, 10
#: Of more rows so many are simulated.
MAX_ROWS = 50_000
#: Better than always saying one class in so many of the draws: it may be expected, or it may not.
USUALLY, RARELY = 0.9, 0.5


@dataclass(frozen=True, slots=True)
class ExpectedScores:
    """What trees reach at one strength of the signal, as shares of test rows: medians over draws of rows and noise."""

    strength: str  #: One of STRENGTHS
    best: float  #: Share of the rarer class that the two questions find
    always: float  #: Accuracy of always saying the more frequent class
    accuracy: float
    found: float  #: Share of the rarer class that is found
    better: float  #: Share of the draws in which the tree is right more often than always saying the more frequent class
    draws: int  #: Of how many draws so far


def region(schema: Schema, *, n_rows: int, base_rate: float, strength: float, seed: int) -> SyntheticTable:
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
    known = Schema(schema.features, schema.target, n_public=n_rows, rows_per_person=schema.rows_per_person)
    rng = generator(seed)
    rule = Tree(known, _nested_questions(known, share, rng))
    columns = _drawn_columns(known, 50_000, rng)
    width = float(np.mean(rule.predict(EncodedDataset(known, columns, np.zeros(50_000, dtype=np.uint8))) == 1))
    inside = min(share + strength * (1 - share), share / width)
    outside = max(0.0, (share - width * inside) / (1 - width))
    frequent_and_rare = [(1 - rare, rare) for rare in (outside, inside)]
    chances = frequent_and_rare if base_rate <= 0.5 else [pair[::-1] for pair in frequent_and_rare]
    return SyntheticTable(known, rule, tuple(chances), n_rows)


def _nested_questions(schema: Schema, share: float, rng: np.random.Generator) -> Node:
    """Two questions that about this share of the rows pass; one where only one feature can be divided."""
    sides = [
        (place, rule)
        for place in rng.permutation(schema.n_features).tolist()
        if (rule := _rule_for(schema, place, share**0.5, rng)) is not None
    ][:2]
    if not sides:
        raise _indivisible_error()
    node: Node = Leaf(1)
    for _, rule in sides:
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
) -> Iterator[tuple[ExpectedScores, ...]]:
    """One line per strength of the signal: after FIRST_DRAWS draws of each, and after all.

    Raises what `region` and the fit raise; Cancelled once stopped.

    `base_rate`: share of the second class. `n_rows`: as declared; of more than MAX_ROWS so many are simulated.
    """
    count = min(n_rows, MAX_ROWS)
    worlds = [region(schema, n_rows=count, base_rate=base_rate, strength=value, seed=seed) for value in STRENGTHS.values()]
    tasks = [(world, seed_from(seed, number)) for number in range(draws) for world in worlds]
    always, outcomes = max(base_rate, 1 - base_rate), list[tuple[float, float, float]]()
    for world, of_draw in all_steps(tasks, progress, stop):
        outcomes.append(_outcome(world, request, int(base_rate <= 0.5), of_draw))
        if len(outcomes) in (FIRST_DRAWS * len(worlds), len(tasks)):
            outcomes_of_worlds = np.array(outcomes).reshape(-1, len(worlds), 3).swapaxes(0, 1)
            yield tuple(_summary(name, always, lines) for name, lines in zip(STRENGTHS, outcomes_of_worlds, strict=True))


def _summary(strength: str, always: float, lines: np.ndarray) -> ExpectedScores:
    """Accuracy is `always` and what trees gain over it on the rows that both are tested on."""
    best, gain, recall = np.median(lines, axis=0).tolist()
    return ExpectedScores(strength, best, always, always + gain, recall, float(np.mean(lines[:, 1] > 0)), draws=len(lines))


def _outcome(world: SyntheticTable, request: FitRequest, rare: int, seed: int) -> tuple[float, float, float]:
    """What the two questions find, what one tree gains in accuracy over always saying the frequent class, and what it finds."""
    [(result, _, test)] = fit_setups(world, [(request, None)], seed, noise=seed % 2**31)
    is_rare, inside = test.target == rare, world.rule.predict(test) == 1
    answers = result.model.predict(test)
    recall, best = (float(np.mean(picked[is_rare])) if is_rare.any() else 0.0 for picked in (answers == rare, inside))
    return best, float(np.mean(answers == test.target) - np.mean(~is_rare)), recall
