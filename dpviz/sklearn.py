"""Private learners as scikit-learn estimators: `fit`, `predict`, `score`, `get_params`, for pipelines and searches.

Ranges, categories and classes must be public knowledge, given one by one or as a schema. What is not given is read from the rows.
No epsilon covers that: it is a disclosure, and a `PublicValuesWarning` says so.

With `missing="middle"` a missing or unknown cell counts, in `fit` and in `predict`, as the middle of its column's public range or
as the first of its categories, where a schema does not say otherwise; the exported model has the same rule. Without it, and
where all of it is given, `fit` leaves out a row with a missing number, an undeclared category or an undeclared class, whatever
the other rows are. Otherwise it refuses such rows, as scikit-learn does.

Every fit without a `random_state` is a release of its own: a copy of such an estimator, as cross-validation and searches make
them, says so (`RepeatedSpendWarning`).
"""

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from pandas import DataFrame, Series
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from dpviz.errors import (
    DpvizWarning,
    ParameterError,
    PublicValuesWarning,
    ReadingWarning,
    RepeatedSpendWarning,
    SchemaError,
    TableError,
    replace_errors,
)
from dpviz.learners import DEFAULT, DEFAULT_OF_NUMBERS, FitRequest
from dpviz.learners.request import check_row_count, few_usable, warn_of
from dpviz.models.base import Model, holds_probabilities
from dpviz.models.effects import feature_importances
from dpviz.results.result import FitResult
from dpviz.table.cells import DeclaredTexts, clean, shortest, text_of
from dpviz.table.columns import Column, per_cell
from dpviz.table.dataset import EncodedDataset
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode, encode_new
from dpviz.table.proposal import rounded_count
from dpviz.table.raw import RawTable, table_of
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema
from dpviz.table.validation import is_number, validate_count, validate_flag

#: Names of columns that a message lists.
_MAX_NAMES = 5
#: What an estimator itself says about a fit.
_OWN_SETTINGS = frozenset({"learner", "epsilon", "delta", "max_depth", "seed"})
#: What scikit-learn says of shapes, types and missing cells: of such a message the first line quotes no cell.
_SAYS_NO_CELL = re.compile(
    r"(Input (X |y )?contains (NaN|infinity)|Found (array with|input variables)|X has \d+ features|The feature names should|"
    r"y should be a 1d array|Unknown label type: |Sparse |Expected (2D array|a 2-dim|unique column)|Complex data not supported|"
    r"Feature names are only|np\.matrix is not|dtype='numeric' is not compatible|This \w+ estimator requires y)[^\n]*"
)


def _in_words(error: Exception) -> TableError:
    """What scikit-learn, NumPy or a frame says about rows, as far as it quotes none of them."""
    message, remedy = str(error), "Give numbers, and texts where declared."
    if match := _SAYS_NO_CELL.match(message):
        remedy = "Reshape your data: one row per case, one column per feature." if "2D" in match[0] else ""
        return TableError("rows", f"{match[0].rstrip(':.')}.", remedy=remedy)
    problem = "X or y has cells that cannot be used here."
    if isinstance(error, TypeError) and "argument must be a string or a real number" in message:
        problem = "A cell of X or y is of a kind that cannot be read: the argument must be a string or a real number."
    elif "could not convert" in message:
        problem, remedy = "X has a cell that is not a number.", "Declare its column in `categories`, or leave it out."
    return TableError("cells", problem, remedy=remedy)


def _require_no_mask(name: str, cells: Any) -> None:
    """Refuse an array that could have a mask, whatever its cells are: to scikit-learn masked cells are as any other."""
    if isinstance(cells, np.ma.MaskedArray):
        remedy = f"Give {name}.filled() with what a masked cell means, such as numpy.nan for a missing one."
        raise TableError("masked", f"{name} is a masked array.", remedy=remedy)


