"""A model that predicts one class for every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.models.base import require_same_columns
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema


@dataclass(frozen=True)
class Constant:
    """Predicts the class with code `label`."""

    schema: Schema
    label: int

    kind = "constant"

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Class codes of shape (n_rows,), uint8."""
        require_same_columns(self.schema, data.schema)
        return np.full(data.n_rows, self.label, dtype=np.uint8)
