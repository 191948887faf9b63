"""Commands about the learners themselves: the list of them, verify and audit."""

import math
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.charts.audit import SEARCH_BADGES, Badge, against_claim, at_least_text, attack_badge, strength_text
from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import flag, number, option, output, parse_parameters, shared
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.evidence import typical, worst_of
from dpviz.evaluation.audit.outputs import audit_outputs
from dpviz.evaluation.audit.verdicts import LearnerEvidence, StoredRun, run_to_json, stored_run, verify_all
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, QUICK_UNIVERSES, verify_each
from dpviz.io.schemas import load_schema
from dpviz.learners import get_learner, registry
from dpviz.learners.catalogue import parameters
from dpviz.learners.papers import differences, statement_rows
from dpviz.learners.recommend import which_learner
from dpviz.training.contract import LearnerSpec

#: Exit code where a ledger of ours is violated, or a claim is refuted.
REFUTATION = 1
OPTIONS = {
    "learners": {
        "name": option(str, "NAME", "one learner: its source, its parameters, and where it differs from its source", nargs="?"),
        "--for": option(Path, "SCHEMA", "which one to take, from what is declared alone", dest="schema"),
        "--epsilon": option(number, "E", "with --for: that of a person (default: 1)", default=1.0),
        **shared("--json"),
    },
    "verify": {
        "learners": option(str, "LEARNER", "see `dpviz learners`", nargs="*"),
        "--epsilon": option(number, "E", f"claimed privacy loss, {NEIGHBOURS} (default: 1)"),
        **shared("--param"),
        "--all": flag("every learner (or the named ones), flag and epsilon; attacks too"),
        "--quick": flag("smaller universes, no attacks"),
        **output("the facts of --all", required=False),
        **shared("--json"),
    },
    "audit": {
        "without": option(Path, "WITHOUT", "a file of outputs on a table"),
        "with_row": option(Path, "WITH", "a file of outputs on the same with one row more"),
        "--epsilon": option(number, "E", "what the code claims (default: nothing)"),
        "--delta": option(number, "D", "delta that it claims (default: 0)", default=0.0),
        **shared("--json"),
    },
}


# --- the list


def run_learners(args: Namespace) -> int:
    """List the learners: what each does, what its source claims under add/remove one row, and what is known of that.

    Three facts from the stored run (`data/benchmarks/verdicts.json`), each at epsilon 1: PROVED ("holds": a proof can be read;
    "violated": a counterexample is known; "unproven": neither; where it differs at another epsilon, all are listed), SEARCHED and
    ATTACKED (lower bounds on epsilon). RELEASE says whether its trees can be released: whether it is private and has exact
    samplers.

    With --for: which one to take for such a table, and what the other would lose. With a name: its source, its parameters, where
    it differs from its source, and which theorems of its paper hold.

    Example: dpviz learners --for loans.schema.json
    """
    if args.schema is not None:
        if args.name is not None:
            raise DpvizError("NAME and --for are two questions.", where="--for", remedy="Leave one of them out.")
        advice = which_learner(load_schema(args.schema), epsilon=args.epsilon)
        console.show_pairs([("take", advice.learner), ("because", advice.reason), ("otherwise", advice.lost)])
        return 0
    if args.name is not None:
        return _show_learner(get_learner(args.name))
    stored = stored_run()
    rows = [_row(spec, stored) for spec in registry().values()]
    console.show_table("learners", ("NAME", "TITLE", "CLAIMS", "PROVED", "SEARCHED", "ATTACKED", "RELEASE", "IDEA"), rows)
    return 0


def verdict_in_words(learner: str, stored: StoredRun) -> str:
    """The verdict (of the code where nothing is stored), or, as in "violated at 0.1, unproven at 1 and 3", one per epsilon."""
    epsilons: dict[str, list[str]] = {}
    for facts in stored.facts:
        if facts.learner == learner and not facts.params:
            epsilons.setdefault(facts.claim.verdict, []).append(f"{facts.epsilon:g}")
    if len(epsilons) > 1:
        return ", ".join(f"{verdict} at {' and '.join(of_verdict)}" for verdict, of_verdict in epsilons.items())
    return next(iter(epsilons), typical(learner).claim.verdict)


