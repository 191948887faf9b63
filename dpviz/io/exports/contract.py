"""The contract between exports and the rest of the house.

A target is a value in the TARGETS of a file in `dpviz/io/exports/`. The command line, the screen and the contract tests all
come from that one value.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from dpviz.errors import DpvizError, NotExported
from dpviz.installation import require_extra
from dpviz.io.exports.conditions import Row
from dpviz.io.exports.function import Function
from dpviz.io.exports.golden import GoldenRows, golden_rows
from dpviz.io.exports.reading import function_of
from dpviz.io.exports.spelling import one_line, spelled
from dpviz.io.exports.statement import facts
from dpviz.models.base import Model
from dpviz.models.document import model_from_json
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.table.strict_json import parse_json

Content = str | bytes
#: (prediction of every row, probabilities of its classes) from the exported content alone (of the type that was written), in the
#: target itself. What stands for probabilities is not read where the export has none.
Run = Callable[[Any, Schema, Sequence[Row]], tuple[Sequence[Any], Any]]
#: Whether the export of a model has probabilities of the classes.
Gives = Callable[["Exportable"], bool]


@dataclass(frozen=True)
class Exportable:
    """A model and everything that must be said about it: a `dpviz-tree/1` document."""

    text: str

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
        """The model over raw cells; raises NotExported where it is no tree or trees."""
        return function_of(self.model)

    @cached_property
    def golden(self) -> GoldenRows:
        """The rows that every export of it must predict as the model does."""
        return golden_rows(self.model)

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """What travels with every export: whose work it is, what is guaranteed, what is not covered. One line each."""
        return tuple(map(one_line, [*facts(self.document, self.schema.target.name), *_about_cells(self.schema)]))


@dataclass(frozen=True)
class Target:
    """One form a model can be exported in."""

    #: name, title: as the command line and as people call it.
    name: str
    title: str
    #: suffix, mime: of a file that holds it.
    suffix: str
    mime: str
    about: str  #: One sentence: what it is for, and how it reads missing cells
    write: Callable[[Exportable], Content]  #: Raises NotExported
    run: Run  #: Predicts rows from the content alone
    ran_in: Callable[[], str]  #: Where `run` runs it, with its version: "SQLite 3.45".
    #: Whether the export of this model has probabilities.
    gives_chances: Gives = lambda given: given.function.chances != "none"
    group: Literal["data", "code", "words", "picture"] = "code"
    language: str = "text"  #: For syntax colours in a preview
    needs: tuple[str, ...] = ()  #: Packages beyond those dpviz needs; `extra` names the extra that brings them
    extra: str = ""
    one_tree: bool = False  #: It shows a single tree only
    most_ends: int = 50_000  #: Larger models are refused
    any_model: bool = False
    order: int = 100


@dataclass(frozen=True)
class Exported:
    """An export that has predicted every golden row as the model does. `checked`: how many, where, in one sentence."""

    target: Target
    content: Content
    n_rows: int
    checked: str


def export(target: Target, given: Exportable) -> Exported:
    """Write, run on every golden row in the target itself, and compare. Raises NotExported with the reason."""
    require_fit(target, given)
    content = target.write(given)
    found, chances = _ran(target, content, given)
    difference = given.golden.first_difference(found)
    has_chances = target.gives_chances(given)
    if difference is None and has_chances:
        difference = given.golden.first_other_chance(chances)
    if difference is not None:
        what = f"{target.title} does not predict as the model does: {one_line(difference)}."
        raise NotExported(what, remedy="Choose another form, and report this with the JSON document.")
    count = len(given.golden.rows)
    also = ", probabilities too" if has_chances else ""
    said = f"Checked on {count:,} golden rows in {target.ran_in()}: all agree with the model{also}."
    return Exported(target, content, count, said)


def _ran(target: Target, content: Content, given: Exportable) -> tuple[Sequence[Any], Any]:
    try:
        return target.run(content, given.schema, given.golden.rows)
    except DpvizError:
        raise
    except Exception as error:  # whatever a foreign runtime raises means that this export does not run there
        what = f"{target.title} was written, but {target.ran_in()} does not run it: {one_line(str(error))[:200]}"
        raise NotExported(what, remedy="Choose another form; the names of columns and categories may be the reason.") from error


def require_fit(target: Target, given: Exportable) -> None:
    """Raise NotExported where the target cannot hold the model, MissingExtra where a package is not installed."""
    require_extra(target.extra, target.title, *target.needs)
    if target.any_model:
        return
    if target.one_tree and not given.function.is_one_tree:
        raise NotExported(f"{target.title} shows a single tree; this model has many.", remedy="Export it as JSON, Python or SQL.")
    if given.function.n_ends > target.most_ends:
        what = f"This model has {given.function.n_ends:,} leaves; {target.title} is offered up to {target.most_ends:,}."
        raise NotExported(what, remedy="Export it as JSON.")


def _about_cells(schema: Schema) -> Iterator[str]:
    """What a cell must be known to mean: which part of a date is asked for, and which cells count as missing."""
    for feature in schema.features:
        if isinstance(feature, DateFeature):
            yield f"{spelled(feature.name)} is a date, written {feature.order}, and counts as a number: {feature.meaning}."
        if feature.missing_codes:
            yield f"In {spelled(feature.name)} these cells are missing: {', '.join(map(spelled, feature.missing_codes))}."
        if isinstance(feature, CategoricalFeature):
            for name in dict.fromkeys(category for _, category in feature.groups):
                texts = ", ".join(spelled(text) for text, category in feature.groups if category == name)
                yield f"In {spelled(feature.name)} these texts count as {spelled(name)}: {texts}."
