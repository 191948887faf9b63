"""Forms that are written from a document, and what each needs to know of it. Tests run each where it will run."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from dpviz.errors import UnsupportedError
from dpviz.io.exports.function import Function, function_of
from dpviz.io.results import document_verdict, facts
from dpviz.models.base import Model
from dpviz.models.document import model_from_json
from dpviz.results.exports import Form
from dpviz.results.verdict import Unit, Verdict
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.table.strict_json import parse_json

_DECIMALS = {
    None: "A comma before three digits, as in 1,311, may be two numbers and is none: the schema declares no decimal mark.",
    ".": "A number in a cell of text has a decimal point; commas group its thousands.",
    ",": "A number in a cell of text has a decimal comma; points group its thousands.",
}
#: Words used in conditions around names.
_WORDS = frozenset(("is", "not", "one", "of", "or", "and", "missing", "unknown", "given", "if", "then"))
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")


@dataclass(frozen=True)
class ExportInput:
    """A model and everything that must be said about it: a `dpviz-tree/1` document.

    `unit`: whom a register says the release protects; None where only the document knows.
    """

    text: str
    unit: Unit | None = None
    key: str = ""  #: In SQL: a column of the table that comes first, so that answers say whose they are

    @cached_property
    def document(self) -> dict[str, Any]:
        """The parsed document; raises DocumentError."""
        return parse_json(self.text)

    @cached_property
    def model(self) -> Model:
        """The model; raises DocumentError."""
        return model_from_json(self.text)

    @property
    def schema(self) -> Schema:
        """What its features and target are."""
        return self.model.schema

    @cached_property
    def function(self) -> Function:
        """The model over cells that were read; raises UnsupportedError where it is no tree or trees."""
        return function_of(self.model)

    @cached_property
    def verdict(self) -> Verdict:
        """What may be said about its privacy."""
        return document_verdict(self.document, self.schema, self.unit)

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """What travels with every export: whose work it is, what is guaranteed, what is not covered. One line each."""
        return tuple(map(one_line, [*facts(self.document, self.schema.target.name, self.verdict), *_about_cells(self.schema)]))


def export(form: Form, model: ExportInput) -> str:
    """What a file of this form holds. Raises UnsupportedError with the reason, and DocumentError."""
    require_fit(form, model)
    return form.write(model)


def require_fit(form: Form, model: ExportInput) -> None:
    """Raise UnsupportedError where the form cannot hold the model or the key."""
    if model.key and form.language != "sql":
        what = f"{form.title} answers row by row, so no key is needed."
        raise UnsupportedError(what, remedy="Leave the key out, or export as 'sqlite' or 'duckdb'.")
    if form.any_model:
        return
    if model.key and model.key.lower() in map(str.lower, ("prediction", *(f"p_{name}" for name in model.function.names))):
        raise UnsupportedError("The key has the name of an answer.", remedy="Rename the column in a view of the table.")
    if form.one_tree and not model.function.is_one_tree:
        what = f"{form.title} shows a single tree; this model has many."
        raise UnsupportedError(what, remedy="Export it as JSON, Python or SQL.")
    if model.function.n_ends > form.most_ends:
        what = f"This model has {model.function.n_ends:,} leaves; {form.title} is offered up to {form.most_ends:,}."
        raise UnsupportedError(what, remedy="Export it as JSON.")


def _about_cells(schema: Schema) -> Iterator[str]:
    """What a cell must be known to mean: which part of a date is asked for, and which cells count as missing."""
    if any(not isinstance(feature, CategoricalFeature | DateFeature) for feature in schema.features):
        yield _DECIMALS[schema.decimal]
    for feature in schema.features:
        if isinstance(feature, DateFeature):
            yield f"{quote_name(feature.name)} is a date, written {feature.order}, and counts as a number: {feature.meaning}."
        if feature.missing_codes:
            yield f"In {quote_name(feature.name)} these cells are missing: {', '.join(map(quote_name, feature.missing_codes))}."
        if isinstance(feature, CategoricalFeature):
            for name in dict.fromkeys(category for _, category in feature.groups):
                texts = ", ".join(quote_name(text) for text, category in feature.groups if category == name)
                yield f"In {quote_name(feature.name)} these texts count as {quote_name(name)}: {texts}."


# --- names and numbers in files that people and programs read: names come from untrusted files, and stay on one line


def one_line(text: str) -> str:
    """`text` on one line: control characters, line separators and what turns the reading direction become spaces."""
    return "".join(" " if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


@lru_cache(maxsize=65_536)
def quote_name(name: str) -> str:
    """The name itself where it is simple: letters, digits and a few signs, and none of the words around it. Else a JSON text in
    quotes: unseen characters are escaped, letters of all alphabets stay.
    """
    looks_simple = re.fullmatch(r"[^\W\d_](?:[\w /%.\-]*\w)?", name) is not None
    if looks_simple and _WORDS.isdisjoint(name.casefold().split()) and one_line(name) == name:
        return name
    text = json.dumps(name, ensure_ascii=False)
    return "".join(json.dumps(letter)[1:-1] if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


def number(value: float) -> str:
    """The shortest text that is read back as the same number: "37.5", "40"."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _write_json(model: ExportInput) -> str:
    """Raises DocumentError where it is no model."""
    model_from_json(model.text)
    return model.text


JSON = Form(
    name="json",
    title="JSON",
    suffix=".json",
    media_type="application/json",
    about="Everything: rules, labels, schema, settings, ledger, claim and disclosures. dpviz reads it back.",
    write=_write_json,
    group="data",
    language="json",
    any_model=True,
    order=10,
)
