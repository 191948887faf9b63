import math
import re

import dpviz
from dpviz.figures.tree.levels import level_epsilons, levels_in_words, shape_in_words
from dpviz.figures.tree.svg import draw_tree
from tests.support.tables import schema_of, table

DATA = table(schema_of("mixed"), 300)


def fitted(name="pf-tree", depth=3, **more):
    return dpviz.fit(name, DATA, epsilon=1.0, max_depth=depth, depth=depth, seed=1, **more)


def test_levels_add_up_to_epsilon_and_what_is_exact_has_none():
    found = level_epsilons(fitted(lookahead=1).plan)
    assert math.isclose(sum(found[level, level] for level in range(3)), 1.0)
    assert found[3, 3] == 1.0
    assert sum(level_epsilons(fitted(leaves="labels").plan).values()) == sum(found[level, level] for level in range(3))
    assert level_epsilons(fitted("cart").plan) == {}
    assert levels_in_words(fitted("cart").plan) == ""


def test_a_label_stands_beside_each_row_of_cards_and_one_bracket_around_levels_chosen_together():
    result = fitted(depth=2, leaves="labels", lookahead=1)
    levels = level_epsilons(result.plan)
    wide, narrow = (draw_tree(result.model, title="Tree", levels=levels, narrow=small).standalone() for small in (False, True))
    assert re.findall(r">ε ([0-9.]+)<", wide) == ["0.417", "0.583"]
    first, second = (float(width) for width in re.findall(r'class="spent"[^>]* width="([0-9.]+)"', wide))
    assert abs(first / second - 0.417 / 0.583) < 0.01
    assert 'class="spent"' not in narrow
    plan = fitted(depth=3, leaves="labels").plan
    assert shape_in_words(plan) == "depth 3, two levels at once"
    assert shape_in_words(fitted(depth=2, lookahead=1).plan) == "depth 2, one level at once"
    result = fitted(depth=3, leaves="labels")
    wide = draw_tree(result.model, title="Tree", levels=level_epsilons(plan)).standalone()
    assert re.findall(r">ε ([0-9.]+)<", wide) == ["0.229", "0.771"]
    assert wide.count('class="block"') == 1
