"""Commands that begin with a table: schema and train."""

import warnings
from argparse import ArgumentTypeError, Namespace
from typing import Any

from dpviz.charts.publish.exports import proof_of, proof_sentence
from dpviz.charts.publish.test_result import summary
from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import (
    LEARNER,
    READING,
    TABLE,
    column,
    flag,
    number,
    option,
    output,
    parse_parameters,
    shared,
    table_or_address,
    whole,
)
from dpviz.cli.register import balance_pairs
from dpviz.cli.rows import OpenRows, declared_schema, open_rows, table_of, warn_of_proposal, warn_of_read_values
from dpviz.errors import DpvizError, ReadingWarning, UnansweredRows, UnknownName, path_text
from dpviz.learners import FitRequest, get_learner
from dpviz.learners.request import check_row_count, remarks
from dpviz.release.files import require_new_file
from dpviz.release.register import Register
from dpviz.release.release import release, require_unseeded
from dpviz.results.verdict import DELTA, loss_text
from dpviz.results.wording import signs_spelled
from dpviz.table.notes import Interface, note_text
from dpviz.table.proposal import propose_schema


def _depth(text: str) -> int | str:
    if text == "auto" or text.isdecimal():
        return text if text == "auto" else int(text)
    raise ArgumentTypeError(f"must be 'auto' or a whole number, got {text!r}")


OPTIONS = {
    "schema": {**shared("data", *READING, "--target"), **output("the schema"), **shared("--json")},
    "train": {
        **table_or_address(),
        **shared(*TABLE[1:], *LEARNER),
        "--delta": option(number, "D", f"{signs_spelled(DELTA)} Default: automatic"),
        "--depth": option(_depth, "auto|N", "a fixed depth, not the learner's rule", default="auto"),
        "--groups": option(column, "COLUMN", "a categorical feature whose categories the test tells apart"),
        "--seed": option(whole(0), "N", "simulate, repeatably; not a release"),
        "--data-set": option(str, "NAME", "record the release in the register, under the cap of this data set"),
        "--add-rows": flag("these rows belong to NAME; needed once per table"),
        "--disjoint-from": option(
            str,
            "NAME",
            "a data set whose rows these look like, but nobody in them is in it; the answer is kept; may be repeated",
            action="append",
            default=[],
        ),
        "--accept-rows": flag("release although fewer than 90%% of the rows are used unchanged, or far from as many as declared"),
        **shared("--register"),
        **output("the tree"),
        **shared("--json"),
    },
}


def run_schema(args: Namespace) -> int:
    """Propose a schema for a table and write it as JSON, to be corrected by hand.

    Everything in it is read from the data and marked so. Replace each value with what is publicly known, and delete its name
    from "read_from_data".

    Example: dpviz schema loans.csv --target defaulted --out loans.schema.json
    """
    check_output(args.out, force=args.force, inputs=(args.data,))
    table = table_of(args)
    if args.target is not None and args.target not in table.names:
        raise UnknownName("column", args.target, table.names)  # only here: whoever asks for a proposal looks at the file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # said below, with examples
        schema = propose_schema(table, args.target)
    write_whole(args.out, schema.to_json(), force=args.force)
    for name, note in table.remarks:  # as the Data page says them
        console.warn(f"{name!r:.60}: " * bool(name) + note_text(note, Interface.COMMAND_LINE))
    warn_of_proposal(table, schema, args.target, named=True)
    warn_of_read_values(schema)
    console.show_pairs([("Target", schema.target.name), ("Features", str(schema.n_features)), ("File", str(args.out))])
    return 0


def run_train(args: Namespace) -> int:
    """Train a private tree on a table and write it as JSON.

    Without --seed this is a release: exact samplers, entropy from the operating system, no seed. With --seed it is a
    simulation: repeatable, for what-ifs, and it protects nobody. --data-set NAME records the release in the register: it is
    refused above the cap of that data set, and its epsilon is permanently spent (see `dpviz register`). Every epsilon is for
    adding or removing one person, who has one row unless the schema or --rows-per-person says more.

    Example: dpviz train loans.csv --schema loans.schema.json --epsilon 1 --out tree.json
    """
    spec = get_learner(args.learner)
    settings = {name: getattr(args, name) for name in ("epsilon", "max_depth", "depth", "delta", "groups", "seed")}
    request = FitRequest.of(spec.name, **settings, **parse_parameters(spec, args.param, "test_share"))  # before any row is read
    check_output(args.out, force=args.force, inputs=(args.data, args.schema))
    is_booked = args.data_set is not None  # an empty name is none that is declared
    if is_booked:
        require_unseeded(request)
        require_new_file(args.out)
    for name in () if is_booked else ("add_rows", "disjoint_from", "register"):
        if getattr(args, name):
            remedy = "Name its data set with --data-set, or leave this out."
            raise DpvizError("This is for a release in the register.", where=f"--{name.replace('_', '-')}", remedy=remedy)
    with open_rows(args, declared_schema(args), spec) as source:
        if args.seed is None:
            if not (args.accept_rows or is_booked) and request.releases(source.rows.schema):
                check_row_count(source.rows, accept="add --accept-rows", where=path_text(args.data))
            console.status("Trying every export on a tree of these columns")
            proof = proof_of(source.rows.schema)
            if proof.missing:
                console.warn(proof_sentence(proof))
        console.status(f"Training {spec.title}")
        return (_release if is_booked else _train)(args, source, request)


