"""What a paper prints beside what was measured here: points over a diagonal, pairs of marks, curves, or marks by data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpviz.evaluation.papers.stored import Cell, Item, Paper
from dpviz.figures.charts import LEGEND_ABOVE, LEGEND_BELOW, NAMES, SILENT, Figure, Rows, chart, limits, line, line_mode, marker
from dpviz.figures.departures import STATUSES
from dpviz.figures.theme import BLUE, NEUTRAL, SERIES, UNSOUND
from dpviz.figures.wording import counted
from dpviz.results.wording import number_text

#: From so many printed numbers on, pairs of marks would be a list too long to look through.
MANY = 27
_LOOK = {"same": ("as printed", BLUE, "circle"), "near": ("near", BLUE, "circle-open"), "differs": ("differs", UNSOUND, "x")}
_MANY = {"holds": "hold"}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "pentagon", "hexagon")


def beside_figure(item: Item, data: str = "") -> Figure:
    """The picture of an item; of curves, those of one data set."""
    if len(item.printed) >= MANY:
        return _diagonal(item)
    if item.printed:
        return _pairs(item)
    return _curves(item, data) if item.across else _marks(item)


def sentence(item: Item) -> str:
    """What the picture shows, in a sentence."""
    printed, off = item.printed, item.differing
    if not printed:
        return f"The paper prints no numbers of it; {counted(len(item.cells), 'number')} measured here."
    near = sum(cell.found == "near" for cell in printed)
    words = f"{len(printed) - len(off) - near} of {counted(len(printed), 'printed number')} are found here"
    return words + (f", {near} nearly" if near else "") + (f"; {len(off)} differ." if off else ".")


def statements_sentence(paper: Paper) -> str:
    """How many theorems, lemmas and corollaries there are of each status."""
    statements = [one for spec in paper.learners() for one in spec.statements]
    counts = {words: sum(one.status == status for one in statements) for status, words in STATUSES.items()}
    found = ", ".join(f"{count} {_MANY.get(words, words)}" for words, count in counts.items() if count)
    return f"Theorems, lemmas and corollaries ({len(statements)}): {found}"


def name_of(cell: Cell) -> str:
    """What a cell is about, on one line."""
    at = f", ε = {cell.x}" if cell.x and _is_number(cell.x) else ""
    return f"{cell.data}: {cell.series}{at}" if cell.data not in cell.series else f"{cell.series}{at}"


def printed_text(cell: Cell) -> str:
    """What the paper prints, as in "0.747 ± 0.004", "2 to 30" or "over 35"; "" where it prints nothing."""
    if cell.printed is None:
        return ""
    low, high = cell.printed
    if low is None or high is None:
        return f"over {number_text(low or 0)}" if high is None else f"under {number_text(high)}"
    return _with_error(low, cell.printed_error) if low == high else f"{number_text(low)} to {number_text(high)}"


def beside_rows(cells: Iterable[Cell], across: str) -> Rows:
    """Cells as a table: what, printed, measured, found."""
    named = across or "at"
    return [
        {
            "data": cell.data,
            "what": cell.series,
            named: cell.x,
            "printed": printed_text(cell),
            "measured here": _with_error(cell.measured, cell.error),
            "found": _LOOK[cell.found][0] if cell.found else "",
        }
        for cell in cells
    ]


def reason_rows(item: Item) -> Rows:
    """The numbers that differ, and why as far as it is known."""
    return [
        {
            "what": name_of(cell),
            "printed": printed_text(cell),
            "measured here": _with_error(cell.measured, cell.error),
            "why": cell.why or "not known",
        }
        for cell in item.differing
    ]


def _with_error(value: float, error: float | None) -> str:
    return number_text(value) if error is None else f"{number_text(value)} ± {number_text(error)}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _hover(cells: Sequence[Cell]) -> dict[str, object]:
    said = [
        f"{name_of(cell)}<br>measured {_with_error(cell.measured, cell.error)}"
        + (f"<br>printed {printed_text(cell)}" if cell.printed else "")
        for cell in cells
    ]
    return {"customdata": said, "hovertemplate": "%{customdata}<extra></extra>"}


def _middle(cell: Cell) -> float:
    low, high = cell.printed or (None, None)
    ends = [end for end in (low, high) if end is not None]
    return sum(ends) / len(ends)


def _diagonal(item: Item) -> Figure:
    across, up = {"title": f"printed: {item.unit}", "zeroline": False}, {"title": "measured here", "zeroline": False}
    figure = chart(420, legend=LEGEND_BELOW, xaxis=across, yaxis=up)
    ends = [*map(_middle, item.printed), *(cell.measured for cell in item.printed)]
    corner = [min(ends), max(ends)]
    figure.add_scatter(x=corner, y=corner, mode="lines", line=line(NEUTRAL, 1.5, "dot"), **SILENT)
    for found, (name, colour, symbol) in _LOOK.items():
        cells = [cell for cell in item.printed if cell.found == found]
        if cells:
            look = {"name": f"{name} ({len(cells)})", "mode": "markers", "marker": marker(colour, symbol, 9, 1)}
            figure.add_scatter(x=[_middle(cell) for cell in cells], y=[cell.measured for cell in cells], **look, **_hover(cells))
    return figure


def _pairs(item: Item) -> Figure:
    """A line per printed number: the paper's open mark or range, and ours with its error."""
    cells = item.printed
    figure = chart(110 + 26 * len(cells), top=40, legend=LEGEND_ABOVE, xaxis={"title": item.unit, "zeroline": False}, yaxis=NAMES)
    names = [name_of(cell) for cell in cells]
    ends = [end for cell in cells for end in (cell.measured, *(cell.printed or ())) if end is not None]
    for cell, name in zip(cells, names, strict=True):
        low, high = (max(ends) if end is None else end for end in cell.printed or (0.0, 0.0))
        figure.add_scatter(x=[low, high], y=[name, name], mode="lines", line=line(NEUTRAL, 5), **SILENT)
    open_mark = {"name": "printed", "mode": "markers", "marker": marker(NEUTRAL, "diamond-open", 11)}
    figure.add_scatter(x=[_middle(cell) for cell in cells], y=names, **open_mark, **_hover(cells))
    for found, (name, colour, symbol) in _LOOK.items():
        kept = [(cell, place) for cell, place in zip(cells, names, strict=True) if cell.found == found]
        if kept:
            chosen = [cell for cell, _ in kept]
            errors = [cell.error or 0.0 for cell in chosen]
            look = {"name": f"measured here: {name}", "mode": "markers", "marker": marker(colour, symbol, 10)}
            bars = {"error_x": limits(errors, errors, colour)}
            figure.add_scatter(
                x=[cell.measured for cell in chosen], y=[place for _, place in kept], **look, **bars, **_hover(chosen)
            )
    return figure


