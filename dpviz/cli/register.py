"""Commands of the release register: register, and check of a released file."""

import os
from argparse import Namespace
from pathlib import Path

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.publish.release import ACCOUNT, checked_file, composed_sentence, sentences, title, values
from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import flag, number, option, shared, whole
from dpviz.errors import DpvizError, RefusedRelease, path_text
from dpviz.io.csv_text import csv_text
from dpviz.io.results import read_model_file
from dpviz.release.check import findings, reference_in, resume
from dpviz.release.export import COLUMNS, register_json, register_lines, register_record
from dpviz.release.records import Balance, DataSet, visible_to_others
from dpviz.release.register import Register
from dpviz.results.verdict import loss_text
from dpviz.results.wording import signs_spelled
from dpviz.table.role import DataRole

#: Exit code where a file or the register is not as it was written.
MISMATCH = 1
_WRITERS = {".csv": lambda register: csv_text(COLUMNS, register_lines(register)), ".json": register_json}


def run_register(args: Namespace) -> int:
    """The release register: what was spent for good on which rows, and what is left.

    `list` shows everything, or writes it to a CSV or JSON file. `declare` names a data set that shares no rows with any other,
    and sets its cap. `cap` changes a cap. `check` finds a register that was changed, truncated or put back from an old copy;
    `resume` goes on with an old copy where there is no newer one, with nothing left to spend. A release's report is written by
    `dpviz export FILE --to report`. Releases are booked by `dpviz train --data-set NAME` or on the Publish page. Every epsilon
    is for adding or removing one unit, such as a person, with all its rows.

    Example: dpviz register declare clinic --epsilon-cap 3 --unit 'one patient' --rows-per-unit 1
    """
    register = Register(args.register)
    if args.topic not in (_check, _resume):  # these two are for a register that may be an old copy
        register.recover_interrupted()
    return args.topic(args, register) or 0


def _declare(args: Namespace, register: Register) -> None:
    caps = {"epsilon_cap": args.epsilon_cap, "delta_cap": args.delta_cap}
    register.declare(args.name, **caps, unit=args.unit, rows_per_unit=args.rows_per_unit, role=DataRole(args.role))
    console.show_pairs(balance_pairs(register.balance(args.name)))


def _cap(args: Namespace, register: Register) -> None:
    data_set = register.data_set(args.name)
    if args.epsilon_cap > data_set.epsilon_cap and args.confirm_cap != args.epsilon_cap:
        before, after = (_loss(PrivacyLoss(cap), data_set) for cap in (data_set.epsilon_cap, args.epsilon_cap))
        what = f"This raises the cap from {before} to {after}."
        raise RefusedRelease(what, where=args.name, remedy="Give the new cap once more with --confirm-cap, if it is meant.")
    caps = {"epsilon_cap": args.epsilon_cap, "delta_cap": args.delta_cap}
    register.change_caps(args.name, **caps, reason=args.reason, made_by=args.by)
    console.show_pairs(balance_pairs(register.balance(args.name)))


def _check(args: Namespace, register: Register) -> int:
    unreadable = [path for path in args.files if reference_in(path) is None]
    if unreadable:
        remedy = "Give files that dpviz released from a register."
        raise DpvizError("This file names no register.", where=path_text(unreadable[0]), remedy=remedy)
    problems = findings(register, files=args.files)
    checked = f"{len(problems)} findings" if problems else "as it was written"
    console.show_pairs([("Register", str(register.path)), ("Checked", checked)])
    for line in problems:
        console.warn(line)
    return MISMATCH if problems else 0


def _resume(args: Namespace, register: Register) -> None:
    resume(register, reason=args.reason, made_by=args.by)
    _show(register)


def _list(args: Namespace, register: Register) -> None:
    if args.out is None:
        _show(register)
        return
    write = _WRITERS.get(args.out.suffix.lower())
    if write is None:
        remedy = "Give a name that ends in .csv or .json."
        raise DpvizError("The format is not known.", where=path_text(args.out), remedy=remedy)
    check_output(args.out, force=args.force, inputs=[register.path])
    write_whole(args.out, write(register), force=args.force)
    console.report(f"Wrote {args.out}.")


