"""The separating output of a tree of numbers is drawn and said like any other."""

import pytest

from dpviz.evaluation.audit.universe import Universe
from dpviz.evaluation.audit.verify import verify
from dpviz.figures.audit.separating_output import output_in_words, output_tree


@pytest.mark.slow
def test_a_tree_of_numbers_is_a_tree_and_a_sentence():
    found = verify("pf-tree", epsilon=1.0, universes=(Universe((2,), n_classes=0, depth=1, max_rows=2),))
    tree = output_tree(found)
    assert tree.values == (0.5, 0.5)
    assert tree.schema.target.name == "number"
    assert output_in_words(found).startswith("If a is 0: 0.5; otherwise: 0.5.")
