"""The private test result in words: every number with its interval, what it cost, in the report too."""

import dpviz
from dpviz.figures.publish.report import report_html
from dpviz.figures.publish.test_result import accuracy_sentence, result_sentences
from dpviz.io.exports.contract import Exportable
from dpviz.models.tree import Leaf
from dpviz.training.honest.report import TestReport
from tests.contract.tables import schema_of, table
from tests.contract.test_learners_of_numbers import rows, schema_of_numbers

SCHEMA = schema_of("mixed")
REPORT = TestReport(SCHEMA, 0.1, 1e6, (Leaf(0, (60, 20), (0.75, 0.25)), Leaf(1, (10, 30), (0.25, 0.75))))


def test_every_figure_is_said_with_its_interval():
    said = result_sentences(REPORT)
    assert said[0].startswith("Right for 75.0% (67.")
    assert said[1].startswith("Of the rows with 'c0', it finds 85.7% (")
    assert "Ranks a row with 'c1' above one with 'c0' in 72.9% (" in said[3]
    assert "Log loss" in said[4]
    assert "in 2 of 2 bands" in said[5]
    assert "about 120 rows" in said[-1]
    assert "add/remove one row" in said[-1]


RARE = TestReport(SCHEMA, 0.1, 1e6, (Leaf(0, (900, 8), (0.95, 0.05)), Leaf(1, (60, 32), (0.7, 0.3))))


def test_accuracy_comes_last_where_nearly_all_rows_are_of_one_class():
    said = result_sentences(RARE)
    assert said[0].startswith("Balanced accuracy 86.9% (")
    assert said[-2].startswith("Right for 93.2% (")
    assert "Always saying the most frequent class: 96.0%" in said[-2]
    assert accuracy_sentence(RARE).startswith("balanced accuracy 86.9% (")
    assert accuracy_sentence(REPORT).startswith("right for 75.0% (")


def test_of_a_number_r2_and_errors_are_said():
    result = dpviz.fit("pf-tree", rows(schema_of_numbers(), 800), epsilon=1e6, depth=2, seed=1)
    said = result_sentences(result.test_report)
    assert said[0].startswith("R² 0.")
    assert said[1].startswith("Typical error (RMSE) ")
    assert "numbers beyond count as its ends" in said[3]
    assert "noisy sums" in said[-1]
    assert "How good it is" in report_html(Exportable(result.to_json()))


def test_labels_alone_are_not_ranked():
    said = result_sentences(TestReport(SCHEMA, 0.1, 1.0, (Leaf(0, (60, 20)), Leaf(1, (10, 30)))))
    assert not any("AUC" in line or "Log loss" in line for line in said)


def test_the_report_has_it_where_there_was_a_test():
    for leaves, count in (("honest", 1), ("labels", 0)):
        result = dpviz.fit("pf-tree", table(SCHEMA, 200), epsilon=1.0, depth=2, seed=1, leaves=leaves)
        page = report_html(Exportable(result.to_json()))
        assert page.count("<h2>How good it is, in full</h2>") == count
        assert page.count("of the rows. In brackets: 95% intervals.</li>") == count
