"""The register for people who read it without the rows: caps and their history, releases, what was spent over time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import pairwise

from dpviz.accounting.guarantee import NEIGHBOURS, round_up
from dpviz.figures.charts import LEGEND_ABOVE, Chart, Rows, chart, line
from dpviz.figures.publish.release import (
    ACCOUNT,
    composed_sentence,
    epsilon_cells,
    history_rows,
    moment,
    per_unit,
    spent_sentence,
)
from dpviz.figures.publish.report import page_html, text
from dpviz.figures.theme import OVER_CAP, RELEASED, translucent
from dpviz.figures.wording import counted
from dpviz.release.records import Balance, CapChange, DataSet, State, UncoveredUse, n_uses, visible_to_others
from dpviz.release.register import Register
from dpviz.results.verdict import Unit
from dpviz.results.wording import number_text

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640, 170, 44, 16, 30


@dataclass(frozen=True, slots=True)
class Account:
    """One data set: what was spent, every cap it had, and what was explored on its rows."""

    balance: Balance
    caps: tuple[CapChange, ...]
    looks: tuple[UncoveredUse, ...] = ()


def accounts(register: Register) -> list[Account]:
    """One per data set, by name."""
    looks, names = visible_to_others(register.uncovered_uses()), [found.name for found in register.data_sets()]
    return [
        Account(register.balance(name), register.cap_changes(name), tuple(look for look in looks if look.data_set == name))
        for name in names
    ]


def about_sentence(found: Account) -> str:
    """Whom the guarantee protects, and since when."""
    unit = found.balance.data_set
    return f"Every ε: {unit.protects.neighbours}. Declared {moment(unit.declared)} (UTC)."


def cap_rows(changes: Sequence[CapChange], unit: Unit) -> Rows:
    """Every cap a data set has had, oldest first, with who set it and why."""
    return [
        {
            "since (UTC)": moment(change.at),
            **epsilon_cells("cap on ε", change.epsilon_cap, unit),
            "cap on δ, one row": number_text(change.delta_cap),
            "set by": change.made_by or ("not said" if place else "declared"),
            "reason": change.reason,
        }
        for place, change in enumerate(changes)
    ]


def look_rows(looks: Sequence[UncoveredUse]) -> Rows:
    """What was looked at without a release, the latest first."""
    return [
        {"last (UTC)": moment(look.at), "what": look.what, "learner": look.learner, "fits": f"{look.times:,}"} for look in looks
    ]


def spent_steps(balance: Balance) -> list[tuple[str, float]]:
    """(when, what one unit has spent from then on), from nothing when the data set was declared."""
    steps, spent = [(balance.data_set.declared, 0.0)], Fraction(0)
    for entry in balance.releases:
        spent += Fraction(entry.loss.epsilon)
        steps.append((entry.started, per_unit(round_up(spent), balance.data_set.protects)))
    return steps


def cap_steps(found: Account) -> list[tuple[str, float]]:
    """(when, cap of one unit from then on)."""
    return [(change.at, per_unit(change.epsilon_cap, found.balance.data_set.protects)) for change in found.caps]


def over_time_chart(found: Account, until: str) -> Chart:
    """What was spent, as an area that only grows, under the cap there was."""
    up = {"title": _measured(found.balance.data_set), "rangemode": "tozero"}
    figure = chart(240, top=34, legend=LEGEND_ABOVE, yaxis=up, xaxis={"type": "date", "title": None})
    drawn = (("cap", cap_steps(found), OVER_CAP, "dash"), ("permanently spent", spent_steps(found.balance), RELEASED, "solid"))
    for name, steps, colour, dash in drawn:
        steps = _lasting(steps, until)
        fill = {"fill": "tozeroy", "fillcolor": translucent(colour, 0.18)} if dash == "solid" else {}
        style = {"mode": "lines", "line": line(colour, 2.5, dash) | {"shape": "hv"}, **fill}
        figure.add_scatter(x=[at for at, _ in steps], y=[value for _, value in steps], name=name, **style)
    return Chart(figure, over_time_sentence(found))


def _measured(data_set: DataSet) -> str:
    """What is counted over time."""
    unit = data_set.protects
    return f"ε ({NEIGHBOURS})" if unit.rows == 1 else f"ε of {escape(unit.words)}"


def over_time_sentence(found: Account) -> str:
    """The picture in words."""
    caps = " then ".join(number_text(value) for _, value in cap_steps(found))
    said = ", ".join(f"{number_text(value)} from {moment(at)[:16]}" for at, value in spent_steps(found.balance)[1:])
    data_set = found.balance.data_set
    return f"Cap on ε ({data_set.protects.neighbours}): {caps}. Spent: {said or 'nothing yet'}."


def _lasting(steps: list[tuple[str, float]], until: str) -> list[tuple[str, float]]:
    return [*steps, (max(until, steps[-1][0]), steps[-1][1])]


# --- to print


def account_html(accounts: Iterable[Account], *, findings: Sequence[str], until: str) -> str:
    """All data sets on one self-contained page that prints."""
    body = [f"<h1>Release register</h1><p class=lead>As of {text(moment(until))} (UTC).</p>"]
    state = "ok" if not findings else "open"
    said = findings or ["Every entry is as it was written."]
    lines = "".join(f"<p>{text(line)}</p>" for line in said)
    body.append(f'<div class="verdict {state}"><p><strong>Checked</strong></p>{lines}</div>')
    for found in accounts:
        body += _section(found, until)
    body.append("<footer>Made by dpviz from the register alone: no row, no count and no fingerprint of rows is in it.</footer>")
    return page_html("Release register", "\n".join(body))


def _section(found: Account, until: str) -> Iterator[str]:
    known = found.balance.data_set
    said = f"{str(known.role).capitalize()} rows. {about_sentence(found)} {ACCOUNT}"
    yield f"<h2>{text(known.name)}</h2><p>{text(said)}</p>"
    yield f"<p><strong>{text(spent_sentence(found.balance))}</strong></p>"
    yield f"<p>{text(composed_sentence(found.balance))}</p>{_picture(found, until)}"
    if any(entry.state is State.STARTED for entry in found.balance.releases):
        yield '<p class="note">Interrupted: there is no file, but what it would have cost is spent.</p>'
    yield table_html(history_rows(found.balance), "No release yet.")
    yield f"<h3>Caps</h3>{table_html(cap_rows(found.caps, found.balance.data_set.protects), '')}"
    if found.looks:
        looks = counted(n_uses(found.looks), "look")
        yield f"<h3>Explored, covered by no guarantee: {looks}</h3>{table_html(look_rows(found.looks), '')}"


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
    caps, spent = cap_steps(found), spent_steps(found.balance)
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
    note = "Solid: permanently spent. Dashed: the cap. One step per change; the tables have the times."
    return (
        f'<figure><svg class="curve" {size} role="img" aria-label="{label}">{marks}{ends}{lines}</svg>'
        f"<figcaption>{note}</figcaption></figure>"
    )


def _points(steps: list[tuple[str, float]], place: dict[str, float], high: Callable[[float], float]) -> str:
    """Every value lasts until the next one: along, then up or down."""
    later = (corner for (_, before), (at, value) in pairwise(steps) for corner in ((at, before), (at, value)))
    return " ".join(f"{place[at]:.1f},{high(value):.1f}" for at, value in (steps[0], *later))
