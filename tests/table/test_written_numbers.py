"""A typed number means what a cell with these marks means, and what may be two numbers is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DpvizError
from dpviz.table.cells import Marks, number_of
from dpviz.table.column_draft import number_in
from tests.support.examples import examples

NUMBERS = {"220,5": 220.5, "1.000,5": 1000.5, "1,000.5": 1000.5, "1.000.000": 1e6, "1,00,000": 1e5, "1 000,5": 1000.5}
NUMBERS |= {"1'000.5": 1000.5, "−3,25": -3.25, "+7.": 7, "0,125": 0.125, "0.125": 0.125, "12,3456": 12.3456, "1e3": 1e3, " 5 ": 5}


def test_numbers_are_read_as_they_are_written_anywhere():
    assert {text: number_in(text) for text in NUMBERS} == NUMBERS


@examples(500)
@given(st.text("0123456789.,-' e_", max_size=9))
def test_a_text_is_one_number_under_every_mark_that_reads_it_or_refused(text):
    found = {number_of(text.strip().removeprefix("'").strip(), marks) for marks in (Marks.POINT, Marks.COMMA)}
    try:
        number = number_in(text)
    except DpvizError:
        return
    assert {value for value in found if not np.isnan(value)} == {number}


@pytest.mark.parametrize("text", ["1.000", "1,000", "12.345", "-999,999"])
def test_one_mark_before_three_digits_may_be_two_numbers(text):
    with pytest.raises(DpvizError, match=r"may be .* or"):
        number_in(text)
    if "." in text:  # a program writes decimal points
        assert number_in(text, point_is_decimal=True) == float(text)


@pytest.mark.parametrize("text", ["", "x", "1_0", "1.5.2", "nan", "inf", "1e999", "1..2", "--3", "1.000,5.5", "1000 000"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(DpvizError, match="no number"):
        number_in(text)
