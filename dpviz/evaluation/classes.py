"""Questions that are asked of classes only: what they say when the target is a number."""

from __future__ import annotations

from dpviz.errors import NeedsClasses
from dpviz.table.schema import NumericTarget, Schema


def require_classes(schema: Schema, what: str) -> None:
    """Raise NeedsClasses for a numeric target; `what` begins the sentence ("A poisoning guarantee")."""
    if isinstance(schema.target, NumericTarget):
        raise NeedsClasses(what, schema.target.name)
