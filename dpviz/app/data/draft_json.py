"""A draft as JSON, format "dpviz-draft/1": names of columns and what was declared of them, finished or not. Never a row."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from dpviz.app.data.draft import SchemaDraft
from dpviz.table.column_draft import FIELDS, MIDDLE, ColumnDraft
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.role import DataRole
from dpviz.table.strict_json import read_entry, require_format, wrong

FORMAT = "dpviz-draft/1"
_MOST = 1_000_000_000_000


@dataclass(frozen=True)
class KeptDraft:
    """A draft, whose rows it is for, and the sample it belongs to (None: a table that is not kept)."""

    role: DataRole
    draft: SchemaDraft
    sample: str | None = None


def draft_to_json(kept: KeptDraft) -> str:
    """The document as JSON text."""
    said = {"format": FORMAT, "role": str(kept.role), "sample": kept.sample, "draft": asdict(kept.draft)}
    # a frozenset becomes a list
    return json.dumps(said, default=sorted, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def draft_from_dict(document: Any) -> KeptDraft:
    """The draft in parsed JSON. Raises DocumentError, naming the place, for whatever no draft holds."""
    require_format(document, FORMAT)
    sample = read_entry(str | None, document, "sample")  # type: ignore[arg-type]
    kept = KeptDraft(read_entry(DataRole, document, "role"), read_entry(SchemaDraft, document, "draft"), sample)
    _check(kept.draft, ".draft")
    return kept


def _check(draft: SchemaDraft, path: str) -> None:
    """What the Data page relies on. Whether the values make a schema is asked when it is used."""
    names = draft.names
    if len(set(names)) < len(names) or not all(name.strip() for name in names) or len(names) < 2:
        raise wrong("There must be two columns or more, each with a name of its own.", f"{path}.columns")
    for field in ("target", "person"):
        if getattr(draft, field) not in (None, *names):
            raise wrong("This must be one of the columns.", f"{path}.{field}")
    for field in ("n_public", "rows_per_person"):
        count = getattr(draft, field)
        if count is not None and not 1 <= count <= _MOST:
            raise wrong("This must be a whole number above 0.", f"{path}.{field}")
    if (draft.person is None) != (draft.rows_per_person is None):
        raise wrong("This must be given together with person, or not at all.", f"{path}.rows_per_person")
    for place, column in enumerate(draft.columns):
        _check_column(column, f"{path}.columns[{place}]")
        if column.before is not None:
            _check_column(column.before, f"{path}.columns[{place}].before")
            if (column.before.name, column.before.before) != (column.name, None):
                raise wrong("This must be the same column, as it was before.", f"{path}.columns[{place}].before")


def _check_column(column: ColumnDraft, path: str) -> None:
    if isinstance(column.missing_number, str) and column.missing_number != MIDDLE:
        raise wrong(f"This must be a number, {MIDDLE!r} or nothing.", f"{path}.missing_number")
    known = {field for fields in FIELDS.values() for field in fields}
    for field, allowed in {"read": known, "part": {"", *PARTS}, "order": set(ORDERS)}.items():
        value = getattr(column, field)
        if not (value <= allowed if isinstance(value, frozenset) else value in allowed):
            raise wrong(f"This must be of {', '.join(map(repr, sorted(allowed)))}.", f"{path}.{field}")
