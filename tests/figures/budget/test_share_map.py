import re
from xml.etree import ElementTree

import numpy as np
import pytest

from dpviz.evaluation.budget.lab import ShareMap, StepGain
from dpviz.evaluation.budget.shares import MovableShares
from dpviz.figures.budget.share_map import (
    LEAST_SPREAD,
    common_spread,
    crossover_sentence,
    decimals,
    gain_rows,
    gains_figure,
    gains_sentence,
    line_figure,
    map_rows,
    map_sentence,
    scale_text,
    triangle_svg,
)
from dpviz.learners import FitRequest
from dpviz.randomness import generator
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

SCHEMA = Schema((NumericFeature("a", 0, 16),), ClassTarget("y", ("no", "yes")), n_public=400)
NS = "{http://www.w3.org/2000/svg}"


def movable(name: str, depth: int = 3) -> MovableShares:
    one_by_one = {"lookahead": 1} if name == "pf-tree" else {}
    found = MovableShares.of(FitRequest.of(name, epsilon=1.0, max_depth=depth, depth=depth, **one_by_one), SCHEMA)
    assert found is not None
    return found


def made(name: str = "privatree", depth: int = 3, n_rows: int = 400, peak: float = 0.5) -> ShareMap:
    """Accuracy falls with the distance of the last share from `peak`."""
    asked = movable(name, depth)
    noise = generator(1).normal(0, 0.002, (len(asked.points), 20))
    scores = np.array([[0.9 - abs(point[-1] - peak)] for point in asked.points]) + noise
    return ShareMap(asked, n_rows, asked.points, scores, tuple(range(len(asked.points))), 20)


def test_every_point_is_a_cell_that_can_be_chosen_says_its_number_and_has_its_shade():
    found = made()
    for narrow in (False, True):
        root = ElementTree.fromstring(triangle_svg(found, current=None, narrow=narrow))
        cells = [group for group in root.iter(f"{NS}g") if "data-key" in group.attrib]
        assert root.attrib["role"] == "listbox"
        assert root.attrib["aria-label"] == map_sentence(found)
        assert [int(cell.attrib["data-key"]) for cell in cells] == list(range(36))
        for at, cell in enumerate(cells):
            assert cell.attrib["role"] == "option"
            assert f"{found.means[at]:.1%}" in cell.attrib["aria-label"]
            shown = float(cell.find(f"{NS}text").text)
            assert shown == pytest.approx(100 * found.means[at], abs=0.51 if narrow else 0.06)
    found = made()
    spread = common_spread([found])
    shades = [int(value) for value in re.findall(r"--v:(\d+)", triangle_svg(found, current=None, spread=spread))]
    order = np.argsort(found.means)
    assert list(np.array(shades)[order]) == sorted(shades)
    assert shades[found.best] == max(shades) == 95
    svg = triangle_svg(made(), current=(20.0, 30.0, 50.0))
    assert svg.count('aria-selected="true"') == 1
    at = made().nearest((0.2, 0.3, 0.5))
    assert re.search(rf'aria-selected="true" data-key="{at}"', svg)
    assert 'aria-selected="true"' not in triangle_svg(made(), current=None)


def test_maps_side_by_side_share_a_scale_on_which_small_differences_stay_small():
    flat, steep = made(peak=0.5), made(peak=0.9)
    flat = ShareMap(flat.movable, 400, flat.points, 0.8 + flat.scores / 1000, flat.same_as, 20)
    assert common_spread([flat]) == LEAST_SPREAD
    spread = common_spread([flat, steep])
    assert spread == np.ptp(steep.means)
    shades = {int(value) for value in re.findall(r"--v:(\d+)", triangle_svg(flat, current=None, spread=spread))}
    assert shades == {95}
    assert f"lightest: {100 * spread:.0f} points" in scale_text(spread)
    assert decimals(made()) == 1
    noisy = made()
    scores = noisy.scores + generator(2).normal(0, 0.2, noisy.scores.shape)
    assert decimals(ShareMap(noisy.movable, 400, noisy.points, scores, noisy.same_as, 20)) == 0


def test_names_of_parts_are_escaped():
    found = made()
    hostile = MovableShares(**{**found.movable.__dict__, "parts": ("<b>", "&", '"x"')})
    svg = triangle_svg(ShareMap(hostile, 400, found.points, found.scores, found.same_as, 20), current=None)
    ElementTree.fromstring(svg)
    assert "<b>" not in svg


def test_sentences_and_tables_say_the_best_point_what_the_rule_loses_and_the_crossover():
    found = made(peak=0.8)
    sentence = map_sentence(found)
    rule = found.nearest(found.movable.automatic)
    assert "leaves (80%)" in sentence
    assert f"{100 * (found.means[found.best] - found.means[rule]):.1f} points less" in sentence
    small, large = made(n_rows=800, peak=0.6), made(n_rows=20_000, peak=0.1)
    said = crossover_sentence(large, small)
    assert said == crossover_sentence(small, large)
    assert all(words in said for words in ("falls", "60%", "800 rows", "10%", "20,000 rows"))
    assert "rises" in crossover_sentence(made(n_rows=800, peak=0.2), made(n_rows=9_000, peak=0.7))
    assert "no crossover here" in crossover_sentence(made(n_rows=800), made(n_rows=9_000))
    found = made()
    rows = map_rows(found)
    assert len(rows) == 36
    assert rows[found.best]["as good as the best"] == "yes"
    assert {row["as good as the best"] for row in rows} == {"yes", "no"}


@pytest.mark.parametrize(("name", "depth"), [("privatree-corrected", 3), ("pf-tree", 2), ("pf-tree", 5)])
def test_two_shares_or_many_levels_are_a_line_with_both_choices_marked(name, depth):
    found = made(name, depth)
    current = found.points[0]
    figure = line_figure(found, current=current)
    band, mean, rule, mine = figure.data
    assert list(mean.y) == pytest.approx(list(100 * found.means))
    assert len(band.x) == 2 * len(found.points)
    assert (rule.name, mine.name) == ("automatic choice", "in use")
    assert mine.y[0] == pytest.approx(100 * found.means[0])
    assert len(line_figure(found, current=None).data) == 3


GAINS = (
    StepGain("quantile", (0.3, 0.3, 0.4), -0.02, -0.03, -0.01, 200),
    StepGain("node", (0.2, 0.4, 0.4), 0.001, -0.004, 0.006, 200),
    StepGain("leaf", (0.2, 0.2, 0.6), 0.02, 0.01, 0.03, 200),
)


def test_gains_are_drawn_and_told_with_their_interval_and_only_shown_ones_pay():
    said = gains_sentence(GAINS)
    assert "leaves: +2.0 points (95%: +1.0 to +3.0)" in said
    assert said.endswith("It pays for leaves.")
    assert gains_sentence(GAINS[:2]).endswith("No step is shown to help.")
    assert "add/remove one row" in said
    figure = gains_figure(GAINS)
    assert len({trace.marker.symbol for trace in figure.data}) == 3
    assert figure.data[2].error_x.array[0] == pytest.approx(1.0)
    assert [row["one step more for"] for row in gain_rows(movable("privatree"), GAINS)] == ["quantiles", "nodes", "leaves"]
