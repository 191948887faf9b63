"""Verify privacy claims, under add/remove one row. Three facts: proved, searched, attacked.

PROVED is the verdict on the plan: "holds" (a proof can be read), "violated" (a counterexample is known), "unproven" (neither).
SEARCHED is the largest log ratio of the probabilities of one output, over all neighbouring pairs of small data sets: a certain
lower bound on epsilon. ATTACKED is what many draws show, a lower bound with 95% confidence. STRENGTH is the share of the proved
loss that the attack found, with a delta of what a perfect attack shows; "-" where no attack is known that comes near it. CEILING
is what a perfect attack would show with as many tries. COMPOSED is what the learner's own steps add up to: an upper bound.
SECONDS are of the processor, for search and attack.

With --all, every learner, or the ones named, at three epsilons; `--out FILE --force` then replaces the entries of these in FILE.
Exit code 1 when a ledger is violated, a bug in dpviz; 2 when the question cannot be answered.

Example: dpviz verify pf-tree --epsilon 1 --quick
"""

from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.charts.audit import ATTACKED, SEARCHED, Badge, against_claim, at_least_text, strength_text
from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import flag, number, option, output, parse_parameters, shared
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.evidence import AuditResult, worst_of
from dpviz.evaluation.audit.verdicts import LearnerEvidence, StoredRun, run_to_json, stored_run, verify_all
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, QUICK_UNIVERSES, verify_each
from dpviz.learners import get_learner

BROKEN = 1

_HEADER = ("LEARNER", "EPSILON", "CLAIMED", "COMPOSED", "SEARCHED", "FINDING", "WHERE", "REASON")
_FACTS = (
    *("LEARNER", "EPSILON", "PROVED", "SEARCHED", "ATTACKED", "STRENGTH", "CEILING"),
    *("CLAIMED", "COMPOSED", "SECONDS", "DATE", "REASON"),
)


OPTIONS = {
    "learners": option(str, "LEARNER", "see `dpviz learners`", nargs="*"),
    "--epsilon": option(number, "E", f"claimed privacy loss, {NEIGHBOURS} (default: 1)"),
    **shared("--param"),
    "--all": flag("every learner (or the named ones), flag and epsilon; attacks too"),
    "--quick": flag("smaller universes, no attacks"),
    **output("the facts of --all", required=False),
    **shared("--json"),
}


def run(args: Namespace) -> int:
    """Search and print a table. The exit code says whether our own ledgers hold."""
    if not args.all and len(args.learners) != 1:
        raise DpvizError("Give one learner, or --all.", where="verify", remedy="`dpviz learners` lists their names.")
    return _all(args) if args.all else _one(args)


def _one(args: Namespace) -> int:
    if args.out is not None:
        raise DpvizError("--out is for --all.", where="--out", remedy="Leave it out, or verify all learners.")
    spec = get_learner(args.learners[0])
    params = parse_parameters(spec, args.param)
    console.doing(f"Verifying {spec.title}")
    places = (*QUICK_UNIVERSES, *COUNTEREXAMPLES) if args.quick else None
    found = verify_each(spec, epsilon=1.0 if args.epsilon is None else args.epsilon, universes=places, **params)
    worst = worst_of(found)
    console.show_table("verdict", _HEADER, [_cells(worst)])
    console.show_title("Where the search looked")
    rows = [
        (f"{item.log_ratio:.4f}", item.verdict, f"{item.n_sets:,}", f"{item.n_pairs:,}", f"{item.seconds:.1f}", item.searched)
        for item in found
    ]
    console.show_table("searched", ("SEARCHED", "FINDING", "DATA SETS", "PAIRS", "SECONDS", "SEARCHED"), rows)
    _show_pair(worst)
    return BROKEN if worst.verdict == "ledger violated" else 0


def _all(args: Namespace) -> int:
    if args.param or args.epsilon is not None:
        raise DpvizError("--all sets epsilon and parameters itself.", where="--all", remedy="Leave --epsilon and --param out.")
    check_output(args.out, force=args.force)
    # where learners are named, the other entries of the file stay
    kept = stored_run(Path(args.out)) if args.learners and args.out is not None and Path(args.out).exists() else None
    found = verify_all(
        date=datetime.now(UTC).date().isoformat(),
        learners=args.learners,
        quick=args.quick,
        progress=lambda share, text: console.doing(f"{share:.0%} {text}"),
    )
    if args.out is not None:
        write_whole(args.out, run_to_json(found if kept is None else kept.updated(found)), force=args.force)
    show_facts(found)
    return BROKEN if found.has_broken_ledger else 0


def show_facts(found: StoredRun) -> None:
    """The three facts of every plan."""
    console.show_title(f"Learners ({NEIGHBOURS}; {found.processor_seconds:.0f} processor seconds)")
    console.show_table("facts", _FACTS, list(map(_fact_cells, found.facts)))


def _fact_cells(facts: LearnerEvidence) -> Sequence[str]:
    claim, seconds = facts.claim, f"{facts.processor_seconds:.1f}"
    attacked = facts.attacked
    shares = (strength_text(attacked) or "-", f"{attacked.perfect:.3g}") if attacked is not None else ("-", "-")
    numbers = (*shares, f"{claim.epsilon:g}", f"{facts.composed.epsilon:.4g}", seconds, facts.date, claim.because)
    return _named(facts.learner, facts.params), f"{facts.epsilon:g}", claim.verdict, *bounds_in_words(facts), *numbers


def bounds_in_words(facts: LearnerEvidence | None) -> tuple[str, str]:
    """What was searched and attacked, as in (">= 1.402, beyond", "not attacked")."""
    searched = facts.searched if facts is not None else None
    attacked = facts.attacked if facts is not None else None
    return (
        _bound_in_words(searched.log_ratio, SEARCHED[against_claim(searched.log_ratio, searched)]) if searched else "not listed",
        _bound_in_words(attacked.bound, ATTACKED[against_claim(attacked.bound, attacked)]) if attacked else "not attacked",
    )


def _bound_in_words(bound: float, badge: Badge) -> str:
    return f"{at_least_text(bound).replace('≥', '>=').replace('∞', '>= inf')}, {badge.word}"


def _cells(found: AuditResult) -> Sequence[str]:
    numbers = (f"{found.epsilon:g}", f"{found.claimed:g}", f"{found.composed:.4g}", f"{found.log_ratio:.4f}")
    return _named(found.learner, found.params), *numbers, found.verdict, found.searched, found.because


def _named(learner: str, params: dict[str, Any]) -> str:
    return " ".join([learner, *(f"{name}={value}" for name, value in params.items())])


def _show_pair(found: AuditResult) -> None:
    pair = found.worst_pair
    if pair is None:
        return
    console.show_title("The pair of data sets that shows it")
    rows = [("without", *row) for row in pair.first] + [("with", *row) for row in pair.second]
    console.show_table("pair", ("", *pair.columns), rows)
    console.show_title("Probability of the output that distinguishes them")
    console.show_pairs([("without", f"{pair.probabilities[0]:.6g}"), ("with", f"{pair.probabilities[1]:.6g}")])
    console.show_pairs([("output", str(found.output))])
