from dataclasses import replace

import numpy as np

from dpviz.evaluation.tree.resampling import Resamples, agreement, feature_use
from dpviz.figures.tree.resampling import (
    agreement_sentence,
    feature_chart,
    feature_sentence,
    root_sentence,
    survival_sentence,
)
from dpviz.models.constant import Constant
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.golden_charts import assert_golden

SCHEMA = Schema((NumericFeature("<b>a</b>", 0, 16), NumericFeature("b", 0, 16)), ClassTarget("y", ("no", "yes")), n_public=8)
ROWS = EncodedDataset(SCHEMA, (np.arange(8.0), np.arange(8.0)[::-1].copy()), np.zeros(8, dtype=np.uint8))


def tree(feature: int, threshold: float) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(feature, threshold), Leaf(0), Leaf(1)))


DRAWN = Resamples((*(tree(0, 3.5),) * 6, *(tree(1, 2.5),) * 3, Constant(SCHEMA, 1)), 10)


def drawn(*thresholds: float) -> Resamples:
    return Resamples(tuple(tree(0, threshold) for threshold in thresholds), len(thresholds))


def test_what_comes_back_is_drawn_and_told_as_reviewed():
    said = [
        root_sentence(SCHEMA, DRAWN),
        root_sentence(SCHEMA, Resamples((Constant(SCHEMA, 1),), 1)),
        *(survival_sentence(SCHEMA, drawn(*thresholds)) for thresholds in ((3.5, 3.5), (3.0, 5.0), (1.0, 15.0))),
        feature_sentence(SCHEMA, feature_use(DRAWN), 10),
        feature_sentence(SCHEMA, (), 10),
    ]
    assert_golden("tree-features", replace(feature_chart(SCHEMA, feature_use(DRAWN), 10), summary="\n".join(said)))
    agreeing = agreement(tree(0, 3.5).predict(ROWS), DRAWN, ROWS)
    assert f"{10 * agreeing.mean():.0f} of 10 draws predict what this tree predicts" in agreement_sentence(agreeing, 10)
