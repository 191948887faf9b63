"""What can still be learned from rows that arrive late, from another distribution, within the same epsilon (`stream`).

The rows with the largest values of a feature are taken to come after the regular rounds. Boosted trees (s-gbdt) are trained in
four ways, and their errors on rows held out are printed: for the old rows and the new ones, when the new ones arrive and at the
end. Every training is a simulation, computed from exact rows: for their owner only. What the ways are, and which to choose:
`dpviz docs` (how-to, several holders). Every epsilon is for adding or removing one row.
"""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import NoReturn

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands import console
from dpviz.commands.arguments import add_boosting_arguments, add_table_arguments, number, parse_parameters, whole
from dpviz.commands.rows import encoded_rows, warn_of_read_values
from dpviz.errors import Removed
from dpviz.learners import get_learner
from dpviz.learners.published.boosted.s_gbdt_published import NAME
from dpviz.owners.streams import WAYS, Course, stream_of, train_on_stream
from dpviz.table.schema import NumericTarget

_TEST_SHARE = 0.2
_HEADER = ("WAY", "OLD, BEFORE", "OLD, AFTER", "NEW, BEFORE", "NEW, AFTER", "EPSILON")


def add_arguments(parser: ArgumentParser) -> None:
    """Topics: stream, and `train`, which is gone."""
    topics = parser.add_subparsers(metavar="TOPIC", required=True, title="topics")
    about = "what can still be learned from rows that arrive late"
    _add_stream(topics.add_parser("stream", help=about, description=__doc__, formatter_class=RawDescriptionHelpFormatter))
    gone = topics.add_parser("train", prefix_chars="\0", add_help=False)  # every word that follows is a value
    gone.add_argument("words", nargs="*")
    gone.set_defaults(topic=_removed)


def run(args: Namespace) -> int:
    """Do what the topic says."""
    code: int = args.topic(args)
    return code


def _removed(args: Namespace) -> NoReturn:
    remedy = "In Python, dpviz.train_federated trains on the rows of several owners; `dpviz docs` has a page about it."
    raise Removed("The command `dpviz owners train`, with its protocol between processes,", remedy=remedy)


def _add_stream(parser: ArgumentParser) -> None:
    """Table, stream, privacy, seed."""
    parser.set_defaults(topic=_stream)
    add_table_arguments(parser)
    parser.add_argument("--feature", required=True, metavar="NAME", help="rows with its largest values come late")
    parser.add_argument("--share", type=number, default=0.3, metavar="S", help="rough share of late rows (default: 0.3)")
    add_boosting_arguments(parser)
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the split and the noise (default: 0)")


def _stream(args: Namespace) -> int:
    """Read, split, train in every way, print."""
    params = parse_parameters(get_learner(NAME), args.param)
    data = encoded_rows(args)
    stream = stream_of(*data.split(_TEST_SHARE, seed=args.seed), args.feature, args.share)
    asked = {"epsilon": args.epsilon, "delta": args.delta, "max_depth": args.max_depth, "seed": args.seed, **params}
    courses = [train_on_stream(stream, way, progress=console.telling(f"Training, {way}"), **asked) for way in WAYS]
    warn_of_read_values(data.schema, named=args.schema is not None)
    measure = "root mean squared error" if isinstance(data.schema.target, NumericTarget) else "share of wrong classes"
    console.show_title(f"{measure.capitalize()} ({NEIGHBOURS}). For the owner of the rows only.")
    console.show_table("ways", _HEADER, [_cells(course) for course in courses])
    return 0


def _cells(course: Course) -> tuple[str, ...]:
    errors = (found for group in ("old", "new") for found in (course.before(group), course.after(group)))
    return course.way, *(f"{error:.4g}" for error in errors), f"{course.ledger.guarantee.epsilon:g}"
