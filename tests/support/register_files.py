"""The file of a register behind dpviz's back: changed by SQL, copied, and put back."""

import gzip
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from dpviz.release import store
from dpviz.release.register import Register
from tests.support.paths import ROOT

#: Of the register of version 3: its key, and the latest head of its chain.
KEY, HEAD = (
    "ef5aa310bd06d20cdff756277d3f4ddbcbc69d4764bb22674cc7c7289d4403b2",
    "a28307a3e70d41a65ac9d6aa08fdd297549398ce1628006518a38ae537fb7f01",
)


def of_version(number: int, folder: Path, head: str = HEAD) -> Register:
    """A register written by version 1 (before keys) or 3 (with a chain of entries) of its format: no code writes them any more.

    Version 3 comes with its key, its head, and the file it released.
    """
    files = {"releases.db": f"releases-{number}.db.gz"} | ({"released.json": "releases-3.json.gz"} if number == 3 else {})
    for name, packed in files.items():
        (folder / name).write_bytes(gzip.decompress((ROOT / "tests" / "release" / packed).read_bytes()))
    for end, text in (("key", KEY), ("head", head)) if number == 3 else ():
        if text:
            (folder / f"releases.db.{end}").write_text(f"{text}\n", encoding="ascii")
    for path in folder.glob("releases.db*"):
        path.chmod(0o600)
    return Register(folder / "releases.db")


def changed(register: Register, *statements: str) -> None:
    """What somebody does who knows SQLite, and the triggers."""
    with closing(sqlite3.connect(register.path)) as other:
        other.create_function("digest", -1, store.digest)
        for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            other.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            other.execute(statement)
        other.commit()


def copied(register: Register, folder: Path) -> Path:
    with closing(sqlite3.connect(register.path)) as one, closing(sqlite3.connect(folder / "copy.db")) as other:
        one.backup(other)
    return folder / "copy.db"


def put_back(copy: Path, register: Register) -> None:
    for end in ("-wal", "-shm"):
        register.path.with_name(register.path.name + end).unlink(missing_ok=True)
    shutil.copyfile(copy, register.path)
