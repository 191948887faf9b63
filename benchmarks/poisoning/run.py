"""Running the poisoning benchmark: every data set and epsilon, then the page and the figures' data."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from benchmarks.data import bench_data, manifest
from benchmarks.page import made_by, show_page
from benchmarks.poisoning import measure as bench
from benchmarks.poisoning.page import Line, poisoning_page
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.files import write_whole
from dpviz.evaluation.robustness.poisoning import PoisoningTable
from dpviz.learners import DEFAULT
from dpviz.table.dataset import EncodedDataset


def run_poisoning(args: Namespace) -> int:
    """`poisoning`: measure, print, and write where --out says."""
    published = bench.read_published(args.published or args.data.parent / "reference" / "privatree_poisoning_tables.csv")
    names = [entry.name for entry in manifest(args.data, args.only)]
    about = bench.lines_by_data(published, names)
    lines = [
        line
        for name, data in (bench_data(args.data, list(about)) if about else ())
        for line in _lines(args, name, data, about[name])
    ]
    page = poisoning_page(lines, splits=args.splits, draws=100 * args.hundreds, made=made_by(args.workers))
    if args.out is not None:
        _write_figure(args.out, lines)
    return show_page(page, args.out)


def _lines(args: Namespace, name: str, data: EncodedDataset, published: list[bench.PublishedRow]) -> list[Line]:
    certified = {"data": data, "splits": args.splits, "workers": args.workers}
    votes = bench.certified_curves(bench.VOTES, epsilon=1.0, draws=1, **certified)
    by_key = {(row.method, row.epsilon): row for row in published}
    lines = []
    for epsilon in bench.EPSILONS:
        console.doing(f"Certifying on {name} at epsilon {epsilon:g} ({NEIGHBOURS})")
        ours = bench.certified_curves(DEFAULT, epsilon=epsilon, draws=100 * args.hundreds, **certified)
        ((method, learner),) = bench.SAME_LEARNER.items()
        same, linear = (
            bench.repeat_experiment(again, data, epsilon=epsilon, workers=args.workers)
            for again in (learner, bench.OTHER_LEARNER)
        )
        theirs, other = by_key.get((method, epsilon)), by_key.get((bench.OTHER, epsilon))
        lines.append(Line(name, epsilon, theirs, other, same, linear, ours, votes))
    return lines


def _write_figure(out: Path, lines: list[Line]) -> None:
    tables: dict[tuple[str, float, str], PoisoningTable] = {}
    again: dict[tuple[str, float], bench.Repeated] = {}
    for line in lines:
        tables[line.data, line.epsilon, line.ours.learner] = line.ours
        tables[line.data, line.epsilon, line.votes.learner] = line.votes
        again[line.data, line.epsilon] = line.same
    if tables:
        write_whole(out.with_name(f"{out.stem}_figure_3.csv"), bench.figure_3(tables, again).to_csv(index=False), force=True)
