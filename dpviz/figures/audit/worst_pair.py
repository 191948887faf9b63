"""The worst pair in two charts: how likely each data set makes the output, and how far that is from what ε allows.

What is infinite is an open, hatched bar with ∞ and words; too much is hatched as well as coloured.
"""

from __future__ import annotations

import math

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.figures.audit.text import WITH, WITHOUT, chance_text, found_epsilon, is_beyond, pair_sentence, times, times_text
from dpviz.figures.charts import NAMES, Figure, Rows, Style, bar, chart, filled, longest, open_ended
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.theme import BLUE, NEUTRAL, SOUND, UNSOUND

#: Below this, ticks would be rows of zeros; the bars carry their numbers anyway.
SMALLEST_TICK = 1e-3
AXIS = f"ε ({NEIGHBOURS})"


def probability_figure(result: AuditResult) -> Figure:
    """Two bars: how likely the output is on each data set, and a mark at what the claim allows for the likelier one."""
    chances, beyond = _chances(result), is_beyond(result)
    likelier = max(chances, key=chances.__getitem__)
    top = chances[likelier]
    axis = {"title": "probability of this tree", "tickformat": ".3~p", "range": [0, 1.45 * top], "nticks": 5}
    figure = _bars(170, axis | {"showticklabels": top >= SMALLEST_TICK})
    for name, chance in chances.items():
        style = filled(UNSOUND, "/") if beyond and chance == top else filled(BLUE)
        _add_bar(figure, name, chance, chance_text(chance), style)
    limit = allowed_chance(result)
    if limit is not None:
        mark = {"symbol": "line-ns", "size": 46, "line": {"width": 3, "color": SOUND}}
        words = f"most that the claim allows here: {chance_text(limit)}<extra></extra>"
        figure.add_scatter(x=[limit], y=[likelier], mode="markers", marker=mark, hovertemplate=words, cliponaxis=False)
    return figure


def _chances(result: AuditResult) -> dict[str, float]:
    assert result.worst_pair is not None
    return dict(zip((WITHOUT, WITH), result.worst_pair.probabilities, strict=True))


def allowed_chance(result: AuditResult) -> float | None:
    """The most that the claim allows for the likelier data set, exp(ε) times the other probability; None for no limit."""
    limit = times(result.claimed) * min(_chances(result).values()) if math.isfinite(result.claimed) else 1.0
    return limit if limit < 1 else None


def probability_sentence(result: AuditResult) -> str:
    """The first chart in words."""
    words = ", ".join(f"{name}: {chance_text(chance)}" for name, chance in _chances(result).items())
    limit = allowed_chance(result)
    allowed = "" if limit is None else f" The claim allows at most {_limit_text(limit)} on the likelier side."
    return f"Probability of this tree. {words[0].upper()}{words[1:]}.{allowed}"


def limit_note(result: AuditResult) -> str:
    """What the mark in the first chart means; empty where there is none."""
    limit = allowed_chance(result)
    return "" if limit is None else f"Upright line: the most that the claim allows on the likelier side, {_limit_text(limit)}."


def _limit_text(limit: float) -> str:
    return chance_text(limit) if limit else "0 %"


def probability_rows(result: AuditResult) -> Rows:
    """The first chart as a table."""
    return [{"data set": name, "probability of this tree": chance_text(chance)} for name, chance in _chances(result).items()]


def ratio_figure(result: AuditResult) -> Figure:
    """Three bars on the scale of ε: what was found, what is claimed, what the steps compose to; each with its exp(ε)."""
    values, beyond = _epsilons(result), is_beyond(result)
    most = longest(values.values())
    figure = _bars(210, {"title": AXIS, "range": [0, 2.2 * most], "nticks": 6})
    colours = {"found": UNSOUND if beyond else BLUE, "claimed": SOUND, "composed": NEUTRAL}
    for name, epsilon in values.items():
        hatch = "/" if name == "found" and beyond else ""
        style = open_ended(colours[name]) if math.isinf(epsilon) else filled(colours[name], hatch)
        _add_bar(figure, name, min(epsilon, 1.25 * most), ratio_words(name, epsilon), style)
    return figure


def _epsilons(result: AuditResult) -> dict[str, float]:
    return {"found": found_epsilon(result), "claimed": result.claimed, "composed": result.composed}


def _bars(height: int, axis: Style) -> Figure:
    return chart(height, bargap=0.35, showlegend=False, xaxis=axis, yaxis=NAMES)


def _add_bar(figure: Figure, name: str, length: float, words: str, style: Style) -> None:
    figure.add_bar(**bar(name, length, f" {words} ", style), hovertemplate=f"{name}: {words}<extra></extra>")


def ratio_words(name: str, epsilon: float) -> str:
    """The words at the end of a bar: "1.25: 3.5 times"; infinite ones say what that means."""
    if math.isinf(epsilon):
        endless = {"found": "possible here,<br>impossible there", "claimed": "nothing is claimed", "composed": "no bound"}
        return f"∞: {endless[name]}"
    return f"{number_text(epsilon)}: {times_text(epsilon)}"


def ratio_sentence(result: AuditResult) -> str:
    """The second chart in words."""
    numbers = ", ".join(f"{name} {ratio_words(name, value)}" for name, value in _epsilons(result).items()).replace("<br>", " ")
    return f"{AXIS} and its exp(ε): {numbers}. {pair_sentence(result)}"


def ratio_rows(result: AuditResult) -> Rows:
    """The second chart as a table."""
    meaning = {
        "found": "largest log ratio between neighbouring data sets",
        "claimed": "what the paper promises",
        "composed": "what the steps add up to, at most",
    }
    return [
        {"": name, AXIS: number_text(value), "exp(ε)": times_text(value), "meaning": meaning[name]}
        for name, value in _epsilons(result).items()
    ]
