"""Train a private tree on a table and write it as JSON.

Without --seed this is a release: exact samplers, entropy from the operating system, no seed. With --seed it is a simulation:
repeatable, for what-ifs, and it protects nobody. With --release NAME it is entered in the release register as well: refused
above the cap of the data set NAME, and spent for good (see `ledger`). Every epsilon is meant under add/remove one row.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.commands.ledger import add_register_argument, balance_pairs, loss_text
from dpviz.commands.parameters import parse_parameters
from dpviz.commands.proposal import warn_of_proposal, warn_of_read_values
from dpviz.commands.summary import summary
from dpviz.errors import DpvizError
from dpviz.io.csv import read_csv
from dpviz.io.schemas import load_schema
from dpviz.learners import DEFAULT, fit, get_learner, require_task
from dpviz.release.publish import Wish, publish
from dpviz.release.register import ReleaseRegister
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.schema import Schema
from dpviz.training.params import Settings

NAME = "train"
HELP = "train a private tree and write it as JSON"


def add_arguments(parser: ArgumentParser) -> None:
    """Table, schema, budget, learner, noise, file."""
    parser.add_argument("data", type=Path, metavar="DATA", help="table: .csv or .csv.gz with a header row")
    parser.add_argument(
        "--schema", type=Path, metavar="FILE", help="what is public about DATA; without it one is read from the data"
    )
    parser.add_argument("--target", metavar="COLUMN", help="column to predict when there is no --schema (default: the last one)")
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="privacy loss, add/remove one row")
    parser.add_argument("--delta", type=float, default=0.0, metavar="D", help="chance that epsilon may fail (default: 0)")
    parser.add_argument("--max-depth", type=int, default=4, metavar="D", help="most levels of rules (default: 4)")
    parser.add_argument(
        "--depth", type=_depth, default="auto", metavar="auto|N", help="a fixed depth instead of the learner's rule"
    )
    parser.add_argument("--learner", default=DEFAULT, metavar="NAME", help=f"see `learners` (default: {DEFAULT})")
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the learner; may be repeated"
    )
    parser.add_argument("--seed", type=_seed, metavar="N", help="simulate, repeatably; not a release")
    parser.add_argument("--release", metavar="NAME", help="enter it in the register, under the cap of this data set")
    parser.add_argument("--assign", action="store_true", help="these rows belong to NAME: said once per table and schema")
    add_register_argument(parser)
    add_output_arguments(parser, "the tree")


def run(args: Namespace) -> int:
    """Check, read, encode, train, write, and say what came of it."""
    spec = get_learner(args.learner)
    asked = {"epsilon": args.epsilon, "max_depth": args.max_depth, "depth": args.depth, "delta": args.delta}
    Settings(**asked)  # a mistake shows before the table is read
    params = parse_parameters(spec, args.param)
    _check_release(args)
    check_output(args.out, force=args.force, inputs=filter(None, (args.data, args.schema)))
    table, schema = _table_and_schema(args)
    require_task(spec, schema)
    console.doing("Encoding")
    data = encode(table, schema)
    console.doing(f"Training {spec.title}")
    if args.release:
        return _release(args, table, data, Wish(spec.name, asked, params))
    result = fit(spec.name, data, seed=args.seed, **asked, **params)
    console.doing("Writing")
    write_whole(args.out, result.to_json() + "\n", force=args.force)
    _tell(args, table, data)
    if args.seed is None:
        console.done("Not entered in the release register; --release NAME does that, under a cap.")
    console.show_pairs([*summary(result), ("File", str(args.out))])
    return 0


def _check_release(args: Namespace) -> None:
    if args.release and args.seed is not None:
        raise DpvizError("--release and --seed exclude each other.", remedy="A seeded run protects nobody; leave --seed out.")
    if args.release and args.force:
        raise DpvizError("--release never overwrites a file.", where="--force", remedy="Choose a new --out.")


def _release(args: Namespace, table: RawTable, data: EncodedDataset, wish: Wish) -> int:
    """Assign the rows if asked to, release, and say what is left."""
    register = ReleaseRegister(args.register)
    if args.assign:
        register.assign(data.fingerprint, args.release)
    elif register.data_set(args.release) != register.data_set_of(data.fingerprint):
        raise DpvizError(
            f"Nobody has said yet that these rows belong to {args.release!r}.",
            where=str(args.data),
            remedy="Add --assign if they do; else declare another data set (`ledger declare`).",
        )
    entry = publish(register, data, wish, file=args.out)
    _tell(args, table, data)
    about = [("Release", f"number {entry.number}, {loss_text(entry.loss)}"), ("SHA-256", entry.sha256), ("File", entry.file)]
    console.show_pairs([*about, *balance_pairs(register.balance(args.release))])
    return 0


def _table_and_schema(args: Namespace) -> tuple[RawTable, Schema]:
    if args.schema and args.target:
        raise DpvizError("--target and --schema exclude each other.", remedy="The schema names the target; leave --target out.")
    declared = load_schema(args.schema) if args.schema else None
    console.doing(f"Reading {args.data}")
    table = read_csv(args.data)
    return table, declared or propose_schema(table, args.target)


def _tell(args: Namespace, table: RawTable, data: EncodedDataset) -> None:
    """Stages and warnings. Row counts are private: they go to the owner's terminal, never into the file."""
    console.done(f"Read {table.source}: {table.n_rows:,} rows, {len(table.columns)} columns.")
    for note in table.notes:
        console.done(note)
    if args.schema is None:
        console.warn("No --schema: one was read from the data. Write it with the command `schema` and correct it.")
        warn_of_proposal(table, data.schema, args.target)
    warn_of_read_values(data.schema)
    console.done(f"Encoded {data.n_rows:,} rows.")
    if data.n_rows < table.n_rows:
        console.warn(f"{table.n_rows - data.n_rows:,} rows were dropped: missing or undeclared values. These counts are private.")
    console.done(f"Trained {args.learner} and wrote {args.out}.")


def _depth(text: str) -> int | str:
    if text == "auto" or text.isdecimal():
        return text if text == "auto" else int(text)
    raise ArgumentTypeError(f"must be 'auto' or a whole number, got {text!r}")


def _seed(text: str) -> int:
    if text.isdecimal():
        return int(text)
    raise ArgumentTypeError(f"must be a whole number from 0 on, got {text!r}")
