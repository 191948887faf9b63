"""Measure dpviz on this machine: `python -m benchmarks TOPIC`.

`speed` compares times and memory of fits with scikit-learn's tree of the same depth, in one process and one run. `tables` shows
measured accuracy next to the papers' tables; `poisoning`, `backdoor`, `forests`, `boosting` and `curves` do so for poisoning
guarantees, a backdoor, random forests, boosted trees and the papers' other figures, `dpboost` what DPBoost's published level
takes, `probabilities` measures pf-tree's leaves and its private test; `load` lets twenty people into the dashboard and measures
what they wait for a tree, `memory` what visits leave behind, `outofcore` trees on tables larger than memory, `engines`
questions to databases. `differences`, `evidence` and `learners` measure nothing: they write pages from what learners declare,
and where every table, figure and claim stands. The exit code is 0 whether or not a target is met. Targets hold for 10,000 rows
and more. `mutants` makes changes that would break privacy and exits with 1 if the tests do not notice one.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from benchmarks import engines as bench_engines
from benchmarks import evidence as bench_evidence
from benchmarks import probabilities as bench_probabilities
from benchmarks import speed as bench_speed
from benchmarks import tables as bench_tables
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
from benchmarks.load import measure as bench_load
from benchmarks.load import memory as bench_memory
from benchmarks.load import memory_page
from benchmarks.load import page as load_page
from benchmarks.mutants import page as mutants_page
from benchmarks.outofcore import page as outofcore_page
from benchmarks.page import made_by, show_page, tables_page
from benchmarks.poisoning import backdoor as bench_backdoor
from benchmarks.poisoning import measure as bench_poisoning
from benchmarks.poisoning.run import run_poisoning
from benchmarks.speed import DEPTH, EPSILON, Line, measure
from dpviz.__main__ import Parser, finish
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.figures.audit.departures import departures_page
from dpviz.learners import declared, get_learner


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code, as `dpviz.__main__.main` does."""
    return finish(parser, argv)


