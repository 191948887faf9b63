"""A linear model: a weighted sum of the features, each scaled to 0 .. 1 by its declaration."""

from dataclasses import dataclass

import numpy as np

from dpviz.models.base import chances_by, classes_by, n_scores, require_same_columns
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Feature, NumericFeature, Schema


@dataclass(frozen=True)
class LinearModel:
    """Scores are offset + sum of weight * scaled value."""

    schema: Schema
    #: One row of n_features weights per score: a single row for two classes (above 0 means the second), else one per class.
    weights: tuple[tuple[float, ...], ...]
    offsets: tuple[float, ...]  #: One per row of `weights`

    kind = "linear"

    def __post_init__(self) -> None:
        rows = n_scores(self.schema)
        if len(self.offsets) != rows or [len(row) for row in self.weights] != [self.schema.n_features] * rows:
            raise ValueError(f"{rows} rows of {self.schema.n_features} weights and {rows} offsets are needed")

    def scores(self, data: EncodedDataset) -> np.ndarray:
        """Shape (n_rows,) for two classes, else (n_rows, n_classes); the larger, the likelier."""
        require_same_columns(self.schema, data.schema)
        found = unit_columns(data) @ np.array(self.weights).T + np.array(self.offsets)
        return found[:, 0] if len(self.offsets) == 1 else found

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Class codes of shape (n_rows,), uint8."""
        return classes_by(self.scores(data))

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """Probabilities of logistic regression, float64 of shape (n_rows, n_classes).

        Of more than two classes each has a model of its own against the rest; their probabilities are scaled to sum to 1.
        """
        scores = self.scores(data)
        if scores.ndim == 1:
            return chances_by(scores)
        alone = np.column_stack([chances_by(column)[:, 1] for column in scores.T])
        return alone / np.maximum(alone.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)


def unit_columns(data: EncodedDataset) -> np.ndarray:
    """All features scaled to 0 .. 1, float64 of shape (n_rows, n_features)."""
    return np.column_stack([height(*pair) for pair in zip(data.schema.features, data.columns, strict=True)])


def height(feature: Feature, column: np.ndarray) -> np.ndarray:
    """Position in the declared range, or in the declared order of the categories (0 when there is one only), from 0 to 1."""
    if isinstance(feature, NumericFeature):
        return (column.astype(np.float64) - feature.low) / (feature.high - feature.low)
    return column / max(len(feature.categories) - 1, 1)
