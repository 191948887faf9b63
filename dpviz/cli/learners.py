"""List the learners: what each does, what its source claims under add/remove one row, and what is known of that.

Three facts from the stored run (`data/benchmarks/verdicts.json`), each at epsilon 1: PROVED ("holds": a proof can be read;
"violated": a counterexample is known; "unproven": neither; where it differs at another epsilon, all are listed), SEARCHED and
ATTACKED (lower bounds on epsilon). RELEASE says whether its trees can be released: whether it is private and has exact samplers.

With --for: which one to take for such a table, and what the other would lose. With a name: its source, its parameters, where
it differs from its source, and which theorems of its paper hold.

Example: dpviz learners --for loans.schema.json
"""

import math
from argparse import Namespace
from pathlib import Path

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.cli import console
from dpviz.cli.options import number, option, shared
from dpviz.cli.verify import bounds_in_words
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.evidence import typical
from dpviz.evaluation.audit.verdicts import StoredRun, stored_run
from dpviz.io.schemas import load_schema
from dpviz.learners import get_learner, registry
from dpviz.learners.catalogue import parameters
from dpviz.learners.papers import DIFFERENCES, statement_rows
from dpviz.learners.recommend import which_learner
from dpviz.training.contract import LearnerSpec

OPTIONS = {
    "name": option(str, "NAME", "one learner: its source, its parameters and all departures", nargs="?"),
    "--for": option(Path, "SCHEMA", "which one to take, from what is declared alone", dest="schema"),
    "--epsilon": option(number, "E", f"with --for: {NEIGHBOURS} (default: 1)", default=1.0),
    **shared("--json"),
}


def run(args: Namespace) -> int:
    """Print the table, which learner to take, or one learner's differences from its source."""
    if args.schema is not None:
        if args.name is not None:
            raise DpvizError("NAME and --for are two questions.", where="--for", remedy="Leave one of them out.")
        found = which_learner(load_schema(args.schema), epsilon=args.epsilon)
        console.show_pairs([("take", found.learner), ("because", found.reason), ("otherwise", found.lost)])
        return 0
    if args.name is not None:
        return _differences(get_learner(args.name))
    stored = stored_run()
    rows = [_row(spec, stored) for spec in registry().values()]
    console.show_table("learners", ("NAME", "TITLE", "CLAIMS", "PROVED", "SEARCHED", "ATTACKED", "RELEASE", "IDEA"), rows)
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
    planned = typical(spec)
    claim = planned.claim
    released = "yes" if planned.plan.is_exact and math.isfinite(claim.epsilon) else "no"
    bounds = bounds_in_words(stored.of(spec.name, 1.0))
    return spec.name, spec.title, claims_in_words(claim), verdict_in_words(spec.name, stored), *bounds, released, spec.idea


def _differences(spec: LearnerSpec) -> int:
    console.show_pairs([("name", spec.name), ("title", spec.title), ("source", spec.citation)])
    found = parameters(spec.name)
    if found:
        console.show_title("parameters (--param NAME=VALUE; in Python arguments of fit)")
        lines = [(item.name, str(item.default), item.allowed, item.about) for item in found]
        console.show_table("parameters", ("NAME", "DEFAULT", "MUST BE", "WHAT IT IS"), lines)
    differences = DIFFERENCES.get(spec.name, ())
    if console.is_json():
        console.show_values({"differences": differences, "statements": statement_rows(spec.name)})
        return 0
    console.show_title("differences from the source" if differences else "No difference is known.")
    console.show_pairs([(str(place), one) for place, one in enumerate(differences, 1)])
    for row in statement_rows(spec.name):
        console.show_title("statement of the paper")
        console.show_pairs(list(row.items()))
    return 0


def claims_in_words(claim: Claim) -> str:
    """What is claimed to be spent."""
    if not claim.is_private:
        return "nothing"
    return "epsilon, delta" if claim.delta else "epsilon"
