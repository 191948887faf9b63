"""What every model shares: the interface, and the check that rows fit it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from dpviz.errors import SchemaError
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema


@runtime_checkable
class Model(Protocol):
    """Something that predicts."""

    @property
    def schema(self) -> Schema:
        """What its features and target are."""

    @property
    def kind(self) -> str:
        """Its name in the JSON document."""

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Class codes (or numbers) of shape (n_rows,), in the units of `data.target`."""


def require_same_columns(expected: Schema, given: Schema) -> None:
    """Raise SchemaError unless `given` has the model's features, in order, with the same categories and classes."""
    if expected.feature_names != given.feature_names:
        missing = [name for name in expected.feature_names if name not in given.feature_names]
        what = f"The rows lack the model's columns {missing}." if missing else "The rows have other columns than the model."
        raise SchemaError(what, remedy="Encode the rows with the schema the model was trained on.")
    for ours, theirs in zip((*expected.features, expected.target), (*given.features, given.target), strict=True):
        names = getattr(ours, "categories", None) or getattr(ours, "classes", None)
        others = getattr(theirs, "categories", None) or getattr(theirs, "classes", None)
        if type(ours) is not type(theirs) or names != others:
            differs = "categories differ" if isinstance(ours, CategoricalFeature) else "declaration differs"
            raise SchemaError(
                f"Its {differs} from the model's.",
                field=ours.name,
                remedy="Encode the rows with the schema the model was trained on.",
            )
