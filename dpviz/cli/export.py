"""Export a model in another format: code, rules, a drawing, a report.

Python and SQL read cells as `dpviz predict` does; a database says which column it lacks.

Example: dpviz export tree.json --to python --out tree.py
"""

from argparse import Namespace
from pathlib import Path

from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import option, output, shared
from dpviz.io.results import read_model_file
from dpviz.results.exports import export_names, form_called

OPTIONS = {
    "model": option(Path, "MODEL.json", "a model written by `dpviz train`"),
    "--to": option(str, "FORMAT", f"one of {', '.join(export_names())} (sql: the same as sqlite)", required=True),
    "--key": option(str, "COLUMN", "of SQL: a column of the table that comes first", default=""),
    **output("the export"),
    **shared("--json"),
}


def run(args: Namespace) -> int:
    """Read, export, write."""
    form = form_called(args.to)
    check_output(args.out, force=args.force, inputs=[args.model])
    document = read_model_file(args.model)
    console.doing(f"Writing {form.title}")
    write_whole(args.out, form.export(document, key=args.key).content, force=args.force)
    console.show_pairs([("Format", form.title), ("File", str(args.out))])
    return 0
