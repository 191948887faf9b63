"""Groups of the test in words, as a table, and as a chart."""

import pandas as pd
import pytest

import dpviz
from dpviz.figures.publish.groups import group_chart, group_rows, group_sentences
from dpviz.figures.publish.test_result import percent_with_interval
from dpviz.models.tree import Leaf
from dpviz.results.exports import export
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema
from dpviz.training.estimate.report import ClassReport

SCHEMA = Schema((CategoricalFeature("g", ("a", "<b>")),), ClassTarget("y", ("n", "p")), n_public=100)
#: Answer n in both groups, then answer p.
TABLE = (Leaf(0, (60, 20)), Leaf(0, (30, 0)), Leaf(1, (10, 30)), Leaf(1, (20, 50)))
REPORT = ClassReport(SCHEMA, 0.1, 1e6, TABLE, None, "g")


def test_every_group_has_its_error_and_what_it_finds_with_intervals_in_table_and_chart():
    one, other = group_rows(REPORT)
    assert (one["g"], one["wrong"].split()[0], one["finds 'n'"].split()[0], one["finds 'p'"].split()[0]) == (
        *("a", "25.0%", "85.7%", "60.0%"),
    )
    assert (other["g"], other["wrong"].split()[0]) == ("<b>", "20.0%")
    assert group_sentences(REPORT)[0].startswith(
        f"Where g is 'a': wrong {percent_with_interval(REPORT.by_group[0].error)}, finds"
    )
    assert group_rows(ClassReport(SCHEMA, 0.1, 1.0, TABLE)) == group_rows(None) == []
    wrong, found = group_chart(REPORT).figure.data
    assert list(wrong.x) == [entry.error.value for entry in REPORT.by_group]
    assert list(found.x) == [entry.found[1].value for entry in REPORT.by_group]
    assert found.x[0] + found.error_x.array[0] == REPORT.by_group[0].found[1].high


@pytest.mark.slow
def test_the_report_holds_them_as_a_table():
    rows = {"g": ["a", "<b>"] * 100, "y": ["n", "p", "p", "n"] * 50}
    result = dpviz.fit("pf-tree", dpviz.encode(pd.DataFrame(rows), SCHEMA), epsilon=5, seed=0, groups="g")
    page = str(export("report", result.to_json()).content)
    assert "<h2>By group</h2>" in page
    assert "<td>&lt;b&gt;</td>" in page
