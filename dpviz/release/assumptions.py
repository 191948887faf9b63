"""What a release takes as public knowledge: every assumption, where it comes from, and how to fix it.

A value read from the rows blocks a release: no epsilon covers it. A declared value only has to be true. Settings chosen by
looking at results on the same rows are not covered either; whoever releases is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target

#: A public row count with more digits than this, or not rounded to tens, looks counted rather than known.
MOST_DIGITS = 3
#: Fields of columns with an assumption of their own.
_SAID = frozenset({"kind", "low", "high", "categories", "classes"})
_DECLARE = "Declare it from public knowledge on the Data page."


class Status(StrEnum):
    """Where an assumption comes from."""

    DECLARED = "declared"
    READ = "read from data"
    EXPLORED = "explored"
    DOUBTFUL = "looks exact"
    UNSAID = "not declared"


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing taken as public; `column` is empty where it belongs to none, `fix` where nothing needs fixing.

    `kind` is "range", "categories", "classes", "kind", "reading", "choice of columns", "row count" or "tuning". What `blocks`
    must be fixed before anything is released.
    """

    kind: str
    column: str
    what: str
    status: Status
    fix: str = ""
    blocks: bool = False

    def to_dict(self) -> dict[str, str]:
        """For the register and the released file."""
        return {"kind": self.kind, "column": self.column, "what": self.what, "source": str(self.status)}


def assumptions(schema: Schema, *, explored: int | None = None) -> tuple[Assumption, ...]:
    """Every assumption of a release under `schema`, those that block it first.

    `explored` is how many fits on the same rows were looked at before, None when the rows are not private. It is private: shown
    here, never written to the file.
    """
    columns = (*schema.features, schema.target)
    found = [item for column in columns for item in _of_column(column)]
    found.append(_of_row_count(schema))
    if "features" in schema.read_from_data:
        found.append(_value("choice of columns", "", "which columns are used", {"features"}))
    if schema.source:
        what = f"corrected after a look at how the rows fit, by: {schema.source}"
        found.append(Assumption("correction", "", what, Status.DECLARED))
    if explored is not None:
        found.append(_of_tuning(explored))
    return tuple(sorted(found, key=lambda item: (not item.blocks, item.status is Status.DECLARED)))


def _of_column(column: Feature | Target) -> Iterator[Assumption]:
    read = set(column.read_from_data)
    match column:
        case NumericFeature(name, low, high) | NumericTarget(name, low, high):
            yield _value("range", name, f"{low:g} to {high:g}", read & {"low", "high"})
        case CategoricalFeature(name, categories):
            yield _value("categories", name, _count(len(categories), "category", "categories"), read & {"categories"})
        case ClassTarget(name, classes):
            yield _value("classes", name, _count(len(classes), "class", "classes"), read & {"classes"})
    if "kind" in read:
        yield _value("kind", column.name, "whether it is a number or a list of categories", {"kind"})
    if read - _SAID:
        yield _value("reading", column.name, "how its cells are read: missing, unknown, whole numbers, dates", read)


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _value(kind: str, column: str, what: str, read: set[str]) -> Assumption:
    if read:
        return Assumption(kind, column, what, Status.READ, _DECLARE, blocks=True)
    return Assumption(kind, column, what, Status.DECLARED)


def _of_row_count(schema: Schema) -> Assumption:
    count = schema.n_public
    if count is None:
        return Assumption("row count", "", "none is taken as public", Status.UNSAID)
    what = f"about {count:,} rows"
    if "n_public" not in schema.read_from_data and _looks_counted(count):
        return Assumption("row count", "", what, Status.DOUBTFUL, "Round it, unless the exact number is public.")
    return _value("row count", "", what, {"n_public"} & set(schema.read_from_data))


def _looks_counted(count: int) -> bool:
    """Whether a declared count is not rounded. Whether it *is* the count of the rows cannot be told without reading them."""
    return count % 10 ** max(1, len(str(count)) - MOST_DIGITS) != 0


def _of_tuning(explored: int) -> Assumption:
    if not explored:
        return Assumption("tuning", "", "settings were chosen without looking at these rows", Status.DECLARED)
    what = f"settings were chosen after {_count(explored, 'look', 'looks')} at these rows"
    fix = "Choose settings on simulated or public rows of the same kind (Compare page), then release them once."
    return Assumption("tuning", "", what, Status.EXPLORED, fix)
