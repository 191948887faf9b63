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

SCHEMA = Schema((NumericFeature("<b>a</b>", 0, 16), NumericFeature("b", 0, 16)), ClassTarget("y", ("no", "yes")), n_public=8)
ROWS = EncodedDataset(SCHEMA, (np.arange(8.0), np.arange(8.0)[::-1].copy()), np.zeros(8, dtype=np.uint8))


def tree(feature: int, threshold: float) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(feature, threshold), Leaf(0), Leaf(1)))


DRAWN = Resamples((*(tree(0, 3.5),) * 6, *(tree(1, 2.5),) * 3, Constant(SCHEMA, 1)), 10)


def test_roots_and_what_comes_back_first_are_told_with_their_counts():
    assert "≤ 3.5” appears in 6 of 10 reruns, one of 3 different beginnings" in root_sentence(SCHEMA, DRAWN)
    assert "“one label for everybody” appears in 1 of 1 reruns, the only one" in root_sentence(
        SCHEMA, Resamples((Constant(SCHEMA, 1),), 1)
    )

    def drawn(*thresholds: float) -> Resamples:
        return Resamples(tuple(tree(0, threshold) for threshold in thresholds), len(thresholds))

    assert survival_sentence(SCHEMA, drawn(3.5, 3.5)) == "2 of 2 reruns begin with <b>a</b>, at 3.5."
    assert survival_sentence(SCHEMA, drawn(3.0, 5.0)) == "2 of 2 reruns begin with <b>a</b>, between 3 and 5."
    assert survival_sentence(SCHEMA, drawn(1.0, 15.0)) == "2 of 2 reruns begin with <b>a</b>."


def test_features_are_shown_by_depth_with_their_numbers_and_agreement_is_told():
    uses = feature_use(DRAWN)
    cells, numbers = feature_chart(SCHEMA, uses, 10).figure.data
    assert [list(row) for row in cells.z] == [[6, 6], [3, 3]]
    assert list(numbers.text) == ["6", "6", "3", "3"] or list(numbers.text) == [6, 6, 3, 3]
    assert feature_chart(SCHEMA, uses, 10).rows[0] == {"feature": "<b>a</b>", "anywhere": "6", "root": "6"}
    assert "in 6 of 10 draws" in feature_sentence(SCHEMA, uses, 10)
    assert feature_sentence(SCHEMA, (), 10) == "No rerun splits on any feature."
    names = feature_chart(SCHEMA, feature_use(DRAWN), 10).figure.layout.yaxis.ticktext
    assert "&lt;b>a&lt;/b>" in names
    agreeing = agreement(tree(0, 3.5).predict(ROWS), DRAWN, ROWS)
    assert f"{10 * agreeing.mean():.0f} of 10 draws predict what this tree predicts" in agreement_sentence(agreeing, 10)