def parser() -> ArgumentParser:
    """The parser of all topics."""
    top = Parser(prog="python -m benchmarks", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    topics = top.add_subparsers(metavar="TOPIC", required=True, title="topics")
    speed = topics.add_parser("speed", help="time and memory of fits", description=bench_speed.__doc__)
    speed.add_argument("--data", type=Path, metavar="DIR", help="folder with a MANIFEST.csv (default: the loan sample)")
    speed.add_argument("--only", action="append", metavar="NAME", help="this data set of the manifest; may be repeated")
    speed.add_argument("--rounds", type=_count, default=9, metavar="N", help="rounds to take the median of (default: 9)")
    speed.set_defaults(run=_speed)
    tables = topics.add_parser("tables", help="accuracy beside the papers' tables", description=bench_tables.__doc__)
    tables.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder with a MANIFEST.csv")
    tables.add_argument("--only", action="append", metavar="NAME", help="this data set of the manifest; may be repeated")
    tables.add_argument("--learner", action="append", metavar="NAME", help="this learner; may be repeated (default: all)")
    tables.add_argument("--published", type=Path, metavar="CSV", help="the papers' tables (default: beside DIR, if there)")
    tables.add_argument("--repeats", type=_count, default=5, metavar="N", help="draws per fold (default: 5)")
    tables.add_argument("--workers", type=_count, default=1, metavar="N", help="processes (default: 1)")
    tables.add_argument("--out", type=Path, metavar="MD", help="also write the page as Markdown")
    tables.set_defaults(run=_tables)
    poisoning = topics.add_parser("poisoning", help="guarantees beside the papers' tables", description=bench_poisoning.__doc__)
    poisoning.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder with a MANIFEST.csv")
    poisoning.add_argument("--only", action="append", metavar="NAME", help="this data set of the manifest; may be repeated")
    poisoning.add_argument("--published", type=Path, metavar="CSV", help="the papers' tables (default: beside DIR, if there)")
    poisoning.add_argument("--splits", type=_count, default=3, metavar="N", help="splits to certify on (default: 3)")
    poisoning.add_argument(
        "--hundreds", type=_count, default=100, metavar="N", help="draws per split, in hundreds (default: 100)"
    )
    poisoning.add_argument("--workers", type=_count, default=1, metavar="N", help="processes (default: 1)")
    poisoning.add_argument(
        "--out", type=Path, metavar="MD", help="also write the page as Markdown, and the figures' data beside it"
    )
    poisoning.set_defaults(run=run_poisoning)
    backdoor = topics.add_parser("backdoor", help="a backdoor on two digits", description=bench_backdoor.__doc__)
    bench_backdoor.add_arguments(backdoor)
    forests = topics.add_parser("forests", help="random forests beside their paper", description=bench_forests.__doc__)
    forests_page.add_arguments(forests)
    curves = topics.add_parser("curves", help="the papers' curves", description=bench_curves.__doc__)
    curves_page.add_arguments(curves)
    boosting = topics.add_parser("boosting", help="boosted trees beside their paper", description=bench_boosting.__doc__)
    boosting_page.add_arguments(boosting)
    dpboost = topics.add_parser("dpboost", help="what DPBoost's published level takes", description=bench_rival.__doc__)
    bench_rival.add_arguments(dpboost)
    probabilities = topics.add_parser(
        "probabilities", help="honest leaves beside labels", description=bench_probabilities.__doc__
    )
    bench_probabilities.add_arguments(probabilities)
    load = topics.add_parser("load", help="twenty people on one server", description=bench_load.__doc__)
    load_page.add_arguments(load)
    memory = topics.add_parser("memory", help="memory over many visits", description=bench_memory.__doc__)
    memory_page.add_arguments(memory)
    outofcore = topics.add_parser("outofcore", help="tables larger than memory", description=outofcore_page.__doc__)
    outofcore_page.add_arguments(outofcore)
    engines = topics.add_parser("engines", help="questions to databases", description=bench_engines.__doc__)
    bench_engines.add_arguments(engines)
    differences = topics.add_parser("differences", help="what learners do otherwise than their papers")
    differences.add_argument("--out", type=Path, metavar="MD", help="also write the page as Markdown")
    differences.set_defaults(run=_differences)
    learners = topics.add_parser("learners", help="the page of all learners")
    learners.add_argument("--out", type=Path, metavar="MD", help="also write the page as Markdown")
    learners.set_defaults(run=_learners)
    evidence = topics.add_parser("evidence", help="where every table, figure and claim is", description=bench_evidence.__doc__)
    evidence.add_argument("--out", type=Path, metavar="MD", help="also write the page as Markdown")
    evidence.set_defaults(run=_evidence)
    mutants = topics.add_parser("mutants", help="changes that tests must notice", description=mutants_page.__doc__)
    mutants_page.add_arguments(mutants)
    return top


def _speed(args: Namespace) -> int:
    for name, data in bench_data(args.data, args.only):
        console.doing(f"Measuring on {name}")
        lines = measure(data, rounds=args.rounds)
        console.show_title(
            f"{name}: {data.n_rows:,} rows, {data.n_features} features, {data.nbytes / 1e6:.2f} MB encoded; "
            f"depth {DEPTH}, epsilon {EPSILON:g} ({NEIGHBOURS}), median of {args.rounds} rounds"
        )
        console.show_table(("", "MEASURED", "RATIO", "TARGET", ""), [_cells(line) for line in lines])
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


def _differences(args: Namespace) -> int:
    return show_page(departures_page(declared()), args.out)


def _evidence(args: Namespace) -> int:
    return show_page(bench_evidence.evidence_page(), args.out)


def _learners(args: Namespace) -> int:
    return show_page(learners_page(declared(), stored_run()), args.out)


def _cells(line: Line) -> tuple[str, ...]:
    ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
    target = "" if line.target is None else f"{line.target.relation} {line.target.limit:g}{line.target.unit}"
    verdict = "" if line.target is None else "met" if line.is_met else "NOT MET"
    return line.what, f"{line.measured:.2f} {line.unit}", ratio, target, verdict


def _count(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    raise ArgumentTypeError(f"must be a whole number from 1 to 1000, got {text!r}")


if __name__ == "__main__":
    sys.exit(main())
