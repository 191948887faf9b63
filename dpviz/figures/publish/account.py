"""The register for people who read it without the rows: caps and their history, releases, what was spent over time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpviz.accounting.guarantee import NEIGHBOURS, for_unit, round_up
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, chart, line
from dpviz.figures.guarantee_text import epsilon_text, number_text
from dpviz.figures.publish.release import history_rows, moment, spent_sentence
from dpviz.figures.publish.report_parts import page_html, text
from dpviz.figures.theme import OVER_CAP, RELEASED, translucent
from dpviz.figures.wording import counted
from dpviz.release.records import Balance, CapChange, Exploration, State

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640, 170, 44, 16, 30


@dataclass(frozen=True, slots=True)
class Account:
    """One data set: what was spent, every cap it had, and what was explored on its rows."""

    balance: Balance
    caps: tuple[CapChange, ...]
    looks: tuple[Exploration, ...] = ()


def about_sentence(found: Account) -> str:
    """Whose rows, whom the guarantee protects, and since when."""
    unit = found.balance.data_set
    rows = "one row" if unit.rows_per_unit == 1 else f"up to {unit.rows_per_unit:,} rows"
    return f"{str(unit.role).capitalize()} rows. Protects {unit.unit} with {rows}. Declared {moment(unit.declared)} (UTC)."


def person_sentence(found: Account) -> str:
    """What all releases together cost whoever is protected, where that is more than one row."""
    unit, spent = found.balance.data_set, found.balance.spent
    if unit.rows_per_unit == 1 or not spent.epsilon:
        return ""
    each = epsilon_text(for_unit(spent, unit.rows_per_unit)).removesuffix(f" ({NEIGHBOURS})")
    return f"For {unit.unit} with {unit.rows_per_unit:,} rows all releases together cost {each}."


def cap_rows(changes: Sequence[CapChange]) -> Rows:
    """Every cap a data set has had, oldest first, with who set it and why."""
    return [
        {
            "since (UTC)": moment(change.at),
            f"cap on ε ({NEIGHBOURS})": number_text(change.epsilon_cap),
            "cap on δ": number_text(change.delta_cap),
            "set by": change.made_by or ("not said" if place else "declared"),
            "reason": change.reason,
        }
        for place, change in enumerate(changes)
    ]


def look_rows(looks: Sequence[Exploration]) -> Rows:
    """What was looked at without a release, the latest first."""
    return [
        {"last (UTC)": moment(look.at), "what": look.what, "learner": look.learner, "fits": f"{look.times:,}"} for look in looks
    ]


def spent_steps(balance: Balance) -> list[tuple[str, float]]:
    """(when, spent from then on), add/remove one row, from nothing when the data set was declared."""
    steps, spent = [(balance.data_set.declared, 0.0)], Fraction(0)
    for entry in balance.releases:
        spent += Fraction(entry.loss.epsilon)
        steps.append((entry.started, round_up(spent)))
    return steps


def cap_steps(changes: Sequence[CapChange]) -> list[tuple[str, float]]:
    """(when, cap from then on)."""
    return [(change.at, change.epsilon_cap) for change in changes]


def over_time_figure(found: Account, until: str) -> Figure:
    """What was spent, as an area that only grows, under the cap there was."""
    up = {"title": f"ε ({NEIGHBOURS})", "rangemode": "tozero"}
    figure = chart(240, top=34, legend=LEGEND_ABOVE, yaxis=up, xaxis={"type": "date", "title": None})
    drawn = (("cap", cap_steps(found.caps), OVER_CAP, "dash"), ("spent for good", spent_steps(found.balance), RELEASED, "solid"))
    for name, steps, colour, dash in drawn:
        steps = _lasting(steps, until)
        fill = {"fill": "tozeroy", "fillcolor": translucent(colour, 0.18)} if dash == "solid" else {}
        style = {"mode": "lines", "line": line(colour, 2.5, dash) | {"shape": "hv"}, **fill}
        figure.add_scatter(x=[at for at, _ in steps], y=[value for _, value in steps], name=name, **style)
    return figure


def over_time_sentence(found: Account) -> str:
    """The picture in words."""
    caps = " then ".join(number_text(value) for _, value in cap_steps(found.caps))
    said = ", ".join(f"{number_text(value)} from {moment(at)[:16]}" for at, value in spent_steps(found.balance)[1:])
    return f"Cap on ε: {caps}. Spent: {said or 'nothing yet'}."


def _lasting(steps: list[tuple[str, float]], until: str) -> list[tuple[str, float]]:
    return [*steps, (max(until, steps[-1][0]), steps[-1][1])]


# --- to print


def account_html(accounts: Iterable[Account], *, findings: Sequence[str], head: str, until: str) -> str:
    """All data sets on one self-contained page that prints."""
    body = [f"<h1>Release register</h1><p class=lead>As of {text(moment(until))} (UTC). Every ε: {NEIGHBOURS}.</p>"]
    state = "ok" if not findings else "open"
    said = findings or ["Every entry is as it was written."]
    lines = "".join(f"<p>{text(line)}</p>" for line in said)
    body.append(
        f'<div class="verdict {state}"><p><strong>Checked</strong></p>{lines}<p>Head: <code>{text(head)}</code></p></div>'
    )
    for found in accounts:
        body += _section(found, until)
    body.append("<footer>Made by dpviz from the register alone: no row, no count and no fingerprint of rows is in it.</footer>")
    return page_html("Release register", "\n".join(body))


def _section(found: Account, until: str) -> Iterator[str]:
    yield f"<h2>{text(found.balance.data_set.name)}</h2><p>{text(about_sentence(found))} {text(person_sentence(found))}</p>"
    yield f"<p><strong>{text(spent_sentence(found.balance))}</strong></p>{_picture(found, until)}"
    if any(entry.state is State.STARTED for entry in found.balance.releases):
        yield '<p class="note">Interrupted: no file has come of it; what it was to cost is spent all the same.</p>'
    yield table_html(history_rows(found.balance), "No release yet.")
    yield f"<h3>Caps</h3>{table_html(cap_rows(found.caps), '')}"
    if found.looks:
        fits = counted(sum(look.times for look in found.looks), "fit")
        yield f"<h3>Explored, covered by no guarantee: {fits}</h3>{table_html(look_rows(found.looks), '')}"


def table_html(rows: Sequence[dict[str, object]] | Rows, none: str, kind: str = "") -> str:
    """Records as a table of HTML; a sentence where there are none. `kind`: a class of the style sheet, for widths."""
    if not rows:
        return f'<p class="note">{text(none)}</p>'
    head = "".join(f"<th>{text(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{text(str(cell)) if cell != '' else ''}</td>" for cell in row.values()) + "</tr>" for row in rows
    )
    return f'<div class="table"><table class="{kind}"><tr>{head}</tr>{body}</table></div>'


def _picture(found: Account, until: str) -> str:
    """The steps as SVG; time runs evenly from step to step, since what happened stands in the table with its time."""
    caps, spent = cap_steps(found.caps), spent_steps(found.balance)
    times = sorted({at for at, _ in (*caps, *spent)} | {until})
    most = max(value for _, value in (*caps, *spent)) or 1.0
    place = {at: _LEFT + (_WIDTH - _LEFT - 10) * index / max(1, len(times) - 1) for index, at in enumerate(times)}
    high = lambda value: _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / most  # noqa: E731
    lines = "".join(
        f'<polyline class="{kind}" points="{_points(_lasting(steps, until), place, high)}"/>'
        for kind, steps in (("line", spent), ("cap", caps))
    )
    marks = "".join(f'<text x="{_LEFT - 6}" y="{high(v) + 4:.1f}" text-anchor="end">{number_text(v)}</text>' for v in (0.0, most))
    ends = f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{text(moment(times[0])[:16])}</text>'
    ends += f'<text x="{_WIDTH - 10}" y="{_HEIGHT - 8}" text-anchor="end">{text(moment(until)[:16])}</text>'
    label = text(over_time_sentence(found))
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    note = "Solid: spent for good. Dashed: the cap. One step per change; the tables have the times."
    return (
        f'<figure><svg class="curve" {size} role="img" aria-label="{label}">{marks}{ends}{lines}</svg>'
        f"<figcaption>{note}</figcaption></figure>"
    )


def _points(steps: list[tuple[str, float]], place: dict[str, float], high: Callable[[float], float]) -> str:
    """Every value lasts until the next one: along, then up or down."""
    later = (corner for (_, before), (at, value) in pairwise(steps) for corner in ((at, before), (at, value)))
    return " ".join(f"{place[at]:.1f},{high(value):.1f}" for at, value in (steps[0], *later))
