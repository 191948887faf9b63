"""What twenty visitors waited, as a page of Markdown."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import numpy as np

from benchmarks.arguments import add_out
from benchmarks.load.measure import ARRIVE_WITHIN, LIMIT, PAUSE, Load, Request, measure, seconds_of
from benchmarks.page import made_today, show_page
from dpviz.commands import console
from dpviz.evaluation.intervals import wilson

TARGET = 0.95


def add_arguments(parser: ArgumentParser) -> None:
    """How many visitors, for how long, and where the page goes."""
    parser.add_argument("--sessions", type=int, default=20, metavar="N", help="visitors in all (default: 20)")
    parser.add_argument("--comparing", type=int, default=5, metavar="N", help="of these on the Compare page (default: 5)")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="after all have arrived (default: 60)")
    add_out(parser, run)


def run(args: Namespace) -> int:
    """Measure, print the page, and write it where asked."""
    console.doing(f"Letting {args.sessions} visitors in")
    before = os.getloadavg()[0]
    found = measure(sessions=args.sessions, comparing=args.comparing, seconds=args.seconds)
    machine = f"{os.cpu_count()} processors; load average before it began {before:.1f}"
    page = load_page(found, f"{made_today()} on {machine}.")
    return show_page(page, args.out)


def load_page(found: Load, made: str) -> str:
    """The whole page. `made` says when, with which version and on what machine."""
    first, changed = ([one for one in found.requests if one.is_first is kind] for kind in (True, False))
    lines = [_line("a page with its first tree", first), _line("another epsilon", changed), _line("all", found.requests)]
    share = _in_time(found.requests)
    verdict = "met" if share >= TARGET else "not met"
    low, high = PAUSE
    return (
        "# Many at once\n\n"
        f"{found.sessions} sessions on one server, {found.comparing} of them comparing; {found.seconds:g} seconds after the last "
        f"arrived. Those on the Tree page arrive within {ARRIVE_WITHIN:g} seconds, each with a draw number of its own, and ask "
        f"for another epsilon {low:g} to {high:g} seconds after a tree has settled. Rows: the loan sample. Everything goes over "
        "the websocket a browser would use; time in a browser is not part of it, time of the visitors' own processor is.\n\n"
        f"{made} Rerun: `python -m benchmarks load`.\n\n"
        f"| asked for | requests | within {LIMIT:g} s | median | 95 of 100 within | longest |\n|---|--:|--:|--:|--:|--:|\n"
        + "\n".join(lines)
        + f"\n\nTarget: a tree within {LIMIT:g} s for {TARGET:.0%} of the requests; {verdict} at {share:.1%}. The server and its "
        f"workers used {found.processor_seconds:.0f} seconds of processor time; {found.failed} sessions saw an error.\n"
    )


def _in_time(requests: Sequence[Request]) -> float:
    return float(np.mean([one.is_in_time for one in requests])) if requests else 0.0


def _line(what: str, requests: Sequence[Request]) -> str:
    if not requests:
        return f"| {what} | 0 | – | – | – | – |"
    waits, share = seconds_of(requests), _in_time(requests)
    low, high = wilson(share, len(requests))
    middle, most = np.quantile(waits, [0.5, TARGET])
    within = f"{share:.1%} ({low:.0%} to {high:.0%})"
    return f"| {what} | {len(requests):,} | {within} | {middle:.2f} s | {most:.2f} s | {waits.max():.2f} s |"
