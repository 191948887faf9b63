import numpy as np
import pytest

from dpviz.evaluation.compare.agreement import feature_use, regions
from dpviz.evaluation.compare.redraws import Redraws
from dpviz.figures.tree.redraws import (
    MOST_BARS,
    draw_words,
    feature_figure,
    feature_rows,
    feature_sentence,
    region_figure,
    region_rows,
    region_sentence,
    root_figure,
    root_rows,
    root_sentence,
)
from dpviz.models.constant import Constant
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

SCHEMA = Schema((NumericFeature("<b>a</b>", 0, 16), NumericFeature("b", 0, 16)), ClassTarget("y", ("no", "yes")), n_public=8)
ROWS = EncodedDataset(SCHEMA, (np.arange(8.0), np.arange(8.0)[::-1].copy()), np.zeros(8, dtype=np.uint8))


def tree(feature: int, threshold: float) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(feature, threshold), Leaf(0), Leaf(1)))


DRAWN = Redraws((*(tree(0, 3.5),) * 6, *(tree(1, 2.5),) * 3, Constant(SCHEMA, 1)), 10)


def test_the_root_is_told_with_its_count_of_draws():
    said = root_sentence(SCHEMA, DRAWN)
    assert "≤ 3.5” appears in 6 of 10 fresh draws, one of 3 different beginnings" in said
    assert [count for _, count in root_rows(SCHEMA, DRAWN)] == [6, 3, 1]
    assert root_rows(SCHEMA, DRAWN)[-1][0].startswith("no rule")


def test_rare_roots_share_a_bar_and_no_draw_is_lost():
    many = Redraws(tuple(tree(0, float(k)) for k in range(15)), 15)
    (bars,) = root_figure(SCHEMA, many).data
    assert len(bars.x) == MOST_BARS + 1
    assert sum(bars.x) == 15


def test_names_from_files_are_shown_literally():
    words = "".join(root_figure(SCHEMA, DRAWN).layout.yaxis.ticktext)
    assert "<b>" not in words
    assert "&lt;b>a" in words
    names = feature_figure(SCHEMA, feature_use(DRAWN), 10).layout.yaxis.ticktext
    assert all("<" not in name for name in names)


def test_features_are_shown_by_depth_with_their_numbers():
    uses = feature_use(DRAWN)
    cells, numbers = feature_figure(SCHEMA, uses, 10).data
    assert [list(row) for row in cells.z] == [[6, 6], [3, 3]]
    assert list(numbers.text) == ["6", "6", "3", "3"] or list(numbers.text) == [6, 6, 3, 3]
    assert feature_rows(SCHEMA, uses)[0] == {"feature": "<b>a</b>", "anywhere": 6, "root": 6}
    assert "in 6 of 10 draws" in feature_sentence(SCHEMA, uses, 10)
    assert feature_sentence(SCHEMA, (), 10) == "No draw asks about any feature."


def test_regions_say_where_the_label_is_only_luck():
    shown = tree(0, 3.5)
    found = regions(shown, DRAWN, ROWS)
    overall = 100 * sum(region.rows * region.agreement for region in found)
    said = region_sentence(found)
    assert f"{overall:.0f} of 100 draws" in said
    assert f"{100 * min(region.agreement for region in found):.0f} do." in said
    (bars,) = region_figure(shown, found).data
    assert sorted(bars.x) == pytest.approx(sorted(100 * region.agreement for region in found))
    assert [row["label"] for row in region_rows(shown, found)] == ["no", "yes"]


def test_each_draw_has_words():
    assert draw_words(SCHEMA, DRAWN, 0).startswith("Draw 1 of 10: 2 leaves; begins with")
    assert "as 6 of 10 do" in draw_words(SCHEMA, DRAWN, 0)
    assert draw_words(SCHEMA, DRAWN, 9) == "Draw 10 of 10: one label for everybody"
