"""Export a model in another format: code, rules, a drawing, a report.

Python and SQL read cells as `dpviz predict` does; a database says which column it lacks.

Example: dpviz export tree.json --to python --out tree.py
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
    """Read, export, write."""
    form = form_called(args.to)
    check_output(args.out, force=args.force, inputs=[args.model])
    document = read_model_file(args.model)
    console.doing(f"Writing {form.title}")
    done = form.export(document, key=args.key)
    write_whole(args.out, done.content, force=args.force)
    console.show_pairs([("Format", form.title), ("File", str(args.out))])
    return 0
