"""Check a released file without its rows: did the register write it, what do its steps add up to, what does it cost a person?

The file is looked up by its SHA-256, so a file that was changed in any way is found. Its ledger is added up again: one whose
steps do not come to what it states is refused. Exit code 0 only where the register wrote this very file and is itself as it was
written; 1 where not, or where nobody can tell. A signature that is there, or asked for, has to hold.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.register import NOT_AS_WRITTEN, add_register_argument
from dpviz.errors import DpvizError, SignatureError, place
from dpviz.figures.publish.released_file import checked_file, sentences, title, values
from dpviz.io.results import read_model_file
from dpviz.release.checking import findings
from dpviz.release.register import ReleaseRegister
from dpviz.release.signature import ENDING, Signer, verify
from dpviz.results.wording import signs_spelled


def add_arguments(parser: ArgumentParser) -> None:
    """File, register."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that was released, such as release.json")
    words = "its signature (default: FILE.sig, where that exists)"
    parser.add_argument("--signature", type=Path, metavar="SIG", help=words)
    parser.add_argument("--key", type=Path, metavar="PUB", help="public key (.pub) of the expected signer")
    add_register_argument(parser)


def run(args: Namespace) -> int:
    """Read, add up, look up, say."""
    register = ReleaseRegister(args.register)
    if args.register is not None and not register.path.is_file():
        raise DpvizError("There is no register here.", where=place(args.register), remedy="Check the path.")
    document = read_model_file(args.file).encode()
    signer = _signer(args, document)
    found = checked_file(document, args.file.name, register)
    about = [("File", f"{args.file} ({title(found)})"), ("SHA-256", found.match.sha256)]
    about += [("Signed with", signer.fingerprint)] if signer else []
    console.show_pairs([*about, *((name, signs_spelled(said)) for name, said in sentences(found))])
    console.show_values(values(found) | {"signed_with": signer.fingerprint if signer else None})
    problems = findings(register) if register.path.exists() else ()
    for line in problems:
        console.warn(line)
    return 0 if found.is_as_released and not problems else NOT_AS_WRITTEN


def _signer(args: Namespace, document: bytes) -> Signer | None:
    beside = args.file.with_name(args.file.name + ENDING)
    path = args.signature or (beside if beside.is_file() or args.key is not None else None)
    if path is None:
        return None
    return verify(document, _text(path), key=None if args.key is None else _text(args.key))


def _text(path: Path) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16)
    except OSError as error:
        what = f"{path.name!r} cannot be read: {error.strerror}."
        raise SignatureError("damaged", what, remedy="Check the paths of the signature and the key.") from None
