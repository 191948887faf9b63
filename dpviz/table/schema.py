"""What is publicly known about a table: ranges, categories, classes, a public row count.

A learner may use all of it without spending privacy. Every value is marked as declared or as read from the data,
which makes it a disclosure. Schemas are immutable: changing one returns a new one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from dpviz.errors import DpvizError, ParameterError, SchemaError, UnknownName, path_text, value_text
from dpviz.table.cells import DeclaredTexts, clean
from dpviz.table.raw import list_names
from dpviz.table.validation import is_flag, is_number, is_whole

#: What stands in a `repr` for a value that was read from the data.
_READ = "<read from the data>"
#: Letters of the public source of corrections.
MAX_SOURCE_LENGTH = 200
#: Fields that are neither printed nor written while they are empty, so that older schemas hash as they did.
_LATER = ("missing_codes", "groups")


class Provenance(StrEnum):
    """Where a public value comes from."""

    DECLARED = "declared"
    READ = "read from data"


class WithProvenance:
    """Mixin: values that know where they come from. `read_from_data` names the fields that were read from the data."""

    kind: ClassVar[str]
    name: str
    read_from_data: tuple[str, ...]

    def declare(self, **values: Any) -> Any:
        """A copy in which these fields are declared; the kind of the column counts as declared too."""
        known = self.sourced_fields() - {"kind"}
        for given in values:
            if given not in known:
                raise UnknownName(f"field of {self.name!r}", given, sorted(known))
        left = tuple(field for field in self.read_from_data if field not in values and field != "kind")
        return replace(self, **values, read_from_data=left)  # type: ignore[type-var]

    @classmethod
    def sourced_fields(cls) -> set[str]:
        """The fields whose values may be read from the data, "kind" among them."""
        return {"kind", *(field.name for field in fields(cls))} - {"name", "read_from_data"}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Its kind and fields, as the JSON document has them."""
        return {"kind": self.kind} | {name: _plain(value) for name, value in self._set_fields()}

    @property
    def key(self) -> str:
        """All of it as one line, equal for equal columns. It holds what was read from the data: for digests and caches only."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._set_fields())})"

    def __repr__(self) -> str:
        """Its fields; of those that were read from the data that they were, for their values are cells."""
        texts = ((name, _READ if name in self.read_from_data else repr(value)) for name, value in self._set_fields())
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in texts)})"

    def _set_fields(self) -> list[tuple[str, Any]]:
        values = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        return [(name, value) for name, value in values if value or name not in _LATER]


def _plain(value: Any) -> Any:
    """Tuples as lists, and 17 instead of 17.0 where both are the same number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return list(value) if isinstance(value, tuple) else value


FORMAT = "dpviz-schema/1"
_OWN_FIELDS = ("person", "decimal", "source", "rows_per_person")
MAX_NAME_LENGTH = 10_000
MAX_ROWS_PER_PERSON = 2**31 - 1
MAX_CLASSES, MIN_WIDTH = 100, 1e-290  # narrower ranges take quotients of differences beyond the floating-point range


@dataclass(frozen=True, slots=True, repr=False)
class NumericFeature(WithProvenance):
    """A number in [low, high]; values outside are clipped.

    `whole` marks whole numbers (values are rounded); `missing_as` is the number that stands for a missing one, None drops
    the row; `unit` is for people only; `missing_codes` are cells, such as "k.A." or "999", that count as missing.
    """

    kind: ClassVar[str] = "numeric"
    name: str
    low: float
    high: float
    unit: str = ""
    whole: bool = False
    missing_as: float | None = None
    read_from_data: tuple[str, ...] = ()
    missing_codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _settle_numbers(self, "low", "high", "missing_as")
        _settle_codes(self)
        if not is_flag(self.whole):
            what = f"whole = {value_text(self.whole)} says neither yes nor no."
            raise SchemaError(what, field=self.name, remedy="Give True or False.")
        object.__setattr__(self, "whole", bool(self.whole))
        if not isinstance(self.unit, str):
            raise SchemaError(f"unit = {value_text(self.unit)} is no text.", field=self.name, remedy="Give a text, such as 'mg'.")
        _require_range(self.name, self.low, self.high)
        if self.whole and math.ceil(self.low) > math.floor(self.high):
            what = f"The range [{self.low:g}, {self.high:g}] contains no whole number."
            raise SchemaError(what, field=self.name, remedy="Widen the range, or do not mark the column as whole numbers.")
        if self.missing_as is not None and not self.low <= self.missing_as <= self.high:
            what = f"missing_as = {self.missing_as:g} lies outside [{self.low:g}, {self.high:g}]."
            raise SchemaError(what, field=self.name, remedy="Choose a number inside the range, or none to drop such rows.")


