"""Groups of the test in words, as a table, and as a chart."""

from dataclasses import replace

import pandas as pd
import pytest

import dpviz
from dpviz.figures.publish.test_result import group_chart, group_rows, group_sentences
from dpviz.models.tree import Leaf
from dpviz.results.exports import export
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema
from dpviz.training.estimate.report import ClassReport
from tests.support.golden_charts import assert_golden

SCHEMA = Schema((CategoricalFeature("g", ("a", "<b>")),), ClassTarget("y", ("n", "p")), n_public=100)
#: Answer n in both groups, then answer p.
TABLE = (Leaf(0, (60, 20)), Leaf(0, (30, 0)), Leaf(1, (10, 30)), Leaf(1, (20, 50)))
REPORT = ClassReport(SCHEMA, 0.1, 1e6, TABLE, None, "g")


def test_every_group_has_its_error_and_what_it_finds_with_intervals_in_table_and_chart():
    chart = group_chart(REPORT)
    assert_golden("publish-groups", replace(chart, rows=group_rows(REPORT), summary="\n".join(group_sentences(REPORT))))
    wrong, found = chart.figure.data
    assert list(wrong.x) == [entry.error.value for entry in REPORT.by_group]
    assert list(found.x) == [entry.found[1].value for entry in REPORT.by_group]
    assert found.x[0] + found.error_x.array[0] == REPORT.by_group[0].found[1].high
    assert group_rows(ClassReport(SCHEMA, 0.1, 1.0, TABLE)) == group_rows(None) == []


@pytest.mark.slow
def test_the_report_holds_them_as_a_table():
    rows = {"g": ["a", "<b>"] * 100, "y": ["n", "p", "p", "n"] * 50}
    result = dpviz.fit("pf-tree", dpviz.encode(pd.DataFrame(rows), SCHEMA), epsilon=5, seed=0, groups="g")
    page = str(export("report", result.to_json()).content)
    assert "<h2>By group</h2>" in page
    assert "<td>&lt;b&gt;</td>" in page
