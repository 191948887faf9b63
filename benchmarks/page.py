"""The benchmark page: measured accuracy beside the published, as Markdown."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from benchmarks.processes import below, seconds_used
from benchmarks.tables import DEPTH, EPSILONS, FOLDS, Cell, lead, without_repeats
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.commands.files import write_whole
from dpviz.evaluation.audit.planned import typical
from dpviz.learners import DEFAULT, get_learner
from dpviz.version import VERSION

Table = list[list[str]]
#: On every page that compares the default learner on tables of the papers.
CONSTANTS = (
    f"Constants of {get_learner(DEFAULT).title} were chosen on some of these tables, which flatters it there: of two levels at "
    "once on those with a star in [lookahead](lookahead.csv)."
)


def tables_page(
    cells: Sequence[Cell],
    seconds: Mapping[tuple[str, str], tuple[float, float]],
    more: Sequence[str] = (),
    *,
    repeats: int,
    made: str,
) -> str:
    """The whole page, with `more` parts. `seconds` is time per fit and its error by (data, learner); `made` says when."""
    parts = [_head(repeats, made)]
    parts += [_accuracy(cells, epsilon) for epsilon in EPSILONS]
    parts += [_lead(cells), _off(cells), *more, _times(seconds)]
    return "\n\n".join(parts) + "\n"


def _head(repeats: int, made: str) -> str:
    return (
        "# Accuracy beside the papers' tables\n\n"
        f"{FOLDS}-fold stratified cross-validation, {repeats} draws per fold, depth {DEPTH} ({DEFAULT}: at most; by "
        f"itself up to {get_learner(DEFAULT).usual_cap}). "
        f"Epsilon is what a learner *claims* ({NEIGHBOURS}); whether the claim holds stands in the head of its column.\n\n"
        "A cell reads: mean accuracy ± standard error over folds (published mean ± standard error, where there is one). "
        "Ranges, categories and row counts were read from the data, as in the papers. "
        f"{get_learner(DEFAULT).title} has honest leaves, its default: it grows from 80 to 85% of the rows, the others from "
        f"all. {CONSTANTS}\n\n"
        f"{made} Rerun: `python -m benchmarks tables --data DIR --repeats {repeats}`."
    )


def _accuracy(cells: Sequence[Cell], epsilon: float) -> str:
    here = [cell for cell in cells if cell.epsilon == epsilon]
    names = list(dict.fromkeys(cell.learner for cell in here))
    by_key = {(cell.data, cell.learner): cell for cell in here}
    rows = [
        [data, *(cell_text(by_key.get((data, name))) for name in names)] for data in dict.fromkeys(cell.data for cell in here)
    ]
    return f"## Epsilon {epsilon:g} ({NEIGHBOURS})\n\n" + markdown_table(
        ["data", *(_column(name, epsilon) for name in names)], rows
    )


def _column(name: str, epsilon: float) -> str:
    spec = get_learner(name)
    if not spec.spends_epsilon:
        return f"{spec.title}, any epsilon"
    return f"{spec.title}: {typical(spec, epsilon=epsilon).claim.verdict}"


def cell_text(cell: Cell | None) -> str:
    """Measured, what was published in brackets, and a mark where they differ."""
    if cell is None:
        return "-"
    ours = plain_text(cell)
    if cell.published is None:
        return ours
    mark = " †" if cell.is_off else ""
    return f"{ours} ({_short(cell.published[0])} ± {_short(cell.published[1])}){mark}"


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _lead(cells: Sequence[Cell]) -> str:
    title = get_learner(DEFAULT).title
    behind = list(lead(cells))
    all_of, once = _ahead_of(cells), _ahead_of(without_repeats(cells))
    text = (
        f"## Where {title} leads\n\n{title} is ahead of every other learner here that spends epsilon, or within one standard "
        f"error of the best, in {all_of} cells; counting data sets with the same rows once, in {once}."
    )
    if not behind:
        return text
    rows = [
        [data, f"{epsilon:g}", cell_text(ours), get_learner(better.learner).title, plain_text(better), _reason(ours, better)]
        for data, epsilon, ours, better in behind
    ]
    return f"{text} The exceptions:\n\n" + markdown_table(["data", "epsilon", title, "ahead", "its accuracy", "why"], rows)


def _ahead_of(cells: Sequence[Cell]) -> str:
    """In how many cells no other learner leads, as in "65 of 69"."""
    total = sum(cell.learner == DEFAULT for cell in cells)
    behind = len({(data, epsilon) for data, epsilon, _, _ in lead(cells)})
    return f"{total - behind} of {total}"


def plain_text(cell: Cell) -> str:
    """What was measured, and its error."""
    return f"{_short(cell.mean)} ± {_short(cell.error)}"


def _reason(ours: Cell, better: Cell) -> str:
    verdict = typical(better.learner, epsilon=better.epsilon).claim.verdict
    if verdict != "holds":
        return f"its claim is {verdict}: it may spend more than epsilon"
    apart = (better.mean - ours.mean) / math.hypot(better.error, ours.error)
    if apart < 2:
        return f"{apart:.1f} standard errors of the difference: chance would do"
    return "it keeps all of epsilon for its labels; at so little, private splits cost more than they bring"


def _off(cells: Sequence[Cell]) -> str:
    published = [cell for cell in cells if cell.published is not None]
    off = [cell for cell in published if cell.is_off]
    private = [cell for cell in published if get_learner(cell.learner).spends_epsilon]
    text = (
        f"## Cells that differ from the papers\n\n{as_published(private)} cells of private learners are as published: "
        "within two standard errors of both, or .015; counting data sets with the same rows once, "
        f"{as_published(without_repeats(private))}. A † marks the others."
    )
    exact = {(cell.data, cell.learner): cell for cell in published if not get_learner(cell.learner).spends_epsilon}
    if exact:
        text += f" Of learners without privacy, one cell for all epsilons, {as_published(list(exact.values()))} are."
    if not off:
        return text
    rows = [[cell.data, f"{cell.epsilon:g}", get_learner(cell.learner).title, cell_text(cell)] for cell in off]
    return f"{text}\n\n" + markdown_table(["data", "epsilon", "learner", "measured (published)"], rows)


def as_published(cells: Sequence[Cell]) -> str:
    """How many are, as in "65 of 69"."""
    return f"{sum(not cell.is_off for cell in cells)} of {len(cells)}"


def _times(seconds: Mapping[tuple[str, str], tuple[float, float]]) -> str:
    names = list(dict.fromkeys(name for _, name in seconds))
    rows = [
        [data, *(_milliseconds(seconds.get((data, name))) for name in names)]
        for data in dict.fromkeys(data for data, _ in seconds)
    ]
    head = (
        "## Time of one fit\n\nMilliseconds of processor time at epsilon .1, mean ± standard error of five fits. The "
        "PrivaTree paper times whole cross-validations (Table V), most under a second; on its largest data, Higgs, 9 seconds for "
        "an ordinary tree, 6 for DiffPrivLib, 108 for PrivaTree, 2 for PrivaTree* and over two hours for BDPT."
    )
    return head + "\n\n" + markdown_table(["data", *(get_learner(name).title for name in names)], rows)


def _milliseconds(seconds: tuple[float, float] | None) -> str:
    return "-" if seconds is None else " ± ".join(f"{1000 * value:.1f}" for value in seconds)


def show_page(page: str, out: Path | None) -> int:
    """Print a page and write it to `out`, if there is one, over what is there; the exit code is 0."""
    print(page)
    if out is not None:
        write_whole(out, page, force=True)
    return 0


def made_today() -> str:
    """When and with which version a page was made: the beginning of a sentence."""
    return f"Made on {date.today():%Y-%m-%d} with dpviz {VERSION}"


def made_by(workers: int = 1) -> str:
    """The same as a sentence, with the processor time of this process and of its `workers`; on Linux."""
    minutes = math.ceil(sum(map(seconds_used, (os.getpid(), *below(os.getpid())))) / 60)
    processes = "one process" if workers == 1 else f"{workers} processes"
    return f"{made_today()}, in {minutes} processor minute{'s' * (minutes != 1)} of {processes}."


def markdown_table(head: Sequence[str], rows: Table) -> str:
    """A Markdown table; the first column left, the others right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, rule, *rows)]
    return "\n".join(lines)
