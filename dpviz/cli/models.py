"""Commands that use a model: predict, evaluate, export."""

import math
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.charts.compare import interval_text, measure_text
from dpviz.charts.wording import capital, percent
from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import READING, column, flag, option, output, shared, table_or_address
from dpviz.cli.rows import open_rows, reading_of, require_plain, table_of
from dpviz.errors import DpvizError, TableError, path_text
from dpviz.evaluation.comparison import METRICS, metrics_for
from dpviz.evaluation.metrics import ModelAnswers, answered_by_leaf, classifier_answers, metric_intervals, metrics, recalls
from dpviz.io.answers import Answers, answers_to, is_formula, keys_of, parts
from dpviz.io.options import ReadOptions
from dpviz.io.results import read_model_file
from dpviz.io.tables.arrow import table_of_batch
from dpviz.io.text import UNREADABLE
from dpviz.models.base import Model
from dpviz.models.document import model_from_json
from dpviz.models.new_rows import Unanswered
from dpviz.models.tree import as_tree
from dpviz.results.exports import export, export_names, form_called
from dpviz.results.wording import signs_spelled
from dpviz.rows.address import parse_address
from dpviz.rows.files import IN_BATCHES, batches_of, is_large
from dpviz.rows.opening import read_rows
from dpviz.rows.sources import LocalRows, SourceRows
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode_new
from dpviz.table.notes import Doubt
from dpviz.table.raw import RawTable
from dpviz.table.schema import NumericTarget

OPTIONS = {
    "predict": {
        **shared("model"),
        **table_or_address(
            "rows, in a file or folder of any kind that `train` reads, or ENGINE://PLACE?table=NAME&order=KEY; no target"
        ),
        **shared(*READING),
        "--key": option(column, "COLUMN", "a column of DATA that says whose answer it is; it comes first"),
        "--guard-formulas": flag("write CSV for a spreadsheet: an apostrophe before keys and labels that begin like formulas"),
        **output("the answers, as CSV, or as Parquet where FILE ends in .parquet"),
        **shared("--json"),
    },
    "evaluate": {
        **shared("model"),
        **table_or_address(
            "rows with their target, in a file or folder of any kind that `train` reads; or ENGINE://PLACE?table=NAME"
        ),
        **shared(*READING, "--json"),
    },
    "export": {
        "model": option(Path, "MODEL.json", "a model written by `dpviz train`"),
        "--to": option(str, "FORMAT", f"one of {', '.join(export_names())} (sql: the same as sqlite)", required=True),
        "--key": option(column, "COLUMN", "of SQL: a column of the table that comes first"),
        **output("the export"),
        **shared("--json"),
    },
}


# --- predict


def run_predict(args: Namespace) -> int:
    """Predict new rows with a model and write one line of answers per row of DATA, in order, as CSV or Parquet.

    DATA needs the columns the model asks for and no target. The output has the column `label` and, where the model holds
    probabilities, `p_CLASS` for every class; for a number the column `value`. A line is empty where the model's schema has no
    answer (a missing or unknown cell that drops the row) and where the line of DATA is no record of the table; a record whose
    quoted cell spans lines has one answer. With --key the first column is that column of DATA. Keys and labels are written as
    they are, in Parquet with the type that they have in Parquet, Feather and databases. --guard-formulas puts an apostrophe
    before those that a spreadsheet might run (=, +, -, @), but not before numbers.

    With ENGINE://PLACE?table=NAME&order=KEY the rows are read from a database in the order of the column KEY, which comes first
    in the output. The model's columns and KEY leave the database for that; `dpviz export --to duckdb` writes SQL that answers
    inside.

    Example: dpviz predict tree.json new.csv --key id --out answers.csv
    """
    check_output(args.out, force=args.force, inputs=(args.model, args.data))
    model = model_from_json(read_model_file(args.model))
    unanswered, marks = Unanswered(), _Marks(args.out.suffix.lower() == ".parquet")
    answers = marks.watch(_answers(model, _pieces(args, model), unanswered))
    write_whole(args.out, parts(args.out.suffix, answers, guard=args.guard_formulas), force=args.force)
    if marks.formulas and not (args.guard_formulas or marks.is_parquet):
        console.warn(
            "Some keys or labels begin like formulas of a spreadsheet and are written as they are; see --guard-formulas."
        )
    if marks.lost_letters:
        console.warn("Some keys hold bytes that are not UTF-8, which are lost: such keys cannot be joined to DATA.")
    if unanswered.sentence:
        console.warn(unanswered.sentence)
    pairs = [("Rows", f"{unanswered.n_rows:,}"), ("Without an answer", f"{unanswered.count:,}"), ("File", str(args.out))]
    console.show_pairs(pairs)
    return 0


