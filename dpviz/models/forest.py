"""Many trees that vote."""

from dataclasses import dataclass

import numpy as np

from dpviz.models.base import Voting, require_same_columns
from dpviz.models.tree import Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema


@dataclass(frozen=True)
class Forest(Voting):
    """Trees over the columns of one schema; each has one vote. Without trees every class has none."""

    schema: Schema
    trees: tuple[Tree, ...]

    kind = "forest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        for tree in self.trees:
            if tree.schema is not self.schema:
                require_same_columns(self.schema, tree.schema)

    def votes(self, data: EncodedDataset) -> np.ndarray:
        """Trees that choose each class: int64 of shape (n_rows, n_classes). Raises SchemaError for other columns."""
        require_same_columns(self.schema, data.schema)
        n_classes = len(self.schema.classes)
        counts = np.zeros(data.n_rows * n_classes, dtype=np.int64)
        places = np.arange(data.n_rows) * n_classes
        for tree in self.trees:
            counts[places + tree.predict(data)] += 1
        return counts.reshape(data.n_rows, n_classes)
