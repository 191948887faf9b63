"""Looks at how private rows fit their schema, and what follows: what was corrected after one needs a public source.

The register keeps a digest of the schema at the first look, which is public. So the answer is the same in another session, on
the command line and in Python. The rows are told again by their count and the sum of the column to predict, under any schema.
"""

from dataclasses import replace
from hashlib import sha256

from dpviz.errors import RefusedRelease
from dpviz.release.register import ReleaseRegister
from dpviz.table.schema import Schema
from dpviz.training.counted_rows import Rows


def note_look(register: ReleaseRegister, what: str, data: Rows) -> None:
    """Note a look (LOOK or WARNED) at these rows by their schema."""
    register.note_exploration(data.identity, what=what, learner="", settings={})
    register.note_schema(_rows(data), _digest(data.schema))


def is_corrected(register: ReleaseRegister, data: Rows) -> bool:
    """Whether the first look at these rows was by another schema than theirs."""
    first = register.schemas_at_looks(_rows(data))
    return bool(first) and _digest(data.schema) not in first


def require_source(register: ReleaseRegister, data: Rows, remedy: str) -> None:
    """Raise RefusedRelease where the schema was corrected after a look at these rows and names no public source of that."""
    if not data.schema.source and is_corrected(register, data):
        what = "The schema was changed after a look at how these rows fit, and names no public source."
        raise RefusedRelease(what, where="source", remedy=f"{remedy} Nothing was spent.")


def _rows(data: Rows) -> str:
    sums = data.table_sums
    target = next((one for one in sums.columns if one.name == data.schema.target.name), None) if sums.is_known else None
    return data.identity if target is None else f"{sums.n_rows} {target.text}"


def _digest(schema: Schema) -> str:
    return sha256(replace(schema, source="").key.encode()).hexdigest()[:16]
