"""Export a model in another format: code, rules, a drawing, a report.

Before a file is written, the export must predict every golden row as the model does, where it will run (SQL in SQLite or
DuckDB, Python in a bare interpreter). Golden rows lie on thresholds and next to them, and have every
category, missing cells and unknown ones.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.io.results import read_model_file
from dpviz.results.exports import export_names, form_called


def add_arguments(parser: ArgumentParser) -> None:
    """Model, format, file."""
    parser.add_argument("model", type=Path, metavar="MODEL.json", help="a model written by `dpviz train`")
    names = ", ".join(export_names())
    parser.add_argument("--to", required=True, metavar="FORMAT", help=f"one of {names} (sql: the same as sqlite)")
    parser.add_argument("--key", default="", metavar="COLUMN", help="of SQL: a column of the table that comes first")
    add_output_arguments(parser, "the export")


def run(args: Namespace) -> int:
    """Read, export, check, write, and say where it was checked."""
    form = form_called(args.to)
    check_output(args.out, force=args.force, inputs=[args.model])
    document = read_model_file(args.model)
    console.doing(f"Writing {form.title}, and checking it")
    done = form.export(document, key=args.key)
    write_whole(args.out, done.content, force=args.force)
    console.show_pairs([("Format", form.title), ("Checked", done.checked), ("File", str(args.out))])
    return 0
