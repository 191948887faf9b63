"""What a file holds beside the columns that are needed stops nobody."""

from __future__ import annotations

import io

import openpyxl
import pytest

import dpviz
from dpviz.errors import TableError

SCHEMA = dpviz.Schema((dpviz.NumericFeature("x", 0, 10),), dpviz.ClassTarget("y", ("n", "p")))


def workbook(rows) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize("header", ["a,x,a,y", ",x,b,y", "a,x,,y", "a,x,a (2),y", "column 3,x,,y"])
def test_two_columns_of_one_name_or_without_any_do_not_matter_unless_they_are_needed(header):
    lines = [header, "1,3,2,n", "4,5,6,p"]
    for file in ("\n".join(lines).encode(), workbook([line.split(",") for line in lines])):
        if header.startswith("column 3"):
            with pytest.raises(TableError):
                dpviz.encode(file, SCHEMA)
        else:
            assert dpviz.encode(file, SCHEMA).columns[0].tolist() == [3, 5]
    with pytest.raises(TableError, match="have the same name"):
        dpviz.encode(b"x,a,x,y\n1,2,3,n\n", SCHEMA)


@pytest.mark.parametrize(
    "above", [[], [["Report of 2024"]], [["Report", "confidential"], [None, None], ["made by", "us", "today"]]]
)
def test_titles_above_declared_names_are_left_out_of_a_sheet_as_of_text(above):
    rows = [*above, ["x", "y"], [1, "n"], [2, "p"]]
    assert dpviz.encode(workbook(rows), SCHEMA).columns[0].tolist() == [1, 2]
    text = "\n".join(",".join(str(cell or "") for cell in row) for row in rows)
    assert dpviz.encode(text.encode(), SCHEMA).columns[0].tolist() == [1, 2]
