"""An additive model: one score per feature, looked up by its value, all added up. Two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.errors import DocumentError
from dpviz.models.base import require_same_columns
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.table.schema_json import Part


@dataclass(frozen=True)
class AdditiveModel:
    """Scores are offset + sum over features of the value of its bin; above 0 means the second class.

    Attributes
    ----------
    schema : Schema
    cuts : tuple of tuple of float
        Per feature, increasing: bin b holds numbers in [cuts[b-1], cuts[b]). Empty for categories.
    values : tuple of tuple of float
        Per feature: one per bin, or one per declared category.
    offset : float
    """

    schema: Schema
    cuts: tuple[tuple[float, ...], ...]
    values: tuple[tuple[float, ...], ...]
    offset: float

    kind = "additive"

    def __post_init__(self) -> None:
        bins = bins_of(self.schema, self.cuts)
        if len(self.schema.classes) != 2 or [len(values) for values in self.values] != bins:
            raise ValueError(f"two classes, and {bins} values per feature are needed")

    def scores(self, data: EncodedDataset) -> np.ndarray:
        """Shape (n_rows,): log-odds of the second class."""
        require_same_columns(self.schema, data.schema)
        total = np.full(data.n_rows, self.offset)
        for feature, column, cuts, values in zip(self.schema.features, data.columns, self.cuts, self.values, strict=True):
            is_code = isinstance(feature, CategoricalFeature)
            total += np.array(values)[column if is_code else np.searchsorted(np.array(cuts), column, side="right")]
        return total

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Class codes of shape (n_rows,), uint8."""
        return (self.scores(data) > 0).astype(np.uint8)


def bins_of(schema: Schema, cuts: tuple[tuple[float, ...], ...]) -> list[int]:
    """How many values each feature needs."""
    pairs = zip(schema.features, cuts, strict=True)
    return [len(f.categories) if isinstance(f, CategoricalFeature) else len(c) + 1 for f, c in pairs]


def additive_body(model: AdditiveModel) -> dict[str, Any]:
    """What the model predicts by, for a document."""
    terms = [
        {"feature": feature.name, "categories": dict(zip(feature.categories, values, strict=True))}
        if isinstance(feature, CategoricalFeature)
        else {"feature": feature.name, "cuts": list(cuts), "values": list(values)}
        for feature, cuts, values in zip(model.schema.features, model.cuts, model.values, strict=True)
    ]
    return {"class": model.schema.classes[1], "offset": model.offset, "terms": terms}


def additive_from(document: dict[str, Any], schema: Schema) -> AdditiveModel:
    """The model of a document; raises DocumentError naming the place."""
    part = Part(document)
    terms = list(part.get("terms").items())
    if [term.get("feature").text() for term in terms] != list(schema.feature_names):
        raise DocumentError("One term per feature of the schema is needed.", where="terms", remedy="Export the model again.")
    read = [_term(term, feature) for term, feature in zip(terms, schema.features, strict=True)]
    try:
        return AdditiveModel(schema, tuple(r[0] for r in read), tuple(r[1] for r in read), part.get("offset").number())
    except ValueError as wrong:
        raise DocumentError(f"It does not fit its schema: {wrong}.", where="terms", remedy="Export the model again.") from wrong


def _term(term: Part, feature: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if isinstance(feature, CategoricalFeature):
        values = term.get("categories")
        return (), tuple(values.get(name).number() for name in feature.categories)
    cuts = tuple(cut.number() for cut in term.get("cuts").items())
    if list(cuts) != sorted(cuts):
        raise DocumentError("The cuts must increase.", where=term.place("cuts"), remedy="Export the model again.")
    return cuts, tuple(value.number() for value in term.get("values").items())
