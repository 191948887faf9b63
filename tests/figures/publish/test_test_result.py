"""The private test result in words: every number with its interval, what it cost, in the report too."""

import re
from dataclasses import replace

import dpviz
from dpviz.figures.publish.report import report_html
from dpviz.figures.publish.test_result import accuracy_sentence, beside_always, is_better_than_always, result_sentences
from dpviz.io.exports.contract import Exportable
from dpviz.models.tree import Leaf
from dpviz.results.verdict import ROW
from dpviz.training.estimate.report import ClassReport
from tests.support.numbers import rows, schema_of_numbers
from tests.support.tables import schema_of, table

SCHEMA = schema_of("mixed")
REPORT = ClassReport(SCHEMA, 0.1, 1e6, (Leaf(0, (60, 20), (0.75, 0.25)), Leaf(1, (10, 30), (0.25, 0.75))))


def test_every_figure_is_said_with_its_interval():
    said = result_sentences(REPORT, ROW)
    assert said[0].startswith("Right for 75.0% (65.8% to 83.5%)")
    assert said[1].startswith("Of the rows with 'c0', it finds 85.7% (")
    assert "Ranks a row with 'c1' above one with 'c0' in 72.9% (" in said[3]
    assert "Log loss" in said[4]
    assert "in 2 of 2 bands" in said[5]
    assert "about 120 rows" in said[-1]
    assert "add/remove one row" in said[-1]
    both = replace(REPORT, counted=((60, 20), (10, 30)))
    assert "also use the rows behind the probabilities, about 240 in all" in result_sentences(both, ROW)[-1]
    assert "in all" not in result_sentences(REPORT, ROW)[-1]
    said = result_sentences(ClassReport(SCHEMA, 0.1, 1.0, (Leaf(0, (60, 20)), Leaf(1, (10, 30)))), ROW)
    assert not any("AUC" in line or "Log loss" in line for line in said)


RARE = ClassReport(SCHEMA, 0.1, 1e6, (Leaf(0, (900, 8), (0.95, 0.05)), Leaf(1, (60, 32), (0.7, 0.3))))


def test_where_nearly_all_rows_are_of_one_class_accuracy_comes_last_beside_what_always_saying_it_reaches():
    said = result_sentences(RARE, ROW)
    assert said[0].startswith("Balanced accuracy 86.9% (")
    assert said[-2].startswith("Right for 93.2% (")
    assert "Always saying the most frequent class: 96.0%" in said[-2]
    assert accuracy_sentence(RARE).startswith("balanced accuracy 86.9% (")
    assert accuracy_sentence(REPORT).startswith("right for 75.0% (")
    assert is_better_than_always(REPORT)
    assert beside_always(REPORT).startswith("Always 'c0' is right for 58.3%. It finds 86 (75 to 95) of 100 'c0' and 60 (")
    assert not is_better_than_always(RARE)
    said = beside_always(RARE)
    assert said.startswith("Always 'c0' is right for 96.0%: as far as the test can tell, the model is no better.")
    assert "It finds 94 (92 to 95) of 100 'c0' and 80 (" in said


def test_a_test_that_knows_nothing_says_so_and_no_number():
    unknown = ClassReport(SCHEMA, 0.1, 1e-3, (Leaf(0, (9, 2), (0.75, 0.25)), Leaf(1, (1, 3), (0.25, 0.75))))
    assert result_sentences(unknown, ROW)[0] == "Right for an unknown share (0% to 100%) of the rows."
    assert "It finds an unknown number of 100 'c0' and an unknown number of 100 'c1'." in beside_always(unknown)


def test_the_report_says_it_on_page_one_in_the_colour_of_a_warning_where_it_is_no_better():
    data = table(schema_of("numbers", 2), 2000)
    for epsilon, expected in ((1e4, 'class="worth"'), (1e-3, 'class="worth open"')):
        content = report_html(Exportable(dpviz.fit("pf-tree", data, epsilon=epsilon, depth=1, seed=1).to_json()))
        (found,) = re.findall(r'<p (class="worth[^"]*")>Always', content.split('<h1 class="annex">')[0])
        assert found == expected


def test_of_a_number_r2_and_errors_are_said_where_noise_leaves_any():
    result = dpviz.fit("pf-tree", rows(schema_of_numbers(), 8000), epsilon=1e6, depth=2, seed=1)
    said = result_sentences(result.test_report, ROW)
    assert said[0].startswith("R² 0.")
    assert said[1].startswith("Typical error (RMSE) ")
    assert "numbers beyond count as its ends" in said[3]
    assert "noisy sums" in said[-1]
    assert "How good it is" in report_html(Exportable(result.to_json()))
    result = dpviz.fit("pf-tree", rows(schema_of_numbers(), 200), epsilon=1e-3, depth=2, seed=1)
    said = result_sentences(result.test_report, ROW)
    assert said[0].startswith("R² unknown: 1 is perfect")
    assert said[1] == "Typical error (RMSE) unknown."