@dataclass(kw_only=True, eq=False, repr=False)
class _PrivateEstimator:
    """What the classifier and the regressor share: everything but the target."""

    learner: str = field(default=DEFAULT, kw_only=False)
    epsilon: float = 1.0
    delta: float | None = None
    max_depth: int | None = None
    schema: Schema | None = None
    bounds: Any = None
    categories: Mapping[Any, Sequence[Any]] | None = None
    n_public: int | None = None
    params: Mapping[str, Any] | None = None
    random_state: Any = None
    accept_rows: bool = False
    missing: str | None = None
    rows_per_person: int | None = None

    n_features_in_: int = field(init=False)
    _public: ClassVar[str]  #: The parameter that says what is public about the target
    _kind_of_target: ClassVar[type]
    _wants: ClassVar[str]  #: What a schema must be, in words that follow "must be"
    _target: ClassVar[Any]  #: What is public about the target, from the parameters or else from its cells
    _cells_of_target: ClassVar[Any]  #: The target's column as the schema reads it

    def __sklearn_tags__(self) -> Any:
        """Noise costs accuracy; texts are accepted where categories are declared."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        (tags.classifier_tags or tags.regressor_tags).poor_score = True
        tags.input_tags.string = tags.input_tags.categorical = bool(self.categories or self.schema)
        tags.input_tags.allow_nan = self._is_declared
        return tags

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted; it warns where fitting it spends epsilon once more."""
        if self.random_state is None:
            warning = f"Every copy that is fitted to private rows spends epsilon {self.epsilon:g} again: five folds"
            remedy = "Give a random_state to explore rows that are not private."
            warnings.warn(f"{warning} spend five times as much. {remedy}", RepeatedSpendWarning, stacklevel=3)
        return super().__sklearn_clone__()  # type: ignore[misc, no-any-return]

    @property
    def _is_declared(self) -> bool:
        """Nothing is read from the rows, so no row may decide whether `fit` fails."""
        return self.schema is not None or (self.bounds is not None and getattr(self, self._public) is not None)

    def fit(self, X: Any, y: Any) -> Self:
        """Train on private rows.

        Raises
        ------
        ValueError
            For bounds that do not fit. Where something is read from the rows, also for a row that cannot be used.
        DpvizError
            For what the learner refuses; RefusedRelease when it has no exact sampler and `random_state` is None.
        """
        with replace_errors(_in_words):  # no decorator: what fit does not take is said by Python
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> Self:
        self._require_parameters()
        frame = self._frame(X, is_fit=True)
        _require_no_mask("y", y)
        labels = column_or_1d(np.asarray(y, dtype=object) if self._is_declared else y, warn=True)
        check_consistent_length(frame, labels)
        if not self._is_declared:
            assert_all_finite(labels, input_name="y")
        schema = self.schema
        if schema is None:
            name = getattr(y, "name", None)
            own_name = [name] if isinstance(name, str) and name.strip() else []
            names = (*own_name, "y", *(f"y{k}" for k in range(self.n_features_in_)))
            free = next(name for name in names if name not in self._names())
            schema = Schema(self._features(frame), self._target(free, labels), n_public=self.n_public)
        if self.missing is not None:
            schema = replace(schema, features=tuple(map(_with_rule, schema.features)))
        table = self._table(frame, schema)
        target = table_of(DataFrame({schema.target.name: self._cells_of_target(schema, labels)}))
        data = encode(RawTable((*table.columns, *target.columns), "X"), schema, rows_per_person=self.rows_per_person)
        if not self._is_declared and data.report is not None and data.n_rows < data.report.rows_read:
            first = next(name for name, _ in (*data.report.dropped_missing, *data.report.dropped_unknown))
            raise _undeclared_error(first, "Declare it, or leave such rows out.")
        self.result_ = self._train(data)
        if columns_read := dict.fromkeys(column for column, _ in self.result_.schema.read_fields()):
            problem = f"Public values of {_name_list([*columns_read])} were read from the rows; no epsilon covers that."
            given_by = "them in the schema" if self.schema is not None else f"`bounds`, `{self._public}` and `n_public`"
            warnings.warn(f"{problem} Give {given_by} from public knowledge.", PublicValuesWarning, stacklevel=3)
        return self

    def _require_parameters(self) -> None:
        owner = type(self).__name__
        if self.missing not in (None, "middle") or (self.missing and not self._is_declared):
            allowed = f"None, or 'middle' with a schema, or with `bounds` and `{self._public}` declared"
            raise ParameterError(owner, "missing", self.missing, allowed)
        validate_flag(owner, "accept_rows", self.accept_rows)
        params, categories, classes = self.params or {}, self.categories or {}, getattr(self, "classes", None)
        if not isinstance(params, Mapping) or not _OWN_SETTINGS.isdisjoint(params) or not all(isinstance(k, str) for k in params):
            raise ParameterError(owner, "params", params, "a mapping from names of the learner's own parameters to values")
        if not isinstance(categories, Mapping) or not all(map(_is_list, categories.values())):
            raise ParameterError(owner, "categories", categories, "a mapping from columns to lists of categories")
        if classes is not None and not _is_list(classes):
            raise ParameterError(owner, "classes", classes, "a list of classes")
        if self.schema is None:
            return
        if not isinstance(self.schema, Schema):
            raise ParameterError(owner, "schema", self.schema, "a Schema, such as from dpviz.load_schema")
        for name in ("bounds", "categories", "n_public", self._public):
            if getattr(self, name) is not None:
                raise ParameterError(owner, name, getattr(self, name), "left out: the schema says it")
        if not isinstance(self.schema.target, self._kind_of_target):
            raise ParameterError(owner, "schema", self.schema.target.kind, self._wants)

    # --- rows and schema

    def _frame(self, X: Any, *, is_fit: bool = False) -> Any:
        """X with named columns: a frame as it is, anything else as scikit-learn takes it, cell by cell where all is declared."""
        schema, is_declared = self.schema, self._is_declared
        if hasattr(X, "columns"):
            if is_fit or schema is None:
                validate_data(self, X, skip_check_array=True, reset=is_fit)
            if schema is not None:
                return X
            names: Sequence[str] = self._names()
            if not hasattr(X, "iloc"):  # of Polars or Arrow
                lists = {name: X[name].to_pylist() if hasattr(X[name], "to_pylist") else X[name].to_list() for name in names}
                X = DataFrame({name: Series(cells, dtype=object) for name, cells in lists.items()})
            return self._truths_as_numbers(X.set_axis(names, axis=1))
        _require_no_mask("X", X)
        cells = np.array(X, dtype=object) if isinstance(X, (list, tuple)) and (is_declared or self.categories) else X
        has_units = getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M")  # which a float would not say
        conversion = {"dtype": None} if is_declared or has_units else {"dtype": object if self.categories else np.float64}
        checks = {"ensure_all_finite": not is_declared, "ensure_min_samples": int(is_fit and not is_declared)}
        rows = validate_data(self, cells, reset=is_fit, **conversion, **checks)
        if schema is None:
            return self._truths_as_numbers(DataFrame(rows, columns=self._names()))
        names = getattr(self, "feature_names_in_", schema.feature_names)
        if rows.shape[1] != len(names):
            problem = f"X has {rows.shape[1]:,} columns without names, the schema {len(names):,} features."
            raise TableError("columns", problem, remedy="Give a DataFrame, or the features in the order of the schema.")
        if not hasattr(self, "feature_names_in_"):  # else scikit-learn says it
            _warn_of_order(names)
        return DataFrame(rows, columns=list(names))

    def _truths_as_numbers(self, frame: DataFrame) -> DataFrame:
        """A frame of its own, with numbers for truth values in all columns but those of categories."""
        result, categorical = frame.copy(deep=False), {self._position(key) for key in self.categories or {}}
        for place, kind in enumerate(frame.dtypes):
            if place not in categorical and getattr(kind, "kind", "O") in "bO":
                result.isetitem(place, _with_numbers_for_truths(frame.iloc[:, place], frame.index))
        return result

    def _table(self, frame: Any, schema: Schema) -> RawTable:
        """The columns of the schema."""
        names = schema.feature_names if schema.person is None else (*schema.feature_names, schema.person)
        table = table_of(frame, names)
        columns = [table.column(name) for name in names]
        if self.missing is not None:
            columns[: schema.n_features] = map(_with_gaps, columns, schema.features)
        return RawTable(tuple(columns), "X")

    def _train(self, data: EncodedDataset) -> FitResult:
        """A learner that needs a public row count and has none gets the rounded count of the rows: another disclosure."""
        settings: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "max_depth": self.max_depth}
        request = FitRequest.of(self.learner, seed=self._seed(), **settings, **(self.params or {}))
        try:
            request.plan(data.schema)
        except SchemaError as error:  # before any row is touched
            if error.field != "n_public":
                raise
            if not data.n_rows:
                raise TableError("unused", few_usable(data), remedy="Give rows as they are declared, and n_public.") from None
            schema = replace(data.schema, n_public=rounded_count(data.n_rows), read_from_data=("n_public",))
            data = replace(data, schema=schema)
        if request.seed is None and not self.accept_rows and request.releases(data.schema):
            check_row_count(data, accept="set accept_rows=True")
        result = request.fit(data)
        warn_of(request, data, accepted=self.accept_rows, stacklevel=5)
        return result

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """As of scikit-learn: the accuracy, or R² of a number. As private as the rows."""
        with replace_errors(_in_words):  # no decorator, as of fit
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]

    @replace_errors(_in_words)
    def _encode(self, X: Any) -> EncodedDataset:
        """Rows to be predicted; raises TableError where the schema has no answer to one."""
        schema = replace(self.model_.schema, person=None)
        new = encode_new(self._table(self._frame(X), schema), schema)
        if not new.usable.all():
            column = next(name for name, count in new.dropped.items() if count)
            raise _undeclared_error(column, "Declare what it counts as, or give missing='middle'.")
        return new.data

    @property
    def model_(self) -> Model:
        """The model of the last fit; raises NotFittedError."""
        check_is_fitted(self)
        return self.result_.model

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column of X in what splits gain, from released counts; see `dpviz.models.effects`.

        Raises NotFittedError, and AttributeError where the model is no tree or trees.
        """
        importances, names = feature_importances(self.model_), self.model_.schema.feature_names
        if importances is None:
            raise AttributeError(f"A model of kind {self.model_.kind!r} has no splits.")
        by_name = dict(zip(names, importances, strict=True))
        return np.array([by_name.get(str(name), 0.0) for name in getattr(self, "feature_names_in_", names)])

    def _seed(self) -> int | None:
        """None releases; a RandomState or Generator gives one seed per fit."""
        if self.random_state is None:
            return None
        draw = getattr(self.random_state, "integers", getattr(self.random_state, "randint", None))
        if draw is not None:
            return int(draw(2**31 - 1))
        allowed = "a whole number of at least 0, a RandomState or Generator, or None for a release"
        return validate_count(type(self).__name__, "random_state", self.random_state, 0, allowed=allowed)

    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])]

    def _position(self, key: Any) -> int:
        names = self._names()
        place = names.index(key) if key in names else key
        if isinstance(place, (int, np.integer)) and 0 <= place < len(names):
            return int(place)
        what = f"There is no column {key!r:.80}; give the name or the position of one of {len(names)}."
        raise TableError("column", what, remedy=f"Known: {', '.join(names[:_MAX_NAMES])}.")

    def _features(self, frame: DataFrame) -> tuple[Feature, ...]:
        categories = {self._position(key): tuple(values) for key, values in (self.categories or {}).items()}
        bounds, features = self._bounds(frame.shape[1]), list[Feature]()
        for place, name in enumerate(frame.columns):
            if place in categories:
                is_number = getattr(frame.dtypes.iloc[place], "kind", "O") in "biuf"
                if is_number and any(isinstance(category, str) for category in categories[place]):  # for another column, perhaps
                    doubt = f"The categories of {name!r:.80} are texts and its cells are numbers."
                    warnings.warn(ReadingWarning(f"{doubt} A cell is read as its text, 1.0 as '1'.", doubt), stacklevel=4)
                features.append(CategoricalFeature(name, tuple(map(text_of, categories[place]))))
                continue
            low, high = bounds.get(place) or _range_of(name, frame.iloc[:, place])
            features.append(NumericFeature(name, low, high, read_from_data=() if place in bounds else ("low", "high")))
        return tuple(features)

    def _bounds(self, count: int) -> dict[int, tuple[float, float]]:
        """(low, high) by position, for columns that have them."""
        if self.bounds is None:
            return {}
        if isinstance(self.bounds, Mapping):
            return {self._position(key): _pair("bounds", pair) for key, pair in self.bounds.items()}
        bounds = np.array(self.bounds, dtype=object)
        if bounds.shape not in ((2,), (count, 2)):
            allowed = f"one pair (low, high), {count} pairs, or a mapping from columns to pairs"
            raise ParameterError(type(self).__name__, "bounds", self.bounds, allowed)
        return {place: _pair("bounds", pair) for place, pair in enumerate(np.broadcast_to(bounds, (count, 2)).tolist())}


@dataclass(eq=False, repr=False)
class PrivateTreeClassifier(_PrivateEstimator, ClassifierMixin, BaseEstimator):
    """A differentially private classifier; it has `predict_proba` when the fitted model holds probabilities.

    Parameters
    ----------
    learner : str
        One of `dpviz.learner_names()` that predicts classes.
    epsilon, delta : float
        Privacy loss of a person, all rows of whom come or go together; everybody has one where `rows_per_person` says no more.
    max_depth : int or None
        Largest number of levels. None is the learner's own cap, as of `dpviz.fit`; it is not unlimited.
    schema : Schema, or None
        What is public about the columns of X and about y, as of `dpviz.fit`; instead of `bounds`, `categories`, `classes` and
        `n_public`. Columns of X that it does not name are not used; an array has its features in its order, which a warning says
        (`ReadingWarning`), as bagging and most transformers make arrays of frames. y may have any name.
    bounds : (low, high), or a sequence or mapping of such pairs, or None
        Public range of every number: one pair for all columns, one per column, or by column name or position. Values outside
        are clipped. None reads it from the rows, a disclosure.
    categories : mapping, or None
        Column name or position -> its categories, public. All other columns are numbers.
    classes : sequence, or None
        The classes, public. None reads them from the rows, a disclosure. A whole number in y that is none of them (or of those of
        the schema) is a place in the sorted classes, as scikit-learn's voting, stacking, bagging and calibration give it. Where
        numbers are classes at other places, such as 1 and 2, y is refused if these tools have numbered it.
    n_public : int or None
        A row count that is public, for learners that need one. Without it they take the rounded count of the rows, a disclosure.
    params : mapping, or None
        The learner's own parameters.
    missing : "middle" or None
        What a missing or unknown cell counts as, alike in `fit` and `predict`: the middle of the public range, or the first
        category. None: `fit` leaves such rows out where everything is declared, and `predict` refuses them.
    random_state : int, RandomState, Generator or None
        None releases: exact samplers, no seed. A number simulates: repeatable, and protects nobody.
    rows_per_person : int or None
        Where the schema names a column of X that says whose row it is: of each person at most so many rows are kept, by chance,
        and all of them together cost epsilon. None takes the number of the schema.
    accept_rows : bool
        Release although few of the rows can be used as they are, or far from `n_public` of them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted, in the type of y, whatever order the schema or `classes` has; so are the columns of `predict_proba`.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    feature_importances_ : ndarray, one number per column
        What each column adds, from released counts alone; sums to 1, or is 0 throughout where there is no split.
    result_ : FitResult
        Ledger, claim, disclosures, and `to_json()`.
    model_ : Model
        Holds released values only.
    """

    classes: Sequence[Any] | None = field(default=None, kw_only=True)

    _public = "classes"
    _kind_of_target = ClassTarget
    _wants = "one with classes; PrivateTreeRegressor predicts numbers"

    def _target(self, name: str, labels: np.ndarray) -> ClassTarget:
        if self.classes is None:
            check_classification_targets(labels)
        self._declared = tuple(np.unique(labels).tolist() if self.classes is None else self.classes)
        if len(self._declared) < 2:
            what = "There is one class only; a classifier needs at least two."
            raise TableError("one-class", what, remedy="Declare `classes`.")
        return ClassTarget(name, tuple(map(text_of, self._declared)), () if self.classes is not None else ("classes",))

    def _cells_of_target(self, schema: Schema, cells: np.ndarray) -> Any:
        """The class that each cell says, in the words of the schema; None where it says none."""
        groups = schema.target.groups if isinstance(schema.target, ClassTarget) else ()
        classes = _Labels(schema.classes if self.schema is not None else self._declared, dict(groups))
        codes, self._answers = classes.read(cells)
        self.classes_, self._order = np.unique(self._answers, return_index=True)
        return np.array([*schema.classes, None], dtype=object)[codes]

    def predict(self, X: Any) -> np.ndarray:
        """Classes, shape (n_rows,)."""
        codes = self.model_.predict(self._encode(X))
        return self._answers[codes]

    @available_if(lambda estimator: not hasattr(estimator, "result_") or holds_probabilities(estimator.result_.model))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class, shape (n_rows, n_classes), if the model holds any; the likeliest need not be the label."""
        return self.model_.predict_proba(self._encode(X))[:, self._order]


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
    n_features_in_, feature_names_in_, feature_importances_, result_, model_
        As in `PrivateTreeClassifier`.
    """

    learner: str = field(default=DEFAULT_OF_NUMBERS, kw_only=False)
    target_bounds: tuple[float, float] | None = field(default=None, kw_only=True)

    _public = "target_bounds"
    _kind_of_target = NumericTarget
    _wants = "one with a number to predict; PrivateTreeClassifier predicts classes"

    def _target(self, name: str, cells: np.ndarray) -> NumericTarget:
        low, high = _pair("target_bounds", self.target_bounds) if self.target_bounds is not None else _range_of("y", cells)
        return NumericTarget(name, low, high, () if self.target_bounds is not None else ("low", "high"))

    def _cells_of_target(self, schema: Schema, cells: np.ndarray) -> Any:
        return _with_numbers_for_truths(cells) if cells.dtype.kind in "bO" else cells

    def predict(self, X: Any) -> np.ndarray:
        """Numbers, shape (n_rows,)."""
        return self.model_.predict(self._encode(X))


class _Labels:
    """What the cells of a target say: the class of a cell follows from the cell and the declared classes alone.

    A cell is a class as everywhere (`cells.DeclaredTexts`), a truth value also 1 or 0, and these a truth value. A whole
    number that is no class is a place in the sorted classes, as scikit-learn's LabelEncoder gives it; but not where another
    number is a class at another place, such as 1 among the classes 1 and 2.
    """

    def __init__(self, classes: Sequence[Any], groups: Mapping[str, str]) -> None:
        self.classes = tuple(classes)
        try:
            in_order = sorted(self.classes)
        except TypeError:
            allowed = "all texts, all numbers or all truth values"
            raise ParameterError("the estimator", "classes", self.classes, allowed) from None
        self.texts = tuple(map(text_of, self.classes))
        #: By class: the number or truth value that it is, or None.
        self.values = list(map(_value_of, self.texts))
        self.places = list(map(in_order.index, self.classes))
        #: Of texts in y that a score finds among predictions, or that the schema merges.
        self.spellings = {*self.texts, *groups}
        codes = {text: code for code, text in enumerate(self.texts)}
        self._known = DeclaredTexts({text: codes[name] for text, name in groups.items()} | codes)
        self._by_value = {value: code for code, value in reversed(list(enumerate(self.values))) if value is not None}
        by_place = {place: code for code, place in enumerate(self.places)}
        values = [self.values[code] for _, code in sorted(by_place.items())]
        self.places_differ = any(self._by_value.get(place, code) != code for place, code in by_place.items())
        numbers = [value for value in values if value is not None]
        self.places_differ |= len(numbers) == len(values) and numbers != sorted(numbers)  # as texts 10 is before 9
        self._fallback = ({} if self.places_differ else by_place) | self._by_value

    def read(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(the place of each cell's class, -1 where it says none; the classes as such a target has them).

        Raises TableError where y has other numbers for its classes.
        """
        # NumPy makes complex numbers of a column where one cell is such a number
        cells = [cell.real if isinstance(cell, complex) and not cell.imag else cell for cell in column.tolist()]
        codes = self._known.find([clean(text_of(cell)) for cell in cells])
        for row in np.flatnonzero(codes < 0):
            if isinstance(cells[row], (bool, np.bool_)):
                codes[row] = self._by_value.get(bool(cells[row]), -1)
            elif is_number(cells[row]):
                codes[row] = self._fallback.get(cells[row], -1)
        is_place = np.array([is_number(cell) and cell in range(len(self.classes)) for cell in cells], dtype=bool)
        place_only = sum(cells[row] not in self.values for row in np.flatnonzero(is_place))
        class_only = int(np.count_nonzero((codes >= 0) & ~is_place))
        if self.places_differ and place_only > class_only:
            what = f"y seems to number its classes from 0 to {len(self.classes) - 1}, but the classes are declared as others."
            remedy = "Voting, stacking, bagging and one-vs-rest do so: number them from 0 in y, too, and declare these numbers."
            raise TableError("places", what, remedy=remedy)
        if place_only and class_only and not self.places_differ:
            what = "y has some whole numbers that are no class; they count as places in the sorted classes."
            warnings.warn(f"{what} Leave such rows out if they mean something else.", DpvizWarning, stacklevel=6)
        if any(isinstance(cell, str) and cell not in self.spellings for cell in itertools.compress(cells, codes >= 0)):
            what = "y has classes in another spelling than the declared one, such as with blanks around them."
            remedy = "Predictions have the declared one, and scores compare texts: write it so in y."
            warnings.warn(f"{what} {remedy}", DpvizWarning, stacklevel=6)
        class_cells = column[codes >= 0]
        is_elsewhere = {0, 1} <= set(self._by_value) and [self.places[self._by_value[value]] for value in (0, 1)] != [0, 1]
        if is_elsewhere and set(class_cells.tolist()) == {0, 1}:
            what = "y has no classes but 0 and 1, which are not the first and second of the declared ones in sorted order."
            remedy = "One-vs-rest and output codes number classes so, and take one class's probability for another's."
            warnings.warn(f"{what} {remedy} With them declare whole numbers from 0, or words.", DpvizWarning, stacklevel=6)
        return codes, np.array(self.places) if place_only > class_only else self._as_in(class_cells)

    def _as_in(self, cells: np.ndarray) -> np.ndarray:
        """The classes in the type of these cells; of most of them, where they have several."""
        [(kind, _)] = Counter(map(type, cells.tolist())).most_common(1) or [(object, 0)]
        if issubclass(kind, str):
            return np.array(self.texts, dtype=object if cells.dtype == object else None)
        if issubclass(kind, (Real, np.number, np.bool_)) and len(set(self.values) - {None}) == len(self.values):
            try:
                cast = np.array(self.values, dtype=object).astype(np.dtype(kind))
            except OverflowError:
                return np.array(self.values)
            return cast if cast.tolist() == self.values else np.array(self.values)
        return np.array(self.classes)


