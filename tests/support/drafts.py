"""A draft of a schema with something of everything in it."""

from dpviz.app.data.draft import SchemaDraft
from dpviz.app.data.draft_json import KeptDraft
from dpviz.table.column_draft import ColumnDraft, Use
from dpviz.table.role import DataRole

COLUMNS = (
    ColumnDraft("age", Use.NUMBER, 0.5, None, "years", True, 7.0, missing_codes=("999", "k.A."), read=frozenset({"low", "kind"})),
    ColumnDraft("when", Use.NUMBER, 1.0, 12.0, part="month", order="dmy", since="2000-01-01"),
    ColumnDraft("city", Use.CATEGORIES, categories=("São", "日本", "x;y"), missing_as="São", unknown_as="x;y"),
    ColumnDraft("who", Use.LEFT_OUT),
    ColumnDraft("y"),
)
KEPT = KeptDraft(DataRole.PRIVATE, SchemaDraft(COLUMNS, "y", 800, True, "who", 3).looked_at().with_row_count(900))
