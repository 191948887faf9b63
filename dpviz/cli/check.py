"""Check a released file without its rows: did the register write it, what do its steps add up to, what does it cost a person?

The file is looked up by its SHA-256, so a file that was changed in any way is found. Its ledger is added up again: one whose
steps do not come to what it states is refused. Exit code 0 only where the register wrote this very file and is itself as it was
written; 1 where not, or where nobody can tell.

Example: dpviz check release.json
"""

from argparse import Namespace
from pathlib import Path

from dpviz.charts.publish.released_file import checked_file, sentences, title, values
from dpviz.cli import console
from dpviz.cli.options import option, shared
from dpviz.errors import DpvizError, place
from dpviz.io.results import read_model_file
from dpviz.release.check import findings
from dpviz.release.register import Register
from dpviz.results.wording import signs_spelled

NOT_AS_WRITTEN = 1
OPTIONS = {"file": option(Path, "FILE", "a file that was released, such as release.json"), **shared("--register", "--json")}


def run(args: Namespace) -> int:
    """Read, add up, look up, say."""
    register = Register(args.register)
    if args.register is not None and not register.path.is_file():
        raise DpvizError("There is no register here.", where=place(args.register), remedy="Check the path.")
    found = checked_file(read_model_file(args.file).encode(), args.file.name, register)
    about = [("File", f"{args.file} ({title(found)})"), ("SHA-256", found.match.sha256)]
    console.show_pairs([*about, *((name, signs_spelled(said)) for name, said in sentences(found))])
    console.show_values(values(found))
    problems = findings(register) if register.path.exists() else ()
    for line in problems:
        console.warn(line)
    return 0 if found.is_as_released and not problems else NOT_AS_WRITTEN
