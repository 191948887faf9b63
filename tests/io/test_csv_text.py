"""No text of ours is a formula in somebody's spreadsheet."""

import csv
import io
import math

import pandas as pd

from dpviz.io.csv_text import csv_text, frame_csv, harmless

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =cmd|' /C calc'!A0", "＝1", "\n=1")


def test_a_text_that_starts_as_a_formula_is_made_harmless():
    for text in FORMULAS:
        assert harmless(text) == f"'{text}"


def test_everything_else_stays():
    for cell in ["a=1", "", "'=1", -1, -1.5, None, math.nan, "north-east"]:
        assert harmless(cell) is cell


def test_header_and_rows_are_read_back_with_apostrophes_and_nothing_else():
    text = csv_text(["=a", "b"], [["-x", -1.5], ['say "hi", you', None]])
    assert list(csv.reader(io.StringIO(text))) == [["'=a", "b"], ["'-x", "-1.5"], ['say "hi", you', ""]]


def test_a_frame_keeps_its_numbers_and_missing_values():
    frame = pd.DataFrame({"=name": ["=1", "b", None], "loss": [-1.0, math.nan, 2.5], "n": [-1, 0, 1], "mixed": ["@x", -3, None]})
    text = frame_csv(frame)
    assert text == "'=name,loss,n,mixed\n'=1,-1.0,-1,'@x\nb,,0,-3\n,2.5,1,\n"
    assert "=name" in frame.columns


def test_categorical_texts_are_made_harmless_too():
    frame = pd.DataFrame({"c": pd.Categorical(["=1", "b"]), "flag": [True, False]})
    assert frame_csv(frame) == "c,flag\n'=1,True\nb,False\n"
