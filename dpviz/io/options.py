"""How a file is read, and what a library's error becomes."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from dpviz.errors import TableError, replace_errors
from dpviz.io.limits import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, require_bytes, require_rows
from dpviz.progress import Progress, watch
from dpviz.table.validation import validate_count


@dataclass(frozen=True)
class ReadOptions:
    """What to read of a file, and how much of it at most.

    `names`, `rename`, `delimiter` and `encoding` are for files of text, `sheet`, `rename` and `names` for workbooks. `step` is
    told the share that is read, by bytes, lines or columns, and raises Cancelled once nobody wants the rest. `wanted` are the
    columns that are needed (None: all): of a table in pieces no others are read, and in text the line that holds them is the
    header.
    """

    title: str
    max_bytes: int = MAX_BYTES
    max_rows: int = MAX_ROWS
    max_columns: int = MAX_COLUMNS
    names: tuple[str, ...] | None = None
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | int | None = None
    rename: bool = False
    step: Progress = watch(None, None)
    wanted: tuple[str, ...] | None = None
    by_record: bool = False  #: Of text: a cell in quotes may span lines; for rows that are predicted, never for rows to train on
    key: str = ""  #: A column whose cells are to come out again as they are
    keep_empty: bool = False  #: Of a typed file in pieces: keep rows in which every wanted cell is missing

    def __post_init__(self) -> None:
        for limit in ("max_bytes", "max_rows", "max_columns"):
            validate_count("a reader of tables", limit, getattr(self, limit), 0)

    def require_rows(self, n_rows: int) -> None:
        """Raise TableError where there are more rows than may be read."""
        require_rows(n_rows, self.max_rows)

    def require_bytes(self, n_bytes: int) -> None:
        """Raise TableError where the table takes more bytes than may be read."""
        require_bytes("The unpacked table", n_bytes, self.max_bytes)


def redact_errors(kind: str) -> AbstractContextManager[None]:
    """Whatever a library raises about the file becomes one error that quotes nothing."""
    what = f"This {kind} is damaged, cut short, or of a kind that cannot be read."
    remedy = "Save it again in its own program, or save the table as CSV."
    large = f"This {kind} takes more memory to read than a table may."

    def error(theirs: Exception) -> TableError:
        if isinstance(theirs, MemoryError):
            return TableError("too-many-bytes", large, remedy="Keep fewer rows or columns; in Python, raise max_bytes.")
        return TableError("damaged", what, remedy=remedy)

    return replace_errors(error)
