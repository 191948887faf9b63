"""A date becomes a number by its text and its declared rule."""

import datetime as dt

import numpy as np
import pandas as pd

import dpviz
from dpviz.table.cells import ORDERS
from dpviz.table.dates import DateFeature
from dpviz.table.schema import ClassTarget, Schema


def numbers(texts, **rule) -> list[float]:
    return DateFeature("when", -1e6, 1e6, **rule).numbers(texts).tolist()


def test_each_part_of_a_date_is_a_number_in_the_declared_order():
    for part, number in {"year": 2024, "month": 2, "weekday": 4, "days": 19782}.items():
        assert numbers(["2024-02-29T13:00:00", "2024/2/29"], part=part) == [number] * 2
        assert numbers(["29.02.2024", "29/2/2024"], part=part, order="dmy") == [number] * 2
        assert numbers(["2/29/2024 1 pm"], part=part, order="mdy") == [number]
    for since in ("2024-03-01", "2024/3/1", "2024-03-01T10:00", dt.date(2024, 3, 1)):
        assert numbers(["2024-02-29"], part="days", since=since) == [-1]
    for order in ORDERS:  # as dates of a workbook or a frame are written, beside those of its copy in CSV
        assert numbers(["2024-02-03", "2024-02-03T00:00"], part="month", order=order) == [2, 2]


def test_what_is_no_date_is_no_number():
    texts = ["2023-02-29", "29.02.24", "2024", "2024-13-01", "20240229", "x", "", "2024-02-29x", "٢٠٢٤-02-29", "0000-01-01"]
    assert np.isnan(numbers(texts)).all()


SCHEMA = Schema(
    (DateFeature("when", 2010, 2020, missing_as=2010), DateFeature("day", 0, 400, part="days", since="2015-01-01", order="dmy")),
    ClassTarget("y", ("n", "p")),
    n_public=200,
)
ROWS = "".join(f"{2008 + k % 15}-0{1 + k % 9}-11,{1 + k % 28}.{1 + k % 12}.2015,{'np'[k % 15 > 7]}\n" for k in range(200))


def test_rows_with_dates_are_encoded_clipped_and_trained_on():
    data = dpviz.encode(dpviz.read_table(f"when,day,y\n{ROWS},1.1.2015,n\n2012-01-01,soon,n\n".encode()), SCHEMA)
    assert (data.n_rows, data.report.dropped_unknown) == (201, (("day", 1),))
    assert (data.columns[0].min(), data.columns[0].max(), data.columns[0].dtype.kind) == (2010, 2020, "i")
    assert data.columns[0][-1] == 2010, "missing"
    result = dpviz.fit("pf-tree", data, epsilon=5, max_depth=1, seed=0)
    frame = pd.DataFrame({"when": pd.to_datetime(["2009-01-01", "2019-12-31"]), "day": ["1.1.2015", "2.1.2015"]})
    assert result.predict(frame).tolist() == ["n", "p"]
