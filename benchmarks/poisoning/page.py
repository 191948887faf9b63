"""The poisoning benchmark's page: published and proved guarantees, cell beside cell, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.page import CONSTANTS, markdown_table
from benchmarks.poisoning.measure import OTHER, PUBLISHED_SPLITS, SHARES, PublishedRow, Repeated, rows_at
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.robustness.poisoning import PoisoningTable
from dpviz.learners import DEFAULT, get_learner


@dataclass(frozen=True)
class Line:
    """Everything about one data set at one epsilon."""

    data: str
    epsilon: float
    published: PublishedRow | None
    other: PublishedRow | None
    same: Repeated
    linear: Repeated
    ours: PoisoningTable
    votes: PoisoningTable


def poisoning_page(lines: Sequence[Line], *, splits: int, draws: int, made: str) -> str:
    """The whole page; `made` says when and with which versions."""
    parts = [_head(splits, draws, made)]
    for epsilon in dict.fromkeys(line.epsilon for line in lines):
        parts.append(_table([line for line in lines if line.epsilon == epsilon], epsilon))
    parts += [_repeats(lines), _protected(lines)]
    return "\n\n".join(parts) + "\n"


def _head(splits: int, draws: int, made: str) -> str:
    title = get_learner(DEFAULT).title
    return (
        "# Poisoning guarantees beside the papers' tables\n\n"
        "Guaranteed mean accuracy on clean test rows after an attacker added or removed 0.1, 0.5 or 1% of the training rows. "
        f"Every epsilon is for {NEIGHBOURS}; a changed row counts as two. ± is a standard error over the splits.\n\n"
        "- **PrivaTree**: Corollary 2, e^(-k eps) times accuracy, as published and measured again "
        f"({PUBLISHED_SPLITS} random splits, one tree each). Its privacy claim is violated, so this is *not* proved.\n"
        "- **LR**: private logistic regression. Theirs has a scale and a norm read from the rows, ours declared ones (claim "
        "holds).\n"
        f'- **{title}** with `leaves="labels"` (all rows grow the tree): Corollary 2, then the tight bound. In brackets is what '
        f"of it is proved with 95% confidence, for all numbers of rows at once, on one data set ({splits} random splits, "
        f"{draws:,} trees on each, certified separately and averaged). The number before the brackets assumes that these trees "
        "are all there are: where the brackets are far below it, more trees would help. In the line of 0 rows they bound the "
        "accuracy.\n"
        "- **Vote**: 1,000 ordinary trees on disjoint rows, certified test row by test row. No privacy, and no noise in the "
        "count.\n\n"
        "Ranges, categories and row counts were read from the data, as in the papers; the guarantees suppose that the poison "
        f"does not change them. {CONSTANTS}\n\n{made} "
        f"Rerun: `python -m benchmarks poisoning --data DIR --splits {splits} --hundreds {draws // 100}`."
    )


def _table(lines: Sequence[Line], epsilon: float) -> str:
    title = get_learner(DEFAULT).title
    head = ["data", "poisoned", "rows", "PrivaTree published", "again", "LR published", "ours"]
    head += [f"{title} Corollary 2", f"{title} tight (95%)", "vote"]
    rows = [cells for line in lines for cells in _cells(line)]
    return f"## Epsilon {epsilon:g} ({NEIGHBOURS})\n\n" + markdown_table(head, rows)


def _cells(line: Line) -> list[list[str]]:
    rows = [[line.data, "0", "0", _of(line.published), _again(line.same)]]
    rows[0] += [_of(line.other), _again(line.linear), *_ours(line, 0)]
    for place, share in enumerate(SHARES):
        count = rows_at(share, line.ours.n_train)
        rows.append([line.data, f"{share:.1%}", str(count), _of(line.published, place), _again(line.same, place)])
        rows[-1] += [_of(line.other, place), _again(line.linear, place), *_ours(line, count)]
    return rows


def _ours(line: Line, rows: int) -> list[str]:
    tight = f"{_short(line.ours.tight(rows))} ({_short(line.ours.low(rows))})"
    return [_short(line.ours.published(rows)), tight, _short(line.votes.low(rows))]


def _of(row: PublishedRow | None, place: int | None = None) -> str:
    if row is None:
        return "-"
    value = row.accuracy if place is None else row.guarantees[place]
    return "-" if value is None else f"{value:.{row.digits}f}".removeprefix("0")


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}".removeprefix("0")


def _repeats(lines: Sequence[Line]) -> str:
    compared = [line for line in lines if line.published is not None]
    off = [line for line in compared if line.published is not None and not line.same.agrees(line.published)]
    text = (
        f"## PrivaTree measured again\n\nOn {len(compared) - len(off)} of {len(compared)} rows all printed guarantees are within "
        f"two standard errors of the difference ({OTHER} is not counted: ours is scaled by the schema instead of the rows). The "
        "papers print no errors; theirs are taken as large as ours."
    )
    if not off:
        return text
    rows = [[line.data, f"{line.epsilon:g}", _of(line.published), _again(line.same)] for line in off]
    return f"{text} The others differ in the accuracy itself, before any poison:\n\n" + markdown_table(
        ["data", "epsilon", "published", "again"], rows
    )


def _again(same: Repeated, place: int | None = None) -> str:
    """Accuracy, or the guarantee at a place of SHARES: that is accuracy times a known factor, and so is its error."""
    if place is None:
        return f"{_short(same.accuracy)} ± {_short(same.error)}"
    guarantee = same.guarantees[place]
    return f"{_short(guarantee)} ± {_short(same.error * guarantee / same.accuracy)}"


def _protected(lines: Sequence[Line]) -> str:
    head = ["data", "epsilon", "training rows", "majority class", "protected rows"]
    rows = []
    for line in lines:
        found = line.ours.protected_rows()
        told = "none shown" if found is None else f"{found:,} ({found / line.ours.n_train:.2%})"
        rows.append([line.data, f"{line.epsilon:g}", f"{line.ours.n_train:,}", _short(line.ours.majority), told])
    title = f"## How many rows {get_learner(DEFAULT).title} withstands\n\n"
    return (
        title + "Its mean accuracy provably stays above the majority class, with 95% confidence:\n\n" + markdown_table(head, rows)
    )
