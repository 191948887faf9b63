"""An additive model: one score per feature, looked up by its value, all added up. Two classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.models.base import chances_by, classes_by, require_same_columns
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Feature, Schema
from dpviz.table.strict_json import read_entry, wrong


@dataclass(frozen=True)
class AdditiveModel:
    """Scores are offset + sum over features of the value of its bin; above 0 means the second class."""

    schema: Schema
    #: Per feature, increasing: bin b holds numbers in [cuts[b-1], cuts[b]). Empty for categories.
    cuts: tuple[tuple[float, ...], ...]
    values: tuple[tuple[float, ...], ...]  #: Per feature: one per bin, or one per declared category
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
        return classes_by(self.scores(data))

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """What the log-odds mean, float64 of shape (n_rows, 2)."""
        return chances_by(self.scores(data))


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
    terms = read_entry(tuple[dict[str, Any], ...], document, "terms")
    if tuple(term.get("feature") for term in terms) != schema.feature_names:
        raise wrong("One term per feature of the schema is needed, in its order.", "terms")
    read = [_term(*pair, f"terms[{place}]") for place, pair in enumerate(zip(terms, schema.features, strict=True))]
    cuts, values = zip(*read, strict=True)
    try:
        return AdditiveModel(schema, cuts, values, read_entry(float, document, "offset"))
    except ValueError as error:
        raise wrong(f"They do not fit the schema: {error}.", "terms") from error


def _term(term: dict[str, Any], feature: Feature, where: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if isinstance(feature, CategoricalFeature):
        values = read_entry(dict, term, "categories", where)
        return (), tuple(read_entry(float, values, name, f"{where}.categories") for name in feature.categories)
    cuts = read_entry(tuple[float, ...], term, "cuts", where)
    if list(cuts) != sorted(cuts):
        raise wrong("The cuts must increase.", f"{where}.cuts")
    return cuts, read_entry(tuple[float, ...], term, "values", where)
