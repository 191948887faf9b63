"""Signatures over released files, by an Ed25519 key of their owner's, in the format of OpenSSH (SSHSIG).

A released file names the register and the head after its own entry, so a signature over the file is one over both. It stands in a
file of its own: a file without it, or whose key is lost, is worth what it was before. `ssh-keygen -Y verify` reads it too:

    ssh-keygen -Y check-novalidate -n dpviz-release -s release.json.sig < release.json

Nothing of a key is stored. Format: PROTOCOL.sshsig of OpenSSH.
"""

from __future__ import annotations

import hashlib
import struct
from base64 import b64decode, b64encode
from binascii import Error as NoBase64
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from dpviz.errors import SignatureError
from dpviz.installation import require_extra
from dpviz.release.checking import seal_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: What is signed for nothing else: a signature made under another name is refused.
NAMESPACE = b"dpviz-release"
#: Ending of the file beside the released one.
ENDING = ".sig"
_MAGIC, _VERSION, _KIND, _HASH = b"SSHSIG", 1, b"ssh-ed25519", b"sha512"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed a file, as far as a key says it."""

    key: str  #: The public key, one line as in an .pub file of OpenSSH
    head: str  #: Of the register, after the entry of this release

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` prints it."""
        digest = hashlib.sha256(b64decode(self.key.split()[1])).digest()
        return "SHA256:" + b64encode(digest).decode().rstrip("=")


def sign(document: bytes, key: bytes, *, password: bytes | None = None) -> str:
    """The signature over a released file by a private key (an OpenSSH file, as `ssh-keygen -t ed25519` writes it).

    Raises SignatureError: `key` where that is no such key or its password is wrong, `unreleased` where the file names no
    register; MissingExtra.
    """
    _head(document)
    private = _private(key, password)
    public = _strings(_KIND, private.public_key().public_bytes_raw())
    signature = _strings(_KIND, private.sign(_signed(document)))
    blob = _MAGIC + struct.pack(">I", _VERSION) + _strings(public, NAMESPACE, b"", _HASH, signature)
    return "\n".join([_BEGIN, *wrap(b64encode(blob).decode(), 70), _END, ""])


def require_key(key: bytes, *, password: bytes | None = None) -> None:
    """Raises what `sign` would: a release asks before anything is spent."""
    _private(key, password)


def _private(key: bytes, password: bytes | None) -> Ed25519PrivateKey:
    require_extra("sign", "Signing a file", "cryptography")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    remedy = "Make one with ssh-keygen -t ed25519, and give the file without .pub; to a key with a password, give that."
    try:
        private = load_ssh_private_key(key, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # its words may hold what was read
        raise SignatureError("key", "This is no private key of OpenSSH that can be read.", remedy=remedy) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise SignatureError("key", "This key is of another kind than Ed25519.", remedy=remedy)
    return private


def verify(document: bytes, signature: str, *, key: str | None = None) -> Signer:
    """Who signed this very file. `key`: the public key it has to be, as a line of an .pub file.

    Raises SignatureError: `damaged` where it is no signature that can be read, `changed` where it is over another file,
    `other-key` where another key made it, `unreleased`; MissingExtra.
    """
    head = _head(document)
    require_extra("sign", "Checking a signature", "cryptography")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    public, raw = _parsed(signature)
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(raw, _signed(document))
    except (InvalidSignature, ValueError):
        what = "The signature is not over this file: one of them was changed."
        raise SignatureError("changed", what, remedy="Rely on nothing the file says.") from None
    found = Signer(f"{_KIND.decode()} {b64encode(_strings(_KIND, public)).decode()}", head)
    if key is not None and key.split()[:2] != found.key.split():
        what = f"Another key signed this file: {found.fingerprint}."
        raise SignatureError("other-key", what, remedy="Ask its owner, on another way, for the key.")
    return found


def _head(document: bytes) -> str:
    seal = seal_of(document)
    if seal is None:
        what = "This file names no register, so it is no release."
        raise SignatureError("unreleased", what, remedy="Sign a file that Publish or `dpviz train --data-set` wrote.")
    return seal.head


def _signed(document: bytes) -> bytes:
    return _MAGIC + _strings(NAMESPACE, b"", _HASH, hashlib.sha512(document).digest())


def _parsed(signature: str) -> tuple[bytes, bytes]:
    """(public key, signature), 32 and 64 bytes."""
    try:
        inside = signature.strip().removeprefix(_BEGIN).removesuffix(_END)
        blob = b64decode("".join(inside.split()), validate=True)
        if not signature.strip().startswith(_BEGIN) or blob[:10] != _MAGIC + struct.pack(">I", _VERSION):
            raise ValueError
        public, namespace, _, kind, raw = _parts(blob[10:])
        (name, key), (signed_by, value) = _parts(public), _parts(raw)
        if (namespace, kind, name, signed_by, len(key), len(value)) != (NAMESPACE, _HASH, _KIND, _KIND, 32, 64):
            raise ValueError
    except (ValueError, NoBase64, struct.error):
        what = "This is no signature over a release."
        raise SignatureError("damaged", what, remedy="Give the file that `dpviz sign` wrote.") from None
    return key, value


def _strings(*parts: bytes) -> bytes:
    """Each with its length in front."""
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def _parts(blob: bytes) -> list[bytes]:
    found, at = list[bytes](), 0
    while at < len(blob):
        (length,) = struct.unpack_from(">I", blob, at)
        at += 4 + length
        if at > len(blob):
            raise ValueError
        found.append(blob[at - length : at])
    return found