def _show(register: Register) -> None:
    if console.is_json():
        console.show_values(register_record(register) | {"warnings": list(findings(register))})
        return
    data_sets = register.data_sets()
    nothing = [] if data_sets else [("Releases", "none, and no data set is declared yet")]
    console.show_pairs([("Register", str(register.path)), *nothing])
    for data_set in data_sets:
        balance = register.balance(data_set.name)
        console.show_title(data_set.name)
        console.show_pairs(balance_pairs(balance))
        changes = register.cap_changes(data_set.name)
        if len(changes) > 1:
            lines = [(change.at, _loss(change.cap, data_set), change.made_by, change.reason) for change in changes]
            console.show_table("caps", ("SINCE", "CAP", "SET BY", "REASON"), lines)
        if balance.releases:
            releases = [
                (str(one.number), one.started, one.status, one.learner, _loss(one.loss, data_set), Path(one.file).name)
                for one in balance.releases
            ]
            console.show_table("releases", ("NO", "STARTED", "STATUS", "LEARNER", "SPENT", "FILE"), releases)
    if uses := visible_to_others(register.uncovered_uses()):
        console.show_title(f"Explorations ({uses[0].status})")
        looks = [(use.at, use.data_set or "(not assigned)", use.what, use.learner, f"{use.times:,}") for use in uses]
        console.show_table("explorations", ("LAST", "DATA SET", "WHAT", "LEARNER", "TIMES"), looks)
    for line in findings(register):
        console.warn(line)


def balance_pairs(balance: Balance) -> list[tuple[str, str]]:
    """What a data set's releases cost together, and what is left."""
    data_set, composed = balance.data_set, composed_sentence(balance)
    return [
        ("Data set", f"{data_set.name} ({data_set.role} rows)"),
        ("Unit", data_set.protects.text),
        ("Cap", _loss(data_set.cap, data_set)),
        ("Spent", _loss(balance.spent, data_set)),
        ("Left", _loss(balance.left, data_set)),
        ("Account", ACCOUNT),
        *([("Composed", signs_spelled(composed))] if composed else []),
    ]


def _loss(loss: PrivacyLoss, data_set: DataSet) -> str:
    return signs_spelled(loss_text(loss, data_set.protects))


# --- a released file


def run_check(args: Namespace) -> int:
    """Check a released file without its rows: did the register write it, what do its steps add up to, what does it cost a person?

    The file is looked up by its SHA-256, so a file that was changed in any way is found. Its ledger is added up again: one
    whose steps do not come to what it states is refused. Exit code 0 only where the register wrote this very file and is itself
    as it was written; 1 where not, or where nobody can tell.

    Example: dpviz check release.json
    """
    register = Register(args.register)
    if args.register is not None and not os.path.isfile(register.path):
        raise DpvizError("There is no register here.", where=path_text(args.register), remedy="Check the path.")
    file = checked_file(read_model_file(args.file).encode(), args.file.name, register)
    about = [("File", f"{args.file} ({title(file)})"), ("SHA-256", file.match.sha256)]
    console.show_pairs([*about, *((name, signs_spelled(sentence)) for name, sentence in sentences(file))])
    console.show_values(values(file))
    problems = findings(register) if register.path.exists() else ()
    for line in problems:
        console.warn(line)
    return 0 if file.is_as_released and not problems else MISMATCH


_CAPS = {
    "name": option(str, "NAME", "the data set"),
    "--epsilon-cap": option(
        number, "E", "most that may be spent of one unit, all rows of which come or go together", required=True
    ),
    "--delta-cap": option(number, "D", "most delta that may be spent (default: 0)", default=0.0),
}
_DECISION = {
    "--reason": option(str, "TEXT", "why; stays in the history", default=""),
    "--by": option(str, "NAME", "who decides; stays in the history", default=""),
}
_LIST = {
    "--out": option(Path, "FILE", "write a .csv or .json file, without fingerprints and paths"),
    "--force": flag("overwrite FILE if it exists"),
}
_DECLARE = {
    **_CAPS,
    "--unit": option(str, "TEXT", "whom it protects, such as 'one patient'", required=True),
    "--rows-per-unit": option(whole(), "K", "most rows of one of them, as their schema says (rows_per_person)", required=True),
    "--role": {"choices": [str(role) for role in DataRole], "default": "private", "help": "default: private"},
}
_CAP = {**_CAPS, **_DECISION, "--confirm-cap": option(number, "E", "the raised cap on epsilon once more")}
_CHECK = {"files": option(Path, "RELEASE.json", "released files that are kept elsewhere", nargs="*")}
_RESUME = {name: settings | {"required": True} for name, settings in _DECISION.items()}
_COMMON = shared("--register", "--json")
OPTIONS = {
    "register": {
        "list": ("show data sets, releases and explorations, or write them to a file", _LIST | _COMMON, _list),
        "declare": ("name a data set that shares no rows with any other, and set its cap", _DECLARE | _COMMON, _declare),
        "cap": ("change the cap of a data set; what was spent stays spent", _CAP | _COMMON, _cap),
        "check": ("is it as it was written? Exit code 1 when it is not", _CHECK | _COMMON, _check),
        "resume": ("go on with an old copy; what was left counts as spent", _RESUME | _COMMON, _resume),
    },
    "check": {"file": option(Path, "FILE", "a file that was released, such as release.json"), **_COMMON},
}
