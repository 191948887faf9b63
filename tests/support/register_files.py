"""The file of a register behind dpviz's back: changed by SQL, copied, and put back."""

import gzip
import shutil
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.release.migration import digest
from dpviz.release.register import Register
from tests.support.paths import ROOT
from tests.support.release_rows import start

#: Of the register of version 3: its key, and the latest head of its chain.
KEY, HEAD = (
    "ef5aa310bd06d20cdff756277d3f4ddbcbc69d4764bb22674cc7c7289d4403b2",
    "a28307a3e70d41a65ac9d6aa08fdd297549398ce1628006518a38ae537fb7f01",
)


def of_version(number: int, folder: Path, head: str = HEAD) -> Register:
    """A register written by version 1 (before keys), 3 (with a chain of entries) or 5 (caps and costs of one row) of its format.

    Version 3 comes with its key, its head, and the file it released.
    """
    if number == 5:
        for name, content in _of_version_5().items():
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o600)
        return Register(folder / "releases.db")
    files = {"releases.db": f"releases-{number}.db.gz"} | ({"released.json": "releases-3.json.gz"} if number == 3 else {})
    for name, packed in files.items():
        (folder / name).write_bytes(gzip.decompress((ROOT / "tests" / "release" / packed).read_bytes()))
    for end, text in (("key", KEY), ("head", head)) if number == 3 else ():
        if text:
            (folder / f"releases.db.{end}").write_text(f"{text}\n", encoding="ascii")
    for path in folder.glob("releases.db*"):
        path.chmod(0o600)
    return Register(folder / "releases.db")


#: Of the register of version 5: what a row of the patients lost, and whether it is released.
LOSSES_5 = (PrivacyLoss(0.25), PrivacyLoss(0.3, 2e-7), PrivacyLoss(0.125, 1e-7), PrivacyLoss(0.2))
#: Of a look at their rows, and of one at rows that nobody knows.
LOOK_5 = PrivacyLoss(0.7)
#: Every cap of theirs, of a row, the last of which holds.
CAPS_5 = (PrivacyLoss(1.0, 1e-6), PrivacyLoss(2.0, 2e-6), PrivacyLoss(1.5, 1e-6))


@cache
def _of_version_5() -> dict[str, bytes]:
    """Two data sets, of patients with three rows and of single rows: the tables are those of today, the numbers a row's."""
    with TemporaryDirectory() as place:
        register = Register(Path(place) / "releases.db")
        first, *later = CAPS_5
        caps = {"epsilon_cap": first.epsilon, "delta_cap": first.delta}
        register.declare("patients", unit="one patient", rows_per_unit=3, **caps)
        register.declare("rows", epsilon_cap=1.0)
        for cap in later:
            why = {"reason": "agreed", "made_by": "the board"}
            register.change_caps("patients", epsilon_cap=cap.epsilon, delta_cap=cap.delta, **why)
        for number, loss in enumerate((*LOSSES_5, PrivacyLoss(0.4))):
            settings = {"epsilon": loss.epsilon, "max_depth": 4} | ({"delta": loss.delta} if loss.delta else {})
            about = {"fingerprint": f"table{number}", "settings": settings, "file": Path(f"x{number}.json"), "add_rows": True}
            name = "patients" if number < len(LOSSES_5) else "rows"
            start(register, f"token{number}", loss.epsilon, loss.delta, name=name, **about)
        register.note_use("table0", what="tree", learner="pf-tree", settings={"epsilon": LOOK_5.epsilon, "max_depth": 4})
        register.note_use("stranger", what="tree", learner="pf-tree", settings={"epsilon": LOOK_5.epsilon})
        with closing(sqlite3.connect(register.path)) as other:
            other.execute("PRAGMA user_version = 5")
            other.execute("PRAGMA journal_mode = DELETE")
        return {path.name: path.read_bytes() for path in Path(place).glob("releases.db*")}


def changed(register: Register, *statements: str) -> None:
    """What somebody does who knows SQLite, and the triggers."""
    with closing(sqlite3.connect(register.path)) as other:
        other.create_function("digest", -1, digest)
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