@dataclass
class _Marks:
    """Whether a key, a label or a name among answers begins like a formula, and whether a key has lost letters."""

    is_parquet: bool
    formulas: bool = False
    lost_letters: bool = False

    def watch(self, pieces: Iterable[Answers]) -> Iterator[Answers]:
        """The same answers."""
        for piece in pieces:
            keys = [] if self.is_parquet and not isinstance(piece.keys, list) else piece.key_texts
            self.formulas = self.formulas or any(map(is_formula, chain(piece.header, piece.labels, keys)))
            self.lost_letters = self.lost_letters or any(isinstance(key, str) and UNREADABLE in key for key in keys)
            yield piece


def _pieces(args: Namespace, model: Model) -> Iterator[tuple[RawTable, str, Any]]:
    """(some rows, the name of their key or "", an Arrow array of its cells or None where they are in the table).

    DATA is one piece, or many where it is in an engine, a folder, a database, of a typed kind or too large for memory.
    """
    names, key = model.schema.feature_names, args.key or ""
    if isinstance(args.data, str):
        address = parse_address(args.data)
        require_plain(args, "key")
        console.status("Reading rows from the engine")
        for keys, batch in read_rows(args.data, names):
            yield table_of_batch(batch, ReadOptions(str(address))), address.order, keys
    elif is_large(args.data) or (args.data.suffix.lower() in IN_BATCHES and args.data.is_file()):
        wanted = tuple(dict.fromkeys([*names, *([key] if key else [])]))
        options = ReadOptions(args.data.name, **reading_of(args), wanted=wanted, by_record=True, keep_empty=True, key=key)
        batches = batches_of(args.data, options)
        console.note(*batches.notes)
        for table in batches.read(console.progress(f"Predicting {args.data}")):
            console.note(*(note for note in table.notes if isinstance(note, Doubt)))
            yield table, key, None
    else:
        yield table_of(args, names, by_record=True, key=key), key, None


def _answers(model: Model, pieces: Iterable[tuple[RawTable, str, Any]], unanswered: Unanswered) -> Iterator[Answers]:
    """What the model says, piece by piece; `unanswered` counts the rows."""
    n_records = 0
    for number, (table, key, keys) in enumerate(pieces):
        new = encode_new(table, model.schema)
        unanswered.add(new)
        console.note(*(note.after(n_records) for note in new.unread))
        n_records += table.n_records
        if keys is None and key:
            keys = keys_of(table, key)
        answers, why_labels_alone = answers_to(model, new, key, keys)
        if why_labels_alone and number == 0:
            console.warn(f"Only labels are written. {why_labels_alone}")
        yield answers


# --- evaluate