def _value_of(text: str) -> bool | float | None:
    """The truth value or number that the text of a class says."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if shortest(text) is None:
        return None
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else float(number)


def _with_rule(feature: Feature) -> Feature:
    """The feature, with a rule for missing and unknown cells where none is declared."""
    if isinstance(feature, CategoricalFeature):
        first = feature.categories[0]
        return replace(feature, missing_as=feature.missing_as or first, unknown_as=feature.unknown_as or first)
    middle = (feature.low + feature.high) / 2
    middle = float(np.floor(middle)) if feature.whole and np.floor(middle) >= feature.low else middle
    return feature if feature.missing_as is not None else replace(feature, missing_as=middle)


def _with_gaps(column: Column, feature: Feature) -> Column:
    """The column in which a cell that holds no number, where one is wanted, is a missing one."""
    if isinstance(feature, CategoricalFeature):
        return column
    if isinstance(feature, DateFeature):
        is_date = per_cell(~np.isnan(feature.numbers(column.distinct_texts)), column.codes, False)
        return Column(column.name, column.distinct_texts, np.where(is_date, column.codes, -1))
    return Column(column.name, numbers=column.numbers_and_missing(feature.missing_codes)[0])


def _with_numbers_for_truths(cells: Any, index: Any = None) -> Series:
    """scikit-learn's tools count true as 1 and false as 0. Objects: the type of a column must not follow from its cells."""
    return Series([int(cell) if isinstance(cell, (bool, np.bool_)) else cell for cell in cells], index, dtype=object)


