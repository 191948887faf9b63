"""The robustness figure as tables: a frame with every point, and a few lines per curve to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.evaluation.robustness.poisoning import curve_rows
from dpviz.figures.charts import Rows
from dpviz.figures.robustness.certified import Certified
from dpviz.figures.robustness.guaranteed_accuracy import attack_rows
from dpviz.results.wording import number_text

if TYPE_CHECKING:
    import pandas as pd

#: Lines per curve.
MOST_ROWS = 11


def guarantee_frame(found: Sequence[Certified], up_to: float) -> pd.DataFrame:
    """Every point of the curves: learner, epsilon, claim and reason before the columns of `PoisoningTable.frame`."""
    import pandas as pd

    frames = []
    for item in found:
        frame = replace(item.table, rows=curve_rows(item.table.n_train, up_to)).frame()
        about = {"learner": item.table.learner, "epsilon": item.epsilon, "claim": item.verdict, "reason": item.table.reason}
        frames.append(pd.DataFrame(about, index=frame.index).join(frame))
    return pd.concat(frames, ignore_index=True)


def guarantee_rows(found: Sequence[Certified], up_to: float) -> Rows:
    """The figure as a table, at most eleven lines per curve."""
    rows = []
    for item in found:
        every = curve_rows(item.table.n_train, up_to)
        places = np.linspace(0, len(every) - 1, min(len(every), MOST_ROWS)).round().astype(int)
        rows += [_row(item, every[place]) for place in places]
    return rows


def _row(item: Certified, rows: int) -> dict[str, str]:
    table = item.table
    published = "none" if item.kind in ("votes", "silent") else f"{table.published(rows):.1%}"
    return {
        "algorithm": item.title,
        f"ε ({NEIGHBOURS})": "none" if item.epsilon is None else number_text(item.epsilon),
        "poisoned rows": f"{rows:,}",
        "share": f"{item.share(rows):.2%}",
        "published": f"{published} (refused)" if item.kind == "refused" else published,
        "proved": "nothing" if table.reason else f"{table.low(rows):.1%}",
        "estimate": "none" if table.reason else f"{table.tight(rows):.1%}",
    }


def attack_table(found: Sequence[Certified], attacks: pd.DataFrame) -> Rows:
    """The dots as a table."""
    return [
        {
            "attack": ATTACKS[line.attack].title,
            "algorithm": item.name,
            "poisoned rows": f"{line.poisoned_rows:,}",
            "mean accuracy": f"{line.accuracy:.1%}",
            "95% limits": f"{line.low:.1%} to {line.high:.1%}",
            "proved": "nothing" if item.table.reason else f"{item.table.low(int(line.poisoned_rows)):.1%}",
        }
        for item in found
        for line in attack_rows(item, attacks).itertuples()
    ]
