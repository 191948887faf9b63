"""The worst pair as HTML: two neighbouring data sets with the extra row marked, and a drawing that scrolls.

Complete, escaped fragments. Classes start with `dpa-`; their style sheet is the dashboard's (`dpviz/app/audit/view.css`).
"""

import re
from collections import Counter
from collections.abc import Sequence
from html import escape

from dpviz.evaluation.audit.findings import WorstPair
from dpviz.figures.audit.separating_output import short_value
from dpviz.figures.wording import counted

#: With more rows than this, equal ones are written once with their number.
MOST_ROWS = 6
Row = tuple[str, ...]


def drawing(svg: str) -> str:
    """A drawing that scrolls, by keyboard too, where it is too large."""
    return f'<div class="dpa-drawing" tabindex="0" role="group" aria-label="Drawing of the tree">{svg}</div>'


def extra_row(pair: WorstPair) -> Row:
    """The one row that the second data set has more."""
    (row,) = (Counter(pair.second) - Counter(pair.first)).elements()
    return row


def pair_tables(pair: WorstPair) -> str:
    """Both data sets side by side, the extra row last, marked by a sign, a word and a colour. Many equal rows are counted."""
    columns = _merged_columns(pair)
    grouped = len(pair.second) > MOST_ROWS
    first = _data_table("Without the row", columns, [(row, False) for row in pair.first], grouped)
    second = _data_table("With the row", columns, [*((row, False) for row in pair.first), (extra_row(pair), True)], grouped)
    return f'<div class="dpa-pair">{first}{second}</div>'


def _merged_columns(pair: WorstPair) -> list[tuple[str, int]]:
    """(heading, position of one column) per set of identical columns: same name but for its number, same values everywhere."""
    groups: dict[tuple[str, Row], list[int]] = {}
    for place, name in enumerate(pair.columns):
        values = tuple(short_value(name, row[place]) for row in pair.second)
        groups.setdefault((re.sub(r"\d+$", "", name), values), []).append(place)
    return [(_heading([pair.columns[place] for place in places]), places[0]) for places in groups.values()]


def _heading(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]} (identical)"


def _data_table(title: str, columns: list[tuple[str, int]], rows: list[tuple[Row, bool]], grouped: bool) -> str:
    heads = "".join(f'<th scope="col">{escape(heading)}</th>' for heading, _ in columns)
    lines = list(Counter(rows).items()) if grouped else [(line, 1) for line in rows]
    body = "".join(_data_row(columns, row, extra, times) for (row, extra), times in lines)
    empty = f'<tr><td colspan="{len(columns) + 1}" class="dpa-empty">no rows</td></tr>'
    caption = f"<caption>{title} <span>({counted(len(rows), 'row')})</span></caption>"
    head = f'<thead><tr>{heads}<th scope="col"><span class="dpa-hidden">mark</span></th></tr></thead>'
    return f'<table class="dpa-data">{caption}{head}<tbody>{body or empty}</tbody></table>'


def _data_row(columns: list[tuple[str, int]], row: Row, extra: bool, times: int) -> str:
    cells = "".join(f"<td>{escape(_short(heading, row[place]))}</td>" for heading, place in columns)
    mark = "+ added" if extra else f"× {times}" if times > 1 else ""
    return f'<tr class="{"dpa-extra" if extra else ""}">{cells}<td class="dpa-mark">{mark}</td></tr>'


def _short(heading: str, value: str) -> str:
    return short_value(heading.split(" ")[0], value)
