from dpviz.app.tree.fresh import SLOT
from dpviz.table.role import DataRole
from tests.pages.opened import after_work, opened, texts, values_in


def drawn(**url: str):
    test = opened("tree", depth="2", fresh="true", **url)
    assert not test.exception
    after_work(test, SLOT)
    return test, values_in(test, SLOT)[0]


def test_fresh_draws_show_roots_features_regions_and_a_player():
    test, found = drawn(epsilon="0.5")
    said = texts(test)
    (_, count), *_ = found.root_rules()
    assert f"appears in {count} of 4 fresh draws" in said
    assert "is asked about most" in said
    assert "of 4 draws predict what this tree predicts" in said
    charts = test.get("plotly_chart")
    assert len(charts) == 1
    assert all(chart.proto.alt for chart in charts)
    assert len(test.main.get("bidi_component")) == 2  # the tree and the player
    assert len(test.dataframe) == 5  # the tree, what changes, and every measure with the confusion matrix


def test_private_rows_are_not_drawn_again():
    test = opened("tree", DataRole.PRIVATE)
    assert "Same data, fresh noise: what changes?" not in [toggle.label for toggle in test.toggle]


def test_a_deep_tree_is_drawn_again_less_often():
    test = opened("tree", depth="6")
    after_work(test, SLOT)
    (found,) = values_in(test, SLOT)
    assert found.n_done == 1  # of 4: a third
