"""A session as one file: settings, schema, models, curves. JSON, format "dpviz-session/1".

It never holds rows. Of private rows it holds the declared schema and the settings alone: no model, no curve, no draw, no file
name, because nothing explored there is covered by a guarantee.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpviz.errors import DocumentError, DpvizError
from dpviz.learners import get_learner
from dpviz.models.document import model_from_json
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema
from dpviz.table.schema_json import Part, parse_json, require_format, schema_from_dict
from dpviz.training.params import Settings, make_params
from dpviz.version import VERSION

FORMAT = "dpviz-session/1"
MOST_MODELS, MOST_CURVES, MOST_ROWS = 50, 20, 200_000
Cell = str | float | int | bool | None


@dataclass(frozen=True)
class Choices:
    """What the sidebar says: a learner, `fit`'s settings, the learner's own parameters, and the number of the draw.

    `draw` is None for private rows. Raises UnknownName and ParameterError for what no learner takes.
    """

    learner: str
    settings: Mapping[str, Any]
    params: Mapping[str, Any]
    draw: int | None

    def __post_init__(self) -> None:
        Settings(**self.settings)
        make_params(get_learner(self.learner).Params, self.learner, dict(self.params))


@dataclass(frozen=True)
class Curves:
    """A table of fits, and what it is about: whatever its page needs to show it again, as plain JSON."""

    about: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Session:
    """What a session file holds.

    Attributes
    ----------
    role : DataRole
    title : str
        Of the table; empty for private rows.
    sample : str or None
        The bundled sample; None for a table the file does not bring along.
    schema : Schema
    choices : Choices or None
    models : tuple of str
        `dpviz-tree/1` documents.
    curves : tuple of Curves
    """

    role: DataRole
    title: str
    sample: str | None
    schema: Schema
    choices: Choices | None = None
    models: tuple[str, ...] = ()
    curves: tuple[Curves, ...] = field(default=())

    def shareable(self) -> Session:
        """What may be written: of private rows the schema and the settings alone."""
        if self.role is not DataRole.PRIVATE:
            return self
        asked = self.choices
        kept = None if asked is None else Choices(asked.learner, asked.settings, asked.params, None)
        return Session(self.role, "", None, self.schema, kept)


def session_to_json(session: Session) -> str:
    """The session as JSON text; of private rows only what may be shared."""
    session = session.shareable()
    asked = session.choices
    document = {
        "format": FORMAT,
        "versions": {"dpviz": VERSION},
        "role": str(session.role),
        "title": session.title,
        "sample": session.sample,
        "schema": session.schema.to_dict(),
        "choices": None if asked is None else _choices_to_dict(asked),
        "models": [json.loads(text) for text in session.models],
        "curves": [{"about": dict(c.about), "columns": list(c.columns), "rows": _plain(c.rows)} for c in session.curves],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _choices_to_dict(asked: Choices) -> dict[str, Any]:
    return {"learner": asked.learner, "settings": dict(asked.settings), "params": _plain(asked.params), "draw": asked.draw}


def _plain(value: Any) -> Any:
    """JSON-ready: infinity as a word, not-a-number as null."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    return value


def session_from_json(text: str | bytes) -> Session:
    """Read a session file. Raises DocumentError naming the place, or what the schema, a model or a learner has to say."""
    part = Part(parse_json(text))
    require_format(part, FORMAT)
    role = DataRole(part.get("role").choice(*map(str, DataRole)))
    sample, choices = part.get("sample", None), part.get("choices", None)
    read = Session(
        role,
        part.get("title", "").text(),
        None if sample.value is None else sample.text(),
        schema_from_dict(part.get("schema").value, path="schema"),
        None if choices.value is None else _choices(choices),
        tuple(_model(item) for item in _few(part.get("models", []), MOST_MODELS)),
        tuple(_curves(item) for item in _few(part.get("curves", []), MOST_CURVES)),
    )
    return read.shareable()


def _few(part: Part, most: int) -> list[Part]:
    items = list(part.items())
    if len(items) > most:
        what = f"There are {len(items):,} entries; at most {most:,} are read."
        raise DocumentError(what, where=part.path, remedy="Remove some.")
    return items


def _choices(part: Part) -> Choices:
    settings = {name: item.value for name, item in _entries(part.get("settings")).items()}
    unknown = sorted(set(settings) - {"epsilon", "max_depth", "depth", "delta"})
    if unknown:
        raise DocumentError(f"There is no setting {unknown[0]!r:.60}.", where=part.place("settings"), remedy="Remove this entry.")
    params = {name: _unlisted(item.value) for name, item in _entries(part.get("params")).items()}
    draw = part.get("draw", None)
    number = None if draw.value is None else draw.whole()
    try:
        return Choices(part.get("learner").text(), settings, params, number)
    except DocumentError:
        raise
    except DpvizError as problem:  # what the learner says, with the place in the file
        raise DocumentError(problem.what or str(problem), where=part.path, remedy=problem.remedy) from problem


def _unlisted(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _entries(part: Part) -> dict[str, Part]:
    if not isinstance(part.value, dict):
        part.fail("an object with named entries")
    return {name: part.get(name) for name in part.value}


def _model(part: Part) -> str:
    if not isinstance(part.value, dict):
        part.fail("a model")
    text = json.dumps(part.value, ensure_ascii=False, indent=1)
    try:
        model_from_json(text)
    except DocumentError as problem:
        raise DocumentError(problem.what, where=f"{part.path}.{problem.where}", remedy=problem.remedy) from problem
    return text


def _curves(part: Part) -> Curves:
    about = {name: item.value for name, item in _entries(part.get("about")).items()}
    columns = part.get("columns").texts()
    rows = tuple(_row(item, len(columns)) for item in _few(part.get("rows"), MOST_ROWS))
    return Curves(about, columns, rows)


def _row(part: Part, width: int) -> tuple[Cell, ...]:
    cells = tuple(_cell(item) for item in part.items())
    if len(cells) != width:
        part.fail(f"a list of {width} cells")
    return cells


def _cell(part: Part) -> Cell:
    words: Sequence[str] = ("infinity", "-infinity")
    if part.value in words:
        return math.inf if part.value == words[0] else -math.inf
    if part.value is None:
        return math.nan
    if isinstance(part.value, bool):
        return part.value
    if isinstance(part.value, str):
        return part.text()
    return part.number() if isinstance(part.value, float) else part.whole()
