"""The file of a register behind dpviz's back: changed by SQL, copied, and put back."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from dpviz.release import store
from dpviz.release.register import Register


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
