import numpy as np

from dpviz.evaluation.learn.groups import EPSILONS, GroupCurves
from dpviz.figures.learn import groups as figures

_FALLING = np.linspace(0.5, 0.1, len(EPSILONS))
CURVES = GroupCurves(120, np.array([_FALLING, np.full(len(EPSILONS), 0.4)]), np.array([1 - _FALLING, _FALLING]))


def test_each_group_has_a_curve_in_each_panel_under_one_name():
    figure = figures.groups_figure(CURVES)
    assert [trace.name for trace in figure.data] == ["town, 1,080 rows", "village, 120 rows"] * 2
    assert [trace.showlegend for trace in figure.data] == [True, True, False, False]
    assert figure.data[0].line.dash != figure.data[1].line.dash
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol


def test_the_sentence_says_from_where_on_or_never():
    said = figures.groups_sentence(CURVES)
    assert "120 of 1,200 rows are from the village" in said
    assert "of the town from ε = 0.3 on" in said
    assert "of the village at no ε shown (add/remove one row)" in said


def test_the_table_has_a_line_for_every_epsilon():
    rows = figures.groups_rows(CURVES)
    assert len(rows) == len(EPSILONS)
    assert list(rows[0].values()) == ["0.01", "50%", "40%", "50%", "50%"]
