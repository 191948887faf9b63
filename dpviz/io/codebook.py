"""Codebooks: what is publicly known about the columns of a table, one line per column, in CSV or Excel.

The columns of a codebook have fixed names (`COLUMNS`). People write it from public knowledge, not from the rows, so everything in
it counts as declared. What a line says is kept or refused, never dropped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.io.csv import read_csv
from dpviz.io.csv_text import csv_text, unguarded
from dpviz.io.limits import LARGEST_SCHEMA
from dpviz.io.lists import codes_in, groups_in, groups_text, list_text
from dpviz.io.records import TextColumn
from dpviz.io.tables.read import read_table
from dpviz.io.text import Source, name_of, read_bytes
from dpviz.table.column_draft import ColumnDraft, Use, feature_of, number_in, target_of
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.raw import RawColumn, RawTable
from dpviz.table.schema import Feature, Schema, Target

#: The columns of a codebook, in the order of a template; only `name` must be there.
COLUMNS: tuple[str, ...] = ("name", "type", "min", "max", "values", "missing codes", "unit", "date as", "date written")
COLUMNS += ("date since", "groups", "if missing", "if unknown", "role")
TYPES = ("number", "integer", "categories", "date", "leave out")
_ROLES = ("target", "person")
_EVERY = {"name", "type", "missing codes", "if missing", "role"}
#: Columns that say something of a type, beside these.
_NUMBER = {"min", "max", "unit"}
_HELD: dict[str, set[str]] = {
    "": set(),
    "number": _NUMBER,
    "integer": _NUMBER,
    "date": {*_NUMBER, "date as", "date written", "date since"},
    "categories": {"values", "groups", "if unknown"},
    "leave out": set(COLUMNS),
}
#: What the name of a line begins with that shows how one is written: it is about no column.
EXAMPLE = "# example: "
#: A codebook holds a line per column of the table.
_MOST: dict[str, Any] = {"max_rows": 20_000, "max_columns": 200}


@dataclass(frozen=True, slots=True)
class Codebook:
    """A codebook as it was read: a description per column, complete or not.

    `target` and `person` are the columns that it says are to be predicted and whose row it is; None where it does not say.
    """

    columns: tuple[ColumnDraft, ...]
    target: str | None = None
    person: str | None = None


def import_codebook(
    source: Source, *, target: str | None = None, sheet: str | int | None = None, n_public: int | None = None
) -> Schema:
    """The schema that a codebook declares. A column with the role person becomes its `person`: `encode` then limits rows.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        CSV or Excel with a line per column of the table, and the columns name, type, min, max, values, missing codes, unit, date
        as, date written, date since, groups, if missing, if unknown, role, as far as they say something. Types are number,
        integer, categories, date and leave out. Of values such as "1=yes; 2=no" the codes count, for cells hold them; groups
        such as "M=m; male=m" say which further texts count as which value.
    target : str, optional
        The column to predict; by default the one whose role is target.
    sheet : str or int, optional
        Of a workbook.
    n_public : int, optional
        A row count that may be known.

    Raises
    ------
    TableError
        The file cannot be read.
    SchemaError, DpvizError
        A column of the codebook is not known; a line says too little, contradicts itself, or holds a number that may mean two;
        the target is not in it.
    """
    book = read_codebook(source, sheet=sheet, target=target)
    columns = {column.name: column for column in book.columns if column.name != book.person}
    if (target := book.target) is None:
        remedy = "Write target in its column 'role', or give target=."
        raise SchemaError("The codebook does not say which column is the target.", remedy=remedy)
    if target not in columns:
        what = f"The codebook has no line for the target {target!r:.60}."
        raise SchemaError(what, field=target, remedy="Add one, or name another target.")
    _require_complete(columns[target])
    features = [column for column in columns.values() if column.name != target and column.use is not Use.LEFT_OUT]
    for column in features:
        _require_complete(column)
    return Schema(tuple(map(feature_of, features)), target_of(columns[target]), n_public, person=book.person)


def _require_complete(column: ColumnDraft) -> None:
    """Raise SchemaError for what the codebook leaves open."""
    name = column.name[:60]
    if column.use in (None, Use.LEFT_OUT):
        raise SchemaError("The codebook does not say what it is.", field=name, remedy="Give its type, or 'leave out'.")
    if lacking := column.lacks():
        what = {"low": "min", "high": "max", "categories": "values"}[lacking.split()[0]]
        remedy = f"Give {what}, or the type 'leave out'."
        raise SchemaError(f"The codebook gives no {what}.", field=name, remedy=remedy)


# --- templates


def codebook_template(names: Iterable[str], schema: Schema | None = None) -> str:
    """A codebook as CSV to fill in, with a line per column; with what `schema` declares where one is given.

    Without one, lines whose names begin with "# example" show how columns are described. They are about no column, and are
    not read. Raises ParameterError for names that are not texts.
    """
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        raise ParameterError("codebook_template", "names", names, "a list of texts")
    if schema is None:
        lines: list[dict[str, Any]] = [*({**line, "name": EXAMPLE + line["name"]} for line in _EXAMPLES)]
        lines += [{"name": name} for name in names]
    else:
        known = {column.name: column for column in (*schema.features, schema.target)}
        lines = [_line(name, known.get(name), schema) for name in names]
    return csv_text(COLUMNS, [[line.get(column) for column in COLUMNS] for line in lines])


#: How columns of four kinds are described.
_EXAMPLES: tuple[dict[str, str], ...] = (
    {"name": "age", "type": "integer", "min": "18", "max": "99", "missing codes": "999; k.A.", "unit": "years"},
    {"name": "ward", "type": "categories", "values": "internal medicine; surgery", "groups": "int. med. = internal medicine"},
    {"name": "admitted", "type": "date", "min": "1", "max": "12", "date as": "month", "date written": "dmy"},
    {"name": "patient", "type": "leave out", "role": "person"},
    {"name": "readmitted", "type": "categories", "values": "no; yes", "groups": "0 = no; 1 = yes", "role": "target"},
)
_TYPE_OF = {"numeric": "number", "number": "number", "date": "date", "categorical": "categories", "classes": "categories"}


def _line(name: str, column: Feature | Target | None, schema: Schema) -> dict[str, Any]:
    role = "target" if name == schema.target.name else "person" if name == schema.person else None
    if column is None:
        return {"name": name, "type": "leave out", "role": role}
    said = column.to_dict()
    kind = _TYPE_OF[said["kind"]]
    return {
        "name": name,
        "type": "integer" if kind == "number" and said.get("whole") else kind,
        "min": _unmistakable(said.get("low")),
        "max": _unmistakable(said.get("high")),
        "values": list_text(said.get("categories") or said.get("classes") or ()),
        "missing codes": list_text(said.get("missing_codes", ())),
        "unit": said.get("unit"),
        "date as": said.get("part"),
        "date written": said.get("order"),
        "date since": said.get("since") if said.get("part") == "days" else None,
        "groups": groups_text(said.get("groups", ())),
        "if missing": said.get("missing_as"),
        "if unknown": said.get("unknown_as"),
        "role": role,
    }


def _unmistakable(number: float | None) -> float | str | None:
    """A number that nobody takes for another: 12.3450 rather than 12.345."""
    return f"{number}0" if number is not None and re.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}", str(number)) else number


# --- lines


def read_codebook(source: Source, *, sheet: str | int | None = None, target: str | None = None) -> Codebook:
    """What a codebook says; raises what `import_codebook` raises for a file. `target` is predicted whatever it says.

    Of missing and unknown cells of which it says nothing, rows are dropped.
    """
    table, is_workbook = _table(source, sheet)
    columns = {_known_column(name): _cells(column) for name, column in zip(table.names, table.columns, strict=True)}
    if "name" not in columns:
        raise SchemaError("The codebook has no column 'name'.", remedy="Add it, with the names of the table's columns.")
    lines = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    lines = [line for line in lines if line["name"] and not line["name"].startswith(EXAMPLE.strip())]
    name, times = next(iter(Counter(line["name"] for line in lines).most_common(1)), ("", 0))
    if times > 1:
        raise SchemaError(f"The codebook has two lines for {name!r:.60}.", field=name[:60], remedy="Keep one of them.")
    roles = {role: _in_role(role, lines) for role in _ROLES}
    target = target or roles["target"]
    return Codebook(tuple(_column(line, is_workbook, target) for line in lines), target, roles["person"])


def _table(source: Source, sheet: str | int | None) -> tuple[RawTable, bool]:
    """(the codebook, whether it is a workbook, whose numbers have one meaning)."""
    raw, name = read_bytes(source, LARGEST_SCHEMA), name_of(source, None)
    if raw.startswith(b"PK"):
        return read_table(raw, name=name, sheet=sheet, **_MOST), True
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        remedy = "Give a CSV or Excel file with a line per column; a schema is read with load_schema."
        raise SchemaError("This is JSON, not a codebook.", remedy=remedy)
    return read_csv(raw, name=name, row_wise=False, **_MOST), False  # it is public, so a cell in quotes may hold several lines


def _known_column(name: str) -> str:
    if name.lower() in COLUMNS:
        return name.lower()
    is_redcap = name in ("Variable / Field Name", "Choices, Calculations, OR Slider Labels")
    what = "This is a data dictionary of REDCap, not a codebook" if is_redcap else "The codebook has a column that is not known"
    raise SchemaError(f"{what}.", field=name[:60], remedy=f"Call its columns {', '.join(COLUMNS)}; leave others out.")


def _cells(column: RawColumn) -> list[str]:
    """The cells; in a file of text NA is a text, for a column or a category may be called so."""
    if isinstance(column, TextColumn):
        return list(map(unguarded, column.written()))
    return ["" if code < 0 else column.texts[code] for code in column.codes.tolist()]


def _in_role(role: str, lines: Iterable[Mapping[str, str]]) -> str | None:
    """The one column in this role."""
    said = [(line["name"], line.get("role", "").lower()) for line in lines]
    strange = next((name for name, word in said if word not in ("", *_ROLES)), None)
    if strange is not None:
        raise SchemaError("The codebook gives a role that is not known.", field=strange[:60], remedy="Write target or person.")
    names = [name for name, word in said if word == role]
    if len(names) > 1:
        raise SchemaError(f"The codebook names two columns as {role}.", field=names[1][:60], remedy="Keep one of them.")
    return names[0] if names else None


def _column(line: Mapping[str, str], is_workbook: bool, target: str | None) -> ColumnDraft:
    """What a line says."""
    name, kind, field = line["name"], line.get("type", "").lower(), line["name"][:60]
    if kind not in _HELD:
        what = f"The type {kind!r:.40} is not known."
        raise SchemaError(what, field=field, remedy=f"Write {', '.join(TYPES[:-1])} or {TYPES[-1]}.")
    if kind == "leave out":
        return ColumnDraft(name, Use.LEFT_OUT)
    if kind == "date" and name == target:
        raise SchemaError("A date cannot be predicted.", field=field, remedy="Choose another target, or give its classes.")
    _require_held(line, kind)

    def number(column: str) -> float | None:
        try:
            return number_in(line[column], point_is_decimal=is_workbook) if line.get(column) else None
        except DpvizError as error:
            raise SchemaError(error.what, field=f"{field}, {column}", remedy=error.remedy) from None

    missing_codes = codes_in(line.get("missing codes", ""), field=f"{field}, missing codes")
    if kind in ("", "categories"):
        return ColumnDraft(
            name,
            Use.CATEGORIES if kind else None,
            missing_number=None,
            missing_codes=missing_codes,
            categories=codes_in(line.get("values", ""), field=f"{field}, values"),
            groups=groups_in(line.get("groups", ""), field=f"{field}, groups"),
            missing_as=line.get("if missing") or None,
            unknown_as=line.get("if unknown") or None,
        )
    part = (line.get("date as", "").lower() or "year") if kind == "date" else ""
    usual = (None, None) if part in ("", "year") else PARTS[part] or (None, None)
    low, high = (end if (end := number(column)) is not None else usual[place] for place, column in enumerate(("min", "max")))
    return ColumnDraft(
        name,
        Use.NUMBER,
        low,
        high,
        line.get("unit", ""),
        whole=kind != "number",
        missing_number=number("if missing"),
        part=part,
        order=line.get("date written", "").lower() or ORDERS[0],
        since=line.get("date since", "") or "1970-01-01",
        missing_codes=missing_codes,
        missing_as=None,
        unknown_as=None,
    )


def _require_held(line: Mapping[str, str], kind: str) -> None:
    """Raise SchemaError for a cell that a column of this type cannot hold: it would be lost without a word."""
    lost = next((column for column, cell in line.items() if cell and column not in _HELD[kind] | _EVERY), None)
    if lost is not None:
        what = f"The codebook gives {lost!r}, which {f'the type {kind!r}' if kind else 'a column without a type'} does not hold."
        raise SchemaError(what, field=line["name"][:60], remedy="Leave that cell empty, or give another type.")
    for column, known in {"date as": tuple(PARTS), "date written": ORDERS}.items():
        if line.get(column) and line[column].lower() not in known:
            what = f"{column} = {line[column]!r:.40} is not known."
            raise SchemaError(what, field=line["name"][:60], remedy=f"Give one of {', '.join(map(repr, known))}.")
