"""Predict new rows with a model and write one line of answers per row of DATA, in order.

DATA needs the columns the model asks for and no target. The output has the column `label` and, where the model holds
probabilities, `p_CLASS` for every class; for a number the column `value`. A line is empty where the model's schema has no
answer (a missing or unknown cell that drops the row) and where the line of DATA is no record of the table.

With ENGINE://PLACE?table=NAME&order=KEY the rows are read from a database in the order of the column KEY, which comes first in
the output. The model's columns and KEY leave the database for that; `dpviz export --to duckdb` writes SQL that answers inside.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpviz.commands import console
from dpviz.commands.arguments import add_model_arguments
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.commands.rows import reading_of, require_plain, table_of
from dpviz.engines.address import parse_address
from dpviz.engines.reading import read_rows
from dpviz.errors import NoProbabilities
from dpviz.io.csv_text import csv_text
from dpviz.io.large.arrow import table_of_batch
from dpviz.io.large.source import is_large, pieces_of
from dpviz.io.results import read_model_file
from dpviz.io.tables.cells import Asked
from dpviz.models.base import Model
from dpviz.models.document import model_from_json
from dpviz.models.new_rows import answers, probabilities
from dpviz.table.raw import RawTable
from dpviz.table.schema import NumericTarget


def add_arguments(parser: ArgumentParser) -> None:
    """Model, rows, file."""
    add_model_arguments(
        parser,
        "rows, in a file or folder of any kind that `train` reads, or ENGINE://PLACE?table=NAME&order=KEY; no target is needed",
    )
    add_output_arguments(parser, "the answers, as CSV")


def run(args: Namespace) -> int:
    """Read, predict, write, and say how many rows got an answer."""
    check_output(args.out, force=args.force, inputs=[path for path in (args.model, args.data) if isinstance(path, Path)])
    model = model_from_json(read_model_file(args.model))
    counts = [0, 0]
    write_whole(args.out, _texts(model, _pieces(args, model), counts), force=args.force)
    n_rows, without = counts
    console.show_pairs([("Rows", f"{n_rows:,}"), ("Without an answer", f"{without:,}"), ("File", str(args.out))])
    return 0


@dataclass(frozen=True)
class _Piece:
    """Some rows, and what the column `key` holds of each; without a name rows are told apart by their line."""

    table: RawTable
    key: str = ""
    keys: Sequence[object] = ()


def _pieces(args: Namespace, model: Model) -> Iterator[_Piece]:
    """DATA as a whole, or in pieces where it is in an engine, a folder, a database or too large for memory."""
    if isinstance(args.data, str):
        address = parse_address(args.data)
        require_plain(args)
        console.doing("Reading rows from the engine")
        for keys, batch in read_rows(args.data, model.schema.feature_names):
            yield _Piece(table_of_batch(batch, str(address)), address.order, keys)
    elif is_large(args.data):
        pieces = pieces_of(args.data, Asked(args.data.name, **reading_of(args)))
        yield from map(_Piece, pieces.read(console.telling(f"Predicting {args.data}")))
    else:
        yield _Piece(table_of(args))


def _texts(model: Model, pieces: Iterable[_Piece], counts: list[int]) -> Iterator[str]:
    """The output, piece by piece; `counts` becomes (rows, rows without an answer)."""
    for number, piece in enumerate(pieces):
        header, lines = _answers(model, piece.table)
        counts[:] = counts[0] + len(lines), counts[1] + sum(line[0] is None for line in lines)
        if piece.key:
            header, lines = [piece.key, *header], [[key, *line] for key, line in zip(piece.keys, lines, strict=True)]
        yield csv_text(header if number == 0 else [], lines)


def _answers(model: Model, table: RawTable) -> tuple[list[str], list[list[object]]]:
    found = answers(model, table)
    if isinstance(model.schema.target, NumericTarget):
        return ["value"], [[None if np.isnan(value) else value] for value in found.tolist()]
    try:
        shares = probabilities(model, table)
    except NoProbabilities as error:
        console.warn(f"Only labels are written. {error.what}")
        shares = np.empty((len(found), 0))
    header = ["label", *(f"p_{name}" for name in model.schema.classes[: shares.shape[1]])]
    given = shares.astype(object)
    given[np.isnan(shares)] = None
    labels = (None if label is None else _cell(label) for label in found.tolist())
    return header, [[label, *values] for label, values in zip(labels, given.tolist(), strict=True)]


def _cell(label: str) -> str | float:
    """A class that is a number stays one: no spreadsheet takes it for a formula."""
    for kind in (int, float):
        try:
            value = kind(label)
        except ValueError:
            continue
        if str(value) == label:
            return value
    return label
