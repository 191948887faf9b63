"""A model that predicts one class for every row."""

from dpviz.models.base import Model
from dpviz.models.tree import Leaf, Tree
from dpviz.table.schema import Schema


class Constant(Tree):
    """A tree that is one leaf without probabilities: predicts the class with code `label`."""

    kind = "constant"

    def __init__(self, schema: Schema, label: int) -> None:
        super().__init__(schema, Leaf(label))


def as_tree(model: Model) -> Tree | None:
    """The model as one complete tree; None for other kinds of model."""
    return model if isinstance(model, Tree) else None
