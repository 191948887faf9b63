"""What releases cost together: a bar against the cap, and what is promised about one person and about poison under the sum."""

import math
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss, for_unit
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, chart, filled, line
from dpviz.figures.guarantee_text import epsilon_text, number_text, odds_text
from dpviz.figures.theme import ASKED, INTERRUPTED, LIGHT, OVER_CAP, RELEASED
from dpviz.figures.wording import counted
from dpviz.release.records import Balance, State, total

#: Poisoned rows a statement is made for.
POISONED = (1, 10, 100)
_STYLES = {
    "released": filled(RELEASED),
    "interrupted": filled(INTERRUPTED, "/"),
    "this release": filled(ASKED, "x"),
    "over the cap": filled(OVER_CAP, "-"),
}


def spent_segments(balance: Balance, asked: PrivacyLoss | None) -> list[tuple[str, float]]:
    """(what, epsilon) along the bar: released, interrupted, the release in question, and what of it lies over the cap."""
    by_state = {state: total(e.loss for e in balance.releases if e.state is state).epsilon for state in State}
    segments = [("released", by_state[State.RELEASED]), ("interrupted", by_state[State.STARTED])]
    if asked is not None and asked.is_finite:
        within = min(asked.epsilon, balance.left.epsilon)
        segments += [("this release", within), ("over the cap", asked.epsilon - within)]
    return [(what, epsilon) for what, epsilon in segments if epsilon > 0]


def spent_figure(balance: Balance, asked: PrivacyLoss | None) -> Figure:
    """One bar from 0 to the cap, which is a line."""
    segments, cap = spent_segments(balance, asked), balance.data_set.epsilon_cap
    end = 1.02 * max(cap, sum(epsilon for _, epsilon in segments))
    across = {"range": [0, end], "title": f"ε ({NEIGHBOURS})", "zeroline": False}
    down, legend = {"visible": False, "fixedrange": True}, LEGEND_ABOVE | {"y": 1.4, "traceorder": "normal"}
    figure = chart(190, top=64, barmode="stack", legend=legend, showlegend=True, xaxis=across, yaxis=down)
    for what, epsilon in segments:
        bar = {"orientation": "h", "width": 0.5, "marker": _STYLES[what]}
        hover = f"{what}: ε = {number_text(epsilon)}<extra></extra>"
        figure.add_bar(x=[epsilon], y=[""], name=what, hovertemplate=hover, **bar)
    note = {"text": f"cap {number_text(cap)}", "xanchor": "right", "yanchor": "bottom", "y": 1.0, "xshift": 4}
    figure.add_vline(cap, line=line(LIGHT.edge, 3), annotation=note)
    return figure


def spent_sentence(balance: Balance) -> str:
    """What was spent for good and what is left, in one sentence."""
    cap, spent, left, count = balance.data_set.epsilon_cap, balance.spent, balance.left, len(balance.releases)
    if not count:
        return f"Nothing was released yet: all of ε = {number_text(cap)} is left ({NEIGHBOURS})."
    above = " It is above the cap." if spent.epsilon > cap else ""
    paid = f"Spent for good by {counted(count, 'release')}: {epsilon_text(spent)}"
    return f"{paid}. Left: ε = {number_text(left.epsilon)} of {number_text(cap)}.{above}"


def statement_rows(balance: Balance, this: PrivacyLoss | None, *, is_booked: bool = False) -> Rows:
    """What is promised about one person and about poison: by this release alone, and by all releases of these rows together.

    `is_booked`: this release is one of those of the balance.
    """
    together = total([*(entry.loss for entry in balance.releases), *([this] if this and not is_booked else [])])
    alone, unit = this or PrivacyLoss(0.0), balance.data_set
    rows = [_row("One row: right guesses of 100, in or out", _guesses, alone, together)]
    if unit.rows_per_unit > 1:
        of_unit = lambda loss: _guesses(for_unit(loss, unit.rows_per_unit))  # noqa: E731
        rows.append(_row(f"{unit.unit}, up to {unit.rows_per_unit} rows: right guesses of 100", of_unit, alone, together))
    for count in POISONED:
        what = f"{counted(count, 'poisoned row')}: mean accuracy keeps at least"
        rows.append(_row(what, lambda loss, k=count: _kept(loss, k), alone, together))
    return rows


def _row(what: str, say: Any, alone: PrivacyLoss, together: PrivacyLoss) -> dict[str, str]:
    return {"what is promised": what, "by this release alone": say(alone), "by all releases together": say(together)}


def _guesses(loss: PrivacyLoss) -> str:
    return f"at most {number_text(100 * loss.guesses_right)}"


def _kept(loss: PrivacyLoss, rows: int) -> str:
    """The published bound: the share exp(-k epsilon) of the mean accuracy. Source: PrivaTree (arXiv 2305.15394), Corollary 2."""
    if loss.delta:
        return "not proved with δ"
    share = 100 * math.exp(-rows * loss.epsilon)
    return f"{number_text(share)}%" if share >= 0.1 else "less than 0.1%"


def risk_sentence(balance: Balance, asked: PrivacyLoss) -> str:
    """The odds about one row after this release, from everything that was released of these rows."""
    together = total([*(entry.loss for entry in balance.releases), asked])
    before = f"With the releases before, {epsilon_text(together)} in all. " if balance.releases else ""
    return f"{before}{odds_text(together)}"


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
            "learner": entry.learner,
            "settings": ", ".join(f"{name} {_value(value)}" for name, value in entry.settings.items() if name != "epsilon"),
            f"ε ({NEIGHBOURS})": number_text(entry.loss.epsilon),
            "running total": number_text(total(e.loss for e in entries[: place + 1]).epsilon),
            "assumptions": len(entry.disclosures),
            "SHA-256": entry.sha256[:16] or "no file",
        }
        for place, entry in enumerate(entries)
    ]


def _value(value: Any) -> str:
    return number_text(value) if isinstance(value, float) else str(value)
