"""What the corrected appendix of December 2024 prints anew, beside what is measured here, and which data sets are not here.

It prints the comparators' columns of Tables VI and VII again, and Table VIII; Tables II and III, the text and all figures stay
those of the first version. Every guarantee of Table VIII is the accuracy times e^(-k eps), so the accuracies say all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.page import as_published, cell_text, markdown_table, plain_text
from benchmarks.tables import Cell, Published
from dpviz.learners import get_learner

VERSION_OF = "corrected"
#: The learner of the corrected appendix, whose columns stand in the page's own tables.
OWN = "privatree-corrected"
#: Corrected Table VIII: data -> accuracy of PrivaTree at epsilon .01 and .1, two digits, no errors.
TABLE_VIII = {
    "adult": (0.75, 0.79),
    "breast-w": (0.67, 0.87),
    "diabetes": (0.55, 0.64),
    "mushroom": (0.72, 0.78),
    "nursery": (0.71, 1.00),
    "vote": (0.57, 0.57),
    "electricity_cat": (0.53, 0.61),
    "default-of-credit-card-clients_cat": (0.58, 0.55),
    "compas-two-years": (0.50, 0.58),
}
VIII_EPSILONS = (0.01, 0.1)


def corrected_parts(cells: Sequence[Cell], published: Published) -> list[str]:
    """Parts of the page: the comparators' corrected columns, corrected Table VIII, and the data sets that are not here."""
    parts = (_columns(cells, published), _table_viii(list(table_viii(cells))), _missing(cells, published))
    return [part for part in parts if part]


def comparators(cells: Sequence[Cell], published: Published) -> list[Cell]:
    """The cells of learners whose column the appendix prints again, each with its corrected accuracy instead of the first."""
    found = []
    for cell in cells:
        _, method = get_learner(cell.learner).published or ("", "")
        again = published.get((VERSION_OF, cell.epsilon, cell.data, method))
        if again is not None and cell.learner != OWN and not method.startswith("PrivaTree"):
            found.append(replace(cell, published=again))
    return found


def table_viii(cells: Sequence[Cell]) -> Iterator[Cell]:
    """The corrected learner's cells with what Table VIII prints; its error is taken as large as ours."""
    for cell in cells:
        if cell.learner == OWN and cell.data in TABLE_VIII and cell.epsilon in VIII_EPSILONS:
            stated = TABLE_VIII[cell.data][VIII_EPSILONS.index(cell.epsilon)]
            yield replace(cell, published=(stated, cell.error))


def missing(cells: Sequence[Cell], published: Published) -> list[str]:
    """Data sets of the papers that were not measured, a version with categories as `name_cat`."""
    here = {cell.data for cell in cells}
    return sorted({data for _, _, data, _ in published} - here)


def _columns(cells: Sequence[Cell], published: Published) -> str:
    again = comparators(cells, published)
    if not again:
        return ""
    places = {(cell.data, cell.epsilon, cell.learner) for cell in again}
    first = [cell for cell in cells if (cell.data, cell.epsilon, cell.learner) in places and cell.published is not None]
    words = (
        "The appendix of December 2024 prints the comparators again at epsilon .01 and 1. "
        f"Of its cells {as_published(again)} are as measured here; of the first version's for the same, {as_published(first)}."
    )
    names = list(dict.fromkeys(cell.learner for cell in again))
    by_place: dict[tuple[str, float], dict[str, Cell]] = {}
    for cell in again:
        by_place.setdefault((cell.data, cell.epsilon), {})[cell.learner] = cell
    rows = [[data, f"{eps:g}", *(cell_text(found.get(name)) for name in names)] for (data, eps), found in by_place.items()]
    table = markdown_table(["data", "epsilon", *(get_learner(name).title for name in names)], rows)
    return f"## Corrected columns of the comparators\n\n{words}\n\n{table}"


def _table_viii(cells: Sequence[Cell]) -> str:
    if not cells:
        return ""
    words = (
        f"Its clean accuracies; every guarantee is such an accuracy times e^(-k eps). {as_published(cells)} are as measured here "
        "(its errors, which it does not print, taken as large as ours). Table III and the figures are not in the appendix."
    )
    rows = [[cell.data, f"{cell.epsilon:g}", plain_text(cell), _printed(cell), "†" if cell.is_off else "-"] for cell in cells]
    table = markdown_table(["data", "epsilon", "measured", "printed", "differs"], rows)
    return f"## Corrected Table VIII: {get_learner(OWN).title}\n\n{words}\n\n{table}"


def _printed(cell: Cell) -> str:
    return "-" if cell.published is None else f"{cell.published[0]:.2f}".removeprefix("0")


def _missing(cells: Sequence[Cell], published: Published) -> str:
    absent = missing(cells, published)
    if not absent:
        return ""
    total = len({data for _, _, data, _ in published})
    words = f"Of {total} data sets of the papers' tables, {len(absent)} were not measured, because the folder does not hold them"
    return f"## Data sets that are not here\n\n{words}: {', '.join(absent)}."
