"""The bars of a column, in the figure, in words and as a table."""

from dpviz.charts.data import column_chart, overview
from dpviz.evaluation.columns import ColumnLook
from tests.support.golden_charts import assert_golden

TEXTS = ColumnLook("answer <b>", 100, 10, ("yes <i>", "y" * 60), (60, 20), n_others=10)
BINS = ColumnLook("age", 60, 0, ("0 to 5", "5 to 10", "10 to 15"), (10, 20, 30), is_binned=True)
NONE = ColumnLook("empty", 3, 3, (), ())


def test_bars_tables_and_sentences_are_the_reviewed_ones():
    for look in (TEXTS, BINS):
        assert_golden(f"data-{look.name[:3]}", column_chart(look))
    assert_golden("data-overview", overview((TEXTS, BINS, NONE)))