def claims_in_words(claim: Claim) -> str:
    """What is claimed to be spent."""
    if not claim.is_private:
        return "nothing"
    return "epsilon, delta" if claim.delta else "epsilon"


def _row(spec: LearnerSpec, stored: StoredRun) -> tuple[str, ...]:
    learner = typical(spec)
    claim = learner.claim
    release = "yes" if learner.plan.is_exact and math.isfinite(claim.epsilon) else "no"
    bounds = _bounds_in_words(stored.of(spec.name, 1.0))
    return spec.name, spec.title, claims_in_words(claim), verdict_in_words(spec.name, stored), *bounds, release, spec.idea


def _show_learner(spec: LearnerSpec) -> int:
    console.show_pairs([("name", spec.name), ("title", spec.title), ("source", spec.citation)])
    sentences, statements = differences(spec.name), statement_rows(spec.name)
    if lines := [(item.name, str(item.default), item.allowed, item.about) for item in parameters(spec.name)]:
        console.show_title("parameters (--param NAME=VALUE; in Python arguments of fit)")
        console.show_table("parameters", ("NAME", "DEFAULT", "MUST BE", "WHAT IT IS"), lines)
    if console.is_json():
        console.show_values({"differences": sentences, "statements": statements})
        return 0
    console.show_title("differences from the source" if sentences else "No difference is known.")
    console.show_pairs([(str(number), sentence) for number, sentence in enumerate(sentences, 1)])
    for statement in statements:
        console.show_title("statement of the paper")
        console.show_pairs(list(statement.items()))
    return 0


# --- verify


def run_verify(args: Namespace) -> int:
    """Verify privacy claims, under add/remove one row. Three facts: proved, searched, attacked.

    PROVED is the verdict on the plan: "holds" (a proof can be read), "violated" (a counterexample is known), "unproven"
    (neither). SEARCHED is the largest log ratio of the probabilities of one output, over all neighbouring pairs of small data
    sets: a certain lower bound on epsilon. ATTACKED is what many draws show, a lower bound with 95% confidence; with a delta one
    for Gaussian noise. STRENGTH is the share of the proved loss that the attack found, with a delta of what a perfect attack
    shows; "-" where no attack is known that comes near it. CEILING is what a perfect attack would show with as many tries.
    COMPOSED is what the learner's own steps add up to: an upper bound. SECONDS are of the processor, for search and attack.

    With --all, every learner, or the ones named, at three epsilons; `--out FILE --force` then replaces the entries of these in
    FILE. Exit code 1 when a ledger is violated, a bug in dpviz; 2 when the question cannot be answered.

    Example: dpviz verify pf-tree --epsilon 1 --quick
    """
    if not args.all and len(args.learners) != 1:
        raise DpvizError("Give one learner, or --all.", where="verify", remedy="`dpviz learners` lists their names.")
    return _verify_all(args) if args.all else _verify_one(args)


def _verify_one(args: Namespace) -> int:
    if args.out is not None:
        raise DpvizError("--out is for --all.", where="--out", remedy="Leave it out, or verify all learners.")
    spec = get_learner(args.learners[0])
    params = parse_parameters(spec, args.param)
    console.status(f"Verifying {spec.title}")
    universes = (*QUICK_UNIVERSES, *COUNTEREXAMPLES) if args.quick else None
    results = verify_each(spec, epsilon=1.0 if args.epsilon is None else args.epsilon, universes=universes, **params)
    worst = worst_of(results)
    numbers = (f"{worst.epsilon:g}", f"{worst.claimed:g}", f"{worst.composed:.4g}", f"{worst.log_ratio:.4f}")
    line = (_learner_text(worst.learner, worst.params), *numbers, worst.verdict, worst.searched, worst.because)
    header = ("LEARNER", "EPSILON", "CLAIMED", "COMPOSED", "SEARCHED", "FINDING", "WHERE", "REASON")
    console.show_table("verdict", header, [line])
    console.show_title("Where the search looked")
    rows = [
        (f"{item.log_ratio:.4f}", item.verdict, f"{item.n_sets:,}", f"{item.n_pairs:,}", f"{item.seconds:.1f}", item.searched)
        for item in results
    ]
    console.show_table("searched", ("SEARCHED", "FINDING", "DATA SETS", "PAIRS", "SECONDS", "WHERE"), rows)
    if (pair := worst.worst_pair) is not None:
        console.show_title("The pair of tables that shows it")
        cells = [("without", *row) for row in pair.first] + [("with", *row) for row in pair.second]
        console.show_table("pair", ("", *pair.columns), cells)
        console.show_title("Probability of the output that distinguishes them")
        without, beside = (f"{chance:.6g}" for chance in pair.probabilities)
        console.show_pairs([("without", without), ("with", beside), ("output", str(worst.output))])
    return REFUTATION if worst.verdict == "ledger violated" else 0


