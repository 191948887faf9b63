"""Train boosted trees (s-gbdt) on the rows of several owners, each in a process of its own, and write them as JSON.

Owners send sums over their own rows, with a share of the noise, behind masks that cancel in the total. The model has the
distribution, and the cost, of one trained on all rows together. This is a reference implementation, to try what several owners
get: the command reads every PART itself, on one computer. Whom to trust with what, and what happens when an owner leaves or
lies: dpviz/owners/several-owners.md.

Without --seed this is a release, which no register counts. Every epsilon is for adding or removing one row of any owner.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.arguments import (
    TABLE_FILES,
    add_boosting_arguments,
    add_person_arguments,
    add_reading_arguments,
    file,
    parse_parameters,
    whole,
)
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.commands.rows import encoded_rows, refuse_rows, warn_of_read_values
from dpviz.figures.publish.summary import summary
from dpviz.io.schemas import load_schema
from dpviz.learners import get_learner
from dpviz.learners.ours.s_gbdt import NAME
from dpviz.owners.federated import FederatedResult, epsilon_when_pooled, train_federated
from dpviz.release.rows_used import doubts


def add_arguments(parser: ArgumentParser) -> None:
    """Parts, schema, privacy, seeds, file."""
    parser.add_argument("parts", type=file, nargs="+", metavar="PART", help=f"the rows of one owner; {TABLE_FILES}")
    add_reading_arguments(parser)
    parser.add_argument("--schema", type=Path, required=True, metavar="FILE", help="what is public about all rows together")
    add_person_arguments(parser)
    add_boosting_arguments(parser)
    dice = "for the splits, which look at no row; agree on it, say by dice"
    parser.add_argument("--public-seed", required=True, type=whole(0), metavar="N", help=dice)
    pooling = "how many owners may pool what they know without harm to the others (default: 0)"
    parser.add_argument("--colluding", type=whole(0), default=0, metavar="N", help=pooling)
    parser.add_argument("--seed", type=whole(0), metavar="N", help="simulate, repeatably; not a release")
    parser.add_argument("--accept-rows", action="store_true", help="release although many rows are dropped or changed")
    add_output_arguments(parser, "the model")


def run(args: Namespace) -> int:
    """Check, read, encode, train, write, report."""
    params = parse_parameters(get_learner(NAME), args.param)
    check_output(args.out, force=args.force, inputs=(*args.parts, args.schema))
    schema = load_schema(args.schema)
    parts = [encoded_rows(Namespace(**vars(args) | {"data": part, "target": None})) for part in args.parts]
    found = doubts(*parts)
    if args.seed is None and found and not args.accept_rows:
        refuse_rows(found)
    asked = {name: getattr(args, name) for name in ("epsilon", "delta", "max_depth", "public_seed", "seed", "colluding")}
    progress = console.telling(f"Training {len(parts)} owners")
    trained = train_federated(parts, schema=schema, progress=progress, **asked, **params)
    write_whole(args.out, trained.result.to_json() + "\n", force=args.force)
    warn_of_read_values(schema)
    _report(trained, args)
    return 0


def _report(trained: FederatedResult, args: Namespace) -> None:
    for owner, part in enumerate(args.parts):
        if owner in trained.gone:
            console.warn(f"{part} left. The round it missed is void, and the others went on without its rows.")
    if args.seed is None:
        console.done("No register counts this release. Every owner must keep account of it.")
    console.show_pairs([*summary(trained.result), *_pooling(trained), ("File", str(args.out))])


def _pooling(trained: FederatedResult) -> list[tuple[str, str]]:
    """What is left for the others when owners pool what they know, or leave their noise out."""
    owners, event = trained.terms.owners, trained.result.ledger.event
    left = [epsilon_when_pooled(event, trained.terms, pooled) for pooled in range(owners)]  # type: ignore[arg-type]
    told = ", ".join(f"{epsilon:.3g} if {pooled} pool" for pooled, epsilon in enumerate(left) if pooled)
    return [("Owners", f"{owners}. For the rows of the others, epsilon = {told}")]
