"""Export a model in another format: code, rules, a drawing, a report.

Before a file is written, the export must predict every golden row as the model does, where it will run (SQL in SQLite or
DuckDB, ONNX in onnxruntime, Python in a bare interpreter). Golden rows lie on thresholds and next to them, and have every
category, missing cells and unknown ones.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.errors import UnknownName
from dpviz.figures.publish.exports import export_as, targets
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import read_model_file

#: `--to sql` means SQLite, which comes with Python.
_ALSO = {"sql": "sqlite"}


def add_arguments(parser: ArgumentParser) -> None:
    """Model, format, file."""
    parser.add_argument("model", type=Path, metavar="MODEL.json", help="a model written by `dpviz train`")
    names = ", ".join(targets())
    parser.add_argument("--to", required=True, metavar="FORMAT", help=f"one of {names} (sql: the same as sqlite)")
    add_output_arguments(parser, "the export")


def run(args: Namespace) -> int:
    """Read, export, check, write, and say where it was checked."""
    name = _ALSO.get(args.to, args.to)
    if name not in targets():
        raise UnknownName("export format", args.to, [*targets(), *_ALSO])
    check_output(args.out, force=args.force, inputs=[args.model])
    given = Exportable(read_model_file(args.model))
    console.doing(f"Writing {targets()[name].title}, and checking it")
    done = export_as(name, given)
    write_whole(args.out, done.content, force=args.force)
    console.show_pairs([("Format", done.target.title), ("Checked", done.checked), ("File", str(args.out))])
    return 0