@dataclass(frozen=True, slots=True, repr=False)
class CategoricalFeature(WithProvenance):
    """One of a list of categories.

    `missing_as` and `unknown_as` name the category that takes missing cells and texts not in the list; None drops the row.
    Cells that are one of `missing_codes` count as missing. `groups` are further texts, each with the category it counts as.
    A category such as "NA" is that category, and no mark of missing cells.
    """

    kind: ClassVar[str] = "categorical"
    name: str
    categories: tuple[str, ...]
    missing_as: str | None = None
    unknown_as: str | None = None
    read_from_data: tuple[str, ...] = ()
    missing_codes: tuple[str, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", _text_tuple(self.name, "categories", self.categories))
        _settle_codes(self)
        _settle_groups(self, self.categories)
        if not self.categories:
            what = "A categorical feature needs at least one category."
            raise SchemaError(what, field=self.name, remedy="Declare every category.")
        _require_names(self.name, "category", self.categories)
        _require_no_code(self)
        for option in ("missing_as", "unknown_as"):
            chosen = getattr(self, option)
            if chosen is not None and chosen not in self.categories:
                what = f"{option} = {chosen!r} is not one of its categories."
                raise SchemaError(what, field=self.name, remedy="Add it to the list of categories, or choose one that is there.")

    @property
    def category_of(self) -> dict[str, str]:
        """The category of every declared text: of the categories themselves first, then of what counts as one of them."""
        return dict(zip(self.categories, self.categories, strict=True)) | dict(self.groups)


@dataclass(frozen=True, slots=True, repr=False)
class ClassTarget(WithProvenance):
    """The column to predict: one of at least two classes. Rows of any other class are dropped and counted.

    `groups` are further texts, each with the class it counts as.
    """

    kind: ClassVar[str] = "classes"
    name: str
    classes: tuple[str, ...]
    read_from_data: tuple[str, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", _text_tuple(self.name, "classes", self.classes))
        _settle_provenance(self, self.name, self.sourced_fields())
        _settle_groups(self, self.classes)
        if len(self.classes) < 2:
            what = f"A class target needs at least two classes; got {len(self.classes)}."
            raise SchemaError(what, field=self.name, remedy="Declare every class.")
        _require_names(self.name, "class", self.classes)
        if len(self.classes) > MAX_CLASSES:
            what = f"There are {len(self.classes)} classes; at most {MAX_CLASSES} can be learned."
            raise SchemaError(what, field=self.name, remedy="Choose another target, or declare it as a numeric target.")


@dataclass(frozen=True, slots=True, repr=False)
class NumericTarget(WithProvenance):
    """The column to predict: a number in [low, high]; values outside are clipped.

    Cells that are one of `missing_codes` drop the row.
    """

    kind: ClassVar[str] = "number"
    name: str
    low: float
    high: float
    read_from_data: tuple[str, ...] = ()
    missing_codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _settle_numbers(self, "low", "high")
        _settle_codes(self)
        _require_range(self.name, self.low, self.high)


Feature = NumericFeature | CategoricalFeature
Target = ClassTarget | NumericTarget


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """Everything public about a table.

    Attributes
    ----------
    features : tuple of NumericFeature or CategoricalFeature
        In the order of the encoded columns.
    target : ClassTarget or NumericTarget
    n_public : int or None
        A row count that may be used as if it were public (best rounded).
    read_from_data : tuple of str
        "n_public" when the row count was read from the data, "features" when the choice of columns was.
    person : str or None
        The column that says whose row it is: `dpviz.encode` keeps at most `rows_per_person` of each, and the schema of encoded
        rows has no such column any more.
    decimal : "." or "," or None
        The mark before decimals of numbers in cells of text; the other one groups thousands. None: where commas separate cells
        it is the point, and elsewhere a comma before three digits is no number (`dpviz.table.cells`).
    source : str
        The public source of what was corrected after a look at how the rows fit, one line; empty where nothing was. A release
        prints it.
    rows_per_person : int
        The most rows of one person. Without a person column it is the owner's word: nothing enforces it.
    """

    features: tuple[Feature, ...]
    target: Target
    n_public: int | None = None
    read_from_data: tuple[str, ...] = ()
    person: str | None = None
    decimal: str | None = None
    source: str = ""
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        features = (
            (self.features,) if isinstance(self.features, WithProvenance) else _text_tuple("schema", "features", self.features)
        )
        object.__setattr__(self, "features", features)
        _settle_provenance(self, "schema", ("n_public", "features"))
        for feature in features:
            _require_kind("features", feature, (NumericFeature, CategoricalFeature), "NumericFeature('age', 0, 100)")
        _require_kind("target", self.target, (ClassTarget, NumericTarget), "ClassTarget('label', ('no', 'yes'))")
        if not self.features:
            raise SchemaError("There are no features.", remedy="Keep at least one column besides the target.")
        _require_names("schema", "column", (*self.feature_names, self.target.name))
        if (count := self.n_public) is not None:
            if not is_whole(count) or count < 1:
                what = f"n_public = {value_text(count)} is not a row count."
                raise SchemaError(what, field="n_public", remedy="Give a whole number above 0.")
            object.__setattr__(self, "n_public", int(count))
        if self.person is not None:
            require_no_column(self, self.person)
        if not is_whole(self.rows_per_person) or not 1 <= self.rows_per_person <= MAX_ROWS_PER_PERSON:
            what = f"rows_per_person = {value_text(self.rows_per_person)} is no number of rows."
            remedy = f"Give a whole number from 1 to {MAX_ROWS_PER_PERSON:,}."
            raise SchemaError(what, field="rows_per_person", remedy=remedy)
        object.__setattr__(self, "rows_per_person", int(self.rows_per_person))
        if self.decimal not in (None, ".", ","):
            what = f"decimal = {value_text(self.decimal)} is no decimal mark."
            raise SchemaError(what, field="decimal", remedy="Give '.' or ',', or leave it out.")
        if not isinstance(self.source, str) or len(self.source) > MAX_SOURCE_LENGTH or not self.source.isprintable():
            what = f"This must be one printable line of at most {MAX_SOURCE_LENGTH} characters."
            raise SchemaError(what, field="source", remedy="Name the document, such as 'codebook of 2024, page 12'.")

    def __repr__(self) -> str:
        """Names, and how much was read from the data; no range and no category."""
        read, n_public = len(self.read_fields()), _READ if "n_public" in self.read_from_data else self.n_public
        known = f"; {read:,} value{'s'[: read != 1]} read from the data" if read else ""
        whose = f"; person {self.person!r:.40}" if self.person else ""
        whose += f"; rows_per_person={self.rows_per_person:,}" if self.rows_per_person > 1 else ""
        return f"Schema({list_names(self.feature_names)}; target {self.target.name!r:.40}; n_public={n_public}{whose}{known})"

    @property
    def key(self) -> str:
        """All of it as one line, equal for equal schemas. It holds what was read from the data: for digests and caches only."""
        features = ", ".join(feature.key for feature in self.features) + "," * (len(self.features) == 1)
        more = f"n_public={self.n_public!r}, read_from_data={self.read_from_data!r}"
        more += "".join(f", {name}={value!r}" for name, value in self._schema_fields.items())
        return f"Schema(features=({features}), target={self.target.key}, {more})"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names in column order."""
        return tuple(feature.name for feature in self.features)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names; raises SchemaError for a numeric target."""
        if isinstance(self.target, NumericTarget):
            what = "The target is numeric and has no classes."
            raise SchemaError(what, field=self.target.name, remedy="Declare a class target.")
        return self.target.classes

    def feature(self, name: str) -> Feature:
        """The feature called `name`; raises UnknownName."""
        for feature in self.features:
            if feature.name == name:
                return feature
        raise UnknownName("feature", name, self.feature_names)

    def declare(self, name: str | None = None, *, n_public: int | None = None, **values: Any) -> Schema:
        """A copy with fields of the feature or target `name` (low=, high=, categories=, classes=, ...) declared, or of itself.

        Of itself: `n_public`, and without a name also `person`, `rows_per_person`, `decimal`, `source`. Raises UnknownName.
        """
        schema = self
        if n_public is not None:
            left = tuple(field for field in self.read_from_data if field != "n_public")
            schema = replace(schema, n_public=n_public, read_from_data=left)
        if name is None:
            for given in values:
                if given not in _OWN_FIELDS:
                    raise UnknownName("field of a schema that needs no column", given, _OWN_FIELDS)
            return replace(schema, **values)
        if name == self.target.name:
            return replace(schema, target=self.target.declare(**values))
        changed = self.feature(name).declare(**values)
        return replace(schema, features=tuple(changed if old.name == name else old for old in schema.features))

    def without(self, *names: str) -> Schema:
        """A copy that leaves these features out; raises UnknownName."""
        for name in names:
            self.feature(name)
        return replace(self, features=tuple(f for f in self.features if f.name not in names))

    def scaled(self, share: float) -> Schema:
        """A copy for a part of the rows: n_public times `share` (a public number, so the product is public)."""
        return self if self.n_public is None else replace(self, n_public=max(1, round(self.n_public * share)))

    def to_dict(self) -> dict[str, Any]:
        """The JSON document `dpviz-schema/1` as dicts, lists, texts and numbers."""
        return {
            "format": FORMAT,
            "features": [feature.to_dict() for feature in self.features],
            "target": self.target.to_dict(),
            "n_public": self.n_public,
            "read_from_data": list(self.read_from_data),
            **self._schema_fields,
        }

    @property
    def _schema_fields(self) -> dict[str, Any]:
        """What it says of itself and of no column, as far as it says more than nothing: older schemas have none of it."""
        return {name: value for name in _OWN_FIELDS if (value := getattr(self, name)) not in (None, "", 1)}

    def to_json(self) -> str:
        """Indented JSON that people can read and edit."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the schema as JSON, UTF-8; `dpviz.load_schema` reads it. DpvizError when the file cannot be written."""
        try:
            Path(path).write_text(self.to_json(), encoding="utf-8")
        except (OSError, ValueError) as error:
            what = f"The schema file cannot be written: {getattr(error, 'strerror', None) or error}."
            remedy = "Choose a folder that exists and may be written to."
            raise DpvizError(what, where=path_text(path), remedy=remedy) from None

    def read_fields(self) -> tuple[tuple[str, str], ...]:
        """(column, or "n_public" or "features", field) for every value that was read from the data."""
        columns = (*self.features, self.target)
        of_columns = tuple((column.name, field) for column in columns for field in column.read_from_data)
        return of_columns + tuple((field, field) for field in self.read_from_data)


def require_schema(given: Any) -> None:
    """Raise ParameterError for what is no schema."""
    if not isinstance(given, Schema):
        allowed = "a Schema, such as from load_schema or propose_schema"
        raise ParameterError("dpviz", "schema", path_text(given) if isinstance(given, str) else type(given).__name__, allowed)


def require_no_column(schema: Schema, person: Any) -> None:
    """Raise SchemaError where `person`, the column that says whose row it is, is no text or is part of the schema."""
    if not isinstance(person, str) or not person:
        what = "The column that says whose row it is must be a name."
        raise SchemaError(what, field="person", remedy="Give the name of a column, or none.")
    if person in (*schema.feature_names, schema.target.name):
        what = "The column that says whose row it is cannot be a feature or the target."
        raise SchemaError(what, field=person, remedy="Leave it out of the schema.")


def require_no_persons(schema: Schema) -> None:
    """Raise SchemaError where the schema says whose row each is: only `dpviz.encode` limits the rows of a person."""
    if schema.person is not None:
        what = "This column says whose row it is, and the rows of each person are not limited here."
        remedy = "Limit them beforehand and take person out of the schema, or encode the table by this schema."
        raise SchemaError(what, field=schema.person[:60], remedy=remedy)


def _require_kind(field: str, given: Any, kinds: tuple[type, ...], example: str) -> None:
    if not isinstance(given, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise SchemaError(f"{value_text(given)} is no {names}.", field=field, remedy=f"Give one, such as {example}.")


def _settle_numbers(column: NumericFeature | NumericTarget, *names: str) -> None:
    """Make these fields plain floats, so that equal schemas have equal keys, and therefore digests."""
    for name in names:
        value = getattr(column, name)
        if value is None and name == "missing_as":
            continue
        if not is_number(value):
            what = f"{name} = {value_text(value)} is not a finite number."
            raise SchemaError(what, field=column.name, remedy=f"Give a number below 1e308 for {name}.")
        object.__setattr__(column, name, float(value) + 0.0)  # no negative zero: it equals 0 but prints otherwise


def _settle_provenance(owner: WithProvenance | Schema, name: str, known: Collection[str]) -> None:
    """A misspelt field would hide that its value was read from the data, so it is refused."""
    read = _text_tuple(name, "read_from_data", owner.read_from_data)
    for field in read:
        if field not in known:
            what = f"read_from_data holds {value_text(field)}."
            raise SchemaError(what, field=name, remedy=f"Name fields among {', '.join(sorted(known))}.")
    object.__setattr__(owner, "read_from_data", read)


def _settle_codes(column: NumericFeature | CategoricalFeature | NumericTarget) -> None:
    _settle_provenance(column, column.name, column.sourced_fields())
    object.__setattr__(column, "missing_codes", _text_tuple(column.name, "missing_codes", column.missing_codes))
    _require_names(column.name, "missing code", column.missing_codes)


def _require_no_code(column: CategoricalFeature) -> None:
    """Raise SchemaError for a text that is declared as a category and as a code of missing cells."""
    declared = DeclaredTexts(dict.fromkeys((*column.categories, *(text for text, _ in column.groups)), 0))
    for code in column.missing_codes:
        if declared.find([clean(code)])[0] >= 0:
            what = f"{code!r:.80} is declared as a category and as a code of missing cells."
            raise SchemaError(what, field=column.name, remedy="Leave it out of one of the two.")


def _settle_groups(column: CategoricalFeature | ClassTarget, labels: tuple[str, ...]) -> None:
    """Every further text has one meaning: it is no label itself, comes once, and counts as a label there is."""
    pairs = [
        () if isinstance(pair, str) else _text_tuple(column.name, "groups", pair)
        for pair in _text_tuple(column.name, "groups", column.groups)
    ]
    if any(len(pair) != 2 for pair in pairs):
        remedy = "Give pairs of a text and what it counts as, such as groups=(('N', 'no'),)."
        raise SchemaError("groups holds something else than pairs.", field=column.name, remedy=remedy)
    object.__setattr__(column, "groups", tuple(map(tuple, pairs)))
    _require_names(column.name, "spelling", (*labels, *(text for text, _ in column.groups)))
    for text, label in column.groups:
        if label not in labels:
            what = f"{text!r} is to count as {label!r}, which is not in the list."
            raise SchemaError(what, field=column.name, remedy="Add it to the list, or choose one that is there.")


def _require_range(name: str, low: float, high: float) -> None:
    if not (low < high and MIN_WIDTH <= high - low < math.inf):
        raise SchemaError(f"The range [{low:g}, {high:g}] is too narrow or infinite.", field=name, remedy="Put low below high.")


def _text_tuple(owner: str, field: str, given: Any) -> tuple[str, ...]:
    """A list of texts; a text alone would be one of letters."""
    with suppress(TypeError):
        if not isinstance(given, str):
            return tuple(given)
    what = f"{field} = {value_text(given)} is no list."
    raise SchemaError(what, field=owner, remedy=f"Give a list, such as {field}=('no', 'yes').")


def _require_names(owner: str, kind: str, names: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for name in names:
        if isinstance(name, (bool, int, float)):
            what = f"The {kind} {name!r} is no text."
            raise SchemaError(what, field=owner, remedy=f"Write it as in the table, as a text: {str(name)!r}.")
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME_LENGTH:
            what = f"A {kind} has no name, or one of more than {MAX_NAME_LENGTH:,} letters."
            raise SchemaError(what, field=owner, remedy=f"Give every {kind} a name.")
        if (met_by := name if kind == "column" else clean(name)) in seen:  # no cell would be the second of the two
            raise SchemaError(f"The {kind} {name!r} appears twice.", field=owner, remedy=f"List every {kind} once.")
        seen.add(met_by)


def require_classes(schema: Schema, what: str) -> None:
    """Raise SchemaError for a numeric target; `what` begins the sentence ("A poisoning guarantee")."""
    if isinstance(schema.target, NumericTarget):
        problem = f"{what} needs a target of classes, but {schema.target.name!r} is a number."
        remedy = "Choose a table whose target is one of several classes, or declare ranges of this number as classes."
        raise SchemaError(problem, field=schema.target.name, remedy=remedy)
