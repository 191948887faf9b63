"""A typed number means what it says, and what may be two numbers is refused."""

import pytest

from dpviz.errors import DpvizError
from dpviz.table.column_draft import number_in


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("220,5", 220.5),
        ("1.000,5", 1000.5),
        ("1,000.5", 1000.5),
        ("1.000.000", 1e6),
        ("1,000,000", 1e6),
        ("1 000,5", 1000.5),
        ("1'000.5", 1000.5),
        ("-3", -3),
        ("−3,25", -3.25),
        ("+7.", 7),
        ("0,125", 0.125),
        ("0.125", 0.125),
        ("1234.567", 1234.567),
        ("12,3456", 12.3456),
        ("1e3", 1000),
        (" 5 ", 5),
    ],
)
def test_numbers_are_read_as_they_are_written_anywhere(text, number):
    assert number_in(text) == number


@pytest.mark.parametrize("text", ["1.000", "1,000", "12.345", "-999,999"])
def test_one_mark_before_three_digits_may_be_two_numbers(text):
    with pytest.raises(DpvizError, match=r"may be .* or") as caught:
        number_in(text)
    assert caught.value.remedy.startswith("Write")


def test_a_program_writes_decimal_points():
    assert number_in("12.345", point_is_decimal=True) == 12.345
    with pytest.raises(DpvizError):
        number_in("12,345", point_is_decimal=True)


@pytest.mark.parametrize("text", ["", "x", "1_0", "1,00,000", "1.5.2", "nan", "inf", "1e999", "1..2", "--3", "1.000,5.5"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(DpvizError, match="no number"):
        number_in(text)
