"""Measure dpviz on this machine.

`bench speed` compares times and memory of fits with scikit-learn's tree of the same depth, in one process and one run. The
numbers are for people: the exit code is 0 whether a target is met or not. Targets are set for 10,000 rows and more.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.bench_data import bench_data
from dpviz.commands.bench_speed import DEPTH, EPSILON, Line, measure

NAME = "bench"
HELP = "measure time and memory"


def add_arguments(parser: ArgumentParser) -> None:
    """One topic so far: speed."""
    topics = parser.add_subparsers(metavar="TOPIC", required=True, title="topics")
    speed = topics.add_parser("speed", help="time and memory of fits", description=__doc__)
    speed.add_argument("--data", type=Path, metavar="DIR", help="folder with a MANIFEST.csv (default: the loan sample)")
    speed.add_argument("--only", action="append", metavar="NAME", help="this data set of the manifest; may be repeated")
    speed.add_argument("--rounds", type=_rounds, default=9, metavar="N", help="rounds to take the median of (default: 9)")


def run(args: Namespace) -> int:
    """Measure and print, data set by data set."""
    for name, data in bench_data(args.data, args.only):
        console.doing(f"Measuring on {name}")
        lines = measure(data, rounds=args.rounds)
        console.show_title(
            f"{name}: {data.n_rows:,} rows, {data.n_features} features, {data.nbytes / 1e6:.2f} MB encoded; "
            f"depth {DEPTH}, epsilon {EPSILON:g} ({NEIGHBOURS}), median of {args.rounds} rounds"
        )
        console.show_table(("", "MEASURED", "RATIO", "TARGET", ""), [_cells(line) for line in lines])
    return 0


def _cells(line: Line) -> tuple[str, ...]:
    ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
    target = "" if line.target is None else f"{line.target.relation} {line.target.limit:g}{line.target.unit}"
    verdict = "" if line.target is None else "met" if line.is_met else "NOT MET"
    return line.what, f"{line.measured:.2f} {line.unit}", ratio, target, verdict


def _rounds(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    raise ArgumentTypeError(f"must be a whole number from 1 to 1000, got {text!r}")
