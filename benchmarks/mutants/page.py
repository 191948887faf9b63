"""The page of mutants: what was changed, and which test noticed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import groupby

from benchmarks.arguments import add_out
from benchmarks.mutants.changes import MUTANTS
from benchmarks.mutants.mutant import problems
from benchmarks.mutants.running import ROOT, Outcome, try_all
from benchmarks.page import made_by, markdown_table, show_page
from dpviz.commands import console
from dpviz.errors import DpvizError


def add_arguments(parser: ArgumentParser) -> None:
    """Which changes, on how many processes, and where to write."""
    parser.add_argument("--only", action="append", metavar="TEXT", help="changes whose file or words hold it; may be repeated")
    parser.add_argument("--workers", type=int, default=1, choices=range(1, 65), metavar="N", help="processes (default: 1)")
    add_out(parser, run_mutants)


def run_mutants(args: Namespace) -> int:
    """Try every change; print the page, or what survived. Exit code 1 if anything did."""
    wrong = list(problems(MUTANTS, ROOT))
    if wrong:
        raise DpvizError("\n".join(wrong), remedy="Mend the list in benchmarks/mutants/changes.")
    asked = [m for m in MUTANTS if not args.only or any(text in f"{m.file} {m.what}" for text in args.only)]
    console.doing(f"Trying {len(asked)} changes")
    outcomes = try_all(asked, workers=args.workers)
    page = mutants_page(outcomes, made_by(args.workers))
    show_page(page, args.out)
    return 0 if all(outcome.is_caught for outcome in outcomes) else 1


def mutants_page(outcomes: Sequence[Outcome], made: str) -> str:
    """The whole page: survivors first, then every change with the tests that noticed it, room by room."""
    survivors = [outcome for outcome in outcomes if not outcome.is_caught]
    parts = [_head(len(outcomes), len(survivors), made)]
    if survivors:
        parts.append("## Survivors\n\n" + "\n".join(map(_complaint, survivors)))
    by_room = groupby(sorted(outcomes, key=_room), key=_room)
    parts += [f"## {room}\n\n" + _table(list(some)) for room, some in by_room]
    return "\n\n".join(parts) + "\n"


def _room(outcome: Outcome) -> str:
    return outcome.mutant.file.split("/")[1].removesuffix(".py")


def _head(count: int, survived: int, made: str) -> str:
    return (
        f"# {count} changes that would break privacy\n\n"
        "Each was made in a copy of the repository, alone, and the tests beside it were run there. "
        f"{count - survived} were noticed, {survived} survived. Changes that make no guarantee worse are not listed.\n\n"
        f"{made} Rerun: `python -m benchmarks mutants`."
    )


def _complaint(outcome: Outcome) -> str:
    why = f"no test could run: {outcome.error[-300:]}" if outcome.error else f"{', '.join(outcome.survived)} passed"
    return f"- **{outcome.mutant.what}** ({outcome.mutant.file}): {why}"


def _table(outcomes: Sequence[Outcome]) -> str:
    rows = [[item.mutant.what, item.mutant.file.split("/", 2)[-1], _tests(item.mutant.tests)] for item in outcomes]
    return markdown_table(["what was changed", "file", "noticed by"], rows).replace("---:", "---")


def _tests(tests: Sequence[str]) -> str:
    return ", ".join(f"`{test.removeprefix('tests/')}`" for test in tests)
