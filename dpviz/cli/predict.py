"""Predict new rows with a model and write one line of answers per row of DATA, in order, as CSV or Parquet.

DATA needs the columns the model asks for and no target. The output has the column `label` and, where the model holds
probabilities, `p_CLASS` for every class; for a number the column `value`. A line is empty where the model's schema has no
answer (a missing or unknown cell that drops the row) and where the line of DATA is no record of the table; a record whose
quoted cell spans lines has one answer. With --key the first column is that column of DATA. Keys and labels are written as they
are, in Parquet with the type that they have in Parquet, Feather and databases. --guard-formulas puts an apostrophe before those
that a spreadsheet might run (=, +, -, @), but not before numbers.

With ENGINE://PLACE?table=NAME&order=KEY the rows are read from a database in the order of the column KEY, which comes first in
the output. The model's columns and KEY leave the database for that; `dpviz export --to duckdb` writes SQL that answers inside.

Example: dpviz predict tree.json new.csv --key id --out answers.csv
"""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import READING, flag, option, output, shared, table_or_address
from dpviz.cli.rows import reading_of, require_plain, table_of
from dpviz.io.answers import Answers, answers_to, is_formula, keys_of, parts
from dpviz.io.options import ReadOptions
from dpviz.io.results import read_model_file
from dpviz.io.tables.arrow import table_of_batch
from dpviz.io.text import UNREADABLE
from dpviz.models.base import Model
from dpviz.models.document import model_from_json
from dpviz.models.new_rows import Unanswered
from dpviz.rows.address import parse_address
from dpviz.rows.files import IN_BATCHES, batches_of, is_large
from dpviz.rows.opening import read_rows
from dpviz.table.encode import encode_new
from dpviz.table.notes import Doubt
from dpviz.table.raw import RawTable

OPTIONS = {
    **shared("model"),
    **table_or_address(
        "rows, in a file or folder of any kind that `train` reads, or ENGINE://PLACE?table=NAME&order=KEY; no target is needed"
    ),
    **shared(*READING),
    "--key": option(str, "COLUMN", "a column of DATA that says whose answer it is; it comes first"),
    "--guard-formulas": flag("write CSV for a spreadsheet: an apostrophe before keys and labels that begin like formulas"),
    **output("the answers, as CSV, or as Parquet where FILE ends in .parquet"),
    **shared("--json"),
}


def run(args: Namespace) -> int:
    """Read, predict, write, and say how many rows got an answer."""
    check_output(args.out, force=args.force, inputs=(args.model, args.data))
    model = model_from_json(read_model_file(args.model))
    unanswered, formulas = Unanswered(), _Formulas(args.out.suffix.lower() == ".parquet")
    found = formulas.seen(_answers(model, _pieces(args, model), unanswered))
    write_whole(args.out, parts(args.out.suffix, found, guard=args.guard_formulas), force=args.force)
    if formulas.found and not (args.guard_formulas or formulas.is_parquet):
        console.warn(
            "Some keys or labels begin like formulas of a spreadsheet and are written as they are; see --guard-formulas."
        )
    if formulas.lost:
        console.warn("Some keys hold bytes that are not UTF-8, which are lost: such keys cannot be joined to DATA.")
    if unanswered.sentence:
        console.warn(unanswered.sentence)
    pairs = [("Rows", f"{unanswered.n_rows:,}"), ("Without an answer", f"{unanswered.count:,}"), ("File", str(args.out))]
    console.show_pairs(pairs)
    return 0


@dataclass(frozen=True)
class _Piece:
    """Some rows, and what the column `key` holds of each; without a name rows are told apart by their line."""

    table: RawTable
    key: str = ""
    keys: Any = None  #: An Arrow array; None: they are in the table


@dataclass
class _Formulas:
    """Whether a key, a label or a name among answers begins like a formula, and whether a key has lost letters."""

    is_parquet: bool
    found: bool = False
    lost: bool = False

    def seen(self, pieces: Iterable[Answers]) -> Iterator[Answers]:
        """The same answers, looked at."""
        for piece in pieces:
            keys = [] if self.is_parquet and not isinstance(piece.keys, list) else piece.written
            self.found = self.found or any(map(is_formula, chain(piece.header, piece.labels, keys)))
            self.lost = self.lost or any(isinstance(key, str) and UNREADABLE in key for key in keys)
            yield piece


def _pieces(args: Namespace, model: Model) -> Iterator[_Piece]:
    """DATA as a whole, or in pieces where it is in an engine, a folder, a database, of a typed kind or too large for memory."""
    names, key = model.schema.feature_names, args.key or ""
    if isinstance(args.data, str):
        address = parse_address(args.data)
        require_plain(args, "key")
        console.doing("Reading rows from the engine")
        for keys, batch in read_rows(args.data, names):
            yield _Piece(table_of_batch(batch, ReadOptions(str(address))), address.order, keys)
    elif is_large(args.data) or (args.data.suffix.lower() in IN_BATCHES and args.data.is_file()):
        wanted = tuple(dict.fromkeys([*names, *([key] if key else [])]))
        asked = ReadOptions(args.data.name, **reading_of(args), wanted=wanted, by_record=True, keep_empty=True, key=key)
        batches = batches_of(args.data, asked)
        console.note(*batches.notes)
        for table in batches.read(console.telling(f"Predicting {args.data}")):
            console.note(*(note for note in table.notes if isinstance(note, Doubt)))
            yield _Piece(table, key)
    else:
        yield _Piece(table_of(args, names, by_record=True, key=key), key)


def _answers(model: Model, pieces: Iterable[_Piece], unanswered: Unanswered) -> Iterator[Answers]:
    """What the model says, piece by piece; `unanswered` counts the rows."""
    n_records = 0
    for number, piece in enumerate(pieces):
        new = encode_new(piece.table, model.schema)
        unanswered.add(new)
        console.note(*(note.after(n_records) for note in new.unread))
        n_records += len(new.usable)
        keys = piece.keys
        if keys is None:
            keys = keys_of(piece.table, piece.key) if piece.key else None
        found, why = answers_to(model, new, piece.key, keys)
        if why and number == 0:
            console.warn(f"Only labels are written. {why}")
        yield found
