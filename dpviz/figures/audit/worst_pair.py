"""The worst pair as HTML: two neighbouring data sets with the extra row marked, a drawing that scrolls, and two bars for how
likely each data set makes the output, with the most that ε allows.

Complete, escaped fragments. Classes start with `dpa-`; their style sheet is the dashboard's (`dpviz/app/audit/view.css`). Too
much is hatched as well as coloured.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from html import escape

from dpviz.evaluation.audit.findings import AuditResult, WorstPair
from dpviz.figures.audit.separating_output import short_value
from dpviz.figures.audit.text import WITH, WITHOUT, chance_text, is_beyond, times
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
    return f'<figure class="dpa-pair">{first}{second}</figure>'


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


def chance_bars(result: AuditResult) -> str:
    """Two bars: how likely the output is on each data set, and a mark at what the claim allows for the likelier one."""
    chances, limit = _chances(result), allowed_chance(result)
    top = max(chances.values())
    end = max(top, limit or 0.0)
    bars = []
    for name, chance in chances.items():
        beyond = " dpa-beyond" if is_beyond(result) and chance == top else ""
        mark = "" if limit is None or chance < top else f'<i class="dpa-limit" style="left:{100 * limit / end:.4g}%"></i>'
        bar = f'<i class="dpa-bar{beyond}" style="width:{100 * chance / end:.4g}%"></i>'
        bars.append(f"<span>{name}</span><div>{bar}{mark}</div><b>{chance_text(chance)}</b>")
    said = escape(probability_sentence(result))
    return f'<figure class="dpa-chances" role="img" aria-label="{said}">{"".join(bars)}</figure>'


def _chances(result: AuditResult) -> dict[str, float]:
    assert result.worst_pair is not None
    return dict(zip((WITHOUT, WITH), result.worst_pair.probabilities, strict=True))


def allowed_chance(result: AuditResult) -> float | None:
    """The most that the claim allows for the likelier data set, exp(ε) times the other probability; None for no limit."""
    limit = times(result.claimed) * min(_chances(result).values()) if math.isfinite(result.claimed) else 1.0
    return limit if limit < 1 else None


def probability_sentence(result: AuditResult) -> str:
    """The bars in words."""
    words = ", ".join(f"{name}: {chance_text(chance)}" for name, chance in _chances(result).items())
    limit = allowed_chance(result)
    allowed = "" if limit is None else f" The claim allows at most {_limit_text(limit)} on the likelier side."
    return f"Probability of this tree. {words[0].upper()}{words[1:]}.{allowed}"


def limit_note(result: AuditResult) -> str:
    """What the mark beside the bars means; empty where there is none."""
    limit = allowed_chance(result)
    return "" if limit is None else f"Upright line: the most that the claim allows on the likelier side, {_limit_text(limit)}."


def _limit_text(limit: float) -> str:
    return chance_text(limit) if limit else "0%"
