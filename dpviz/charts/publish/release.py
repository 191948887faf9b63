"""What releases cost together: a bar against the cap, the register over time, and all of it on a page that prints."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss, round_up
from dpviz.accounting.risk import Risk
from dpviz.charts.chart import LEGEND_ABOVE, Chart, Rows, chart, hatched_bar, line
from dpviz.charts.publish.report import page_html, text
from dpviz.charts.theme import ASKED, INTERRUPTED, LIGHT, OVER_CAP, RELEASED, translucent
from dpviz.charts.wording import capital, counted
from dpviz.release.check import composed
from dpviz.release.records import Balance, CapChange, State, UncoveredUse, n_uses, total, visible_to_others
from dpviz.release.register import Register
from dpviz.results.verdict import ROW, Unit, loss_text, odds_text, right_guesses, short_text, times_text
from dpviz.results.wording import number_text

#: What adds up under every cap.
ACCOUNT = "Epsilons and deltas add up under the cap, however the next release is chosen."
_STYLES = {
    "released": hatched_bar(RELEASED),
    "interrupted": hatched_bar(INTERRUPTED, "/"),
    "this release": hatched_bar(ASKED, "x"),
    "over the cap": hatched_bar(OVER_CAP, "-"),
}


def spent_segments(balance: Balance, asked: PrivacyLoss | None) -> list[tuple[str, float]]:
    """(what, epsilon) along the bar: released, interrupted, the release in question, and what of it lies over the cap."""
    by_state = {state: total(e.loss for e in balance.releases if e.state is state).epsilon for state in State}
    segments = [("released", by_state[State.RELEASED]), ("interrupted", by_state[State.STARTED])]
    if asked is not None and asked.is_finite:
        within = min(asked.epsilon, balance.left.epsilon)
        segments += [("this release", within), ("over the cap", asked.epsilon - within)]
    return [(what, size) for what, size in segments if size > 0]


def spent_chart(balance: Balance, asked: PrivacyLoss | None) -> Chart:
    """One bar from 0 to the cap, which is a line, in epsilons of the unit."""
    unit = balance.data_set.protects
    segments = [(what, per_unit(epsilon, unit)) for what, epsilon in spent_segments(balance, asked)]
    cap, title = per_unit(balance.data_set.epsilon_cap, unit), f"ε ({escape(unit.neighbours)})"
    end = 1.02 * max(cap, sum(size for _, size in segments))
    across = {"range": [0, end], "title": title, "zeroline": False}
    down, legend = {"visible": False, "fixedrange": True}, LEGEND_ABOVE | {"y": 1.4, "traceorder": "normal"}
    figure = chart(190, top=64, barmode="stack", legend=legend, showlegend=True, xaxis=across, yaxis=down)
    for what, size in segments:
        bar = {"orientation": "h", "width": 0.5, "marker": _STYLES[what]}
        hover = f"{what}: ε = {number_text(size)}<extra></extra>"
        figure.add_bar(x=[size], y=[""], name=what, hovertemplate=hover, **bar)
    note = {"text": f"cap {number_text(cap)}", "xanchor": "right", "yanchor": "bottom", "y": 1.0, "xshift": 4}
    figure.add_vline(cap, line=line(LIGHT.edge, 3), annotation=note)
    return Chart(figure, spent_sentence(balance))


def spent_sentence(balance: Balance) -> str:
    """What was spent for good and what is left, in a sentence or two; the relation is said beside it."""
    unit, spent, count = balance.data_set.protects, balance.spent, len(balance.releases)
    cap = PrivacyLoss(balance.data_set.epsilon_cap)
    if not count:
        return f"Nothing was released yet: all of {short_text(cap, unit)} is left."
    above = " It is above the cap." if spent.epsilon > cap.epsilon else ""
    left, most = (tuple(number_text(per_unit(it, one)) for one in (unit, ROW)) for it in (balance.left.epsilon, cap.epsilon))
    of_row = f" (one row: {left[1]} of {most[1]})" if unit.rows > 1 else ""
    paid = f"Permanently spent by {counted(count, 'release')}: {short_text(spent, unit)}"
    return f"{paid}. Left: ε = {left[0]} of {most[0]}{of_row}.{above}"


def composed_sentence(balance: Balance) -> str:
    """What all releases tell by what was run, and when that account holds; empty for fewer than two."""
    found, unit = composed(balance.releases), balance.data_set.protects
    if found is None:
        return ""
    loss = f"{loss_text(found.loss, unit)}. " if found.loss.is_finite else ""
    gone = f" Files of {counted(found.n_unread, 'release')} are gone; they count as any algorithm." if found.n_unread else ""
    return (
        f"Composed from the steps that were run: {loss}{odds_text(balance.spent, unit, found.risk)} This holds if no release "
        f"was chosen by the results of earlier ones. The cap counts the sum, which always holds.{gone}"
    )


def odds_rows(balance: Balance, this: PrivacyLoss | None, risk: Risk | None = None, *, is_booked: bool = False) -> Rows:
    """How many guesses can be right, by this release alone and by all releases of these rows together, the unit first.

    `risk` is that of this release. Several releases have the bound for any algorithms: whoever makes one has seen those before,
    and their epsilons add up even so. `is_booked`: this release is one of those of the balance.
    """
    asked = [this] if this and not is_booked else []
    together, is_one = balance.with_one_more(asked), len([*balance.releases, *asked]) == 1
    alone = this or PrivacyLoss(0.0)
    losses = {"by this release alone": (alone, risk), "by all releases together": (together, risk if is_one else None)}
    unit, rows = balance.data_set.protects, []
    for who, one in ((capital(unit.described), unit), *([("One row", ROW)] if unit.rows > 1 else [])):
        times = {name: times_text(right_guesses(loss, one, of)) for name, (loss, of) in losses.items()}
        said = {name: f"at most {number}" if number.isdigit() else number for name, number in times.items()}
        rows.append({"what is promised": f"{who}: right guesses of 100, in or out"} | said)
    return rows


def epsilon_cells(name: str, row: float, unit: Unit) -> dict[str, str]:
    """Cells of a table: the epsilon of one unit, and beside it that of one row; the relation is said above the table."""
    cells = {f"{name}, {unit.words}": number_text(per_unit(row, unit))}
    return cells | ({f"{name}, one row": number_text(row)} if unit.rows > 1 else {})


def per_unit(row: float, unit: Unit) -> float:
    """The epsilon of one unit, where that of a row is `row`."""
    return unit.loss_of(PrivacyLoss(row)).epsilon


def moment(at: str) -> str:
    """A time of the register (ISO 8601, UTC) as people read it."""
    return at[:19].replace("T", " ")


def history_rows(balance: Balance) -> list[dict[str, Any]]:
    """Every release of a data set with the running total, interrupted ones too."""
    entries = balance.releases
    return [
        {
            "no": entry.number,
            "status": entry.status,
            "started (UTC)": moment(entry.started),
            "algorithm": entry.learner,
            "settings": ", ".join(
                f"{name} {number_text(value) if isinstance(value, float) else value}"
                for name, value in entry.settings.items()
                if name != "epsilon"
            ),
            **epsilon_cells("ε", entry.loss.epsilon, balance.data_set.protects),
            **epsilon_cells("running total", total(e.loss for e in entries[: place + 1]).epsilon, balance.data_set.protects),
            "assumptions": len(entry.disclosures),
            "SHA-256": entry.sha256[:16] or "no file",
        }
        for place, entry in enumerate(entries)
    ]


# --- the register for people who read it without the rows


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
