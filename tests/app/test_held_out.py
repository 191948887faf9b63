"""The private test result beside exact figures: the same measures, those that lead first, each with its interval."""

import gc
import math
from weakref import ref

import pytest

from dpviz.app.held_out import parts_of, result_rows
from dpviz.models.tree import Leaf
from dpviz.training.estimate.report import ClassReport
from tests.support.tables import schema_of, table

REPORT = ClassReport(schema_of("mixed"), 0.1, 1e6, (Leaf(0, (60, 20), (0.75, 0.25)), Leaf(1, (10, 30), (0.25, 0.75))))
RARE = ClassReport(schema_of("mixed"), 0.1, 1e6, (Leaf(0, (900, 8), (0.95, 0.05)), Leaf(1, (60, 32), (0.7, 0.3))))


def test_measures_stand_beside_the_exact_ones_and_those_unknown_are_left_out():
    exact = {"accuracy": 0.7, "balanced_accuracy": 0.6, "auc": math.nan, "log_loss": 0.5}
    between = dict.fromkeys(exact, (0.4, 0.8))
    for report, order in ((REPORT, ["Accuracy", "Balanced accuracy"]), (RARE, ["Balanced accuracy", "Log loss"])):
        rows = result_rows(report, (exact, between), "other rows")
        assert [row["measure"] for row in rows][:2] == order
        assert {row["measure"] for row in rows} == {"Accuracy", "Balanced accuracy", "Log loss"}
    assert rows[-1]["other rows"] == "70.0% (40.0% to 80.0%)"
    assert rows[-1]["private test result"].startswith("93.2% (")


@pytest.mark.slow
def test_the_split_is_made_once_beside_the_data_and_goes_with_it():
    data = table(schema_of("numbers"), 40)
    split = parts_of(data)
    assert parts_of(data) is split
    assert [part.n_rows for part in split] == [32, 8]
    gone = ref(split[0])
    del data, split
    gc.collect()
    assert gone() is None
    assert parts_of(table(schema_of("numbers"), 9)) is None
