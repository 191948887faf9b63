"""Sign a released file with a key of OpenSSH: who has the public key can tell that the file is as its owner signed it.

The file names its register and the register's head, so both are signed. The signature is written beside it (.sig);
`dpviz check` and `ssh-keygen -Y verify -n dpviz-release` read it. Nothing of the key is kept.
"""

import os
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from dpviz.commands import console
from dpviz.commands.files import check_output, write_whole
from dpviz.errors import SignatureError
from dpviz.io.results import read_model_file
from dpviz.release.signature import ENDING, Signer, require_key, sign, verify

#: Where the password of a key is found: no command line shows it.
PASSWORD = "DPVIZ_KEY_PASSWORD"


_WORDS = f"private key (ssh-keygen -t ed25519), such as ~/.ssh/id_ed25519; its password, if any, is in {PASSWORD}"


def add_arguments(parser: ArgumentParser) -> None:
    """File, key."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that was released, such as release.json")
    add_key_argument(parser, "--key", required=True)
    parser.add_argument("--force", action="store_true", help="overwrite a signature that exists")


def add_key_argument(parser: ArgumentParser, name: str, *, required: bool = False, words: str = "") -> None:
    """The key that signs; `Signing.of` reads it."""
    parser.add_argument(name, type=Path, required=required, metavar="KEY", help=words + _WORDS)


@dataclass(frozen=True)
class Signing:
    """A key that was read and can sign, and where the signature goes."""

    path: Path
    key: bytes = field(repr=False)

    @classmethod
    def of(cls, file: Path, key: Path, *, force: bool = False) -> Self:
        """Raises DpvizError where the key is none, or the signature cannot be written."""
        path = file.with_name(file.name + ENDING)
        check_output(path, force=force, inputs=[file, key])
        found = _read(key)
        require_key(found, password=_password())
        return cls(path, found)

    def write(self, file: Path, *, force: bool = False) -> Signer:
        """Sign the file."""
        document = read_model_file(file).encode()
        signature = sign(document, self.key, password=_password())
        write_whole(self.path, signature, force=force)
        return verify(document, signature)


def run(args: Namespace) -> int:
    """Read, sign, write."""
    signing = Signing.of(args.file, args.key, force=args.force)
    signer = signing.write(args.file, force=args.force)
    path = str(signing.path)
    console.show_pairs([("Signature", path), ("Key", signer.fingerprint), ("Head of the register", signer.head)])
    console.show_values({"signature": path, "key": signer.fingerprint, "head": signer.head})
    return 0


def _password() -> bytes | None:
    return os.environ.get(PASSWORD, "").encode() or None


def _read(key: Path) -> bytes:
    try:
        with open(key.expanduser(), "rb") as file:
            return file.read(1 << 16)
    except OSError as error:
        what = f"The key cannot be read: {error.strerror}."
        raise SignatureError("key", what, remedy="Check the path.") from None
