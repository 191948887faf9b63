"""Labelled values of SPSS and Stata: a cell is its value and its label, whichever the schema declares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {
        "age": [17.0, 40.0, 85.0, 0.0, np.nan, 62.0, 31.0, 55.0],
        "sex": [1.0, 2.0, 1.0, 2.0, 9.0, 1.0, 2.0, 3.0],
        "ward": ["A", "B", "A", "C", "A", "B", "C", "A"],
        "y": [0.0, 1.0] * 4,
    }
)
LABELS = {
    "age": {85: "85 or older", 0: "less than 1 year"},
    "sex": {1: "male", 2: "female", 9: "NA"},
    "ward": {"A": "medicine", "B": "surgery"},
    "y": {0: "no", 1: "yes"},
}
Y = ClassTarget("y", ("no", "yes"))


@pytest.fixture(scope="module", params=["sav", "dta"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import pyreadstat

    path = tmp_path_factory.mktemp("labelled") / f"rows.{request.param}"
    labels = LABELS if request.param == "sav" else {name: of for name, of in LABELS.items() if name != "ward"}
    write = pyreadstat.write_sav if request.param == "sav" else pyreadstat.write_dta
    write(FRAME, str(path), variable_value_labels=labels)
    return path


def column(file: Path, feature: NumericFeature | CategoricalFeature, target: ClassTarget = Y) -> list[float]:
    return dpviz.encode(file, Schema((feature,), target)).columns[0].tolist()


@pytest.mark.slow
def test_a_labelled_cell_is_its_number_and_its_label(file: Path) -> None:
    assert column(file, NumericFeature("age", 0, 120)) == [17, 40, 85, 0, 62, 31, 55]
    assert column(file, NumericFeature("age", 0, 120, missing_codes=("85 or older", "0"))) == [17, 40, 62, 31, 55]
    assert column(file, CategoricalFeature("sex", ("female", "male"))) == [1, 0, 1, 0, 1, 0]
    assert column(file, CategoricalFeature("sex", ("2", "1", "3"))) == [1, 0, 1, 0, 1, 0, 2]
    assert column(file, CategoricalFeature("sex", ("2", "male", "3"))) == [1, 0, 1, 0, 1, 0, 2]
    assert column(file, CategoricalFeature("sex", ("NA", "male"), unknown_as="male")) == [1, 1, 1, 1, 0, 1, 1, 1]
    assert column(file, CategoricalFeature("sex", ("9", "male"), unknown_as="male")) == [1, 1, 1, 1, 0, 1, 1, 1]
    assert column(file, CategoricalFeature("sex", ("male", "x"), missing_as="x", unknown_as="male")) == [0, 0, 0, 0, 1, 0, 0, 0]
    for classes in (("no", "yes"), ("0", "1"), ("0", "yes")):
        assert dpviz.encode(file, Schema((NumericFeature("sex", 0, 9),), ClassTarget("y", classes))).target.tolist().count(1) == 4


def test_a_labelled_text_is_its_text_and_its_label(file: Path) -> None:
    if file.suffix == ".sav":
        assert column(file, CategoricalFeature("ward", ("medicine", "surgery", "C"))) == [0, 1, 0, 2, 0, 1, 2, 0]
    assert column(file, CategoricalFeature("ward", ("A", "B", "C"))) == [0, 1, 0, 2, 0, 1, 2, 0]


def test_a_column_with_a_few_labels_is_proposed_as_a_number_and_one_of_labels_as_these(file: Path) -> None:
    schema = dpviz.propose_schema(file, target="y")
    assert isinstance(schema.feature("age"), NumericFeature)
    assert schema.classes == ("no", "yes")
    assert {"male", "female"} <= set(schema.feature("sex").categories)


def test_persons_with_one_label_are_several(file: Path) -> None:
    schema = Schema((NumericFeature("age", 0, 120),), Y)
    data = dpviz.encode(file, schema, person="sex", rows_per_person=9)
    assert len(np.unique(data.persons)) == 3
