"""The audit's tables as HTML: all learners with their verdicts, and two neighbouring data sets with the extra row marked.

Complete, escaped fragments. Classes start with `dpa-`; their style sheet is the dashboard's (`dpviz/app/audit/view.css`).
Roles are written out, because a table laid out as cards on a telephone would otherwise stop being one for screen readers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from dpviz.evaluation.audit.findings import WorstPair
from dpviz.figures.audit.separating_output import short_value
from dpviz.figures.audit.text import ATTACKED, BADGES, SEARCHED, AuditLine, Badge, at_least_text
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.wording import counted

#: Column -> what it says to someone who does not know it.
COLUMNS = {
    "Proved": "whether a proof or a counterexample is known for this plan",
    "Searched": "found on every small data set; the true ε is at least this",
    "Attacked": "shown by many draws, with 95 % confidence; the true ε is at least this",
    "claimed ε": "what the paper promises",
    "composed ε": "what the steps add up to, at most",
}
#: With more rows than this, equal ones are written once with their number.
MOST_ROWS = 6
Row = tuple[str, ...]


def verdict_table(lines: Iterable[AuditLine], *, selected: str, caption: str) -> str:
    """All learners, one button per line; `selected` is the key of the pressed one."""
    heads = "".join(f'<th scope="col" role="columnheader" title="{escape(about)}">{name}</th>' for name, about in COLUMNS.items())
    body = "".join(_line(line, line.key == selected) for line in lines)
    return (
        f'<table class="dpa-table" role="table"><caption>{escape(caption)}</caption><thead role="rowgroup"><tr role="row">'
        f'<th scope="col" role="columnheader">Learner</th>{heads}'
        f'<th scope="col" role="columnheader">Reason</th></tr></thead><tbody role="rowgroup">{body}</tbody></table>'
    )


def _line(line: AuditLine, pressed: bool) -> str:
    facts = (
        badge_html(BADGES[line.verdict]),
        _bound(SEARCHED[line.search], line.found.log_ratio if line.found is not None else None),
        _bound(ATTACKED[line.attack], line.attacked.bound if line.attacked is not None else None),
    )
    cells = "".join(_cell(name, html, "dpa-fact") for name, html in zip(COLUMNS, facts, strict=False))
    cells += "".join(
        _cell(name, _number(value), "dpa-number") for name, value in (("claimed ε", line.claimed), ("composed ε", line.composed))
    )
    under = "".join(f'<span class="dpa-under">{escape(text)}</span>' for text in (line.setting, line.note) if text)
    stands = f'<span class="dpa-under">{escape(line.evidence)}</span>' if line.evidence else ""
    key = escape(line.key)
    return (
        f'<tr role="row" data-key="{key}" class="{"dpa-on" if pressed else ""}"><th scope="row" role="rowheader">'
        f'<button type="button" data-key="{key}" aria-pressed="{str(pressed).lower()}">{escape(line.title)}</button>{under}</th>'
        f"{cells}{_cell('Reason', escape(line.because) + stands, 'dpa-why')}</tr>"
    )


def _cell(name: str, html: str, kind: str) -> str:
    return f'<td role="cell" data-label="{name}" class="{kind}">{html}</td>'


def badge_html(badge: Badge) -> str:
    """Icon and word in the badge's colour."""
    return f'<span class="dpa-badge dpa-{badge.tone}"><span aria-hidden="true">{badge.icon}</span> {badge.word}</span>'


def _bound(badge: Badge, bound: float | None) -> str:
    """A badge, and the lower bound of epsilon under it."""
    if bound is None:
        return badge_html(badge)
    return f'{badge_html(badge)}<span class="dpa-under dpa-number">{at_least_text(bound)}</span>'


def _number(value: float | None) -> str:
    return '<span class="dpa-none" aria-label="not stored">–</span>' if value is None else number_text(value)


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
