"""The private test result in words: every number with its interval, what it cost, in the report too; groups."""

import re
from dataclasses import replace

import pandas as pd
import pytest

import dpviz
from dpviz.charts.publish.report import report_html
from dpviz.charts.publish.test_result import (
    accuracy_sentence,
    group_rows,
    group_sentences,
    is_better_than_always,
    majority_comparison,
    percent_with_interval,
    result_sentences,
)
from dpviz.io.exports.contract import ExportInput
from dpviz.models.tree import Leaf
from dpviz.results.exports import export
from dpviz.results.verdict import ROW
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema
from dpviz.training.estimate.report import ClassReport
from tests.support.golden_charts import assert_golden
from tests.support.numbers import rows, schema_of_numbers
from tests.support.tables import schema_of, table

SCHEMA = schema_of("mixed")
REPORT = ClassReport(SCHEMA, 0.1, 1e6, (Leaf(0, (60, 20), (0.75, 0.25)), Leaf(1, (10, 30), (0.25, 0.75))))


RARE = ClassReport(SCHEMA, 0.1, 1e6, (Leaf(0, (900, 8), (0.95, 0.05)), Leaf(1, (60, 32), (0.7, 0.3))))
NOTHING_KNOWN = ClassReport(SCHEMA, 0.1, 1e-3, (Leaf(0, (9, 2), (0.75, 0.25)), Leaf(1, (1, 3), (0.25, 0.75))))
LABELS = ClassReport(SCHEMA, 0.1, 1.0, (Leaf(0, (60, 20)), Leaf(1, (10, 30))))


@pytest.mark.parametrize("learner", ["classes", "numbers"])
def test_every_figure_is_said_with_its_interval_as_reviewed(learner):
    """Where nearly all rows are of one class, accuracy comes last, beside what always saying it reaches."""
    if learner == "classes":
        both = replace(REPORT, counted=((60, 20), (10, 30)))
        said = [line for report in (REPORT, RARE, NOTHING_KNOWN, LABELS, both) for line in ("", *result_sentences(report, ROW))]
        said += [accuracy_sentence(REPORT), accuracy_sentence(RARE), *map(majority_comparison, (REPORT, RARE, NOTHING_KNOWN))]
    else:
        asked = ((8000, 1e6), (200, 1e-3))
        fits = [dpviz.fit("pf-tree", rows(schema_of_numbers(), n), epsilon=e, depth=2, seed=1) for n, e in asked]
        said = [line for result in fits for line in ("", *result_sentences(result.test_report, ROW))]
        no_better = "No better than always the mean, as far as the test can tell."
        assert [majority_comparison(result.test_report) for result in fits] == ["", no_better]
        assert "How good it is" in report_html(ExportInput(fits[0].to_json()))
    assert_golden(f"publish-test-result-{learner}", said)


def test_the_report_says_it_on_page_one_in_the_colour_of_a_warning_where_it_is_no_better():
    assert [is_better_than_always(report) for report in (REPORT, RARE)] == [True, False]
    data = table(schema_of("numbers", 2), 2000)
    for epsilon, expected in ((1e4, 'class="worth"'), (1e-3, 'class="worth open"')):
        content = report_html(ExportInput(dpviz.fit("pf-tree", data, epsilon=epsilon, depth=1, seed=1).to_json()))
        (found,) = re.findall(r'<p (class="worth[^"]*")>Always', content.split('<h1 class="annex">')[0])
        assert found == expected


GROUPED = Schema((CategoricalFeature("g", ("a", "<b>")),), ClassTarget("y", ("n", "p")), n_public=100)
#: Answer n in both groups, then answer p.
TABLE = (Leaf(0, (60, 20)), Leaf(0, (30, 0)), Leaf(1, (10, 30)), Leaf(1, (20, 50)))
BY_GROUP = ClassReport(GROUPED, 0.1, 1e6, TABLE, None, "g")


@pytest.mark.slow
def test_every_group_has_its_error_and_what_it_finds_with_intervals_in_the_report_too():
    rows = group_rows(BY_GROUP)
    assert_golden("publish-groups", [*rows, *group_sentences(BY_GROUP)])
    for entry, row in zip(BY_GROUP.by_group, rows, strict=True):
        assert [*row.values()][1:] == [percent_with_interval(share) for share in (entry.error, *entry.found)]
    assert group_rows(ClassReport(GROUPED, 0.1, 1.0, TABLE)) == group_rows(None) == []
    rows = {"g": ["a", "<b>"] * 100, "y": ["n", "p", "p", "n"] * 50}
    result = dpviz.fit("pf-tree", dpviz.encode(pd.DataFrame(rows), GROUPED), epsilon=5, seed=0, groups="g")
    page = export("report", result.to_json())
    assert "<h2>By group</h2>" in page
    assert "<td>&lt;b&gt;</td>" in page
