"""Between a column of a draft and a column of a schema, or of a codebook."""

from dpviz.app.data.column_draft import CATEGORY_FIELDS, CLASS_FIELDS, MIDDLE, NUMERIC_FIELDS, OTHER, ColumnDraft, Use
from dpviz.io.codebook import Entry
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Target
from dpviz.table.written_numbers import number_in


def of_entry(entry: Entry) -> ColumnDraft:
    """What a line of a codebook says, complete or not."""
    uses = dict.fromkeys(("number", "whole", "date"), Use.NUMBER) | {"categories": Use.CATEGORIES, "leave out": Use.LEFT_OUT}
    is_date = entry.kind == "date"
    return ColumnDraft(
        entry.name,
        uses.get(entry.kind) or (Use.CATEGORIES if entry.values else None),
        entry.low,
        entry.high,
        entry.unit,
        is_date or entry.kind == "whole",
        part=(entry.part or "year") if is_date else "",
        order=entry.order or "ymd",
        missing_number=number_in(entry.missing_as) if entry.missing_as and not entry.values else MIDDLE,
        missing_codes=entry.missing_codes,
        categories=entry.values,
        groups=entry.groups,
        missing_as=entry.missing_as or OTHER,
        unknown_as=entry.unknown_as or OTHER,
    )


def of_column(column: Feature | Target) -> ColumnDraft:
    """The draft of a feature or a target."""
    if isinstance(column, NumericFeature | NumericTarget):
        use, fields = Use.NUMBER, NUMERIC_FIELDS
    else:
        use, fields = Use.CATEGORIES, CLASS_FIELDS if isinstance(column, ClassTarget) else CATEGORY_FIELDS
    known = {ours: getattr(column, theirs) for ours, theirs in fields.items() if ours != "kind" and hasattr(column, theirs)}
    read = frozenset(ours for ours, theirs in fields.items() if theirs in column.read_from_data)
    return ColumnDraft(column.name, use, **known, read=read)


def _read(column: ColumnDraft, fields: dict[str, str]) -> tuple[str, ...]:
    return tuple(theirs for ours, theirs in fields.items() if ours in column.read)


def feature_of(column: ColumnDraft) -> Feature:
    """The feature that a draft without gaps declares; raises SchemaError when it contradicts itself."""
    if column.use is Use.NUMBER:
        make, rule = NumericFeature, {}
        if column.part:
            make, rule = DateFeature, {"part": column.part, "order": column.order or "ymd", "since": column.since}
        return make(
            column.name,
            column.low,  # type: ignore[arg-type]  # no gaps: both ends are given
            column.high,  # type: ignore[arg-type]
            unit=column.unit,
            whole=column.whole,
            missing_as=_stand_in(column),
            read_from_data=_read(column, NUMERIC_FIELDS),
            missing_codes=column.missing_codes,
            **rule,  # type: ignore[arg-type]
        )
    named = dict.fromkeys(filter(None, (*column.categories, column.missing_as, column.unknown_as)))
    return CategoricalFeature(
        column.name,
        tuple(named),
        missing_as=column.missing_as,
        unknown_as=column.unknown_as,
        missing_codes=column.missing_codes,
        read_from_data=_read(column, CATEGORY_FIELDS),
        groups=column.groups,
    )


def _stand_in(column: ColumnDraft) -> float | None:
    """Of a missing number; the middle of a range of whole numbers is a whole number."""
    if column.missing_number != MIDDLE:
        return column.missing_number  # type: ignore[return-value]
    middle = (column.low + column.high) / 2  # type: ignore[operator]
    return float(round(middle)) if column.whole or column.part else middle


def target_of(column: ColumnDraft) -> Target:
    """The same for the target."""
    if column.use is Use.NUMBER:
        numeric = {field: field for field in ("kind", "low", "high", "missing_codes")}
        low, high = column.low, column.high  # no gaps: both ends are given
        return NumericTarget(column.name, low, high, _read(column, numeric), column.missing_codes)  # type: ignore[arg-type]
    return ClassTarget(column.name, column.categories, _read(column, CLASS_FIELDS), column.groups)
