"""Private learners as scikit-learn estimators: `fit`, `predict`, `score`, `get_params`, for pipelines and searches.

Ranges, categories and classes must be public knowledge. What is not given is read from the rows. No epsilon covers that: it is
a disclosure, and a `PublicValuesWarning` says so.

Where all of it is given, `fit` leaves out a row with a missing number, an undeclared category or an undeclared class, whatever
the other rows are. Otherwise it refuses such rows, as scikit-learn does.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from dpviz.errors import ParameterError, SchemaError
from dpviz.learners import DEFAULT, DEFAULT_OF_NUMBERS, fit
from dpviz.models.base import Model, holds_probabilities
from dpviz.table.arrays import codes_of, numbers_of, texts_of, usable_rows
from dpviz.table.dataset import EncodedDataset
from dpviz.table.proposal import rounded_count
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target
from dpviz.training.contract import FitResult


class PublicValuesWarning(UserWarning):
    """Something that must be public was read from the rows; no epsilon covers it."""


@dataclass(kw_only=True, eq=False, repr=False)
class _PrivateEstimator:
    """What the classifier and the regressor share: everything but the target."""

    learner: str = field(default=DEFAULT, kw_only=False)
    epsilon: float = 1.0
    delta: float = 0.0
    max_depth: int = 4
    bounds: Any = None
    categories: Mapping[Any, Sequence[Any]] | None = None
    n_public: int | None = None
    params: Mapping[str, Any] | None = None
    random_state: Any = None

    n_features_in_: int = field(init=False)
    _public: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        """Noise costs accuracy; texts are accepted where categories are declared."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        (tags.classifier_tags or tags.regressor_tags).poor_score = True
        tags.input_tags.string = tags.input_tags.categorical = bool(self.categories)
        tags.input_tags.allow_nan = self._is_declared
        return tags

    @property
    def _is_declared(self) -> bool:
        """Nothing is read from the rows, so no row may decide whether `fit` fails."""
        return self.bounds is not None and getattr(self, self._public) is not None

    def fit(self, X: Any, y: Any) -> Self:
        """Train on private rows.

        Raises
        ------
        ValueError
            For bounds that do not fit. Where something is read from the rows, also for a row that cannot be used.
        DpvizError
            For what the learner refuses; NotReleasable when it has no exact sampler and `random_state` is None.
        """
        rows, given = self._taken(X, y)
        self._categories = {self._position(key): tuple(values) for key, values in (self.categories or {}).items()}
        target, encoded = self._target(given)
        schema = Schema(self._features(rows), target, n_public=self.n_public)
        self.result_ = self._trained(usable_rows(schema, [*self._columns(rows, schema), encoded], refuse=not self._is_declared))
        self._warn(self.result_.schema)
        return self

    def _taken(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both as arrays; where everything is declared, whatever their cells are."""
        if not self._is_declared:
            with _quoting_nothing():
                return validate_data(self, X, y, dtype=self._dtype(), y_numeric=is_regressor(self))
        rows = validate_data(self, X, dtype=None, ensure_all_finite=False, ensure_min_samples=0)
        given = column_or_1d(y, warn=True)
        check_consistent_length(rows, given)
        return rows, given

    def _target(self, given: np.ndarray) -> tuple[Target, np.ndarray]:
        """What is public about the target, and its values: codes or numbers, NaN for an undeclared class or no number."""
        raise NotImplementedError

    def _trained(self, data: EncodedDataset) -> FitResult:
        """A learner that needs a public row count and has none gets the rounded count of the rows: another disclosure."""
        settings: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "max_depth": self.max_depth}
        settings |= {"seed": self._seed(), **(self.params or {})}
        try:
            return fit(self.learner, data, **settings)
        except SchemaError as error:  # raised by the plan, before any row is touched
            if error.field != "n_public":
                raise
        counted = replace(data.schema, n_public=rounded_count(data.n_rows), read_from_data=("n_public",))
        return fit(self.learner, replace(data, schema=counted), **settings)

    def _encoded(self, X: Any) -> EncodedDataset:
        with _quoting_nothing():
            rows = validate_data(self, X, dtype=self._dtype(), ensure_all_finite=True, reset=False)
        return usable_rows(self.model_.schema, [*self._columns(rows, self.model_.schema), np.zeros(len(rows))], refuse=True)

    @property
    def model_(self) -> Model:
        """The model of the last fit; raises NotFittedError."""
        check_is_fitted(self)
        return self.result_.model

    def _seed(self) -> int | None:
        """None releases; a RandomState gives one seed per fit."""
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return None if self.random_state is None else int(self.random_state)
        return int(self.random_state.randint(2**31 - 1))

    def _dtype(self) -> Any:
        return object if self.categories else np.float64

    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])]

    def _target_name(self) -> str:
        """A name no column has."""
        names = self._names()
        return next(word for word in ("y", *(f"y{k}" for k in range(len(names) + 1))) if word not in names)

    def _position(self, key: Any) -> int:
        names = self._names()
        place = names.index(key) if key in names else key
        if isinstance(place, (int, np.integer)) and 0 <= place < len(names):
            return int(place)
        raise ValueError(f"There is no column {key!r}; give the name or the position of one of {len(names)}.")

    def _features(self, rows: np.ndarray) -> tuple[Feature, ...]:
        names = self._names()
        bounds = self._bounds(len(names))
        return tuple(self._feature(place, name, bounds.get(place), rows[:, place]) for place, name in enumerate(names))

    def _feature(self, place: int, name: str, bounds: tuple[float, float] | None, column: np.ndarray) -> Feature:
        if place in self._categories:
            return CategoricalFeature(name, texts_of(self._categories[place]))
        if bounds is not None:
            return NumericFeature(name, *bounds)
        return NumericFeature(name, *_range_of(column), read_from_data=("low", "high"))

    def _bounds(self, count: int) -> dict[int, tuple[float, float]]:
        """(low, high) by position, for columns that have them."""
        if self.bounds is None:
            return {}
        if isinstance(self.bounds, Mapping):
            return {self._position(key): tuple(pair) for key, pair in self.bounds.items()}
        pairs = np.asarray(self.bounds, dtype=np.float64)
        if pairs.shape not in ((2,), (count, 2)):
            allowed = f"one pair (low, high), {count} pairs, or a mapping from columns to pairs"
            raise ParameterError(type(self).__name__, "bounds", self.bounds, allowed)
        return dict(enumerate(map(tuple, np.broadcast_to(pairs, (count, 2)).tolist())))

    def _warn(self, schema: Schema) -> None:
        read = dict.fromkeys(column for column, _ in schema.read_fields())
        if read:
            shown = ", ".join(map(repr, list(read)[:5])) + (f" and {len(read) - 5} more" if len(read) > 5 else "")
            what = f"Public values of {shown} were read from the rows; no epsilon covers that."
            remedy = f"Give `bounds`, `{self._public}` and `n_public` from public knowledge."
            warnings.warn(f"{what} {remedy}", PublicValuesWarning, stacklevel=3)

    def _columns(self, rows: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Codes and numbers by feature, float64 of shape (n_rows,); NaN for an undeclared category or no number."""
        return [self._column(place, feature, rows[:, place]) for place, feature in enumerate(schema.features)]

    def _column(self, place: int, feature: Feature, column: np.ndarray) -> np.ndarray:
        if isinstance(feature, NumericFeature):
            return np.clip(numbers_of(column), feature.low, feature.high)
        return codes_of(column, self._categories[place])


@dataclass(eq=False, repr=False)
class PrivateTreeClassifier(_PrivateEstimator, ClassifierMixin, BaseEstimator):
    """A differentially private classifier; it has `predict_proba` when the fitted model holds probabilities.

    Parameters
    ----------
    learner : str
        One of `dpviz.learner_names()` that predicts classes.
    epsilon, delta : float
        Privacy loss under add/remove one row.
    max_depth : int
        Largest number of levels.
    bounds : (low, high), or a sequence or mapping of such pairs, or None
        Public range of every number: one pair for all columns, one per column, or by column name or position. Values outside
        are clipped. None reads it from the rows, a disclosure.
    categories : mapping, or None
        Column name or position -> its categories, public. All other columns are numbers.
    classes : sequence, or None
        The classes, public. None reads them from the rows, a disclosure.
    n_public : int or None
        A row count that is public, for learners that need one. Without it they take the rounded count of the rows, a disclosure.
    params : mapping, or None
        The learner's own parameters.
    random_state : int, RandomState or None
        None releases: exact samplers, no seed. A number simulates: repeatable, and protects nobody.

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

    classes: Sequence[Any] | None = field(default=None, kw_only=True)

    _public = "classes"

    def _target(self, given: np.ndarray) -> tuple[ClassTarget, np.ndarray]:
        if self.classes is None:
            check_classification_targets(given)
        self.classes_ = np.unique(given) if self.classes is None else np.asarray(self.classes)
        if len(self.classes_) < 2:
            raise ValueError("There is one class only; a classifier needs at least two. Declare `classes`.")
        read = () if self.classes is not None else ("classes",)
        return ClassTarget(self._target_name(), texts_of(self.classes_), read), codes_of(given, self.classes_.tolist())

    def predict(self, X: Any) -> np.ndarray:
        """Classes, shape (n_rows,)."""
        codes = self.model_.predict(self._encoded(X))
        return self.classes_[codes]

    @available_if(lambda estimator: holds_probabilities(estimator.result_.model))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class, shape (n_rows, n_classes), if the model holds any; the likeliest need not be the label."""
        return self.model_.predict_proba(self._encoded(X))


@dataclass(eq=False, repr=False)
class PrivateTreeRegressor(_PrivateEstimator, RegressorMixin, BaseEstimator):
    """A differentially private regressor; see `PrivateTreeClassifier` for what is not described here.

    Parameters
    ----------
    learner : str
        One of `dpviz.learner_names()` that predicts numbers.
    delta : float
        0 lets a learner that needs a delta choose its own.
    target_bounds : (low, high), or None
        Public range of the target; values outside are clipped. None reads it from the rows, a disclosure.

    Attributes
    ----------
    n_features_in_, feature_names_in_, result_, model_
        As in `PrivateTreeClassifier`.
    """

    learner: str = field(default=DEFAULT_OF_NUMBERS, kw_only=False)
    target_bounds: tuple[float, float] | None = field(default=None, kw_only=True)

    _public = "target_bounds"

    def _target(self, given: np.ndarray) -> tuple[NumericTarget, np.ndarray]:
        low, high = _range_of(given) if self.target_bounds is None else self.target_bounds
        read = () if self.target_bounds is not None else ("low", "high")
        return NumericTarget(self._target_name(), low, high, read), np.clip(numbers_of(given), low, high)

    def predict(self, X: Any) -> np.ndarray:
        """Numbers, shape (n_rows,)."""
        return self.model_.predict(self._encoded(X))


def _range_of(column: np.ndarray) -> tuple[float, float]:
    """Smallest and largest value; a range even where all values are the same."""
    numbers = column.astype(np.float64)
    assert_all_finite(numbers, input_name="X")
    low, high = float(numbers.min()), float(numbers.max())
    return low, high if high > low else low + max(1.0, abs(low))


@contextmanager
def _quoting_nothing() -> Iterator[None]:
    """NumPy's error for a text among numbers quotes it: a private cell."""
    try:
        yield
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError("X has a cell that is not a number. Declare the column in `categories`, or leave it out.") from None
