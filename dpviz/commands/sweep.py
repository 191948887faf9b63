"""Fit learners over epsilon, depth and number of rows, and write one line per fit as CSV.

Each fit is a simulation on a part of the rows, scored on the rest. Nothing in the file is covered by any epsilon in it: with
private rows it is for their owner's eyes. Ctrl-C writes what is done; --resume goes on from there. The lines are the same
whatever the number of workers. Every epsilon is meant under add/remove one row.
"""

from __future__ import annotations

import math
import signal
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from dpviz.commands import console
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.commands.proposal import warn_of_read_values
from dpviz.errors import DpvizError
from dpviz.evaluation.compare.grid import SweepGrid, columns_of, n_fits
from dpviz.evaluation.compare.sweep import sweep
from dpviz.io.csv import read_csv
from dpviz.io.csv_text import frame_csv
from dpviz.io.schemas import load_schema
from dpviz.learners import DEFAULT
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.proposal import propose_schema

if TYPE_CHECKING:
    import pandas as pd

NAME = "sweep"
HELP = "accuracy or R2 of learners over epsilon, depth and rows, as CSV"
STOPPED = 130
#: Columns of the frame that are not decimal numbers.
_READERS = dict.fromkeys(("learner", "verdict"), str) | dict.fromkeys(("max_depth", "n_rows", "fold", "repeat", "depth"), int)


def add_arguments(parser: ArgumentParser) -> None:
    """Table, schema, grid, workers, file."""
    parser.add_argument("data", type=Path, metavar="DATA", help="table: .csv or .csv.gz with a header row")
    parser.add_argument("--schema", type=Path, metavar="FILE", help="what is public about DATA; else read from the data")
    words = f"see `learners` (default: {DEFAULT})"
    parser.add_argument("--learners", type=_names, default=(DEFAULT,), metavar="A,B", help=words)
    parser.add_argument("--epsilon", required=True, type=_numbers, metavar="E,E", help="privacy losses, add/remove one row")
    parser.add_argument("--max-depth", type=_counts, default=(4,), metavar="D,D", help="most levels of rules (default: 4)")
    parser.add_argument("--rows", type=_counts, default=(None,), metavar="N,N", help="training rows to use (default: all)")
    parser.add_argument("--folds", type=_count, default=5, metavar="N", help="splits; 1 holds out one row in five (default: 5)")
    parser.add_argument("--repeats", type=_count, default=10, metavar="N", help="draws per split (default: 10)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of splits and noise (default: 0)")
    parser.add_argument("--workers", type=_count, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--resume", action="store_true", help="keep the lines of FILE and add what is missing")
    add_output_arguments(parser, "the lines")


def run(args: Namespace) -> int:
    """Check, read, fit, write; 130 after Ctrl-C, with what is done in the file."""
    grid = SweepGrid(args.learners, args.epsilon, args.max_depth, args.rows, args.folds, args.repeats, args.seed)
    overwrites = args.force or args.resume
    check_output(args.out, force=overwrites, inputs=filter(None, (args.data, args.schema)))
    done = _read_frame(args.out) if args.resume and args.out.exists() else None
    data = _encoded(args)
    with _stopped_by_keyboard() as stop:
        frame = _sweep(args, grid, data, done, stop)
    write_whole(args.out, frame_csv(frame), force=overwrites)
    warn_of_read_values(data.schema)
    total = n_fits(list(grid.batches()))
    have = len(grid.part_of(frame))
    console.done(f"Wrote {args.out}: {have:,} of {total:,} fits.")
    if have < total:
        console.done("Stopped. The same command with --resume goes on.")
        return STOPPED
    return 0


def _sweep(args: Namespace, grid: SweepGrid, data: EncodedDataset, done: pd.DataFrame | None, stop: Event) -> pd.DataFrame:
    return sweep(
        grid.learners,
        data,
        epsilon=grid.epsilons,
        max_depth=grid.max_depths,
        n_rows=grid.n_rows,
        folds=grid.folds,
        repeats=grid.repeats,
        seed=grid.seed,
        workers=args.workers,
        done=done,
        progress=lambda share: console.doing(f"Fitting, {share:.0%}"),
        stop=stop.is_set,
    )


def _encoded(args: Namespace) -> EncodedDataset:
    schema = load_schema(args.schema) if args.schema else None
    console.doing(f"Reading {args.data}")
    table = read_csv(args.data)
    return encode(table, schema or propose_schema(table))


@contextmanager
def _stopped_by_keyboard() -> Iterator[Event]:
    """An event that Ctrl-C sets, so that what is under way is finished and kept; the second Ctrl-C interrupts."""
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
    """A frame written before, its numbers exactly as they were: Python reads them, not pandas, which may round."""
    import pandas as pd

    try:
        texts = pd.read_csv(path, dtype=str, keep_default_na=False)
        names = columns_of(texts.columns)
        lacks = [name for name in names if name not in texts.columns]
        if lacks:
            raise ValueError(f"it has no column {lacks[0]!r}")
        return texts.assign(**{name: [_READERS.get(name, _decimal)(text) for text in texts[name]] for name in names})
    except (OSError, ValueError) as error:
        raise _no_frame(path, str(error)) from error


def _decimal(text: str) -> float:
    return float(text) if text else math.nan


def _no_frame(path: Path, why: str) -> DpvizError:
    return DpvizError(f"This is not the file of a sweep: {why}.", where=str(path), remedy="Leave --resume out, or name another.")


def _listed(read: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    def parse(text: str) -> tuple[Any, ...]:
        return tuple(read(part.strip()) for part in text.split(",") if part.strip())

    return parse


def _count(text: str) -> int:
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    raise ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"must be numbers with commas between, got {text!r}") from error


_names, _numbers, _counts = _listed(str), _listed(_number), _listed(_count)
