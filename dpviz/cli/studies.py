"""Commands that fit many times: sweep and robustness."""

from __future__ import annotations

import math
import signal
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from dpviz import interrupts
from dpviz.charts.robustness import CertifiedCurve, headline
from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import LEARNER, TABLE, flag, list_of, number, option, output, parse_parameters, shared, whole
from dpviz.cli.rows import encoded_rows, warn_of_read_values
from dpviz.errors import DpvizError, path_text
from dpviz.evaluation.poisoning import PoisoningTable, certify
from dpviz.evaluation.sweep import SweepGrid, columns_of, n_fits, sweep
from dpviz.io.csv_text import frame_csv
from dpviz.learners import DEFAULT, FitRequest, get_learner
from dpviz.results.wording import signs_spelled
from dpviz.table.validation import validate_fraction

if TYPE_CHECKING:
    import pandas as pd

#: Of the columns of a sweep that are not decimal numbers.
_TYPES = dict.fromkeys(("learner", "verdict"), str) | dict.fromkeys(("max_depth", "n_rows", "fold", "repeat", "depth"), int)
#: Held out for measuring what poison does, and lines of it that are printed; the file has them all.
_TEST_SHARE, _LINES = 0.2, 11

OPTIONS = {
    "sweep": {
        **shared(*TABLE),
        "--learners": option(
            list_of(str),
            "A,B",
            f"see `dpviz learners`; also variants, as in 'pf-tree(lookahead=1)' (default: {DEFAULT})",
            default=(DEFAULT,),
        ),
        "--epsilon": option(list_of(number), "E,E", "privacy losses of a person", required=True),
        "--max-depth": option(list_of(whole()), "D,D", "largest numbers of levels (default: the learner's own)", default=(None,)),
        "--rows": option(list_of(whole()), "N,N", "training rows (default: all)", default=(None,)),
        "--folds": option(whole(), "N", "splits; 1 holds out one row in five (default: 5)", default=5),
        "--repeats": option(whole(), "N", "draws per split (default: 10)", default=10),
        "--seed": option(int, "N", "of splits and noise (default: 0)", default=0),
        **shared("--workers"),
        "--resume": flag("keep the lines of FILE and add what is missing"),
        **output("the lines"),
    },
    "robustness": {
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
    },
}


# --- sweep


def run_sweep(args: Namespace) -> int:
    """Fit learners over epsilon, depth and number of rows, and write one line per fit as CSV.

    Each fit is a simulation on part of the rows, scored on the rest. No epsilon covers what the file says: if the rows are
    private, it is for their owner only. Ctrl-C writes what is finished, and --resume continues from there. The lines do not
    depend on the number of workers. Every epsilon is a person's, who has one row unless the schema says more.

    Example: dpviz sweep loans.csv --schema loans.schema.json --epsilon .1,.3,1,3 --out sweep.csv
    """
    grid = SweepGrid(args.learners, args.epsilon, args.max_depth, args.rows, args.folds, args.repeats, args.seed)
    if args.resume and args.out == console.STDOUT:
        raise DpvizError("--resume continues a file.", where="--out", remedy="Name the file, or leave --resume out.")
    overwrites = args.force or args.resume
    check_output(args.out, force=overwrites, inputs=(args.data, args.schema))
    done = _read_frame(args.out) if args.resume and args.out.exists() else None
    data = encoded_rows(args)
    with _stopped_by_keyboard() as stop:
        frame = sweep(
            args.learners,
            data,
            epsilon=args.epsilon,
            max_depth=args.max_depth,
            n_rows=args.rows,
            folds=args.folds,
            repeats=args.repeats,
            seed=args.seed,
            workers=args.workers,
            done=done,
            progress=console.progress("Fitting"),
            stop=stop.is_set,
        )
    write_whole(args.out, frame_csv(frame), force=overwrites)
    warn_of_read_values(data.schema)
    finished, total = len(grid.part_of(frame)), n_fits(list(grid.batches()))
    console.report(f"Wrote {args.out}: {finished:,} of {total:,} fits.")
    if finished < total:
        console.report("Stopped. The same command with --resume continues.")
        return interrupts.EXIT_CODE
    return 0


