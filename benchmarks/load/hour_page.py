"""What an hour of everything at once leaves behind, as a page of Markdown."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

from benchmarks.arguments import add_out
from benchmarks.load.hour import AFTER, KINDS, LOST_SHARE, N_ROWS, PAUSE, SESSIONS, Hour, Look, measure_hour
from benchmarks.page import made_today, markdown_table, show_page
from dpviz.commands import console

#: Minutes after which the server is as warm as it gets.
WARM = 10.0
#: Minutes between two lines of the table.
_BETWEEN = 5


def add_arguments(parser: ArgumentParser) -> None:
    """How long, and where the page goes."""
    parser.add_argument("--minutes", type=int, default=60, metavar="N", help="minutes (default: 60)")
    add_out(parser, run)


def run(args: Namespace) -> int:
    """Measure, print the page, and write it where asked."""
    console.doing(f"Letting {SESSIONS} visitors do everything for {args.minutes} minutes")
    before = os.getloadavg()[0]
    found = measure_hour(minutes=args.minutes)
    machine = f"{os.cpu_count()} processors; load average before it began {before:.1f}"
    return show_page(hour_page(found, f"{made_today()} on {machine}."), args.out)


def hour_page(found: Hour, made: str) -> str:
    """The whole page. `made` says when, with which version and on what machine."""
    *during, gone = found.looks
    last = during[-1]
    low, high = PAUSE
    kinds = ", ".join(f"{found.visits.get(kind, 0):,} {kind}" for kind in KINDS)
    head = ["minutes", "visits", "server, MB", "workers, MB", "threads", "open files", "processes", "temporary files", "home, MB"]
    shown = [one for number, one in enumerate(during, 1) if number in (1, len(during)) or number % _BETWEEN == 0]
    kept = ", ".join(f"{count:,} in {_folder(name)}" for name, count in sorted(found.kept.items()))
    return (
        f"# {last.minutes:.0f} minutes of everything at once\n\n"
        f"{SESSIONS} sessions at a time on one server, over the websocket a browser would use: {kinds}. An upload is a CSV, "
        f"Parquet or Excel file of {N_ROWS:,} rows nobody has sent before, with its schema, and a tree of it; a release declares "
        f"such rows as private ones and releases a tree. {LOST_SHARE:.0%} of the visits break off without a word, somewhere, "
        f"and load the page again ({sum(found.lost.values()):,} did). Between two steps a visitor waits {low:g} to {high:g} "
        "seconds. Memory is what is resident (RSS); what workers share counts for each of them.\n\n"
        f"{made} Rerun: `python -m benchmarks hour --minutes {last.minutes:.0f}`.\n\n"
        f"{markdown_table(head, [_line(one) for one in [*shown, gone]])}\n\n"
        f"The last line is {AFTER:g} minutes after the last visitor had gone. Streamlit keeps a session for two minutes after "
        "its browser went, and looks for older ones when another ends: three open files each.\n\n"
        f"{_compared(during)}\n\n"
        f"{len(found.failed):,} of {gone.visits:,} visits saw an error or did not end{_listed(found.failed)}; "
        f"the server's log has {len(found.logged):,}{_listed(found.logged)}. At most "
        f"{max(one.zombies for one in found.looks)} processes had ended and were not collected.\n\n"
        f"Releases: {found.pressed:,} asked for, {found.confirmed:,} seen confirmed, {found.released:,} in the register, "
        f"whose chain and files {'are whole, none counted twice' if not found.wrong else 'are not: ' + '; '.join(found.wrong)}. "
        f"Files kept: {kept}. The server and its workers used {found.processor_seconds:,.0f} seconds of processor time.\n"
    )


def _compared(during: Sequence[Look]) -> str:
    """The end beside the tenth minute: the median of five looks of each, and the most there was up to and after it."""
    warm = next((place for place, one in enumerate(during) if one.minutes >= WARM - 0.5), 0)
    early, late = during[max(0, warm - 2) : warm + 3], during[-5:]
    lines = [
        [title, *(f"{_median([value(one) for one in looks]):,.0f}" for looks in (early, late)), *_most(during, warm, value)]
        for title, value in _VALUES.items()
    ]
    head = ["", f"around minute {during[warm].minutes:.0f}", "last five minutes", "most up to then", "most afterwards"]
    return markdown_table(head, lines)


_VALUES: dict[str, Callable[[Look], float]] = {
    "server, MB": lambda one: one.server,
    "workers, MB": lambda one: one.workers,
    "threads": lambda one: one.threads,
    "open files": lambda one: one.files,
    "processes": lambda one: one.processes,
    "temporary files": lambda one: one.temporary,
}


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _most(during: Sequence[Look], warm: int, value: Callable[[Look], float]) -> list[str]:
    parts = during[: warm + 1], during[warm + 1 :] or during[-1:]
    return [f"{max(map(value, part)):,.0f}" for part in parts]


def _line(one: Look) -> list[str]:
    memory = f"{one.server:.0f}", f"{one.workers:.0f}"
    counts = f"{one.threads}", f"{one.files}", f"{one.processes}"
    return [f"{one.minutes:.0f}", f"{one.visits:,}", *memory, *counts, f"{one.temporary}", f"{one.home_size:.1f}"]


def _listed(problems: Sequence[str]) -> str:
    """The first of them, in brackets."""
    return f" ({'; '.join(sorted(set(problems))[:5])})" if problems else ""


def _folder(name: str) -> str:
    return "the home" if name == "." else f"`{name}`"
