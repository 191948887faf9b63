"""What every model shares: the interface, and the check that rows fit it."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpviz.errors import SchemaError, UnsupportedError
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericTarget, Schema, Target
from dpviz.table.strict_json import wrong


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

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """Probability of every class: float64 of shape (n_rows, n_classes), rows sum to 1. Raises UnsupportedError."""


class OfArrays:
    """Mixin for dataclasses that hold arrays: these become read-only, and two objects are equal when all their fields are."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, item.name), getattr(other, item.name)) for item in fields(self))  # type: ignore[arg-type]
        return all(map(_equal, *zip(*pairs, strict=True)))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return one is other if one is None or other is None else bool(one == other)


class ScoreMixin:
    """Mixin: a model whose classes and probabilities follow from scores, so that one look at the rows gives both."""

    @abstractmethod
    def scores(self, data: EncodedDataset) -> np.ndarray:
        """Of two classes log-odds of the second, shape (n_rows,), or of every class, shape (n_rows, n_classes).

        Raises SchemaError for other columns.
        """

    @abstractmethod
    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """What scores mean: float64 of shape (n_rows, n_classes). Raises UnsupportedError for a number."""

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Class codes of shape (n_rows,), uint8: the largest score, the lowest code among equals."""
        return predict_class(self.scores(data))

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """Probability of every class: float64 of shape (n_rows, n_classes)."""
        return self.probabilities(self.scores(data))


class VoteMixin(ScoreMixin):
    """Mixin: a model whose members vote; votes are its scores."""

    @abstractmethod
    def labels_by_member(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """Class codes of shape (n_rows,), member by member."""

    def votes(self, data: EncodedDataset) -> np.ndarray:
        """Votes for each class: int64 of shape (n_rows, n_classes). Raises SchemaError for other columns."""
        schema: Schema = self.schema  # type: ignore[attr-defined]  # of the model
        require_same_columns(schema, data.schema)
        n_classes = len(schema.classes)
        counts, places = np.zeros(data.n_rows * n_classes, dtype=np.int64), np.arange(data.n_rows) * n_classes
        for labels in self.labels_by_member(data):
            counts[places + labels] += 1
        return counts.reshape(data.n_rows, n_classes)

    def scores(self, data: EncodedDataset) -> np.ndarray:
        """The votes."""
        return self.votes(data)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Share of the votes for each class: float64 of shape (n_rows, n_classes).

        It ranks rows and says how far the members agree. It is not calibrated: of rows with a share of .9, nine in ten need not
        be of that class. Votes below 0 (noise) count as 0; where nobody votes every class has the same share.
        """
        votes = np.maximum(scores, 0)
        total = votes.sum(axis=1, keepdims=True)
        return np.where(total > 0, votes / np.maximum(total, 1), 1 / votes.shape[1])


def classes_of(schema: Schema, where: str) -> tuple[str, ...]:
    """The classes of a document's schema; raises DocumentError where it has none."""
    if isinstance(schema.target, NumericTarget):
        raise wrong("The target is a number and has no classes.", where)
    return schema.classes


def n_scores(schema: Schema) -> int:
    """Scores a row has in a model that adds up: one for a number or two classes, else one per class."""
    return len(schema.target.classes) if isinstance(schema.target, ClassTarget) and len(schema.target.classes) > 2 else 1


def predict_class(scores: np.ndarray) -> np.ndarray:
    """Class codes of shape (n_rows,), uint8: one score above 0 means the second class; of several the largest wins, the first
    among equals.
    """
    return (scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)).astype(np.uint8)


def class_probabilities(scores: np.ndarray) -> np.ndarray:
    """Probability of every class, float64 of shape (n_rows, n_classes), from log-odds of the second, or from one score per class.

    These are the logistic function, and the softmax (Bridle 1990).
    """
    both = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
    weights = np.exp(both - both.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def labels_and_probabilities(model: Model, data: EncodedDataset) -> tuple[np.ndarray, np.ndarray | None]:
    """(class codes, probabilities) of a classifier, as `predict` and `predict_proba` give them; None where it holds none."""
    if isinstance(model, ScoreMixin):
        scores = model.scores(data)
        return predict_class(scores), model.probabilities(scores)
    labels = model.predict(data)
    try:
        return labels, model.predict_proba(data)
    except UnsupportedError:
        return labels, None


def holds_probabilities(model: Model) -> bool:
    """Whether the model says how likely the classes are."""
    nothing = tuple(np.zeros(0, dtype=np.uint8) for _ in model.schema.features)
    try:
        model.predict_proba(EncodedDataset(model.schema, nothing, np.zeros(0, dtype=np.uint8)))
    except UnsupportedError:
        return False
    return True


def require_same_columns(expected: Schema, given: Schema) -> None:
    """Raise SchemaError unless `given` has the model's features, in order, with the same categories and classes."""
    remedy = "Encode the rows with the schema the model was trained on."
    if expected.feature_names != given.feature_names:
        missing = [name for name in expected.feature_names if name not in given.feature_names]
        what = f"The rows lack the model's columns {missing}." if missing else "The rows have other columns than the model."
        raise SchemaError(what, remedy=remedy)
    for ours, theirs in zip((*expected.features, expected.target), (*given.features, given.target), strict=True):
        if type(ours) is not type(theirs) or _names(ours) != _names(theirs):
            differs = "categories differ" if isinstance(ours, CategoricalFeature) else "declaration differs"
            raise SchemaError(f"Its {differs} from the model's.", field=ours.name, remedy=remedy)


def _names(column: Feature | Target) -> tuple[str, ...]:
    """Categories or classes; none for a number."""
    return getattr(column, "categories", ()) or getattr(column, "classes", ())
