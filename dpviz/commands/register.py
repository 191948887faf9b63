"""The release register: what was spent for good on which rows, and what is left.

`list` shows everything, or writes it to a CSV or JSON file. `declare` names a data set that shares no rows with any other, and
sets its cap. `cap` changes a cap.
`check` finds a register that was changed, truncated or put back from an old copy;
`resume` goes on with an old copy where there is no newer one, with nothing left to spend. A release's report is written by
`dpviz export FILE --to report`.
Releases are booked by `dpviz train --data-set NAME` or on the Publish page. Every epsilon is for adding or removing one row.

Example: dpviz register declare clinic --epsilon-cap 3 --unit 'one patient' --rows-per-unit 1
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.commands import console
from dpviz.commands.arguments import number, whole
from dpviz.commands.files import check_output, write_whole
from dpviz.errors import DpvizError, RefusedRelease, place
from dpviz.figures.publish.release import ACCOUNT, composed_sentence
from dpviz.io.csv_text import csv_text
from dpviz.release.check import findings, reference_in, resume
from dpviz.release.export import COLUMNS, register_json, register_lines, register_record
from dpviz.release.records import Balance, CapChange, DataSet, visible_to_others
from dpviz.release.register import Register
from dpviz.results.verdict import loss_text
from dpviz.results.wording import signs_spelled
from dpviz.table.role import DataRole

_WRITERS = {".csv": lambda register: csv_text(COLUMNS, register_lines(register)), ".json": register_json}

#: Exit code of `check`.
NOT_AS_WRITTEN = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Topics: list, declare, cap, check, resume."""
    topics = parser.add_subparsers(metavar="TOPIC", required=True, title="topics")
    listing = topics.add_parser("list", help="show data sets, releases and explorations, or write them to a file")
    listing.add_argument("--out", type=Path, metavar="FILE", help="write a .csv or .json file, without fingerprints and paths")
    listing.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    declare = topics.add_parser("declare", help="name a data set that shares no rows with any other, and set its cap")
    _add_caps(declare)
    declare.add_argument("--unit", required=True, metavar="TEXT", help="whom it protects, such as 'one patient'")
    declare.add_argument("--rows-per-unit", required=True, type=whole(), metavar="K", help="most rows of one of them")
    declare.add_argument("--role", choices=[str(role) for role in DataRole], default="private", help="default: private")
    cap = topics.add_parser("cap", help="change the cap of a data set; what was spent stays spent")
    _add_caps(cap)
    _add_decision(cap, required=False)
    cap.add_argument("--confirm-cap", type=number, metavar="E", help="the raised cap on epsilon once more")
    check = topics.add_parser("check", help="is it as it was written? Exit code 1 when it is not")
    check.add_argument("files", nargs="*", type=Path, metavar="RELEASE.json", help="released files that are kept elsewhere")
    back = topics.add_parser("resume", help="go on with an old copy; what was left counts as spent")
    _add_decision(back, required=True)
    ours = ((listing, _list), (declare, _declare), (cap, _cap), (check, _check), (back, _restored))
    for topic, do in ours:
        add_register_argument(topic)
        console.add_json_argument(topic)
        topic.set_defaults(topic=do)


def add_register_argument(parser: ArgumentParser) -> None:
    """`--register`."""
    parser.add_argument("--register", type=Path, metavar="FILE", help="the register (default: $DPVIZ_REGISTER, else the user's)")