def _verify_all(args: Namespace) -> int:
    if args.param or args.epsilon is not None:
        raise DpvizError("--all sets epsilon and parameters itself.", where="--all", remedy="Leave --epsilon and --param out.")
    check_output(args.out, force=args.force)
    # where learners are named, the other entries of the file stay
    before = stored_run(args.out) if args.learners and args.out is not None and args.out.exists() else None
    run = verify_all(
        date=datetime.now(UTC).date().isoformat(),
        learners=args.learners,
        quick=args.quick,
        progress=lambda share, text: console.status(f"{share:.0%} {text}"),
    )
    if args.out is not None:
        write_whole(args.out, run_to_json(run if before is None else before.update(run)), force=args.force)
    console.show_title(f"Learners ({NEIGHBOURS}; {run.processor_seconds:.0f} processor seconds)")
    header = ("LEARNER", "EPSILON", "PROVED", "SEARCHED", "ATTACKED", "STRENGTH", "CEILING", "CLAIMED", "COMPOSED", "SECONDS")
    console.show_table("facts", (*header, "DATE", "REASON"), list(map(_fact_cells, run.facts)))
    return REFUTATION if run.has_broken_ledger else 0


def _fact_cells(facts: LearnerEvidence) -> Sequence[str]:
    claim, seconds, attacked = facts.claim, f"{facts.processor_seconds:.1f}", facts.attacked
    shares = (strength_text(attacked) or "-", f"{attacked.perfect:.3g}") if attacked is not None else ("-", "-")
    numbers = (*shares, f"{claim.epsilon:g}", f"{facts.composed.epsilon:.4g}", seconds, facts.date, claim.because)
    return _learner_text(facts.learner, facts.params), f"{facts.epsilon:g}", claim.verdict, *_bounds_in_words(facts), *numbers


def _bounds_in_words(facts: LearnerEvidence | None) -> tuple[str, str]:
    """What was searched and attacked, as in (">= 1.402, beyond", "not attacked")."""
    search, attack = "not listed", "not attacked"
    if facts is not None and (searched := facts.searched):
        search = _bound_in_words(searched.log_ratio, SEARCH_BADGES[against_claim(searched.log_ratio, searched)])
    if facts is not None and (attacked := facts.attacked):
        attack = _bound_in_words(attacked.bound, attack_badge(attacked))
    return search, attack


def _bound_in_words(bound: float, badge: Badge) -> str:
    return f"{at_least_text(bound).replace('≥', '>=').replace('∞', '>= inf')}, {badge.word}"


def _learner_text(learner: str, params: dict[str, Any]) -> str:
    return " ".join([learner, *(f"{name}={value}" for name, value in params.items())])


# --- audit


def run_audit(args: Namespace) -> int:
    """Attack code that is not ours: does it keep the epsilon that it claims, under add/remove one row?

    WITHOUT and WITH are files with one output per independent run (a line of text, a number, or a JSON object of several): on a
    table and on the same with one row more. A part of the runs chooses what tells the two apart, the others count it: what is
    printed is a lower bound on epsilon with 95% confidence. Exit code 1 when the claim is refuted.

    Example: dpviz audit without.txt with.txt --epsilon 1
    """
    bound = audit_outputs(args.without, args.with_row, delta=args.delta, claimed=args.epsilon)
    if console.is_json():
        console.show_values({**asdict(bound), "refutes": bound.refutes})
    else:
        console.show_pairs([("Attacked", str(bound))])
    return REFUTATION if bound.refutes else 0
