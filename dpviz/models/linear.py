"""Models that add up a weight times the scaled value of every feature."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType, field

from dpviz.models.base import ScoreMixin, class_probabilities, classes_of, n_scores, require_same_columns
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Feature, NumericFeature, Schema
from dpviz.table.strict_json import FilledText, require, wrong


@dataclass(frozen=True)
class LinearModel(ScoreMixin):
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
        scores = unit_columns(data) @ np.array(self.weights).T + np.array(self.offsets)
        return scores[:, 0] if len(self.offsets) == 1 else scores

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of logistic regression, float64 of shape (n_rows, n_classes).

        Of more than two classes each has a model of its own against the rest; their probabilities are scaled to sum to 1.
        """
        if scores.ndim == 1:
            return class_probabilities(scores)
        alone = np.column_stack([class_probabilities(column)[:, 1] for column in scores.T])
        return alone / np.maximum(alone.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)


def unit_columns(data: EncodedDataset) -> np.ndarray:
    """All features scaled to 0 .. 1, float64 of shape (n_rows, n_features)."""
    return np.column_stack([height(*pair) for pair in zip(data.schema.features, data.columns, strict=True)])


def height(feature: Feature, column: np.ndarray) -> np.ndarray:
    """Position in the declared range, or in the declared order of the categories (0 when there is one only), from 0 to 1."""
    if isinstance(feature, NumericFeature):
        return (column.astype(np.float64) - feature.low) / (feature.high - feature.low)
    return column / max(len(feature.categories) - 1, 1)


class Score(Struct):
    """A weighted sum: `offset`, and a weight per feature."""

    class_: FilledText = field(name="class")
    offset: float
    weights: dict[str, float]


class LinearBody(Struct, kw_only=True, omit_defaults=True):
    """Weighted sums: one score for two classes (above 0 means the second), else one per class."""

    inputs: FilledText | UnsetType = UNSET
    scores: Annotated[tuple[Score, ...], Meta(min_length=1)]


def linear_body(model: LinearModel) -> LinearBody:
    """What the model predicts by, for a document."""
    scored, names = model.schema.classes[-len(model.offsets) :], model.schema.feature_names
    rows = zip(scored, model.offsets, model.weights, strict=True)
    scores = tuple(Score(name, offset, dict(zip(names, weights, strict=True))) for name, offset, weights in rows)
    inputs = "every feature scaled to 0 .. 1: place in its declared range, or in its declared list of categories"
    return LinearBody(inputs=inputs, scores=scores)


def linear_from(body: LinearBody, schema: Schema) -> LinearModel:
    """The model of a document; raises DocumentError naming the place."""
    scored = classes_of(schema, "scores")[-n_scores(schema) :]
    if tuple(score.class_ for score in body.scores) != scored:
        raise wrong(f"One score per class is needed, in this order: {', '.join(map(repr, scored))[:160]}.", "scores")
    weights = (
        tuple(require(score.weights.get(name, UNSET), f"scores[{k}].weights.{name}") for name in schema.feature_names)
        for k, score in enumerate(body.scores)
    )
    return LinearModel(schema, tuple(weights), tuple(score.offset for score in body.scores))