def _is_list(value: Any) -> bool:
    return np.iterable(value) and not isinstance(value, (str, bytes, Mapping))


def _range_of(name: str, cells: Any) -> tuple[float, float]:
    """Smallest and largest number; a range even where all are the same. Raises TableError where there is none."""
    numbers = Column.from_values(name, cells).numbers()
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        problem = f"The column {name!r:.80} has a cell that is not a number."
        raise TableError("cells", problem, remedy="Declare it in `categories`, or leave it out.")
    low, high = float(numbers.min()), float(numbers.max())
    return low, high if high > low else low + max(1.0, abs(low))


def _pair(name: str, value: Any) -> tuple[float, float]:
    """(low, high) of a parameter that says where numbers are."""
    pair = tuple(value) if np.iterable(value) else ()
    if len(pair) != 2 or not all(map(is_number, pair)):
        raise ParameterError("the estimator", name, value, "pairs of numbers (low, high)")
    return float(pair[0]), float(pair[1])


def _warn_of_order(names: Sequence[str]) -> None:
    """Bagging, feature selection and most transformers make arrays of a frame, in its order and not in that of the schema."""
    doubt = f"X is an array; its columns are taken for {_name_list(names)}, in the order of the schema."
    remedy = "Give a DataFrame. Where a tool of scikit-learn makes an array of one, order its columns as in the schema first"
    text = f"{doubt} {remedy}, or ask a transformer for frames: set_output(transform='pandas')."
    warnings.warn(ReadingWarning(text, doubt), stacklevel=5)


def _name_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(f"{name!r:.80}" for name in names[:_MAX_NAMES]) + more


def _undeclared_error(column: str, remedy: str) -> TableError:
    problem = f"The column {column!r:.80} has a value that is missing or not declared."
    return TableError("undeclared", problem, remedy=remedy)
