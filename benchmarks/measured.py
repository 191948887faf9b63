"""What a topic hands back: rows of measurements as a frame, and their means; when and with what they were measured."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.version import VERSION

if TYPE_CHECKING:
    import pandas as pd


def means(rows: pd.DataFrame, by: Sequence[str], metrics: Sequence[str], over: str = "fold") -> pd.DataFrame:
    """Columns `by`, metric, mean, error, n: rows of one fold (or what `over` names) are averaged first.

    The error is the standard error over folds, and n their number; what is not a number is left out.
    """
    long = rows.melt([*by, over], metrics, "metric", "value").dropna(subset="value")
    folds = long.groupby([*by, "metric", over], sort=False).value.mean()
    found = folds.groupby([*by, "metric"], sort=False).agg(["mean", "sem", "size"])
    return found.set_axis(["mean", "error", "n"], axis=1).reset_index()


def remark(words: Sequence[str], minutes: float) -> str:
    """The first line of a file: when, with which version and by which command."""
    command = " ".join(("python -m benchmarks", *words))
    return f"# {date.today():%Y-%m-%d}, dpviz {VERSION}, {minutes:.1f} processor minutes, {NEIGHBOURS}: {command}\n"


def seconds_used(process: int | None = None) -> float:
    """Processor seconds of a process (by default this one) and of all that it started; on Linux."""
    process = process or os.getpid()
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = [(task / "children").read_text() for task in Path(f"/proc/{process}/task").iterdir()]
    except OSError:  # it has ended, and its parent has its seconds
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(seconds_used(int(child)) for child in " ".join(children).split())
