"""The release register: what was spent for good on which rows, and what is left.

`list` shows everything, or writes it to a CSV or JSON file. `declare` names a data set that shares no rows with any other, and
sets its cap; `cap` changes a cap. Releases are booked by `dpviz train --data-set NAME` or on the Publish page. Every epsilon is
for adding or removing one row.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss, for_unit
from dpviz.commands import console
from dpviz.commands.arguments import whole
from dpviz.commands.files import check_output, write_whole
from dpviz.errors import DpvizError
from dpviz.figures.publish.summary import loss_text
from dpviz.io.csv_text import csv_text
from dpviz.release.export import COLUMNS, register_json, register_lines
from dpviz.release.records import Balance
from dpviz.release.register import ReleaseRegister
from dpviz.table.role import DataRole

_WRITERS = {".csv": lambda register: csv_text(COLUMNS, register_lines(register)), ".json": register_json}


def add_arguments(parser: ArgumentParser) -> None:
    """Three topics: list, declare, cap."""
    topics = parser.add_subparsers(metavar="TOPIC", required=True, title="topics")
    listing = topics.add_parser("list", help="show data sets, releases and explorations, or write them to a file")
    listing.add_argument("--out", type=Path, metavar="FILE", help="write a .csv or .json file, without fingerprints and paths")
    listing.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    declare = topics.add_parser("declare", help="name a data set that shares no rows with any other, and set its cap")
    _add_caps(declare)
    declare.add_argument("--unit", default="one row", metavar="TEXT", help="whom it protects (default: one row)")
    declare.add_argument("--rows-per-unit", type=whole(), default=1, metavar="K", help="most rows of one unit (default: 1)")
    declare.add_argument("--role", choices=[str(role) for role in DataRole], default="private", help="default: private")
    cap = topics.add_parser("cap", help="change the cap of a data set; what was spent stays spent")
    _add_caps(cap)
    for topic, do in ((listing, _list), (declare, _declare), (cap, _cap)):
        add_register_argument(topic)
        topic.set_defaults(topic=do)


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
    register.declare(args.name, **caps, **unit)
    console.show_pairs(balance_pairs(register.balance(args.name)))


def _cap(args: Namespace, register: ReleaseRegister) -> None:
    register.change_caps(args.name, epsilon_cap=args.epsilon_cap, delta_cap=args.delta_cap)
    console.show_pairs(balance_pairs(register.balance(args.name)))


def _list(args: Namespace, register: ReleaseRegister) -> None:
    if args.out is None:
        _show(register)
    else:
        _export(register, args.out, force=args.force)


def _export(register: ReleaseRegister, out: Path, *, force: bool) -> None:
    write = _WRITERS.get(out.suffix.lower())
    if write is None:
        raise DpvizError("The format is not known.", where=str(out), remedy="Give a name that ends in .csv or .json.")
    check_output(out, force=force, inputs=[register.path])
    write_whole(out, write(register), force=force)
    console.done(f"Wrote {out}.")


def _show(register: ReleaseRegister) -> None:
    data_sets = register.data_sets()
    about = [("Register", str(register.path))]
    console.show_pairs(about if data_sets else [*about, ("Releases", "none, and no data set is declared yet")])
    for found in data_sets:
        balance = register.balance(found.name)
        console.show_title(found.name)
        console.show_pairs(balance_pairs(balance))
        _show_releases(balance)
    _show_explorations(register)


def _show_releases(balance: Balance) -> None:
    if balance.releases:
        lines = [
            (str(entry.number), entry.started, entry.status, entry.learner, loss_text(entry.loss), Path(entry.file).name)
            for entry in balance.releases
        ]
        console.show_table(("NO", "STARTED", "STATUS", "LEARNER", "SPENT", "FILE"), lines)


def _show_explorations(register: ReleaseRegister) -> None:
    found = register.explorations()
    if found:
        console.show_title(f"Explorations ({found[0].status})")
        lines = [(item.at, item.data_set or "(not assigned)", item.what, item.learner, f"{item.times:,}") for item in found]
        console.show_table(("LAST", "DATA SET", "WHAT", "LEARNER", "TIMES"), lines)


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
