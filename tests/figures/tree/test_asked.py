from dpviz.figures.tree.effects import asked_by, asked_in_words
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from tests.support.tables import schema_of

SCHEMA = schema_of("mixed")


def asking(*features):
    root = Leaf(0)
    for feature in features:
        root = Branch(ThresholdRule(feature, 1.0), root, Leaf(1))
    return Tree(SCHEMA, root)


def test_trees_are_found_by_what_they_ask_about_most_frequent_first():
    equal = Tree(SCHEMA, Branch(ThresholdRule(0, 1.0), Leaf(1), Leaf(1)))
    assert asked_by([asking(0), asking(1, 0), equal, asking(1), asking(1, 1)]) == {1: (2, 4, 5), 0: (1, 2)}


def test_words_count_trees():
    name = SCHEMA.feature_names[0]
    assert asked_in_words(SCHEMA, 0, 87, 1200) == f"{name}: asked about in 87 of 1,200 trees"