def run_evaluate(args: Namespace) -> int:
    """Measure a model on rows whose target is known: accuracy, AUC, log loss, the confusion matrix, or the errors of a number.

    The figures are computed from the rows themselves, without noise. On private rows they are for whoever may see the rows:
    no epsilon covers them, so do not publish them. Rows that the model was trained on make it look better than it is.

    With ENGINE://PLACE?table=NAME rows of a database come here, in batches that are not kept. A cluster counts how many rows of
    each class reach each leaf of a tree, and no row leaves it.

    Example: dpviz evaluate tree.json held_out.csv
    """
    model = model_from_json(read_model_file(args.model))
    tree, is_number = as_tree(model), isinstance(model.schema.target, NumericTarget)
    if isinstance(args.data, str) and parse_address(args.data).engine == "spark" and (tree is None or is_number):
        what = "On a cluster only a tree of classes can be measured: for another model its rows would have to leave the cluster."
        raise TableError("uncounted", what, remedy="Export the rows as Parquet and evaluate on the file.")
    with open_rows(args, model.schema) as source:
        rows = source.rows.data if isinstance(source.rows, LocalRows) else source.rows
        if isinstance(rows, EncodedDataset):
            _start(args, source.n_read, rows.n_rows)
            if is_number:
                _show_metrics(model, rows.n_rows, metrics(model, rows, rows), metric_intervals(model, rows))
            else:
                _show_classes(model, classifier_answers(model, rows))
            return 0
        assert tree is not None
        assert isinstance(rows, SourceRows)
        _start(args, source.n_read, rows.report.rows_kept)
        _show_classes(model, answered_by_leaf(tree, rows))
    return 0


def _start(args: Namespace, n_read: int, n_rows: int) -> None:
    """Say what the figures are computed from. Raises DpvizError where that is nothing."""
    if not n_rows:
        raise DpvizError("No row can be used.", where=path_text(args.data), remedy="Give rows that the model's schema describes.")
    console.report("Computed from the rows themselves: on private rows for their owner only, not covered by any epsilon.")
    if n_rows < n_read:
        console.warn(f"{n_read - n_rows:,} rows are left out: missing or undeclared values.")


def _show_metrics(model: Model, n_rows: int, measures: dict[str, float], limits: dict[str, tuple[float, float]]) -> None:
    order = metrics_for(model.schema, measures.get("majority", 0.0))
    known = [name for name in order if not math.isnan(measures[name])]
    intervals = {name: limits[name] for name in known if limits.get(name) is not None}
    pairs = [("Rows", f"{n_rows:,}")]
    if "majority" in measures:  # what accuracy is worth
        pairs.append(("Most frequent class", f"{measures['majority']:.1%}"))
    for name in order:
        interval = f" (95%: {interval_text(intervals[name], name)})" if name in intervals else ""
        text = signs_spelled(f"{measure_text(measures[name], name)}{interval}") if interval else "-"
        pairs.append((capital(METRICS[name]), text))
    console.show_pairs(pairs)
    console.show_values({"rows": n_rows, "measures": {name: measures[name] for name in known}})
    console.show_values({"intervals": {name: list(pair) for name, pair in intervals.items()}})


def _show_classes(model: Model, answers: ModelAnswers) -> None:
    """The measures, and one line per class: how its rows are predicted, and its error."""
    confusion, classes = answers.confusion, model.schema.classes
    n_rows = confusion.sum(axis=1)
    _show_metrics(model, int(n_rows.sum()), answers.metrics(int(n_rows.argmax())), answers.intervals())
    console.show_title("Rows of each class, and as what they are predicted")
    lines = zip(classes, confusion.tolist(), recalls(confusion).tolist(), strict=True)
    rows = [[name, *map(str, row), "-" if np.isnan(right) else percent(1 - right)] for name, row, right in lines]
    console.show_table("confusion", ["class", *classes, "error"], rows)


# --- export


def run_export(args: Namespace) -> int:
    """Export a model in another format: code, rules, a drawing, a report.

    Python and SQL read cells as `dpviz predict` does; a database says which column it lacks.

    Example: dpviz export tree.json --to python --out tree.py
    """
    form = form_called(args.to)
    check_output(args.out, force=args.force, inputs=[args.model])
    document = read_model_file(args.model)
    console.status(f"Writing {form.title}")
    write_whole(args.out, export(form.name, document, key=args.key or ""), force=args.force)
    console.show_pairs([("Format", form.title), ("File", str(args.out))])
    return 0