def _train(args: Namespace, source: OpenRows, request: FitRequest) -> int:
    result = request.fit(source.rows)
    console.status("Writing")
    write_whole(args.out, result.to_json() + "\n", force=args.force)
    _report(args, source, request)
    if not get_learner(args.learner).spends_epsilon:
        console.warn(f"{args.learner} has no privacy, and --epsilon no effect: the file holds exact values of the rows.")
    elif args.seed is None:
        console.report("The register does not count this release; --data-set NAME records one, under a cap.")
    console.show_pairs([*summary(result), ("File", str(args.out))])
    return 0


def _release(args: Namespace, source: OpenRows, request: FitRequest) -> int:
    """Assign the rows if asked to, release, and say what is left."""
    register, data = Register(args.register), source.rows
    data_set = register.data_set(args.data_set)
    others = [other.name for other in register.alike(source.names) if other.name not in (data_set.name, *args.disjoint_from)]
    answers: dict[str, Any] = {"add_rows": args.add_rows, "accept_rows": args.accept_rows, "disjoint_from": args.disjoint_from}
    try:
        record = release(register, data_set.name, request, data, file=args.out, columns=source.names, **answers)
    except UnansweredRows as question:
        raise _with_options(question, args) from None
    if args.add_rows and others:  # the same people may be in a data set with the same columns: then its cap counts
        console.warn(f"{others[0]!r} has mostly the same columns. Nobody in these rows may be in it, too.")
    _report(args, source, request)
    if data_set.rows_per_unit > 1 and data.rows_per_person is None:
        console.warn(f"Nothing but your word bounds the rows of {data_set.unit!r}; --person and --rows-per-person do.")
    loss = signs_spelled(loss_text(record.loss, data_set.protects))
    about = [("Release", f"number {record.number}, {loss}"), ("SHA-256", record.sha256), ("File", record.file)]
    console.show_pairs([*about, *balance_pairs(register.balance(data_set.name))])
    return 0


def _with_options(question: UnansweredRows, args: Namespace) -> UnansweredRows:
    """The question with the answers of this command."""
    names = question.data_sets
    options = " ".join(f"--disjoint-from {name!r}" for name in names)
    remedy = {
        "unassigned": "Add --add-rows if they belong to it; else declare another data set (`dpviz register declare`).",
        "recognised": f"Use --data-set {next(iter(names), '')!r}, or add {options} if nobody in them is in it.",
        "few": "Correct the schema, or how the table is read, by what you know without the rows, or add --accept-rows."
        " Nothing was spent. Keep this private.",
        "source": 'Add "source": "codebook of 2024, page 12" or the like to the schema file. Nothing was spent.',
    }[question.code]
    return UnansweredRows(question.code, question.what, where=path_text(args.data), remedy=remedy, data_sets=names)


def _report(args: Namespace, source: OpenRows, request: FitRequest) -> None:
    """Stages and warnings. Row counts are private: they go to the owner's terminal, never into the file."""
    data, table = source.rows, source.table
    console.report(f"Read {source.source}: {source.n_read:,} rows, {len(source.names)} columns.")
    if table is not None and args.schema is None:
        console.warn("No --schema: one was read from the data. Write it with `dpviz schema` and correct it.")
        warn_of_proposal(table, data.schema, args.target)
    warn_of_read_values(data.schema)
    console.report(f"Encoded {data.n_rows:,} rows.")
    over_limit = data.report.over_limit if data.report else 0
    if over_limit:
        limit = data.rows_per_person or 1
        console.warn(f"{over_limit:,} rows beyond {limit:,} of a person are left out. This count is private.")
    if dropped := source.n_read - data.n_rows - over_limit:
        console.warn(f"{dropped:,} rows were dropped: missing or undeclared values. These counts are private.")
    for remark in remarks(request, data, accepted=args.accept_rows):
        console.warn(str(remark))
    console.report(f"Trained {args.learner} and wrote {args.out}.")