def _add_caps(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the data set")
    per_row = f"most that may be spent, {NEIGHBOURS}; a unit of K rows may lose K times as much"
    parser.add_argument("--epsilon-cap", required=True, type=number, metavar="E", help=per_row)
    parser.add_argument("--delta-cap", type=number, default=0.0, metavar="D", help="most delta that may be spent (default: 0)")


def _add_decision(parser: ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--reason", required=required, default="", metavar="TEXT", help="why; stays in the history")
    parser.add_argument("--by", required=required, default="", metavar="NAME", help="who decides; stays in the history")


def run(args: Namespace) -> int:
    """Do what the topic says."""
    register = Register(args.register)
    if args.topic not in (_check, _restored):  # these two are for a register that may be an old copy
        register.recover_interrupted()
    return args.topic(args, register) or 0


def _declare(args: Namespace, register: Register) -> None:
    caps = {"epsilon_cap": args.epsilon_cap, "delta_cap": args.delta_cap}
    unit = {"unit": args.unit, "rows_per_unit": args.rows_per_unit, "role": DataRole(args.role)}
    register.declare(args.name, **caps, **unit)
    console.show_pairs(balance_pairs(register.balance(args.name)))


def _cap(args: Namespace, register: Register) -> None:
    known = register.data_set(args.name)
    if args.epsilon_cap > known.epsilon_cap and args.confirm_cap != args.epsilon_cap:
        before, after = (_loss(PrivacyLoss(cap), known) for cap in (known.epsilon_cap, args.epsilon_cap))
        what = f"This raises the cap from {before} to {after}."
        raise RefusedRelease(what, where=args.name, remedy="Give the new cap once more with --confirm-cap, if it is meant.")
    decided = {"reason": args.reason, "made_by": args.by}
    register.change_caps(args.name, epsilon_cap=args.epsilon_cap, delta_cap=args.delta_cap, **decided)
    console.show_pairs(balance_pairs(register.balance(args.name)))


def _check(args: Namespace, register: Register) -> int:
    unreadable = [path for path in args.files if reference_in(path) is None]
    if unreadable:
        remedy = "Give files that dpviz released from a register."
        raise DpvizError("This file names no register.", where=place(unreadable[0]), remedy=remedy)
    found = findings(register, files=args.files)
    about = [("Register", str(register.path))]
    console.show_pairs([*about, ("Checked", "as it was written" if not found else f"{len(found)} findings")])
    for line in found:
        console.warn(line)
    return NOT_AS_WRITTEN if found else 0


def _restored(args: Namespace, register: Register) -> None:
    resume(register, reason=args.reason, made_by=args.by)
    for found in register.data_sets():
        console.show_pairs(balance_pairs(register.balance(found.name)))


def _list(args: Namespace, register: Register) -> None:
    if args.out is None:
        _show(register)
    else:
        write = _WRITERS.get(args.out.suffix.lower())
        if write is None:
            raise DpvizError("The format is not known.", where=place(args.out), remedy="Give a name that ends in .csv or .json.")
        check_output(args.out, force=args.force, inputs=[register.path])
        write_whole(args.out, write(register), force=args.force)
        console.done(f"Wrote {args.out}.")


def _show(register: Register) -> None:
    if console.is_json():
        console.show_values(register_record(register) | {"warnings": list(findings(register))})
        return
    data_sets = register.data_sets()
    about = [("Register", str(register.path))]
    console.show_pairs(about if data_sets else [*about, ("Releases", "none, and no data set is declared yet")])
    for found in data_sets:
        balance = register.balance(found.name)
        console.show_title(found.name)
        console.show_pairs(balance_pairs(balance))
        _show_caps(register.cap_changes(found.name), found)
        if balance.releases:
            lines = [
                (str(entry.number), entry.started, entry.status, entry.learner, _loss(entry.loss, found), Path(entry.file).name)
                for entry in balance.releases
            ]
            console.show_table("releases", ("NO", "STARTED", "STATUS", "LEARNER", "SPENT", "FILE"), lines)
    _show_explorations(register)
    for line in findings(register):
        console.warn(line)


def _show_caps(changes: Sequence[CapChange], found: DataSet) -> None:
    if len(changes) > 1:
        lines = [(it.at, _loss(PrivacyLoss(it.epsilon_cap, it.delta_cap), found), it.made_by, it.reason) for it in changes]
        console.show_table("caps", ("SINCE", "CAP", "SET BY", "REASON"), lines)


def _show_explorations(register: Register) -> None:
    found = visible_to_others(register.uncovered_uses())
    if found:
        console.show_title(f"Explorations ({found[0].status})")
        lines = [(item.at, item.data_set or "(not assigned)", item.what, item.learner, f"{item.times:,}") for item in found]
        console.show_table("explorations", ("LAST", "DATA SET", "WHAT", "LEARNER", "TIMES"), lines)


def balance_pairs(balance: Balance) -> list[tuple[str, str]]:
    """What a data set's releases cost together, and what is left."""
    found, spent = balance.data_set, balance.spent
    return [
        ("Data set", f"{found.name} ({found.role} rows)"),
        ("Unit", found.protects.described),
        *((name, _loss(loss, found)) for name, loss in (("Cap", found.cap), ("Spent", spent), ("Left", balance.left))),
        ("Account", ACCOUNT),
        *([("Composed", signs_spelled(said))] if (said := composed_sentence(balance)) else []),
    ]


def _loss(loss: PrivacyLoss, found: DataSet) -> str:
    return signs_spelled(loss_text(loss, found.protects))
