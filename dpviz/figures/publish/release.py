"""What releases cost together: a bar against the cap, and what it lets somebody guess. The unit's number comes first."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, chart, hatched_bar, line
from dpviz.figures.theme import ASKED, INTERRUPTED, LIGHT, OVER_CAP, RELEASED
from dpviz.figures.wording import capital, counted, percent
from dpviz.release.composed import composed
from dpviz.release.records import Balance, DataSet, State, total
from dpviz.results.verdict import ROW, Unit, loss_text, odds_text, right_guesses, short_text, times_text
from dpviz.results.wording import number_text

RENYI_LOSS = "Renyi loss of order"
_STYLES = {
    "released": hatched_bar(RELEASED),
    "interrupted": hatched_bar(INTERRUPTED, "/"),
    "this release": hatched_bar(ASKED, "x"),
    "over the cap": hatched_bar(OVER_CAP, "-"),
}


def spent_segments(balance: Balance, asked: PrivacyLoss | None) -> list[tuple[str, float]]:
    """(what, epsilon) along the bar: released, interrupted, the release in question, and what of it lies over the cap."""
    by_state = {state: total(e.loss for e in balance.releases if e.state is state).epsilon for state in State}
    return _segments(by_state, None if asked is None else asked.epsilon, balance.left.epsilon)


def renyi_segments(balance: Balance, lost: float | None) -> list[tuple[str, float]]:
    """The same along the budget of Renyi losses; `lost` is that of the release in question."""
    by_state = {state: sum(entry.renyi or 0.0 for entry in balance.releases if entry.state is state) for state in State}
    return _segments(by_state, lost, balance.renyi_left)


def _segments(spent: Mapping[State, float], asked: float | None, left: float) -> list[tuple[str, float]]:
    segments = [("released", spent[State.RELEASED]), ("interrupted", spent[State.STARTED])]
    if asked is not None and math.isfinite(asked):
        within = min(asked, left)
        segments += [("this release", within), ("over the cap", asked - within)]
    return [(what, size) for what, size in segments if size > 0]


def spent_figure(balance: Balance, asked: PrivacyLoss | None, lost: float | None = None) -> Figure:
    """One bar from 0 to the cap, which is a line, in epsilons of the unit; in Renyi losses of a row where those add up.

    `lost` is the Renyi loss of the release in question.
    """
    unit = balance.data_set.protects
    order = balance.data_set.renyi_order
    if order is None:
        segments = [(what, per_unit(epsilon, unit)) for what, epsilon in spent_segments(balance, asked)]
        cap, title, named = per_unit(balance.data_set.epsilon_cap, unit), f"ε ({escape(unit.neighbours)})", "ε ="
    else:
        segments, cap = renyi_segments(balance, lost), balance.data_set.budget
        title, named = f"{RENYI_LOSS} {order:g} ({NEIGHBOURS})", RENYI_LOSS + f" {order:g}:"
    end = 1.02 * max(cap, sum(size for _, size in segments))
    across = {"range": [0, end], "title": title, "zeroline": False}
    down, legend = {"visible": False, "fixedrange": True}, LEGEND_ABOVE | {"y": 1.4, "traceorder": "normal"}
    figure = chart(190, top=64, barmode="stack", legend=legend, showlegend=True, xaxis=across, yaxis=down)
    for what, size in segments:
        bar = {"orientation": "h", "width": 0.5, "marker": _STYLES[what]}
        hover = f"{what}: {named} {number_text(size)}<extra></extra>"
        figure.add_bar(x=[size], y=[""], name=what, hovertemplate=hover, **bar)
    note = {"text": f"cap {number_text(cap)}", "xanchor": "right", "yanchor": "bottom", "y": 1.0, "xshift": 4}
    figure.add_vline(cap, line=line(LIGHT.edge, 3), annotation=note)
    return figure


def spent_sentence(balance: Balance) -> str:
    """What was spent for good and what is left, in a sentence or two; the relation is said beside it."""
    if balance.data_set.renyi_order is not None:
        return _renyi_sentence(balance)
    unit, spent, count = balance.data_set.protects, balance.spent, len(balance.releases)
    cap = PrivacyLoss(balance.data_set.epsilon_cap)
    if not count:
        return f"Nothing was released yet: all of {short_text(cap, unit)} is left."
    above = " It is above the cap." if spent.epsilon > cap.epsilon else ""
    left, most = (tuple(number_text(per_unit(it, one)) for one in (unit, ROW)) for it in (balance.left.epsilon, cap.epsilon))
    of_row = f" (one row: {left[1]} of {most[1]})" if unit.rows > 1 else ""
    paid = f"Permanently spent by {counted(count, 'release')}: {short_text(spent, unit)}"
    return f"{paid}. Left: ε = {left[0]} of {most[0]}{of_row}.{above}"


def _renyi_sentence(balance: Balance) -> str:
    found, count = balance.data_set, counted(len(balance.releases), "release")
    paid = f"Permanently spent by {count}" if balance.releases else "Nothing was released yet"
    used = f": {percent(balance.renyi_spent / found.budget)} of the budget." if balance.releases else "."
    fits = f"Any release of ε = {number_text(balance.left.epsilon)} (one row) without a δ still fits."
    return f"{paid}{used} {fits}"


def account_sentence(data_set: DataSet) -> str:
    """What adds up under the cap of a data set, and what that promises."""
    if data_set.renyi_order is None:
        return "Epsilons and deltas add up under the cap, however the next release is chosen."
    return (
        f"Renyi losses of order {data_set.renyi_order:g} add up, to {number_text(data_set.budget)} at most: whatever is "
        f"chosen next, all releases together keep {loss_text(data_set.cap, data_set.protects)}."
    )


def composed_sentence(balance: Balance) -> str:
    """What all releases tell by what was run, and when that account holds; empty for fewer than two."""
    found, unit = composed(balance.releases), balance.data_set.protects
    if found is None:
        return ""
    loss = f"{loss_text(found.loss, unit)}. " if found.loss.is_finite else ""
    counts = "the sum" if balance.data_set.renyi_order is None else "Renyi losses"
    gone = f" Files of {counted(found.n_unread, 'release')} are gone; they count as any algorithm." if found.n_unread else ""
    return (
        f"Composed from the steps that were run: {loss}{odds_text(balance.spent, unit, found.risk)} This holds if no release "
        f"was chosen by the results of earlier ones. The cap counts {counts}, which always holds.{gone}"
    )


def odds_rows(balance: Balance, this: PrivacyLoss | None, risk: Risk | None = None, *, is_booked: bool = False) -> Rows:
    """How many guesses can be right, by this release alone and by all releases of these rows together, the unit first.

    `risk` is that of this release. Several releases have the bound for any algorithms: whoever makes one has seen those before,
    and their epsilons add up even so. `is_booked`: this release is one of those of the balance.
    """
    asked = [this] if this and not is_booked else []
    together, is_one = balance.with_one_more(asked), len([*balance.releases, *asked]) == 1
    found = [(this or PrivacyLoss(0.0), risk), (together, risk if is_one else None)]
    unit = balance.data_set.protects
    rows = [_odds_row(capital(unit.described), found, unit)]
    return [*rows, _odds_row("One row", found, ROW)] if unit.rows > 1 else rows


def _odds_row(who: str, found: Sequence[tuple[PrivacyLoss, Risk | None]], unit: Unit) -> dict[str, str]:
    times = [times_text(right_guesses(loss, unit, risk)) for loss, risk in found]
    said = [f"at most {number}" if number.isdigit() else number for number in times]
    name = f"{who}: right guesses of 100, in or out"
    return {"what is promised": name, "by this release alone": said[0], "by all releases together": said[1]}


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
            "settings": ", ".join(f"{name} {_value(value)}" for name, value in entry.settings.items() if name != "epsilon"),
            **epsilon_cells("ε", entry.loss.epsilon, balance.data_set.protects),
            **_running(balance, place),
            "assumptions": len(entry.disclosures),
            "SHA-256": entry.sha256[:16] or "no file",
        }
        for place, entry in enumerate(entries)
    ]


def _running(balance: Balance, place: int) -> dict[str, str]:
    """Cells of a table: what is spent after so many releases, in the account of the data set."""
    entries, order = balance.releases[: place + 1], balance.data_set.renyi_order
    if order is None:
        return epsilon_cells("running total", total(entry.loss for entry in entries).epsilon, balance.data_set.protects)
    spent = replace(balance, releases=entries).renyi_spent
    return {f"{RENYI_LOSS} {order:g}": number_text(entries[-1].renyi or 0.0), "running total of it": number_text(spent)}


def _value(value: Any) -> str:
    return number_text(value) if isinstance(value, float) else str(value)
