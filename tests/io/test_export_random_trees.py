"""Trees no learner would grow: impossible questions, thresholds outside the range and on halves, empty and full sets."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpviz.errors import NotExported
from dpviz.figures.publish.exports import SVG
from dpviz.io.exports.contract import Exportable, require_fit
from dpviz.models.document import model_body, model_from_json
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Forest, Leaf, Node, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.results.exports import export_names, form_called
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.checked import export

COLOURS = ("red", "green", "blue", "or missing", "none of them")
FEATURES = (
    NumericFeature("size", -1, 2.5, missing_as=0.1),
    NumericFeature("age", 0.5, 9.5, whole=True, missing_as=2.5),
    NumericFeature("count", -7, 7, whole=True),
    NumericFeature("tiny", 0, 1e-280),
    CategoricalFeature("colour", COLOURS, missing_as="blue", unknown_as="red"),
    CategoricalFeature("town", ("a", "b", "c"), unknown_as="c"),
    CategoricalFeature("only", ("one",), missing_as="one"),
)
SCHEMA = Schema(FEATURES, ClassTarget("y", ("no", "yes", "perhaps")))
NUMBERS = Schema(FEATURES, NumericTarget("y", -10, 10))
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")))


def grown(schema: Schema, rng: np.random.Generator, depth: int) -> Node:
    if depth == 0 or rng.random() < 0.15:
        if isinstance(schema.target, NumericTarget):
            return NumberLeaf(float(rng.normal(0, 5)))
        return Leaf(int(rng.integers(len(schema.classes))))
    place = int(rng.integers(len(FEATURES)))
    feature = FEATURES[place]
    if isinstance(feature, CategoricalFeature):
        codes = tuple(np.flatnonzero(rng.random(len(feature.categories)) < 0.5).tolist())
        rule = SubsetRule(place, codes)
    else:
        width = feature.high - feature.low
        threshold = float(rng.choice([rng.uniform(feature.low, feature.high), rng.integers(-9, 10), rng.integers(-9, 10) + 0.5]))
        threshold = float(rng.choice([threshold, feature.low, feature.high, feature.low - width, feature.high + width, -0.0]))
        rule = ThresholdRule(place, threshold)
    return Branch(rule, grown(schema, rng, depth - 1), grown(schema, rng, depth - 1))


def exportable(model) -> Exportable:
    document = {"format": "dpviz-tree/1", "kind": model.kind, **model_body(model), "schema": model.schema.to_dict()}
    given = Exportable(json.dumps(document))
    assert model_from_json(given.text) == model
    return given


@pytest.mark.slow
@pytest.mark.parametrize("name", export_names())
def test_random_models_agree_and_break_ties_as_the_model_does(name, rng):
    form = form_called(name)
    trees = [Tree(schema, grown(schema, rng, depth)) for schema in (SCHEMA, NUMBERS) for depth in (1, 3, 6, 8)]
    forests = [Forest(schema, tuple(Tree(schema, grown(schema, rng, 4)) for _ in range(6))) for schema in (SCHEMA, TWO)]
    forests += [packed(schema, rng, with_counts=with_counts) for schema in (SCHEMA, TWO) for with_counts in (False, True)]
    done = [export(form, exportable(model)) for model in (*trees, *forests) if fits(form, exportable(model))]
    assert min(each.n_rows for each in done) > 100
    assert len(done) == {"rules": 8, "svg": sum(tree.n_leaves <= SVG.most_ends for tree in trees)}.get(name, 14)


def fits(form, given) -> bool:
    try:
        require_fit(form, given)
    except NotExported:
        return False
    return True


def packed(schema: Schema, rng: np.random.Generator, *, with_counts: bool) -> PackedForest:
    """Four trees: two children at thresholds, one per category at their lists, negative counts too."""
    rows: list[tuple[int, int, float, int]] = []
    for tree in range(4):
        waiting, placed = [0], 1
        start = len(rows)
        while waiting:
            depth = waiting.pop(0)
            feature = LEAF if depth > 2 else int(rng.integers(len(FEATURES)))
            declared = FEATURES[feature] if feature != LEAF else None
            many = isinstance(declared, CategoricalFeature) and (len(declared.categories) == 1 or rng.random() < 0.6)
            threshold = np.nan if declared is None or many else _cut(declared, rng)
            children = 0 if declared is None else len(declared.categories) if many else 2
            rows.append((tree, feature, threshold, start + placed if children else 0))
            waiting += [depth + 1] * children
            placed += children
    tree, feature, threshold, first = map(np.array, zip(*rows, strict=True))
    arrays = (tree.astype(np.int32), feature.astype(np.int16), threshold.astype(float), first.astype(np.int64))
    splits = PackedTrees(schema, 4, *arrays)
    n_leaves, n_classes = len(splits.leaves), len(schema.classes)
    tallies = rng.integers(-3, 9, (n_leaves, n_classes)) if with_counts else None
    labels = rng.integers(0, n_classes, n_leaves) if tallies is None else tallies.argmax(axis=1)
    return PackedForest(splits, labels.astype(np.uint8), tallies)


def _cut(declared, rng: np.random.Generator) -> float:
    if isinstance(declared, CategoricalFeature):
        return float(rng.integers(len(declared.categories) - 1))
    return float(rng.uniform(declared.low, declared.high))
