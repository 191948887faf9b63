"""List the learners: what each does, what its source claims under add/remove one row, and what is known of that.

Three facts from the stored run (`data/benchmarks/verdicts.json`), each at epsilon 1: PROVED ("holds": a proof can be read;
"violated": a counterexample is known; "unproven": neither; where it differs at another epsilon, all are listed), SEARCHED and
ATTACKED (lower bounds on epsilon). RELEASE says whether its trees can be released: whether it is private and has exact samplers.

With a name: its source, and where it differs from it.
"""

import math
from argparse import ArgumentParser, Namespace

from dpviz.accounting.claim import Claim
from dpviz.commands import console
from dpviz.commands.verify import bounds_in_words
from dpviz.evaluation.audit.planned import typical
from dpviz.evaluation.audit.verdicts import StoredRun, stored_run
from dpviz.figures.audit.departures import departure_rows
from dpviz.learners import get_learner, registry
from dpviz.training.contract import LearnerSpec


def add_arguments(parser: ArgumentParser) -> None:
    """One learner, or none for the list."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="one learner: its source, and every difference from it")


def run(args: Namespace) -> int:
    """Print the table, or one learner's differences from its source."""
    if args.name is not None:
        return _differences(get_learner(args.name))
    stored = stored_run()
    rows = [_row(spec, stored) for spec in registry().values()]
    console.show_table(("NAME", "TITLE", "CLAIMS", "PROVED", "SEARCHED", "ATTACKED", "RELEASE", "IDEA"), rows)
    return 0


def verdict_in_words(learner: str, stored: StoredRun) -> str:
    """The verdict (of the code where nothing is stored), or, as in "violated at 0.1, unproven at 1 and 3", one per epsilon."""
    entries = [facts for facts in stored.facts if facts.learner == learner and not facts.params]
    where: dict[str, list[str]] = {}
    for facts in entries:
        where.setdefault(facts.claim.verdict, []).append(f"{facts.epsilon:g}")
    if len(where) > 1:
        return ", ".join(f"{verdict} at {' and '.join(at)}" for verdict, at in where.items())
    return next(iter(where), typical(learner).claim.verdict)


def _row(spec: LearnerSpec, stored: StoredRun) -> tuple[str, ...]:
    claim = typical(spec).claim
    released = "yes" if spec.exact and math.isfinite(claim.epsilon) else "no"
    bounds = bounds_in_words(stored.of(spec.name, 1.0))
    return spec.name, spec.title, claims_in_words(claim), verdict_in_words(spec.name, stored), *bounds, released, spec.idea


def _differences(spec: LearnerSpec) -> int:
    console.show_pairs([("name", spec.name), ("title", spec.title), ("source", spec.citation)])
    rows = departure_rows(spec)
    if not rows:
        console.show_title("No difference is known.")
    for number, row in enumerate(rows, 1):
        console.show_title(f"difference {number}")
        console.show_pairs(list(row.items()))
    return 0


def claims_in_words(claim: Claim) -> str:
    """What is claimed to be spent."""
    if not claim.is_private:
        return "nothing"
    return "epsilon, delta" if claim.delta else "epsilon"
