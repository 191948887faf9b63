"""What a tree on a table larger than memory costs, as a page of Markdown with a chart beside it."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.arguments import add_out
from benchmarks.outofcore.chart import chart_svg
from benchmarks.outofcore.measure import BINS, EPSILON, SHAPES, TURNS, Measured, Shape, measure, schema_of, write_rows
from benchmarks.page import made_today, markdown_table, show_page
from dpviz.accounting.plan import Share
from dpviz.commands import console
from dpviz.commands.files import write_whole
from dpviz.learners import DEFAULT, FitRequest
from dpviz.table.candidates import multiscale_grid
from dpviz.training.scores import MOST_ROWS

#: What is aimed at for the largest table of the usual width and depth: passes, and bytes of anonymous memory.
MOST_PASSES, MOST_MEMORY = 4.0, 1e9
#: The table that is only computed.
ON_PAPER = 10**9


def add_arguments(parser: ArgumentParser) -> None:
    """How many rows, and where the page goes."""
    parser.add_argument(
        "--rows",
        type=int,
        action="append",
        metavar="N",
        help="this many; may be repeated (default: 10^5 to 2*10^7, and two larger tables)",
    )
    parser.add_argument("--turns", type=int, default=TURNS, metavar="N", help=f"of which the median counts (default: {TURNS})")
    add_out(parser, run, "its chart beside it")


def run(args: Namespace) -> int:
    """Write the rows, measure, print the page, and write it where asked."""
    before, found = os.getloadavg()[0], list[Measured]()
    with TemporaryDirectory(prefix="dpviz-benchmark-") as folder:
        for shape in map(Shape, args.rows) if args.rows else SHAPES:
            console.doing(f"Measuring {shape.n_rows:,} rows of {shape.features} numbers, depth {shape.depth}")
            path = Path(folder) / "rows.parquet"
            write_rows(path, shape)
            found.append(measure(path, shape, args.turns))
            path.unlink()
    load = f"{os.cpu_count()} processors; load average before it began {before:.1f}, after it {os.getloadavg()[0]:.1f}"
    chart = None if args.out is None else args.out.with_suffix(".svg")
    page = out_of_core_page(found, f"{made_today()} on {load}.", chart and chart.name)
    if chart is not None:
        write_whole(chart, chart_svg([one.shape.n_rows for one in _usual(found)], _lines(_usual(found))), force=True)
    return show_page(page, args.out)


def out_of_core_page(found: Sequence[Measured], made: str, chart: str | None) -> str:
    """The whole page."""
    largest = _usual(found)[-1]
    memory = max(largest.encoding.memory, largest.training.memory)
    verdicts = [_verdict(largest.ratio <= MOST_PASSES), _verdict(memory < MOST_MEMORY)]
    head = [
        "# Trees on tables larger than memory",
        f"{made} Random rows of numbers and two classes in Parquet; `dpviz.encode_large`, then PF-tree on its own grid, honest "
        'leaves and test included. "One pass" reads the same file once with Arrow as it comes (dpviz sets small buffers) and '
        f"counts a histogram of {BINS} equal-width bins per number with `bincount`; imports are not counted. Each in a process "
        "of its own, by turns, the median of the turns; processor seconds, those of the system in brackets. The tree chooses "
        "two levels at once where depth and the number of pairs of features allow it, one elsewhere.",
        markdown_table(_HEAD, [_line(one) for one in found]),
    ]
    below = [
        f"At {_what(largest)}: {largest.ratio:.1f} passes (aim: at most {MOST_PASSES:g}, {verdicts[0]}) and "
        f"{memory / 1e6:,.0f} MB of anonymous memory (aim: below {MOST_MEMORY / 1e6:,.0f}, {verdicts[1]}). {_where(largest)}",
        f"## {ON_PAPER:,} rows, on paper",
        _on_paper(),
    ]
    picture = [f"![Processor seconds against rows]({chart})"] if chart else []
    return "\n\n".join([*head, *picture, *below]) + "\n"


def _usual(found: Sequence[Measured]) -> list[Measured]:
    """Those of the usual width and depth."""
    return [one for one in found if one.shape == Shape(one.shape.n_rows)]


def _what(one: Measured) -> str:
    return f"{one.shape.n_rows:,} rows of {one.shape.features} numbers and depth {one.shape.depth}"


def _shares(shape: Shape) -> tuple[Share, ...]:
    return FitRequest.of(DEFAULT, epsilon=EPSILON, depth=shape.depth).plan(schema_of(shape)).shares


def _lines(found: Sequence[Measured]) -> dict[str, list[float]]:
    """What the chart shows: processor seconds."""
    return {
        "reading and tree": [one.encoding.seconds + one.training.seconds for one in found],
        "tree": [one.training.seconds for one in found],
        "one pass": [one.reading.seconds for one in found],
    }


_HEAD = ("rows", "numbers", "depth", "levels at once", "one pass", "reading into bins", "tree", "passes", "anonymous memory, MB")


def _line(one: Measured) -> list[str]:
    costs = [f"{cost.seconds:.2f} ({cost.system:.2f})" for cost in (one.reading, one.encoding, one.training)]
    memory = max(one.encoding.memory, one.training.memory)
    what = (one.shape.n_rows, one.shape.features, one.shape.depth, max(share.levels for share in _shares(one.shape)))
    return [*(f"{value:,}" for value in what), *costs, f"{one.ratio:.1f}", f"{memory / 1e6:,.0f}"]


def _verdict(met: bool) -> str:
    return "met" if met else "not met"


def _where(one: Measured) -> str:
    """Where the time goes."""
    whole = one.encoding.seconds + one.training.seconds
    own, system = one.encoding.own / whole, one.encoding.system / whole
    return (
        f"Of the processor time {own:.0%} is reading and binning, {system:.0%} the system's for both, and "
        f"{one.training.seconds / whole:.0%} coins and counting."
    )


def _on_paper() -> str:
    """Both children of a node are chosen with it: whoever counts is asked for pairs of bins, once per such choice."""
    shape = Shape(ON_PAPER)
    n_bins, shares = multiscale_grid(schema_of(shape)).n_bins, _shares(shape)
    disk = ON_PAPER * shape.features / 1e9
    blocks = [2 ** (share.level or 0) * n_bins**2 * 2 * 8 for share in shares if share.levels > 1]
    assert len(blocks) == len(shares), "a level by itself is counted by bins"
    sizes = ", ".join(f"{size / 1e6:,.0f}" for size in blocks)
    return (
        f"{n_bins:,} bins in all and two classes: a node with its children is {n_bins**2 * 2:,} counts of 8 bytes, one per pair "
        f"of bins. Whoever counts is asked {len(blocks)} times, once per two levels, and sends at most {sizes} MB; then once for "
        f"the leaves ({2 * 2**shape.depth * 2} counts). Out of core, bins take {disk:,.0f} GB on disk (values, "
        f"where a forest or the register needs them, {8 * disk:,.0f} GB more), coins and nodes "
        f"{3 * ON_PAPER / 1e9:,.0f} GB of memory. Scores are exact integers up to "
        f"{MOST_ROWS:,} rows. Processor time grows in proportion to the rows, as the chart shows."
    )
