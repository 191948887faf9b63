"""A private tree with scikit-learn's manners: `fit`, `predict`, `score`, `get_params`, so that it stands in pipelines.

Ranges, categories and classes must be public knowledge. What is not given is read from the rows: that is a disclosure no
epsilon covers, and a `PublicValuesWarning` says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dpviz.errors import ParameterError, SchemaError
from dpviz.learners import DEFAULT, fit
from dpviz.models.base import Model
from dpviz.table.dataset import EncodedDataset
from dpviz.table.proposal import rounded_count
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, Schema
from dpviz.training.contract import FitResult


class PublicValuesWarning(UserWarning):
    """Something that must be public was read from the rows; no epsilon covers it."""


class PrivateTreeClassifier(ClassifierMixin, BaseEstimator):
    """A differentially private classifier.

    It has no `predict_proba`: the leaves of a private tree hold a label, and a share would cost more epsilon.

    Parameters
    ----------
    learner : str
        One of `dpviz.learner_names()` that predicts classes.
    epsilon, delta : float
        Privacy loss under add/remove one row.
    max_depth : int
        Most levels of rules.
    bounds : (low, high), or a sequence or mapping of such pairs, or None
        Range of every number, public. One pair for all columns, one per column, or by column name or position; values
        outside are clipped. None: read from the rows, a disclosure.
    categories : mapping, or None
        Column name or position -> its categories, public. Other columns are numbers.
    classes : sequence, or None
        The classes, public. None: read from the rows, a disclosure.
    n_public : int or None
        A row count that is public, for learners that need one; without it they read it from the rows, rounded: a disclosure.
    params : mapping, or None
        The learner's own parameters.
    random_state : int, RandomState or None
        None releases: exact samplers, no seed. A number simulates: repeatable, protects nobody.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_
        As in scikit-learn.
    result_ : FitResult
        Ledger, claim, disclosures, and `to_json()`.
    model_ : Model
        Holds released values only.
    """

    def __init__(
        self,
        learner: str = DEFAULT,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        max_depth: int = 4,
        bounds: Any = None,
        categories: Mapping[Any, Sequence[Any]] | None = None,
        classes: Sequence[Any] | None = None,
        n_public: int | None = None,
        params: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.epsilon = epsilon
        self.delta = delta
        self.max_depth = max_depth
        self.bounds = bounds
        self.categories = categories
        self.classes = classes
        self.n_public = n_public
        self.params = params
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Noise costs accuracy; texts are welcome where categories are declared."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.input_tags.string = tags.input_tags.categorical = bool(self.categories)
        return tags

    def fit(self, X: Any, y: Any) -> PrivateTreeClassifier:
        """Train on private rows.

        Raises
        ------
        ValueError
            For rows scikit-learn would refuse, an undeclared class or category, bounds that do not fit.
        DpvizError
            For what the learner refuses; NotReleasable when it has no exact sampler and `random_state` is None.
        """
        rows, labels = validate_data(self, X, y, dtype=self._kind())
        check_classification_targets(labels)
        self._categories = self._by_position()
        self.classes_ = np.unique(labels) if self.classes is None else np.asarray(self.classes)
        schema = self._schema(rows)
        self.result_ = self._trained(EncodedDataset(schema, self._columns(rows, schema), self._codes(labels)))
        self._warn(self.result_.schema)
        return self

    def _trained(self, data: EncodedDataset) -> FitResult:
        """A learner that needs a public row count and has none takes a rounded one from the rows: another disclosure."""
        settings: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "max_depth": self.max_depth}
        settings |= {"seed": self._seed(), **(self.params or {})}
        try:
            return fit(self.learner, data, **settings)
        except SchemaError as error:  # raised by the plan, before any row is touched
            if error.field != "n_public":
                raise
        counted = replace(data.schema, n_public=rounded_count(data.n_rows), read_from_data=("n_public",))
        return fit(self.learner, replace(data, schema=counted), **settings)

    def predict(self, X: Any) -> np.ndarray:
        """Classes, shape (n_rows,)."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=self._kind(), reset=False)
        schema = self.result_.schema
        data = EncodedDataset(schema, self._columns(rows, schema), np.zeros(len(rows), dtype=np.uint8))
        return self.classes_[self.model_.predict(data)]

    @property
    def model_(self) -> Model:
        """The model of the last fit."""
        return self.result_.model

    # --- what is public

    def _kind(self) -> Any:
        return object if self.categories else np.float64

    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])]

    def _position(self, key: Any) -> int:
        names = self._names()
        place = names.index(key) if key in names else key
        if isinstance(place, (int, np.integer)) and 0 <= place < len(names):
            return int(place)
        raise ValueError(f"There is no column {key!r}; give the name or the position of one of {len(names)}.")

    def _by_position(self) -> dict[int, tuple[Any, ...]]:
        return {self._position(key): tuple(values) for key, values in (self.categories or {}).items()}

    def _schema(self, rows: np.ndarray) -> Schema:
        names = self._names()
        given = self._bounds(len(names))
        features = tuple(self._feature(place, name, given.get(place), rows[:, place]) for place, name in enumerate(names))
        if len(self.classes_) < 2:
            raise ValueError("There is one class only; a classifier needs at least two. Declare `classes`.")
        target = next(word for word in ("y", *(f"y{k}" for k in range(len(names) + 1))) if word not in names)
        read = () if self.classes is not None else ("classes",)
        return Schema(features, ClassTarget(target, _texts(self.classes_), read), n_public=self.n_public)

    def _bounds(self, count: int) -> dict[int, tuple[float, float]]:
        """(low, high) by position, for columns that have them."""
        if self.bounds is None:
            return {}
        if isinstance(self.bounds, Mapping):
            return {self._position(key): tuple(pair) for key, pair in self.bounds.items()}
        pairs = np.asarray(self.bounds, dtype=np.float64)
        if pairs.shape not in ((2,), (count, 2)):
            allowed = f"one pair (low, high), {count} pairs, or a mapping from columns to pairs"
            raise ParameterError("PrivateTreeClassifier", "bounds", self.bounds, allowed)
        return dict(enumerate(map(tuple, np.broadcast_to(pairs, (count, 2)).tolist())))

    def _feature(self, place: int, name: str, bounds: tuple[float, float] | None, column: np.ndarray) -> Feature:
        if place in self._categories:
            return CategoricalFeature(name, _texts(self._categories[place]))
        if bounds is not None:
            return NumericFeature(name, *bounds)
        numbers = column.astype(np.float64)
        low, high = float(numbers.min()), float(numbers.max())
        return NumericFeature(name, low, high if high > low else low + max(1.0, abs(low)), read_from_data=("low", "high"))

    def _warn(self, schema: Schema) -> None:
        read = dict.fromkeys(column for column, _ in schema.read_fields())
        if read:
            shown = ", ".join(map(repr, list(read)[:5])) + (f" and {len(read) - 5} more" if len(read) > 5 else "")
            what = f"Public values of {shown} were read from the rows; no epsilon covers that."
            remedy = "Give `bounds`, `classes` and `n_public` from public knowledge."
            warnings.warn(f"{what} {remedy}", PublicValuesWarning, stacklevel=3)

    # --- rows

    def _columns(self, rows: np.ndarray, schema: Schema) -> tuple[np.ndarray, ...]:
        return tuple(self._column(place, feature, rows[:, place]) for place, feature in enumerate(schema.features))

    def _column(self, place: int, feature: Feature, column: np.ndarray) -> np.ndarray:
        if isinstance(feature, NumericFeature):
            return np.clip(column.astype(np.float64), feature.low, feature.high) + 0.0
        code = {value: code for code, value in enumerate(self._categories[place])}
        unknown = next((value for value in column.tolist() if value not in code), None)
        if unknown is not None:
            raise ValueError(f"{unknown!r} is not a declared category of {feature.name!r}.")
        return np.array([code[value] for value in column.tolist()], dtype=np.uint16)

    def _codes(self, labels: np.ndarray) -> np.ndarray:
        code = {label: code for code, label in enumerate(self.classes_.tolist())}
        unknown = next((label for label in labels.tolist() if label not in code), None)
        if unknown is not None:
            raise ValueError(f"{unknown!r} is not one of the declared classes.")
        return np.array([code[label] for label in labels.tolist()], dtype=np.uint8)

    def _seed(self) -> int | None:
        """None releases; a RandomState gives one seed per fit."""
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return None if self.random_state is None else int(self.random_state)
        return int(self.random_state.randint(2**31 - 1))


def _texts(values: Sequence[Any] | np.ndarray) -> tuple[str, ...]:
    """A name for each value; where two would be alike or one has none, its number."""
    texts = [str(value) for value in values]
    if len(set(texts)) == len(texts) and all(text.strip() for text in texts):
        return tuple(texts)
    return tuple(f"{place}: {text}" for place, text in enumerate(texts))
