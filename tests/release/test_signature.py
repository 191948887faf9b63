"""A signature is over this very file and the head it names, by this very key; OpenSSH reads it too."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpviz.errors import SignatureError
from dpviz.release.signature import ENDING, sign, verify

DOCUMENT = json.dumps({"register": {"of": "a" * 32, "head": "b" * 64}, "n_public": 600}).encode()


@cache
def keys(place: int = 0) -> tuple[bytes, str]:
    """(private, public) as files of OpenSSH; another pair for every place."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([place]) * 32)
    form, public = serialization.PrivateFormat.OpenSSH, serialization.PublicFormat.OpenSSH
    return (
        private.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()),
        private.public_key().public_bytes(serialization.Encoding.OpenSSH, public).decode(),
    )


def refused(document: bytes, signature: str, **asked: str) -> str:
    with pytest.raises(SignatureError) as error:
        verify(document, signature, **asked)
    return error.value.code


def test_it_says_who_signed_and_at_which_head():
    private, public = keys()
    signer = verify(DOCUMENT, sign(DOCUMENT, private), key=public + " somebody@somewhere")
    assert (signer.key, signer.head) == (public, "b" * 64)
    assert signer.fingerprint.startswith("SHA256:")


@pytest.mark.parametrize("change", [(b"600", b"6000"), (b"b" * 64, b"c" * 64), (b"a" * 32, b"c" * 32), (b"}", b"} ")])
def test_a_changed_file_and_another_head_or_register_are_found(change):
    assert refused(DOCUMENT.replace(*change), sign(DOCUMENT, keys()[0])) == "changed"


def test_another_key_is_found():
    signature = sign(DOCUMENT, keys(1)[0])
    assert verify(DOCUMENT, signature).key == keys(1)[1]
    assert refused(DOCUMENT, signature, key=keys(0)[1]) == "other-key"
    assert refused(DOCUMENT, signature, key="") == "other-key"


def test_no_other_letter_of_a_signature_is_accepted():
    signature = sign(DOCUMENT, keys()[0])
    for place in range(len(signature) - 1):
        spoilt = signature[:place] + ("B" if signature[place] != "B" else "C") + signature[place + 1 :]
        try:
            found = verify(DOCUMENT, spoilt)
        except SignatureError:
            continue
        assert found.key == keys()[1]  # letters that add up to the same bytes
        assert "".join(spoilt.split()).replace("=", "")[:-40] == "".join(signature.split()).replace("=", "")[:-40]


@pytest.mark.parametrize(
    "text", ["", "-----BEGIN SSH SIGNATURE-----", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----"]
)
def test_what_is_no_signature_is_refused(text):
    assert refused(DOCUMENT, text) == "damaged"


def test_what_names_no_register_is_not_signed():
    with pytest.raises(SignatureError) as error:
        sign(b'{"n_public": 600}', keys()[0])
    assert error.value.code == "unreleased"


def test_what_is_no_such_key_is_refused_and_not_quoted():
    curve = generate_private_key(SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    for key in (b"", b"CANARY", keys()[0][:-60], keys()[1].encode(), curve):
        with pytest.raises(SignatureError) as error:
            sign(DOCUMENT, key)
        assert error.value.code == "key"
        assert "CANARY" not in str(error.value)
        assert error.value.__cause__ is None


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH")
def test_openssh_reads_ours_and_we_read_its(tmp_path):
    private, public = keys()
    key, file = tmp_path / "key", tmp_path / "release.json"
    key.write_bytes(private)
    key.chmod(0o600)
    file.write_bytes(DOCUMENT)
    (tmp_path / "allowed").write_text(f"owner {public}\n")
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "dpviz-release", "-f", key, file], check=True, capture_output=True)
    assert verify(DOCUMENT, file.with_name(file.name + ENDING).read_text(), key=public).key == public
    ours = tmp_path / "ours.sig"
    ours.write_text(sign(DOCUMENT, private))
    command = ["ssh-keygen", "-Y", "verify", "-f", tmp_path / "allowed", "-I", "owner", "-n", "dpviz-release", "-s", ours]
    assert subprocess.run(command, input=DOCUMENT, capture_output=True, check=False).returncode == 0
    assert subprocess.run(command, input=DOCUMENT + b" ", capture_output=True, check=False).returncode != 0
