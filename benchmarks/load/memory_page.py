"""Memory of the server over many visits, as a page of Markdown."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from benchmarks.arguments import add_out
from benchmarks.load.memory import AT_ONCE, KEPT, Memory, Sample, measure_memory, trend
from benchmarks.page import made_today, markdown_table, show_page
from dpviz.commands import console


def add_arguments(parser: ArgumentParser) -> None:
    """How many visits, and where the page goes."""
    parser.add_argument("--loads", type=int, default=1000, metavar="N", help="page loads (default: 1000)")
    parser.add_argument("--sweeps", type=int, default=400, metavar="N", help="comparisons (default: 400)")
    parser.add_argument("--every", type=int, default=50, metavar="N", help="look after so many loads (default: 50)")
    add_out(parser, run)


def run(args: Namespace) -> int:
    """Measure, print the page, and write it where asked."""
    console.doing(f"Loading {args.loads} pages and computing {args.sweeps} comparisons")
    found = measure_memory(loads=args.loads, sweeps=args.sweeps, every=args.every)
    page = memory_page(found, f"{made_today()} on {os.cpu_count()} processors.")
    return show_page(page, args.out)


def memory_page(found: Memory, made: str) -> str:
    """The whole page. `made` says when, with which version and on what machine."""
    last = found.samples[-1]
    head = ["page loads", "sweeps", "minutes", "server, MB", "workers, MB", "threads", "open files"]
    phases = {kind: [one for one in found.samples if (one.sweeps > 0) is (kind == "sweeps")] for kind in ("loads", "sweeps")}
    slopes = {kind: trend(samples) for kind, samples in phases.items() if samples}
    told = " and ".join(f"{slope:+.2f} MB per hundred {what}" for what, slope in slopes.items())
    return (
        "# Memory over many visits\n\n"
        f"One server, {last.loads:,} page loads over all pages and {last.sweeps:,} comparisons, each in a session of its own, "
        f"{AT_ONCE} at a time, over the websocket that a browser would use. Memory is what is resident (RSS): of the server, and "
        f"of its worker processes together, where what they share counts for each of them. Streamlit keeps up to {KEPT} sessions "
        "for two minutes after their browsers have gone, each with three open files.\n\n"
        f"{made} Rerun: `python -m benchmarks memory --loads {last.loads} --sweeps {last.sweeps}`.\n\n"
        f"{markdown_table(head, [_line(one) for one in found.samples])}\n\n"
        f"From {KEPT} visits of a kind on, the median slope of the server's memory is {told}. "
        f"It was {max(one.server for one in found.samples):.0f} MB at most and {last.server:.0f} MB at the end. "
        f"{found.failed} visits saw an error or did not end.\n"
    )


def _line(one: Sample) -> list[str]:
    return [
        f"{one.loads:,}",
        f"{one.sweeps:,}",
        f"{one.minutes:.1f}",
        f"{one.server:.0f}",
        f"{one.workers:.0f}",
        f"{one.threads}",
        f"{one.files}",
    ]
