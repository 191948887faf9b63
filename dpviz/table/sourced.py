"""Columns of a schema know of each value whether it was declared or read from the data."""

from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, ClassVar

from dpviz.errors import UnknownName

#: Fields that are neither printed nor written while they are empty, so that older schemas print and hash as they did.
_LATER = ("missing_codes", "groups")


class Provenance(StrEnum):
    """Where a public value comes from."""

    DECLARED = "declared"
    READ = "read from data"


class Sourced:
    """Mixin: values that know where they come from. `read_from_data` names the fields that were read from the data."""

    kind: ClassVar[str]
    name: str
    read_from_data: tuple[str, ...]

    def declare(self, **values: Any) -> Any:
        """A copy in which these fields are declared; the kind of the column counts as declared too."""
        known = {field.name for field in fields(self) if field.name not in ("name", "read_from_data")}  # type: ignore[arg-type]
        for given in values:
            if given not in known:
                raise UnknownName(f"field of {self.name!r}", given, sorted(known))
        left = tuple(field for field in self.read_from_data if field not in values and field != "kind")
        return replace(self, **values, read_from_data=left)  # type: ignore[type-var]

    def to_dict(self) -> dict[str, Any]:
        """Its kind and fields, as the JSON document has them."""
        return {"kind": self.kind} | {name: _plain(value) for name, value in self._said()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._said())})"

    def _said(self) -> list[tuple[str, Any]]:
        values = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        return [(name, value) for name, value in values if value or name not in _LATER]


def _plain(value: Any) -> Any:
    """Tuples as lists, and 17 instead of 17.0 where both are the same number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return list(value) if isinstance(value, tuple) else value
