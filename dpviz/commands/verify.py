"""Verify privacy claims: the exact output distribution of whole trees on every small data set, compared with the claim.

VERIFIED is the largest log ratio of the probabilities of one output, over all neighbouring pairs searched (add/remove one row):
a lower bound on the true epsilon. COMPOSED is what the learner's own steps add up to: an upper bound. Verdicts: "holds" (on what
was searched), "unproven" (composed exceeds claimed), "violated" (a counterexample to the claim), "ledger violated" (a bug in
dpviz).

Exit code 1 when a ledger is violated, 2 when the question cannot be answered.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.arguments import add_parameter_argument, parse_parameters
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.findings import AuditResult, worst_of
from dpviz.evaluation.audit.verdicts import StoredRun, run_to_json
from dpviz.evaluation.audit.verify import NAMED_PAIRS, QUICK_UNIVERSES, verify_each
from dpviz.evaluation.audit.verify_all import verify_all
from dpviz.learners import get_learner

BROKEN = 1

_HEADER = ("LEARNER", "EPSILON", "CLAIMED", "COMPOSED", "VERIFIED", "VERDICT", "SEARCHED", "REASON")


def add_arguments(parser: ArgumentParser) -> None:
    """One learner, or all."""
    parser.add_argument("learner", nargs="?", metavar="LEARNER", help="see `dpviz learners`")
    parser.add_argument("--epsilon", type=float, metavar="E", help=f"claimed privacy loss, {NEIGHBOURS} (default: 1)")
    add_parameter_argument(parser)
    parser.add_argument("--all", action="store_true", help="every learner at two epsilons, every flag also flipped")
    parser.add_argument("--quick", action="store_true", help="smaller universes, no audits")
    add_output_arguments(parser, "the results of --all", required=False)


def run(args: Namespace) -> int:
    """Search and print a table. The exit code says whether our own ledgers hold."""
    if args.all == (args.learner is not None):
        raise DpvizError("Give one learner, or --all.", where="verify", remedy="`dpviz learners` lists their names.")
    return _all(args) if args.all else _one(args)


def _one(args: Namespace) -> int:
    if args.out is not None:
        raise DpvizError("--out is for --all.", where="--out", remedy="Leave it out, or verify all learners.")
    spec = get_learner(args.learner)
    params = parse_parameters(spec, args.param)
    console.doing(f"Verifying {spec.title}")
    places = (*QUICK_UNIVERSES, *NAMED_PAIRS) if args.quick else None
    found = verify_each(spec, epsilon=1.0 if args.epsilon is None else args.epsilon, universes=places, **params)
    worst = worst_of(found)
    console.show_table(_HEADER, [_cells(worst)])
    _show_places(found)
    _show_pair(worst)
    return BROKEN if worst.verdict == "ledger violated" else 0


def _all(args: Namespace) -> int:
    if args.param or args.epsilon is not None:
        raise DpvizError("--all sets epsilon and parameters itself.", where="--all", remedy="Leave --epsilon and --param out.")
    check_output(args.out, force=args.force)
    found = verify_all(
        date=datetime.now(UTC).date().isoformat(),
        quick=args.quick,
        progress=lambda share, text: console.doing(f"{share:.0%} {text}"),
    )
    if args.out is not None:
        write_whole(args.out, run_to_json(found), force=args.force)
    _show_run(found)
    return BROKEN if found.has_broken_ledger else 0


def _show_run(found: StoredRun) -> None:
    console.show_title(f"Learners ({NEIGHBOURS})")
    console.show_table(_HEADER, [_cells(result) for result in found.worst()])
    console.show_title("Mechanisms on their own")
    console.show_table(_HEADER, [_cells(result) for result in found.mechanisms])
    if found.audits:
        console.show_title("Attacked by sampling: lower bound on epsilon")
        rows = [(_named(a.learner, a.params), f"{a.epsilon:g}", f"{a.bound:.3f}", a.verdict, a.event) for a in found.audits]
        console.show_table(("LEARNER", "EPSILON", "AUDITED", "VERDICT", "EVENT"), rows)
    if found.refusals:
        console.show_title("Not enumerable")
        cells = [(_named(item.learner, item.params), f"{item.epsilon:g}", item.reason) for item in found.refusals]
        console.show_table(("LEARNER", "EPSILON", "REASON"), cells)


def _cells(found: AuditResult) -> Sequence[str]:
    numbers = (f"{found.epsilon:g}", f"{found.claimed:g}", f"{found.composed:.4g}", f"{found.log_ratio:.4f}")
    return _named(found.learner, found.params), *numbers, found.verdict, found.searched, found.because


def _named(learner: str, params: dict[str, Any]) -> str:
    return " ".join([learner, *(f"{name}={value}" for name, value in params.items())])


def _show_places(found: Sequence[AuditResult]) -> None:
    console.show_title("Where the search looked")
    rows = [
        (f"{item.log_ratio:.4f}", item.verdict, f"{item.n_sets:,}", f"{item.n_pairs:,}", f"{item.seconds:.1f}", item.searched)
        for item in found
    ]
    console.show_table(("VERIFIED", "VERDICT", "DATA SETS", "PAIRS", "SECONDS", "SEARCHED"), rows)


def _show_pair(found: AuditResult) -> None:
    pair = found.worst_pair
    if pair is None:
        return
    console.show_title("The pair of data sets that shows it")
    rows = [("without", *row) for row in pair.first] + [("with", *row) for row in pair.second]
    console.show_table(("", *pair.columns), rows)
    console.show_title("Probability of the output that distinguishes them")
    console.show_pairs([("without", f"{pair.probabilities[0]:.6g}"), ("with", f"{pair.probabilities[1]:.6g}")])
    console.show_pairs([("output", str(found.output))])
