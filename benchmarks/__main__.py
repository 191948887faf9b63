"""Measure dpviz on this machine: `python -m benchmarks TOPIC`.

`speed` compares times and memory of fits with scikit-learn's tree of the same depth, in one process and one run. `tables`
shows measured accuracy next to the papers' tables; `poisoning`, `forests`, `boosting` and `curves` do so for
poisoning guarantees, random forests, boosted trees and the papers' other figures, `dpboost` what DPBoost's
published level takes, `rivals` packages as they are shipped, `probabilities` measures pf-tree's leaves and its private test,
`engines` questions to databases. `differences` and `learners` measure nothing: they write pages from what learners declare;
`risk` works out what one row risks, from ledgers.
The exit code is 0 whether or not a target is met. Targets hold for 10,000 rows and more. `mutants` makes changes that would
break privacy and exits with 1 if the tests do not notice one.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import engines as bench_engines
from benchmarks import mutants as bench_mutants
from benchmarks import probabilities as bench_probabilities
from benchmarks import risk as bench_risk
from benchmarks import rivals as bench_rivals
from benchmarks import speed as bench_speed
from benchmarks import tables as bench_tables
from benchmarks.arguments import add_data, add_out, add_workers, count
from benchmarks.boosting import measure as bench_boosting
from benchmarks.boosting import page as boosting_page
from benchmarks.boosting import rival as bench_rival
from benchmarks.corrected import corrected_parts
from benchmarks.curves import measure as bench_curves
from benchmarks.curves import page as curves_page
from benchmarks.data import bench_data
from benchmarks.forests import measure as bench_forests
from benchmarks.forests import page as forests_page
from benchmarks.learners import learners_page
from benchmarks.page import made_by, show_page, tables_page
from benchmarks.poisoning import measure as bench_poisoning
from benchmarks.poisoning.run import run_poisoning
from benchmarks.speed import DEPTH, EPSILON, Line, measure
from dpviz.__main__ import Parser, finish
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.figures.departures import departures_page
from dpviz.learners import declared, get_learner


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code, as `dpviz.__main__.main` does."""
    return finish(parser, argv)


def parser() -> ArgumentParser:
    """The parser of all topics."""
    top = Parser(prog="python -m benchmarks", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    topics = top.add_subparsers(metavar="TOPIC", required=True, title="topics")
    for name, words, about, add_arguments in TOPICS:
        add_arguments(topics.add_parser(name, help=words, description=about))
    return top


def _of_speed(parser: ArgumentParser) -> None:
    add_data(parser, required=False)
    parser.add_argument("--rounds", type=count, default=9, metavar="N", help="rounds to take the median of (default: 9)")
    parser.set_defaults(run=_speed)


def _of_tables(parser: ArgumentParser) -> None:
    add_data(parser)
    parser.add_argument("--learner", action="append", metavar="NAME", help="this learner; may be repeated (default: all)")
    parser.add_argument("--published", type=Path, metavar="CSV", help="the papers' tables (default: beside DIR, if there)")
    parser.add_argument("--repeats", type=count, default=5, metavar="N", help="draws per fold (default: 5)")
    add_workers(parser)
    add_out(parser, _tables)


def _of_poisoning(parser: ArgumentParser) -> None:
    add_data(parser)
    parser.add_argument("--published", type=Path, metavar="CSV", help="the papers' tables (default: beside DIR, if there)")
    parser.add_argument("--splits", type=count, default=3, metavar="N", help="splits to certify on (default: 3)")
    parser.add_argument("--hundreds", type=count, default=100, metavar="N", help="draws per split, in hundreds (default: 100)")
    add_workers(parser)
    add_out(parser, run_poisoning, "the figures' data beside it")


def _speed(args: Namespace) -> int:
    for name, data in bench_data(args.data, args.only):
        console.doing(f"Measuring on {name}")
        lines = measure(data, rounds=args.rounds)
        console.show_title(
            f"{name}: {data.n_rows:,} rows, {data.n_features} features, {data.nbytes / 1e6:.2f} MB encoded; "
            f"depth {DEPTH}, epsilon {EPSILON:g} ({NEIGHBOURS}), median of {args.rounds} rounds"
        )
        console.show_table("topics", ("", "MEASURED", "RATIO", "TARGET", ""), [_cells(line) for line in lines])
    return 0


def _tables(args: Namespace) -> int:
    names = args.learner or bench_tables.tabled_learners()
    for name in names:
        get_learner(name)
    published = bench_tables.read_published(args.published or args.data.parent / "reference" / "privatree_tables.csv")
    cells: list[bench_tables.Cell] = []
    seconds: dict[tuple[str, str], tuple[float, float]] = {}
    for data_name, data in bench_data(args.data, args.only):
        console.doing(f"Measuring on {data_name}")
        cells += bench_tables.measure(data_name, data, names, published, repeats=args.repeats, workers=args.workers)
        able = dict.fromkeys(cell.learner for cell in cells if cell.data == data_name)
        seconds |= {(data_name, name): bench_tables.seconds_per_fit(name, data) for name in able}
    page = tables_page(cells, seconds, corrected_parts(cells, published), repeats=args.repeats, made=made_by(args.workers))
    return show_page(page, args.out)


def _cells(line: Line) -> tuple[str, ...]:
    ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
    target = "" if line.target is None else f"{line.target.relation} {line.target.limit:g}{line.target.unit}"
    verdict = "" if line.target is None else "met" if line.is_met else "NOT MET"
    return line.what, f"{line.measured:.2f} {line.unit}", ratio, target, verdict


def _of_page(page: Callable[[], str]) -> Callable[[ArgumentParser], None]:
    """A topic that measures nothing."""
    return lambda parser: add_out(parser, lambda args: show_page(page(), args.out))


#: Name, help, description, and what adds its options.
TOPICS: tuple[tuple[str, str, str | None, Callable[[ArgumentParser], None]], ...] = (
    ("speed", "time and memory of fits", bench_speed.__doc__, _of_speed),
    ("tables", "accuracy beside the papers' tables", bench_tables.__doc__, _of_tables),
    ("poisoning", "guarantees beside the papers' tables", bench_poisoning.__doc__, _of_poisoning),
    ("forests", "random forests beside their paper", bench_forests.__doc__, forests_page.add_arguments),
    ("curves", "the papers' curves", bench_curves.__doc__, curves_page.add_arguments),
    ("boosting", "boosted trees beside their paper", bench_boosting.__doc__, boosting_page.add_arguments),
    ("dpboost", "what DPBoost's published level takes", bench_rival.__doc__, bench_rival.add_arguments),
    ("rivals", "packages as they are shipped", bench_rivals.__doc__, bench_rivals.add_arguments),
    ("probabilities", "honest leaves beside labels", bench_probabilities.__doc__, bench_probabilities.add_arguments),
    ("engines", "questions to databases", bench_engines.__doc__, bench_engines.add_arguments),
    ("differences", "what learners do otherwise than their papers", None, _of_page(lambda: departures_page(declared()))),
    ("learners", "the page of all learners", None, _of_page(lambda: learners_page(declared(), stored_run()))),
    ("risk", "what one row risks, for every learner", bench_risk.__doc__, _of_page(bench_risk.risk_page)),
    ("mutants", "changes that tests must notice", bench_mutants.__doc__, bench_mutants.add_arguments),
)


if __name__ == "__main__":
    sys.exit(main())