@contextmanager
def _stopped_by_keyboard() -> Iterator[Event]:
    """An event that Ctrl-C sets, so that the current fits are finished and kept; a second Ctrl-C interrupts."""
    stop = Event()

    def on_interrupt(number: int, frame: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _read_frame(path: Path) -> pd.DataFrame:
    """The frame an earlier sweep wrote. Numbers are read as texts first: pandas' own reader may round the last digit."""
    import pandas as pd

    try:
        texts = pd.read_csv(path, dtype=str)
        names = columns_of(texts.columns)
        missing = [name for name in names if name not in texts.columns]
        if missing:
            raise ValueError(f"it has no column {missing[0]!r}")
        return texts.astype({name: _TYPES.get(name, float) for name in names})
    except (OSError, ValueError) as error:
        what = f"This file does not come from a sweep: {error}."
        raise DpvizError(what, where=path_text(path), remedy="Leave --resume out, or name another file.") from error


# --- robustness


def run_robustness(args: Namespace) -> int:
    """How many poisoned rows a learner withstands: its guaranteed accuracy while an attacker adds or removes training rows.

    Part of the rows is held out for measuring. The learner is drawn many times on the rest, and what its privacy guarantee proves
    is printed: the published bound, the tight one, and the part of it that holds with confidence. Rows are counted, or persons
    where the schema says that they have several; a changed one counts as two. The numbers are computed from the rows without
    noise: they are for the rows' owner and must not be released.

    Example: dpviz robustness loans.csv --schema loans.schema.json --epsilon 1
    """
    spec = get_learner(args.learner)
    parameters = parse_parameters(spec, args.param, "test_share")  # checked before the table is read
    request = FitRequest.of(spec.name, epsilon=args.epsilon, max_depth=args.max_depth, **parameters)
    check_output(args.out, force=args.force, inputs=(args.data, args.schema))
    data = encoded_rows(args)
    splits = [data.split(_TEST_SHARE, seed=args.seed + number) for number in range(args.splits)]
    console.status(f"Drawing {spec.title}")
    table = certify(
        request,
        splits,
        max_poisoned=args.max_poisoned,
        draws=args.draws,
        seed=args.seed,
        beta=1 - validate_fraction("robustness", "confidence", args.confidence),
        workers=args.workers,
    )
    if args.out is not None:
        write_whole(args.out, frame_csv(table.frame()), force=args.force)
    warn_of_read_values(data.schema)
    _show(table, args)
    return 0


def _show(table: PoisoningTable, args: Namespace) -> None:
    title = f"{get_learner(table.learner).title}, epsilon {args.epsilon:g} (add/remove one {table.unit}): guaranteed accuracy"
    console.show_title(f"{title}, {table.n_done:,} draws. For the owner of the rows only.")
    bounds = {rows: (table.published(rows), table.tight(rows), table.low(rows)) for rows in table.rows}
    last = len(table.rows) - 1
    lines = []
    for place in sorted({round(step * last / (_LINES - 1)) for step in range(_LINES)}):
        rows = table.rows[place]
        texts = ("-" if math.isnan(bound) else f"{bound:.1%}" for bound in bounds[rows])
        lines.append((f"{rows:,}", f"{rows / max(1, table.n_train):.2%}", *texts))
    header = ("POISONED", "SHARE", "PUBLISHED", "TIGHT", f"WITH {args.confidence:.0%} CONFIDENCE")
    console.show_table("bounds", header, lines)
    names = ("published", "tight", "with_confidence")
    numbers = {rows: [None if math.isnan(bound) else bound for bound in each] for rows, each in bounds.items()}
    console.show_values({"bounds": [{"poisoned": rows, **dict(zip(names, each, strict=True))} for rows, each in numbers.items()]})
    curve = CertifiedCurve(args.epsilon if get_learner(table.learner).spends_epsilon else None, table)
    verdict = f"No guarantee. {table.reason}" if table.reason else headline([curve], args.above)
    console.show_pairs([("Verdict", signs_spelled(verdict))])
