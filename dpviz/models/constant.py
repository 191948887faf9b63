"""A model that predicts one class for every row."""

from dataclasses import dataclass

import numpy as np

from dpviz.errors import no_probabilities
from dpviz.models.base import Model, require_same_columns
from dpviz.models.tree import Leaf, Tree
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

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """Raises UnsupportedModel: only the label was released."""
        raise no_probabilities(self.kind)


def as_tree(model: Model) -> Tree | None:
    """The model as one complete tree; a constant is a single leaf. None for other kinds of model."""
    if isinstance(model, Constant):
        return Tree(model.schema, Leaf(model.label))
    return model if isinstance(model, Tree) else None
