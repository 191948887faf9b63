"""What is counted of a column, and that private rows are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DpvizError
from dpviz.evaluation.columns import MAX_BARS, profile_columns
from dpviz.io.tables.read import read_table
from dpviz.table.columns import Column
from dpviz.table.raw import RawTable
from dpviz.table.role import DataRole

PUBLIC = DataRole.PUBLIC


def test_every_cell_of_a_column_is_counted_once_the_most_frequent_texts_have_bars_and_private_rows_are_refused():
    rows = b"".join(b"%d,%s,%s,NA\n" % (k, b"xyz"[k % 3 :][:1], b"" if k % 4 else b"7.0") for k in range(120))
    number, text, few, none = profile_columns(read_table(b"a,b,c,d\n" + rows), PUBLIC)
    assert number.is_binned
    assert number.counts == (6,) * MAX_BARS
    assert number.labels[0] == "0 to 5.95"
    assert (text.labels, text.counts) == (("x", "y", "z"), (40, 40, 40))
    assert (few.labels, few.counts, few.n_missing, few.missing_share) == (("7",), (30,), 90, 0.75)
    assert (none.labels, none.counts, none.missing_share) == ((), (), 1.0)
    cells = [f"t{k}" for k in range(40) for _ in range(k + 1)]
    profile, _ = profile_columns(read_table(b"a,b\n" + "".join(f"{cell},1\n" for cell in cells).encode()), PUBLIC)
    assert profile.labels[:2] == ("t39", "t38")
    assert len(profile.counts) == MAX_BARS
    assert sum(profile.counts) + profile.n_others == len(cells)
    with pytest.raises(DpvizError, match="Private rows are not looked at"):
        profile_columns(read_table(b"a,b\n1,2\n"), DataRole.PRIVATE)


@given(st.lists(st.floats(allow_infinity=False) | st.sampled_from([1e308, -1e308, 5e-324, 0.0]), min_size=1, max_size=60))
def test_bins_hold_every_number(values):
    [profile] = profile_columns(RawTable((Column("x", numbers=np.array(values)),)), PUBLIC)
    assert sum(profile.counts) + profile.n_others + profile.n_missing == len(values)
    assert len(profile.counts) == len(profile.labels) <= MAX_BARS
