"""Export a model in another form: code, rules, a drawing, a report.

What is written has first predicted every golden row as the model does, in its own target (SQL in SQLite or DuckDB, ONNX in
onnxruntime, Python in a bare interpreter): rows on thresholds, just beside them, of every category, missing and unknown.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.errors import DpvizError, UnknownName
from dpviz.figures.publish.exports import export_as, targets
from dpviz.io.exports.contract import Exportable

NAME = "export"
HELP = "write a model as code, rules, a drawing or a report"
#: `--to sql` means the dialect that every Python can check.
_ALSO = {"sql": "sqlite"}


def add_arguments(parser: ArgumentParser) -> None:
    """Model, form, file."""
    parser.add_argument("model", type=Path, metavar="MODEL.json", help="a model written by `train`")
    names = ", ".join(targets())
    parser.add_argument("--to", required=True, metavar="FORM", help=f"one of {names} (sql: the same as sqlite)")
    add_output_arguments(parser, "the export")


def run(args: Namespace) -> int:
    """Read, write, check, and say where it was checked."""
    name = _ALSO.get(args.to, args.to)
    if name not in targets():
        raise UnknownName("form of export", args.to, [*targets(), *_ALSO])
    check_output(args.out, force=args.force, inputs=[args.model])
    given = Exportable(_read(args.model))
    console.doing(f"Writing {targets()[name].title}, and checking it")
    done = export_as(name, given)
    write_whole(args.out, done.content, force=args.force)
    console.show_pairs([("Form", done.target.title), ("Checked", done.checked), ("File", str(args.out))])
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DpvizError(
            "The model file is not UTF-8 text.", where=str(path), remedy="Give a file written by `train`."
        ) from error
    except (OSError, ValueError) as error:
        what = f"The model file cannot be read: {getattr(error, 'strerror', None) or error}."
        raise DpvizError(what, where=str(path), remedy="Check the path; it must name a file written by `train`.") from error
