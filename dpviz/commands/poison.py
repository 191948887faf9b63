"""How many poisoned rows a learner withstands: guaranteed accuracy while an attacker adds or removes training rows.

A part of the rows is held out to measure on. The learner is drawn many times on the rest, and what privacy proves is printed:
the published guarantee, the tight one, and what of it is proved with confidence. Rows are counted under add/remove one row; a
changed row counts as two. The numbers are computed from the rows without noise: they are for their owner, not for release.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.files import check_output, write_whole
from dpviz.commands.parameters import parse_parameters
from dpviz.commands.proposal import warn_of_read_values
from dpviz.errors import DpvizError
from dpviz.evaluation.classes import require_classes
from dpviz.evaluation.robustness.poisoning import PoisoningTable, certify
from dpviz.io.csv import read_csv
from dpviz.io.csv_text import frame_csv
from dpviz.io.schemas import load_schema
from dpviz.learners import DEFAULT, get_learner, require_task
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema
from dpviz.training.params import Settings

NAME = "poison"
HELP = "how many poisoned rows a learner provably withstands"
#: Held out to measure on.
TEST_SHARE = 0.2
#: Lines that are printed; the file has them all.
LINES = 11


def add_arguments(parser: ArgumentParser) -> None:
    """Table, schema, learner, poison, draws, file."""
    parser.add_argument("data", type=Path, metavar="DATA", help="table: .csv or .csv.gz with a header row")
    parser.add_argument("--schema", type=Path, metavar="FILE", help="what is public about DATA (default: read from the data)")
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="privacy loss, add/remove one row")
    parser.add_argument("--learner", default=DEFAULT, metavar="NAME", help=f"see `learners` (default: {DEFAULT})")
    parser.add_argument("--max-depth", type=int, default=4, metavar="D", help="most levels of rules (default: 4)")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the learner")
    parser.add_argument("--max-poisoned", type=float, default=0.01, metavar="S", help="largest share of rows (default: 0.01)")
    parser.add_argument("--above", type=float, metavar="A", help="accuracy to stay above (default: the majority class)")
    parser.add_argument("--draws", type=_count(1_000_000), default=1000, metavar="N", help="trees per split (default: 1000)")
    parser.add_argument("--splits", type=_count(100), default=1, metavar="N", help="random splits, averaged (default: 1)")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the last column (default: 0.95)")
    parser.add_argument("--seed", type=_count(2**63, 0), default=0, metavar="N", help="of splits and noise (default: 0)")
    parser.add_argument("--workers", type=_count(1000), default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the whole curve as CSV")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(args: Namespace) -> int:
    """Check, read, encode, certify, print, write."""
    spec = get_learner(args.learner)
    settings = {"epsilon": args.epsilon, "max_depth": args.max_depth}
    Settings(**settings)  # a mistake shows before the table is read
    params = parse_parameters(spec, args.param)
    if args.out is not None:
        check_output(args.out, force=args.force, inputs=filter(None, (args.data, args.schema)))
    data = _encoded(args)
    require_classes(data.schema, "A poisoning guarantee")
    require_task(spec, data.schema)
    console.doing(f"Drawing {spec.title}")
    found = certify(
        spec.name,
        [data.split(TEST_SHARE, seed=args.seed + number) for number in range(args.splits)],
        max_poisoned=args.max_poisoned,
        draws=args.draws,
        seed=args.seed,
        beta=1 - args.confidence,
        workers=args.workers,
        **settings,
        **params,
    )
    if args.out is not None:
        write_whole(args.out, frame_csv(found.frame()), force=args.force)
    warn_of_read_values(data.schema)
    _show(found, args)
    return 0


def _encoded(args: Namespace) -> EncodedDataset:
    declared = load_schema(args.schema) if args.schema else None
    console.doing(f"Reading {args.data}")
    table = read_csv(args.data)
    data = encode(table, declared or propose_schema(table, None))
    if data.n_rows < 2:
        raise DpvizError("There are too few rows to hold some out.", where=str(args.data), remedy="Give at least two rows.")
    return data


def _show(found: PoisoningTable, args: Namespace) -> None:
    console.show_title(
        f"{get_learner(found.learner).title}, epsilon {args.epsilon:g} ({NEIGHBOURS}): guaranteed accuracy, "
        f"{found.n_done:,} draws. For the owner of the rows only."
    )
    header = ("POISONED", "SHARE", "PUBLISHED", "TIGHT", f"WITH {args.confidence:.0%} CONFIDENCE")
    console.show_table(header, [_cells(found, rows) for rows in _chosen(found.rows)])
    console.show_pairs([("Verdict", found.verdict(args.above))])


def _chosen(rows: tuple[int, ...]) -> list[int]:
    """At most LINES of them, evenly spaced, first and last included."""
    last = len(rows) - 1
    places = sorted({round(step * last / (LINES - 1)) for step in range(LINES)})
    return [rows[place] for place in places]


def _cells(found: PoisoningTable, rows: int) -> tuple[str, ...]:
    bounds = (found.published(rows), found.tight(rows), found.low(rows))
    return f"{rows:,}", f"{rows / max(1, found.n_train):.2%}", *("-" if math.isnan(b) else f"{b:.3f}" for b in bounds)


def _count(most: int, least: int = 1) -> Callable[[str], int]:
    def count(text: str) -> int:
        if text.isdecimal() and least <= int(text) <= most:
            return int(text)
        raise ArgumentTypeError(f"must be a whole number from {least:,} to {most:,}, got {text!r}")

    return count
