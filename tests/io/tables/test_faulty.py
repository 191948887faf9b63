"""Files with the faults of people's files, and their codebooks, become the rows they were made of."""

from __future__ import annotations

import pytest

from dpviz.io.codebook import import_codebook
from dpviz.io.tables.read import read_table
from dpviz.learners.request import doubts
from dpviz.table.encode import encode
from tests.support.faulty_tables import latin1_csv, parquet_file, workbook


@pytest.mark.slow
@pytest.mark.parametrize(("make", "width"), [(workbook, 40), (parquet_file, 100), (latin1_csv, 16)])
def test_a_faulty_file_and_its_codebook_become_nearly_all_of_its_rows(make, width):
    made = make(n_rows=300)
    table, schema = read_table(made.content), import_codebook(made.codebook, target=made.target, n_public=300)
    data = encode(table, schema)
    assert len(table.columns) == width
    assert data.n_features == width - 2
    assert 0.95 * made.n_rows <= data.n_rows <= 1.02 * made.n_rows
    assert data.report is not None
    assert data.report.clipped
    assert data.report.missing_mapped
    assert all("Far" not in sentence for sentence in doubts(data))
    assert data.class_counts().min() > 60
