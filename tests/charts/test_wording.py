from dpviz.charts.data import column_chart, overview
from dpviz.charts.wording import capital, chance, count_text, percent, r2_text
from dpviz.evaluation.columns import ColumnProfile
from tests.support.golden_charts import assert_golden


def test_numbers_have_one_form_and_percents_never_say_never_or_always_wrongly():
    said = {0: "0%", 1: "100%", 0.37: "37%", 0.029: "2.9%", 4e-4: "under 0.1%", 0.9999: "over 99.9%", 0.995: "99.5%"}
    assert {share: chance(share) for share in said} == said
    assert [percent(share) for share in (0.9, 0.125, 1)] == ["90%", "12.5%", "100%"]
    assert [r2_text(r2) for r2 in (0.3621, -0.0124, -0.0001, -9.4)] == ["0.362", "−0.012", "0.000", "−9"]
    assert [count_text(number, "row") for number in (0, 1, 12_000)] == ["0 rows", "1 row", "12,000 rows"]
    assert [capital(text) for text in ("", "at ε = 1", "ε = 1")] == ["", "At ε = 1", "ε = 1"]


# --- the bars of a column, in the figure, in words and as a table.


TEXTS = ColumnProfile("answer <b>", 100, 10, ("yes <i>", "y" * 60), (60, 20), n_others=10)
BINS = ColumnProfile("age", 60, 0, ("0 to 5", "5 to 10", "10 to 15"), (10, 20, 30), is_binned=True)
NONE = ColumnProfile("empty", 3, 3, (), ())


def test_bars_tables_and_sentences_are_the_reviewed_ones():
    for profile in (TEXTS, BINS):
        assert_golden(f"data-{profile.name[:3]}", column_chart(profile))
    assert_golden("data-overview", overview((TEXTS, BINS, NONE)))
