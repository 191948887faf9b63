"""A session as one file: settings, schema, models, curves. JSON, format "dpviz-session/1".

It never holds rows. Of private rows it holds the declared schema and the settings alone: no model, no curve, no draw, no file
name, because nothing explored there is covered by a guarantee.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from msgspec import Meta

from dpviz.errors import DocumentError, UnknownName
from dpviz.learners import get_learner
from dpviz.models.document import model_from_json
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.table.schema_json import schema_from_dict
from dpviz.table.strict_json import PlainValue, parse_json, read, require_format, without_infinity, wrong
from dpviz.training.params import Settings, make_params
from dpviz.version import VERSION

FORMAT = "dpviz-session/1"
#: Whole numbers are bounded, because tables hold 64 bits.
Cell = str | float | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | bool | None
#: How numbers that JSON lacks are written in a cell.
_CELLS: dict[Cell, Cell] = {"infinity": math.inf, "-infinity": -math.inf, None: math.nan}


@dataclass(frozen=True)
class Choices:
    """What the sidebar says: a learner, `fit`'s settings, the learner's own parameters, and the seed of the noise.

    `draw` is None for private rows. Raises UnknownName and ParameterError for what the learner does not take.
    """

    learner: str
    settings: Mapping[str, Any]
    params: Mapping[str, PlainValue]
    draw: int | None = None

    def __post_init__(self) -> None:
        known = [item.name for item in fields(Settings)]
        for name in self.settings:
            if name not in known:
                raise UnknownName("setting", name, known)
        Settings(**self.settings)
        make_params(get_learner(self.learner).Params, self.learner, dict(self.params))


@dataclass(frozen=True)
class Curves:
    """A table of fits; `about` is whatever its page needs to show it again, as plain JSON."""

    about: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Meta(max_length=200_000)]


@dataclass(frozen=True)
class Session:
    """What a session file holds."""

    role: DataRole
    title: str  #: Of the table; empty for private rows
    sample: str | None  #: The bundled sample; None for a table that is not part of the file
    schema: Schema
    choices: Choices | None = None
    models: tuple[str, ...] = ()  #: `dpviz-tree/1` documents
    #: person, rows_per_person: the column that says whose row it is, and the rows kept of each.
    person: str | None = None
    rows_per_person: int | None = None
    #: The table being declared, as its page needs it to show it again, as plain JSON: declarations, never rows.
    draft: Mapping[str, Any] | None = None
    curves: tuple[Curves, ...] = ()

    def shareable(self) -> Session:
        """What may be written: of private rows the schema and the settings alone."""
        if self.role is not DataRole.PRIVATE:
            return self
        choices = self.choices and replace(self.choices, draw=None)
        return replace(self, title="", sample=None, choices=choices, models=(), curves=())


def session_to_json(session: Session) -> str:
    """The session as JSON text; of private rows only what may be shared."""
    session = session.shareable()
    document = {
        "format": FORMAT,
        "versions": {"dpviz": VERSION},
        **vars(session),
        "schema": session.schema.to_dict(),
        "choices": session.choices and vars(session.choices),
        "models": [json.loads(text) for text in session.models],
        "curves": [{"about": c.about, "columns": c.columns, "rows": _without_nan(c.rows)} for c in session.curves],
    }
    return json.dumps(without_infinity(document), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _without_nan(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return [[None if cell != cell else cell for cell in row] for row in rows]  # only NaN differs from itself


@dataclass(frozen=True)
class _Document:
    role: DataRole
    schema: Any
    title: str = ""
    sample: str | None = None
    choices: Choices | None = None
    models: Annotated[tuple[dict[str, Any], ...], Meta(max_length=50)] = ()
    curves: Annotated[tuple[Curves, ...], Meta(max_length=20)] = ()
    person: str | None = None
    rows_per_person: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    draft: dict[str, Any] | None = None


def session_from_json(text: str | bytes) -> Session:
    """Read a session file. Raises DocumentError naming the place, SchemaError for a schema that contradicts itself."""
    document = parse_json(text)
    require_format(document, FORMAT)
    try:
        found = read(_Document, document)
    except UnknownName as error:
        raise DocumentError(error.what, where="choices", remedy=error.remedy) from error
    told = {item.name: getattr(found, item.name) for item in fields(found)}  # `vars` knows no entry left at its default
    told |= {
        "schema": schema_from_dict(found.schema, path="schema"),
        "models": tuple(_model(model, f"models[{place}]") for place, model in enumerate(found.models)),
        "curves": tuple(_curves(curves, f"curves[{place}]") for place, curves in enumerate(found.curves)),
    }
    return Session(**told).shareable()


def _model(document: dict[str, Any], path: str) -> str:
    text = json.dumps(document, ensure_ascii=False, indent=1)
    try:
        model_from_json(text)
    except DocumentError as error:
        raise DocumentError(error.what, where=f"{path}.{error.where}", remedy=error.remedy) from error
    return text


def _curves(found: Curves, path: str) -> Curves:
    for place, row in enumerate(found.rows):
        if len(row) != len(found.columns):
            raise wrong(f"This must be a list of {len(found.columns)} cells.", f"{path}.rows[{place}]")
    return replace(found, rows=tuple(tuple(_CELLS.get(cell, cell) for cell in row) for row in found.rows))
