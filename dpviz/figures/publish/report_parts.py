"""Parts of the report: what is not promised, the ledger, what was taken as public."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.figures.charts import Rows
from dpviz.figures.tree.labels import visible
from dpviz.models.tree import format_number
from dpviz.results.document import Statement
from dpviz.results.verdict import Unit, Verdict
from dpviz.results.wording import number_text
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, Schema, Target

_MOST_NAMES = 12
_ALLOWED = "default-src 'none'; style-src 'unsafe-inline'"


def text(words: str) -> str:
    """Text for HTML: on one line, without characters that reach beyond themselves, escaped."""
    return escape(visible(words))


def page_html(title: str, body: str, after: str = "") -> str:
    """A self-contained page: no script runs, nothing is fetched, and it prints. `after` stands behind what is shown."""
    return "\n".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_ALLOWED}">',
            f"<title>{text(title)}</title><style>{_css()}</style></head><body><main>",
            f"{body}</main>{after}</body></html>",
        )
    )


@cache
def _css() -> str:
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def bullets(lines: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"


def corrected(schema: Schema) -> Iterator[str]:
    """The public source of what was corrected after a look at the rows; nothing where nothing was."""
    if schema.source:
        yield f"<p>{text(f'Corrected after a look at how the rows fit, by a public source: {schema.source}')}</p>"


# --- what is and is not promised


def not_promised(unit: Unit, disclosures: Sequence[Disclosure] = (), warning: str | None = None) -> list[str]:
    """What no epsilon covers, in plain words."""
    lines = [f"Not covered by the guarantee: {item.what}" for item in disclosures[:6]]
    if len(disclosures) > 6:
        lines.append(f"And {len(disclosures) - 6:,} more such disclosures; the JSON document lists them.")
    return [
        *([warning] if warning else []),
        *lines,
        *_about_more_rows(unit),
        "Other releases from the same rows: each one adds to the loss.",
        "What holds for people in general: a model may say that smokers fall ill, also about a smoker who took no part.",
        "That the model is right about new rows, or fair.",
    ]


def _about_more_rows(unit: Unit) -> Iterator[str]:
    if not unit.is_bounded:
        more = "several" if unit.rows == 1 else f"more than {unit.rows:,}"
        yield f"A person with {more} rows: the guarantee is about {unit.words}, and weakens with each further row."


# --- the budget


def budget_table(statement: Statement, unit: Unit) -> str:
    """Steps of the ledger, alike ones together: how many there are and what one costs."""
    if not statement.ledger:
        return '<p class="note">No step touched the rows.</p>'
    groups: dict[tuple[str, Any, str], list[float]] = {}
    for step in statement.steps:
        groups.setdefault((step.part, step.level, step.mechanism or step.kind), []).append(step.epsilon)
    largest = max((max(costs) for costs in groups.values() if math.isfinite(max(costs))), default=0.0)
    rows = "".join(_budget_row(*key, costs, largest) for key, costs in groups.items())
    head = "<th>For</th><th>Depth</th><th>Mechanism</th>"
    head += "<th class=number>Steps</th><th class=number>ε of one</th><th class=bar-cell></th>"
    note = f"Steps on disjoint rows do not add up: the costliest counts. Every ε: {NEIGHBOURS}."
    if unit.rows > 1:
        note += f" For {unit.words} with up to {unit.rows:,} rows, {unit.rows:,} times as much."
    return f'<div class="table"><table><tr>{head}</tr>{rows}</table></div><p class="note">{text(note)}</p>'


def _budget_row(part: str, level: int | None, how: str, costs: list[float], largest: float) -> str:
    most = max(costs)
    width = 100 * most / largest if largest and math.isfinite(most) else 0.0
    size = 'width="100" height="10" viewBox="0 0 100 10" preserveAspectRatio="none"'
    bar = f'<svg {size} aria-hidden="true"><rect class="bar" width="{width:.1f}" height="10" rx="2"/></svg>'
    cells = f"<td>{text(part)}</td><td>{'' if level is None else level}</td><td>{text(how)}</td>"
    numbers = f"<td class=number>{len(costs):,}</td><td class=number>{number_text(most)}</td>"
    return f"<tr>{cells}{numbers}<td class=bar-cell>{bar}</td></tr>"


# --- the guarantee


def plain_bound(found: Verdict) -> str:
    """One click away from the guesses about the model: what its epsilon alone allows. Paper shows it at once."""
    words = text(found.plain_bound)
    return (
        f"<details><summary>Counted from what the algorithm does, not from ε alone.</summary>{words}</details>" if words else ""
    )


# --- what was taken as public


def rows_table(rows: Rows) -> str:
    """Lines of equal names."""
    head = "".join(f"<th>{text(name)}</th>" for name in rows[0])
    lines = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row.values())}</tr>" for row in rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead>{lines}</table></div>'


def public_table(schema: Schema) -> str:
    """Every column with what was taken as public about it, and whether somebody declared it or it was read from the rows."""
    known = [(column.name, _known(column), column.read_from_data) for column in (*schema.features, schema.target)]
    read = tuple(field for field in schema.read_from_data if field == "n_public")
    count = "not declared" if schema.n_public is None else f"about {schema.n_public:,}"
    known.append(("Number of rows", count, read))
    rows = "".join(f"<tr><td>{text(name)}</td><td>{text(said)}</td><td>{_badge(read)}</td></tr>" for name, said, read in known)
    head = "<tr><th>Column</th><th>Taken as public</th><th>Source</th></tr>"  # again at the top of every page it goes on to
    return f'<div class="table"><table><thead>{head}</thead>{rows}</table></div>'


def _known(column: Feature | Target) -> str:
    if isinstance(column, (CategoricalFeature, ClassTarget)):
        names = column.categories if isinstance(column, CategoricalFeature) else column.classes
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        kind = "one of" if isinstance(column, CategoricalFeature) else "predicted, one of"
        return f"{kind} {', '.join(names[:_MOST_NAMES])}{more}"
    unit, whole = getattr(column, "unit", ""), "whole, " if getattr(column, "whole", False) else ""
    kind = "a number" if hasattr(column, "unit") else "predicted, a number"
    return f"{kind}, {whole}{format_number(column.low)} to {format_number(column.high)} {unit}".strip()


def _badge(read: tuple[str, ...]) -> str:
    if not read:
        return '<span class="badge">declared</span>'
    return f'<span class="badge read">read from the rows: {text(", ".join(read))}</span>'
