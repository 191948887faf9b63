"""Schemas read from JSON: format "dpviz-schema/1". `Schema.to_json` writes it.

Readers ignore keys they do not know and refuse versions they do not know. What is malformed is a `DocumentError` whose
`where` is the path inside the document, such as `features[2].low`; what is well formed but contradicts itself is a
`SchemaError`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from dpviz.errors import DocumentError
from dpviz.table.schema import FORMAT, CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target


def schema_from_json(text: str | bytes) -> Schema:
    """The schema in a JSON text (or its UTF-8 bytes); raises DocumentError, SchemaError."""
    return schema_from_dict(parse_json(text))


def schema_from_dict(document: Any, *, path: str = "") -> Schema:
    """The schema in parsed JSON; `path` says where `document` stands inside a larger one, for error texts."""
    part = Part(document, path)
    require_format(part, FORMAT)
    features = tuple(_feature(item) for item in part.get("features").items())
    return Schema(
        features,
        _target(part.get("target")),
        n_public=_row_count(part.get("n_public", None)),
        read_from_data=_read_fields(part, ("n_public",)),
    )


def _feature(part: Part) -> Feature:
    kind = part.get("kind").choice("numeric", "categorical")
    name = part.get("name").text()
    if kind == "numeric":
        return NumericFeature(
            name,
            part.get("low").number(),
            part.get("high").number(),
            unit=part.get("unit", "").text(),
            whole=part.get("whole", False).flag(),
            missing_as=_optional(part.get("missing_as", None), Part.number),
            read_from_data=_read_fields(part, ("kind", "low", "high", "unit", "whole", "missing_as")),
        )
    return CategoricalFeature(
        name,
        part.get("categories").texts(),
        missing_as=_optional(part.get("missing_as", None), Part.text),
        unknown_as=_optional(part.get("unknown_as", None), Part.text),
        read_from_data=_read_fields(part, ("kind", "categories", "missing_as", "unknown_as")),
    )


def _target(part: Part) -> Target:
    kind = part.get("kind").choice("classes", "number")
    name = part.get("name").text()
    if kind == "classes":
        return ClassTarget(name, part.get("classes").texts(), _read_fields(part, ("kind", "classes")))
    return NumericTarget(name, part.get("low").number(), part.get("high").number(), _read_fields(part, ("kind", "low", "high")))


def _read_fields(part: Part, known: tuple[str, ...]) -> tuple[str, ...]:
    """A misspelt field would hide that its value was read from the data, so it is refused."""
    return tuple(item.choice(*known) for item in part.get("read_from_data", []).items())


def _row_count(part: Part) -> int | None:
    return _optional(part, Part.whole)


def _optional(part: Part, read: Any) -> Any:
    return None if part.value is None else read(part)


def parse_json(text: str | bytes) -> Any:
    """Parsed JSON; DocumentError for anything else, including NaN, Infinity, repeated keys and endless nesting."""
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except RecursionError as error:
        raise DocumentError("It is nested too deep.", remedy="Use a file saved by dpviz.") from error
    except ValueError as error:
        raise DocumentError(f"It is not JSON: {error}.", remedy="Use a file saved by dpviz.") from error


def _refuse_constant(name: str) -> NoReturn:
    raise DocumentError(f"{name} is not a number JSON knows.", remedy="Replace it by a finite number or null.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DocumentError(f"The key {key!r} appears twice in one object.", remedy="Keep one of them.")
        found[key] = value
    return found


def require_format(part: Part, expected: str) -> None:
    """Refuse a document that is not of the format `expected`, e.g. "dpviz-schema/1"."""
    found = part.get("format").text()
    if found != expected:
        raise DocumentError(
            f"The format {found!r} is not known here; expected {expected!r}.",
            where=part.place("format"),
            remedy="Use a file saved by this version of dpviz, or update dpviz.",
        )


_REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Part:
    """A value inside a JSON document that knows its path; every reader raises DocumentError with that path.

    Attributes
    ----------
    value : Any
        Parsed JSON.
    path : str
        Such as `features[2].low`; empty for the whole document.
    """

    value: Any
    path: str = ""

    def place(self, key: str) -> str:
        """Path of the entry `key`."""
        return f"{self.path}.{key}" if self.path else key

    def get(self, key: str, default: Any = _REQUIRED) -> Part:
        """The entry `key` of an object; a missing one is an error unless there is a default."""
        if not isinstance(self.value, Mapping):
            self.fail("an object with named entries")
        if key in self.value:
            return Part(self.value[key], self.place(key))
        if default is _REQUIRED:
            raise DocumentError("This entry is missing.", where=self.place(key), remedy="Add it, or use a file saved by dpviz.")
        return Part(default, self.place(key))

    def items(self) -> Iterator[Part]:
        """The entries of a list."""
        if not isinstance(self.value, (list, tuple)):
            self.fail("a list")
        return (Part(value, f"{self.path}[{place}]") for place, value in enumerate(self.value))

    def text(self) -> str:
        """A text that can be written to a file (no half of a surrogate pair)."""
        if not isinstance(self.value, str):
            self.fail("a text")
        try:
            self.value.encode("utf-8")
        except UnicodeEncodeError:
            self.fail("a text of whole letters")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(item.text() for item in self.items())

    def choice(self, *allowed: str) -> str:
        """One of the texts `allowed`."""
        if self.value not in allowed:
            self.fail("one of " + ", ".join(map(repr, allowed)))
        return self.value

    def number(self) -> float:
        """A finite number; true and false are none."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.fail("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail("a finite number")
        return number

    def whole(self) -> int:
        """A whole number; 3.0 counts as one, true does not."""
        if not self.number().is_integer():
            self.fail("a whole number")
        return int(self.value)

    def flag(self) -> bool:
        """true or false."""
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def fail(self, expected: str) -> NoReturn:
        """Raise DocumentError: this value is not `expected`."""
        where = self.path or "document"
        raise DocumentError(f"This must be {expected}; got {_shown(self.value)}.", where=where, remedy="Correct this entry.")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = json.dumps(value) if isinstance(value, (str, float, bool, type(None))) else "a number"
    return text if len(text) <= 60 else text[:57] + "..."
