"""The owner of a hundred private columns and their codebook is at a tree within a dozen clicks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.faulty_files import from_file_to_tree
from tests.support.faulty_tables import parquet_file
from tests.support.owner import Owner

pytestmark = [pytest.mark.browser, pytest.mark.verify]


def test_a_parquet_file_of_100_columns_and_its_codebook_become_a_tree_in_a_dozen_clicks(page: Any, app: str) -> None:
    owner = Owner(page)
    from_file_to_tree(owner, app, parquet_file(n_rows=5_000))
    assert page.get_by_text("register.parquet · about 5,000 rows · predicts outcome").is_visible()
    assert owner.clicks <= 12
