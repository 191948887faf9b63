"""The register for people who read it without the rows: caps and their history, releases, what was spent over time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

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
from dpviz.release.records import Balance, CapChange, State, UncoveredUse, n_uses, visible_to_others
from dpviz.release.register import Register
from dpviz.results.verdict import Unit
from dpviz.results.wording import number_text


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


def over_time_chart(found: Account, until: str) -> Chart:
    """What was spent, as an area that only grows, under the cap there was; in words from when on."""
    data_set, unit = found.balance.data_set, found.balance.data_set.protects
    title = f"ε ({NEIGHBOURS})" if unit.rows == 1 else f"ε of {escape(unit.words)}"
    up = {"title": title, "rangemode": "tozero"}
    figure = chart(240, top=34, legend=LEGEND_ABOVE, yaxis=up, xaxis={"type": "date", "title": None})
    caps = [(change.at, per_unit(change.epsilon_cap, unit)) for change in found.caps]
    spent, total = [(data_set.declared, 0.0)], Fraction(0)
    for entry in found.balance.releases:
        total += Fraction(entry.loss.epsilon)
        spent.append((entry.started, per_unit(round_up(total), unit)))
    for name, steps, colour, dash in (("cap", caps, OVER_CAP, "dash"), ("permanently spent", spent, RELEASED, "solid")):
        lasting = [*steps, (max(until, steps[-1][0]), steps[-1][1])]
        fill = {"fill": "tozeroy", "fillcolor": translucent(colour, 0.18)} if dash == "solid" else {}
        style = {"mode": "lines", "line": line(colour, 2.5, dash) | {"shape": "hv"}, **fill}
        figure.add_scatter(x=[at for at, _ in lasting], y=[value for _, value in lasting], name=name, **style)
    each = ", ".join(f"{number_text(value)} from {moment(at)[:16]}" for at, value in spent[1:])
    cap = " then ".join(number_text(value) for _, value in caps)
    return Chart(figure, f"Cap on ε ({unit.neighbours}): {cap}. Spent: {each or 'nothing yet'}.")


# --- to print


def account_html(accounts: Iterable[Account], *, findings: Sequence[str], until: str) -> str:
    """All data sets on one self-contained page that prints."""
    body = [f"<h1>Release register</h1><p class=lead>As of {text(moment(until))} (UTC).</p>"]
    lines = "".join(f"<p>{text(line)}</p>" for line in findings or ["Every entry is as it was written."])
    state = "open" if findings else "ok"
    body.append(f'<div class="verdict {state}"><p><strong>Checked</strong></p>{lines}</div>')
    for found in accounts:
        known = found.balance.data_set
        said = f"{str(known.role).capitalize()} rows. {about_sentence(found)} {ACCOUNT}"
        body.append(f"<h2>{text(known.name)}</h2><p>{text(said)}</p>")
        body.append(f"<p><strong>{text(spent_sentence(found.balance))}</strong></p>")
        body.append(f"<p>{text(composed_sentence(found.balance))}</p>")
        if any(entry.state is State.STARTED for entry in found.balance.releases):
            body.append('<p class="note">Interrupted: there is no file, but what it would have cost is spent.</p>')
        body.append(table_html(history_rows(found.balance), "No release yet."))
        body.append(f"<h3>Caps</h3>{table_html(cap_rows(found.caps, known.protects), '')}")
        if found.looks:
            looks = counted(n_uses(found.looks), "look")
            body.append(f"<h3>Explored, covered by no guarantee: {looks}</h3>{table_html(look_rows(found.looks), '')}")
    body.append("<footer>Made by dpviz from the register alone: no row, no count and no fingerprint of rows is in it.</footer>")
    return page_html("Release register", "\n".join(body))


def table_html(rows: Sequence[dict[str, object]] | Rows, none: str) -> str:
    """Records as a table of HTML; a sentence where there are none."""
    if not rows:
        return f'<p class="note">{text(none)}</p>'
    head = "".join(f"<th>{text(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{text(str(cell)) if cell != '' else ''}</td>" for cell in row.values()) + "</tr>" for row in rows
    )
    return f'<div class="table"><table><tr>{head}</tr>{body}</table></div>'
