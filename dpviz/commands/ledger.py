"""The release register: what was spent for good on which rows, and what is left.

Without a topic it lists everything. `declare` names a data set, whose rows are in no other, and sets its cap; `cap` changes a
cap; `export` writes the register as CSV or JSON. Releases are made by `train --release NAME` or on the Publish page. Every
epsilon is meant under add/remove one row.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.commands import console
from dpviz.commands.files import check_output, write_whole
from dpviz.errors import DpvizError
from dpviz.io.csv_text import csv_text
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.records import Balance, for_unit
from dpviz.release.register import ReleaseRegister
from dpviz.table.role import DataRole

NAME = "ledger"
HELP = "show what was released and spent for good"

_WRITERS = {".csv": lambda register: csv_text(COLUMNS, register_lines(register)), ".json": register_json}


def add_arguments(parser: ArgumentParser) -> None:
    """Three topics beside the list: declare, cap, export."""
    add_register_argument(parser)
    parser.set_defaults(topic=_list)
    topics = parser.add_subparsers(metavar="TOPIC", title="topics")
    declare = topics.add_parser("declare", help="name a data set that is disjoint from all others, and set its cap")
    _add_caps(declare)
    declare.add_argument("--unit", default="one row", metavar="TEXT", help="whom it protects (default: one row)")
    declare.add_argument("--rows-per-unit", type=int, default=1, metavar="K", help="rows one unit has at most (default: 1)")
    declare.add_argument("--role", choices=[str(role) for role in DataRole], default="private", help="default: private")
    declare.set_defaults(topic=_declare)
    cap = topics.add_parser("cap", help="change the cap of a data set; what was spent stays spent")
    _add_caps(cap)
    cap.set_defaults(topic=_cap)
    export = topics.add_parser("export", help="write the register, without fingerprints and paths")
    export.add_argument("--out", required=True, type=Path, metavar="FILE", help="a name that ends in .csv or .json")
    export.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    export.set_defaults(topic=_export)


def add_register_argument(parser: ArgumentParser) -> None:
    """`--register`."""
    parser.add_argument("--register", type=Path, metavar="FILE", help="the register (default: $DPVIZ_REGISTER, else the user's)")


def _add_caps(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the data set")
    parser.add_argument("--epsilon-cap", required=True, type=float, metavar="E", help=f"most that may be spent, {NEIGHBOURS}")
    parser.add_argument("--delta-cap", type=float, default=0.0, metavar="D", help="most delta that may be spent (default: 0)")


def run(args: Namespace) -> int:
    """Do what the topic says."""
    register = ReleaseRegister(args.register)
    register.settle()
    args.topic(args, register)
    return 0


def _declare(args: Namespace, register: ReleaseRegister) -> None:
    caps = {"epsilon_cap": args.epsilon_cap, "delta_cap": args.delta_cap}
    unit = {"unit": args.unit, "rows_per_unit": args.rows_per_unit, "role": DataRole(args.role)}
    console.show_pairs(balance_pairs(register.balance(register.declare(args.name, **caps, **unit).name)))


def _cap(args: Namespace, register: ReleaseRegister) -> None:
    register.change_caps(args.name, epsilon_cap=args.epsilon_cap, delta_cap=args.delta_cap)
    console.show_pairs(balance_pairs(register.balance(args.name)))


def _export(args: Namespace, register: ReleaseRegister) -> None:
    write = _WRITERS.get(args.out.suffix.lower())
    if write is None:
        raise DpvizError("The format is not known.", where=str(args.out), remedy="Give a name that ends in .csv or .json.")
    check_output(args.out, force=args.force, inputs=[register.path])
    write_whole(args.out, write(register), force=args.force)
    console.done(f"Wrote {args.out}.")


def _list(args: Namespace, register: ReleaseRegister) -> None:
    data_sets = register.data_sets()
    if not data_sets:
        console.show_pairs([("Register", str(register.path)), ("Releases", "none, and no data set is declared yet")])
        return
    console.show_pairs([("Register", str(register.path))])
    for found in data_sets:
        balance = register.balance(found.name)
        console.show_title(found.name)
        console.show_pairs(balance_pairs(balance))
        _show_releases(balance)
    looks = register.explorations()
    if looks:
        console.show_title(f"Explorations ({looks[0].standing})")
        lines = [(item.at, item.data_set or "(not assigned)", item.what, item.learner, f"{item.times:,}") for item in looks]
        console.show_table(("LAST", "DATA SET", "WHAT", "LEARNER", "TIMES"), lines)


def _show_releases(balance: Balance) -> None:
    if balance.releases:
        lines = [
            (str(entry.number), entry.started, entry.standing, entry.learner, loss_text(entry.loss), Path(entry.file).name)
            for entry in balance.releases
        ]
        console.show_table(("NO", "STARTED", "STANDING", "LEARNER", "SPENT", "FILE"), lines)


def balance_pairs(balance: Balance) -> list[tuple[str, str]]:
    """What a data set's releases cost together, and what is left."""
    found, spent = balance.data_set, balance.spent
    each = for_unit(spent, found.rows_per_unit).epsilon
    rows = f", up to {found.rows_per_unit} rows: epsilon = {each:.6g} for all of them" if found.rows_per_unit > 1 else ""
    return [
        ("Data set", f"{found.name} ({found.role} rows)"),
        ("Unit", f"{found.unit}{rows}"),
        ("Cap", loss_text(PrivacyLoss(found.epsilon_cap, found.delta_cap))),
        ("Spent", loss_text(spent)),
        ("Left", loss_text(balance.left)),
    ]


def loss_text(loss: PrivacyLoss) -> str:
    """Epsilon with its neighbours, and delta where there is one."""
    delta = f", delta = {loss.delta:.6g}" if loss.delta else ""
    return f"epsilon = {loss.epsilon:.6g}{delta} ({NEIGHBOURS})"