def _curves(item: Item, data: str) -> Figure:
    cells = [cell for cell in item.cells if cell.data == (data or item.data_sets[0])]
    numeric = all(_is_number(cell.x) for cell in cells if cell.x)
    places = sorted({float(cell.x) for cell in cells if cell.x}) if numeric else []
    wide = len(places) > 2 and places[0] > 0 and places[-1] / places[0] >= 20
    across = {"title": item.across, "zeroline": False, "type": "log" if wide else None if numeric else "category"}
    figure = chart(420, legend=LEGEND_BELOW, xaxis=across, yaxis={"title": item.unit, "zeroline": False})
    for place, series in enumerate(dict.fromkeys(cell.series for cell in cells)):
        chosen = [cell for cell in cells if cell.series == series]
        colour, symbol = SERIES[place % len(SERIES)], _SYMBOLS[place % len(_SYMBOLS)]
        if all(not cell.x for cell in chosen):  # one number for all places
            figure.add_hline(chosen[0].measured, line=line(NEUTRAL, 2, "dash"), annotation={"text": series})
            continue
        chosen.sort(key=lambda cell: float(cell.x) if numeric and cell.x else 0.0)
        errors = [cell.error or 0.0 for cell in chosen]
        look = {"name": series, "mode": line_mode(len(chosen)), "line": line(colour), "marker": marker(colour, symbol, 7, 1)}
        bars = {"error_y": limits(errors, errors, colour, thickness=1, width=3)}
        x = [float(cell.x) if numeric else cell.x for cell in chosen]
        figure.add_scatter(x=x, y=[cell.measured for cell in chosen], **look, **bars, **_hover(chosen))
    return figure


def _marks(item: Item) -> Figure:
    figure = chart(
        110 + 26 * len(item.data_sets), legend=LEGEND_BELOW, xaxis={"title": item.unit, "zeroline": False}, yaxis=NAMES
    )
    for place, series in enumerate(dict.fromkeys(cell.series for cell in item.cells)):
        chosen = [cell for cell in item.cells if cell.series == series]
        look = marker(SERIES[place % len(SERIES)], f"{_SYMBOLS[place % len(_SYMBOLS)]}-open", 10)
        said = {"name": series, "mode": "markers", "marker": look, **_hover(chosen)}
        figure.add_scatter(x=[cell.measured for cell in chosen], y=[cell.data for cell in chosen], **said)
    return figure
