"""Fit learners over epsilon, depth and number of rows, and write one line per fit as CSV.

Each fit is a simulation on part of the rows, scored on the rest. No epsilon covers what the file says: if the rows are private,
it is for their owner only. Ctrl-C writes what is finished, and --resume continues from there. The lines do not depend on the
number of workers. Every epsilon is for adding or removing one row.

Example: dpviz sweep loans.csv --schema loans.schema.json --epsilon .1,.3,1,3 --out sweep.csv
"""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from dpviz.cli import console
from dpviz.cli.files import STDOUT, check_output, write_whole
from dpviz.cli.options import TABLE, flag, listed, number, option, output, shared, whole
from dpviz.cli.rows import encoded_rows, warn_of_read_values
from dpviz.errors import DpvizError, place
from dpviz.evaluation.sweep import SweepGrid, columns_of, n_fits, sweep
from dpviz.io.csv_text import frame_csv
from dpviz.learners import DEFAULT

if TYPE_CHECKING:
    import pandas as pd

STOPPED = 130
#: Of the columns that are not decimal numbers.
_TYPES = dict.fromkeys(("learner", "verdict"), str) | dict.fromkeys(("max_depth", "n_rows", "fold", "repeat", "depth"), int)


OPTIONS = {
    **shared(*TABLE),
    "--learners": option(
        listed(str),
        "A,B",
        f"see `dpviz learners`; also variants, as in 'pf-tree(lookahead=1)' (default: {DEFAULT})",
        default=(DEFAULT,),
    ),
    "--epsilon": option(listed(number), "E,E", "privacy losses, add/remove one row", required=True),
    "--max-depth": option(listed(whole()), "D,D", "largest numbers of levels (default: the learner's own)", default=(None,)),
    "--rows": option(listed(whole()), "N,N", "training rows (default: all)", default=(None,)),
    "--folds": option(whole(), "N", "splits; 1 holds out one row in five (default: 5)", default=5),
    "--repeats": option(whole(), "N", "draws per split (default: 10)", default=10),
    "--seed": option(int, "N", "of splits and noise (default: 0)", default=0),
    **shared("--workers"),
    "--resume": flag("keep the lines of FILE and add what is missing"),
    **output("the lines"),
}


def run(args: Namespace) -> int:
    """Check, read, fit, write. 130 after Ctrl-C; what was finished is in the file."""
    grid = SweepGrid(args.learners, args.epsilon, args.max_depth, args.rows, args.folds, args.repeats, args.seed)
    if args.resume and args.out == STDOUT:
        raise DpvizError("--resume continues a file.", where="--out", remedy="Name the file, or leave --resume out.")
    overwrites = args.force or args.resume
    check_output(args.out, force=overwrites, inputs=(args.data, args.schema))
    done = _read_frame(args.out) if args.resume and args.out.exists() else None
    data = encoded_rows(args)
    with _stopped_by_keyboard() as stop:
        how = {"folds": args.folds, "repeats": args.repeats, "seed": args.seed, "workers": args.workers, "done": done}
        points = {"epsilon": args.epsilon, "max_depth": args.max_depth, "n_rows": args.rows}
        frame = sweep(args.learners, data, **points, **how, progress=console.telling("Fitting"), stop=stop.is_set)
    write_whole(args.out, frame_csv(frame), force=overwrites)
    warn_of_read_values(data.schema, named=args.schema is not None)
    finished, total = len(grid.part_of(frame)), n_fits(list(grid.batches()))
    console.done(f"Wrote {args.out}: {finished:,} of {total:,} fits.")
    if finished < total:
        console.done("Stopped. The same command with --resume continues.")
        return STOPPED
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
        raise DpvizError(what, where=place(path), remedy="Leave --resume out, or name another file.") from error
