"""`encode_large`: a table that is larger than memory, read in pieces and encoded once, row by row, into temporary files."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path

from dpviz.errors import DpvizError
from dpviz.io.large.binned import Binned, in_pieces, with_bins, written
from dpviz.io.large.rows import FileRows
from dpviz.io.large.source import is_large, pieces_of, stamp_of
from dpviz.io.options import ReadOptions
from dpviz.learners.request import read_rows
from dpviz.progress import Progress, Stop, watched
from dpviz.table.candidates import multiscale_candidates
from dpviz.table.dataset import CHANGES, EncodedDataset, EncodingReport
from dpviz.table.encode import encode, encode_bins, encode_quietly
from dpviz.table.notes import Doubt, Unread, warn_of
from dpviz.table.raw import RawTable
from dpviz.table.schema import Schema, require_no_persons
from dpviz.table.sums import TableSums
from dpviz.training.counted_rows import Rows


def encode_large(
    source: str | Path,
    schema: Schema,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> FileRows:
    """Encode a table that is larger than memory. What becomes of a row is what `read_table` and `encode` make of it.

    The encoded rows are in temporary files that nobody else can open and that vanish with their last use, at the latest with
    the process. Use them in a `with` block. `dpviz.fit` trains learners on them that need only counts, PF-tree among them.

    Parameters
    ----------
    source : str or Path
        Parquet, Feather, CSV (also .gz) or a DuckDB file; or a folder of files of one kind, all Parquet, Feather or CSV, read in
        the order of their names. Private rows.
    schema : Schema
        Declared: nothing is read from a table this large to propose one.
    names, delimiter, encoding
        Of text, as in `read_table`; lines are read by the same row-wise reader.
    sheet : str, optional
        Name of the table of a DuckDB file; needed where it holds several.
    progress : callable (share in [0, 1]), optional
        Told how much is read.
    stop : callable or Event, optional
        Ends the reading, and later the counting, with Cancelled.

    Raises
    ------
    TableError
        The source cannot be read; `code` as in `read_table`, or several-files, several-tables.
    SchemaError
        A column of the schema is not in the table; the schema has a person's column, for rows of persons are not limited here.
    MissingExtra
        What reads this kind of file is not installed.
    DpvizError
        There is no room for the temporary files.
    """
    require_no_persons(schema)
    wanted = (*schema.feature_names, schema.target.name)
    given = None if names is None else tuple(names)
    path, step, reports, sums = Path(source), watched(progress, stop), list[EncodingReport](), list[TableSums]()
    asked = ReadOptions(path.name, names=given, delimiter=delimiter, encoding=encoding, sheet=sheet, wanted=wanted)
    pieces = pieces_of(path, asked)
    stamp, notes = stamp_of(path), dict.fromkeys(pieces.notes)

    def read(encoded: Callable[[RawTable], EncodedDataset]) -> Iterator[EncodedDataset]:
        for table in pieces.read(step):
            notes.update(dict.fromkeys(note for note in table.notes if isinstance(note, Doubt)))
            data = encoded(table)
            assert data.report is not None
            reports.append(data.report)
            sums[:] = [reduce(add, (*sums, data.table_sums.made()))]  # at once, so that no piece is held for its sums
            yield data

    def require_unchanged() -> None:
        if stamp_of(path) != stamp:
            what = f"{path.name!r} has changed since its rows were read first."
            raise DpvizError(what, remedy="Encode it again when nobody writes to it.")

    def values() -> EncodedDataset:
        require_unchanged()  # another file is not read as this one, which would look damaged
        data = written(read(lambda table: encode_quietly(table, schema)))
        require_unchanged()
        return data

    candidates = multiscale_candidates(schema)
    if pieces.is_text:  # to read lines again would cost far more than to keep their values
        data = values()
        binned, again = Binned.of((with_bins(piece, candidates) for piece in in_pieces(data)), candidates, schema), lambda: data
    else:
        bins = read(lambda table: encode_bins(table, schema, candidates))
        binned, again = Binned.of(bins, candidates, schema), values
    report = _joined(reports, wanted)
    warn_of((*notes, *report.unread))
    about = {"report": report, "names": pieces.names, "notes": tuple(notes), "table_sums": sums[0]}
    return FileRows(binned, again, stop=stop, **about)  # type: ignore[arg-type]


@read_rows.register(str)
@read_rows.register(Path)
def _(rows: str | Path, schema: Schema) -> Rows:
    """A file or folder, counted where it is when it takes more than memory."""
    return encode_large(rows, schema) if is_large(Path(rows)) else encode(rows, schema)


def _joined(reports: Sequence[EncodingReport], columns: Sequence[str]) -> EncodingReport:
    """One report of rows that were encoded in pieces, with columns in their order."""
    first = reports[0]

    def added(kind: str) -> tuple[tuple[str, int], ...]:
        counts = dict.fromkeys(columns, 0)
        for report in reports:
            for name, count in getattr(report, kind):
                counts[name] += count
        return tuple((name, count) for name, count in counts.items() if count)

    whole = {
        kind: sum(getattr(report, kind) or 0 for report in reports)
        for kind in ("rows_read", "rows_kept", "malformed", "unchanged")
    }
    cells = {kind: added(kind) for kind in ("dropped_missing", "dropped_unknown", "dropped_target", *CHANGES)}
    unread = dict[tuple[int, tuple[str, str]], Unread]()
    for note in (note for report in reports for note in report.unread):
        key = columns.index(note.column), note.words
        unread[key] = unread[key].with_more(note) if key in unread else note
    return replace(first, unread=tuple(unread[key] for key in sorted(unread)), **whole, **cells)  # type: ignore[arg-type]
