"""How many poisoned rows a learner withstands: its guaranteed accuracy while an attacker adds or removes training rows.

Part of the rows is held out for measuring. The learner is drawn many times on the rest, and what its privacy guarantee proves
is printed: the published bound, the tight one, and the part of it that holds with confidence. Rows are counted under
add/remove one row; a changed row counts as two. The numbers are computed from the rows without noise: they are for the rows'
owner and must not be released.

Example: dpviz robustness loans.csv --schema loans.schema.json --epsilon 1
"""

import math
from argparse import Namespace

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import LEARNER, TABLE, number, option, output, parse_parameters, shared, whole
from dpviz.cli.rows import encoded_rows, warn_of_read_values
from dpviz.errors import DpvizError, place
from dpviz.evaluation.poisoning import PoisoningTable, certify
from dpviz.io.csv_text import frame_csv
from dpviz.learners import FitRequest, get_learner, require_task
from dpviz.table.schema import require_classes

#: Held out for measuring.
TEST_SHARE = 0.2
#: Lines that are printed; the file has them all.
LINES = 11


OPTIONS = {
    **shared(*TABLE, *LEARNER),
    "--max-poisoned": option(number, "S", "largest poisoned share (default: 0.01)", default=0.01),
    "--above": option(number, "A", "accuracy to stay above (default: the majority class)"),
    "--draws": option(whole(1, 1_000_000), "N", "trees per split (default: 1000)", default=1000),
    "--splits": option(whole(1, 100), "N", "random splits, averaged (default: 1)", default=1),
    "--confidence": option(number, "C", "of the last column (default: 0.95)", default=0.95),
    "--seed": option(whole(0, 2**63), "N", "of splits and noise (default: 0)", default=0),
    **shared("--workers"),
    **output("the whole curve as CSV", required=False),
    **shared("--json"),
}


def run(args: Namespace) -> int:
    """Check, read, encode, certify, write, print."""
    spec = get_learner(args.learner)
    settings = {"epsilon": args.epsilon, "max_depth": args.max_depth}
    request = FitRequest.of(spec.name, **settings, **parse_parameters(spec, args.param))  # checked before the table is read
    check_output(args.out, force=args.force, inputs=(args.data, args.schema))
    data = encoded_rows(args)
    if data.n_rows < 2:
        raise DpvizError("There are too few rows to hold some out.", where=place(args.data), remedy="Give at least two rows.")
    require_classes(data.schema, "A poisoning guarantee")
    require_task(spec, data.schema)
    console.doing(f"Drawing {spec.title}")
    found = certify(
        request,
        [data.split(TEST_SHARE, seed=args.seed + number) for number in range(args.splits)],
        max_poisoned=args.max_poisoned,
        draws=args.draws,
        seed=args.seed,
        beta=1 - args.confidence,
        workers=args.workers,
    )
    if args.out is not None:
        write_whole(args.out, frame_csv(found.frame()), force=args.force)
    warn_of_read_values(data.schema, named=args.schema is not None)
    _show(found, args)
    return 0


def _show(found: PoisoningTable, args: Namespace) -> None:
    console.show_title(
        f"{get_learner(found.learner).title}, epsilon {args.epsilon:g} ({NEIGHBOURS}): guaranteed accuracy, "
        f"{found.n_done:,} draws. For the owner of the rows only."
    )
    header = ("POISONED", "SHARE", "PUBLISHED", "TIGHT", f"WITH {args.confidence:.0%} CONFIDENCE")
    console.show_table("bounds", header, [_cells(found, rows) for rows in _chosen(found.rows)])
    console.show_values({"bounds": [_bounds(found, rows) for rows in found.rows]})
    console.show_pairs([("Verdict", found.verdict(args.above))])


def _chosen(rows: tuple[int, ...]) -> list[int]:
    """At most LINES of them, evenly spaced, first and last included."""
    last = len(rows) - 1
    places = sorted({round(step * last / (LINES - 1)) for step in range(LINES)})
    return [rows[place] for place in places]


def _bounds(found: PoisoningTable, rows: int) -> dict[str, float | None]:
    """A point of the curve as numbers; None where a bound proves nothing."""
    bounds = {"published": found.published(rows), "tight": found.tight(rows), "with_confidence": found.low(rows)}
    return {"poisoned": rows} | {name: None if math.isnan(bound) else bound for name, bound in bounds.items()}


def _cells(found: PoisoningTable, rows: int) -> tuple[str, ...]:
    bounds = (found.published(rows), found.tight(rows), found.low(rows))
    return f"{rows:,}", f"{rows / max(1, found.n_train):.2%}", *("-" if math.isnan(b) else f"{b:.1%}" for b in bounds)
