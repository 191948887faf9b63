"""Cells of text are read in three ways, at once or one by one; all of them read the same."""

import subprocess
import sys

import numpy as np
import pytest

from dpviz.randomness import generator
from dpviz.table import columns
from dpviz.table.cells import MISSING_MARKS, Marks
from dpviz.table.columns import Column
from tests.support.paths import ROOT
from tests.support.table_files import PIECES

#: Numbers at the edges of what is read, and cells of every other kind.
CELLS = (
    *("0", "-0", "7", "1.5", "1,5", "1.5,2", "1,2,3", "+3", ".5", "5.", "1e5", "1E-400", "1e400", "-inf", "Infinity"),
    *("nan", "NAN"),
    *("2.2250738585072014e-308", "0.1000000000000000055511151231257827", "9007199254740993", "1_000", "0x1A", "1d5", "٣", "1e"),
    *("", " ", "?", "NA", " NA ", "n/a", " 4 ", "4\u00a0", "-99", "unknown", "<5", "São", "\ud800"),
    *(piece.decode("latin-1").replace("\0", "") for piece in PIECES),
)


def packs_of(rng, n_packs: int) -> list[str]:
    """Some of one kind of cells, as columns are, some of any."""
    kinds = (("1.5", "-0", "7", "1e5"), ("1,5", "3", ""), ("1", "NA", "?", "-99"), CELLS)
    return ["\0".join(rng.choice(kinds[rng.integers(len(kinds))], 3).tolist()) for _ in range(n_packs)]


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """As in a large table."""
    monkeypatch.setattr(columns, "MANY", 1)


def test_a_number_is_the_same_however_it_is_read(monkeypatch):
    for marks in Marks:
        for codes in [(), ("-99", "unknown", "1,5")]:
            rng, at_once = generator(3), 0
            known = MISSING_MARKS.union(codes)
            for _ in range(100):
                packs = packs_of(rng, int(rng.integers(1, 4)))
                values, missing = Column("x", packs=packs, marks=marks).numbers_and_missing(codes)
                cells = "\0".join(packs).split("\0")
                alone = [Column("x", packs=[cell], marks=marks).numbers_and_missing(codes) for cell in cells]
                np.testing.assert_array_equal(values, np.concatenate([one for one, _ in alone]))
                np.testing.assert_array_equal(missing, np.concatenate([one for _, one in alone]))
                at_once += columns.by_arrow("\0".join(packs), known, marks) is not None
                with monkeypatch.context() as without_arrow:
                    without_arrow.setattr(columns, "arrow_cells", lambda pack: None)
                    np.testing.assert_array_equal(values, Column("x", packs=packs, marks=marks).numbers_and_missing(codes)[0])
            assert at_once < 80
            assert at_once > (20 if marks is Marks.EITHER else 0) or marks is Marks.COMMA


def test_texts_are_the_same_however_they_are_found(monkeypatch):
    rng = generator(4)
    for _ in range(100):
        packs = packs_of(rng, int(rng.integers(1, 4)))
        quick, slow = Column("x", packs=packs), Column("x", packs=packs)
        found = quick.texts, quick.codes.tolist()
        with monkeypatch.context() as without_arrow:
            without_arrow.setattr(columns, "arrow_cells", lambda pack: None)
            assert (slow.texts, slow.codes.tolist()) == found


def test_no_cell_is_no_number():
    values, missing = Column("x", packs=[]).numbers_and_missing()
    assert values.shape == missing.shape == (0,)
    assert Column("x", packs=[]).texts == ()


@pytest.mark.slow
def test_a_small_table_does_not_import_what_a_large_one_gains_from():
    code = (
        "import sys, dpviz; table = dpviz.read_csv(b'a,y\\n1,n\\n2,p\\n'); table.column('a').numbers(); table.column('y').texts;"
        "print('pandas' in sys.modules, 'pyarrow' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.split() == ["False", "False"]
