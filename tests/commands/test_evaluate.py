"""The evaluate command: measures of a model on labelled rows, and whom they are for."""

import pytest


@pytest.fixture
def model(run, table, schema, tmp_path):
    path = tmp_path / "tree.json"
    run("train", table, "--schema", schema, "--epsilon", "9", "--learner", "cart", "--out", path)
    return path


def test_measures_and_the_error_of_every_class_are_shown(run, model, table):
    code, out, err = run("evaluate", model, table)
    assert code == 0
    assert "Rows                 600" in out
    assert "Accuracy             100.0% (95%: 99.4% to 100.0%)" in out
    assert out.index("Most frequent class") < out.index("Accuracy") < out.index("Balanced accuracy")
    assert "AUC                  1.000 (95%: 1.000 to 1.000)" in out
    last = out.splitlines()[-2:]
    assert [line.split()[0] for line in last] == ["no", "yes"]
    assert all(line.endswith("0%") for line in last)
    assert "for their owner only" in err


def test_rows_that_cannot_be_used_are_counted(run, model, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("age,colour,label\n80,red,yes\n20,red,yes\n,red,no\n20,pink,no\n", encoding="utf-8")
    _, out, err = run("evaluate", model, rows)
    assert "Accuracy             50.0%" in out
    assert "2 rows are left out" in err


def test_accuracy_does_not_come_first_where_nearly_all_rows_are_of_one_class(run, model, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("age,colour,label\n" + "80,red,yes\n" * 19 + "20,red,no\n", encoding="utf-8")
    _, out, _ = run("evaluate", model, rows)
    assert "Most frequent class  95.0%" in out
    assert out.index("Balanced accuracy") < out.index("\nAccuracy")


@pytest.mark.parametrize(
    ("text", "says"), [("age,colour\n80,red\n", "has no column 'label'"), ("age,colour,label\n", "No row can be used")]
)
def test_rows_without_a_target_or_without_rows_are_refused(refused, model, tmp_path, text, says):
    rows = tmp_path / "rows.csv"
    rows.write_text(text, encoding="utf-8")
    assert says in refused("evaluate", model, rows)
