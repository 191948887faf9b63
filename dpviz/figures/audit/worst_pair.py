"""The worst pair in two charts: how likely each data set makes the output, and how far that is from what ε allows.

Pure functions of an `AuditResult` -> plotly Figures, each with a sentence for people who do not see it and rows for a table.
What is infinite is an open, hatched bar with ∞ and words; too much is hatched as well as coloured.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.figures.audit.text import WITH, WITHOUT, chance_text, found_epsilon, is_beyond, pair_sentence, times, times_text
from dpviz.figures.guarantee_text import number_text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Colours reach 3:1 on light and dark grounds.
_FOUND, _TOO_MUCH, _ALLOWED, _COMPOSED = "#2f86c1", "#c2410c", "#12806a", "#7d8a8f"
#: Below this, ticks would be rows of zeros; the bars carry their numbers anyway.
SMALLEST_TICK = 1e-3
_BARS = ("found", "claimed", "composed")


def probability_figure(result: AuditResult) -> Figure:
    """Two bars: how likely the output is on each data set, and a mark at what the claim allows for the likelier one."""
    chances = _chances(result)
    figure = _empty(height=170)
    longest = max(chances.values())
    for name, chance in chances.items():
        hatch = "/" if is_beyond(result) and chance == longest else ""
        figure.add_bar(**_bar(name, chance, chance_text(chance), _filled(_TOO_MUCH if hatch else _FOUND, hatch)))
    limit = allowed_chance(result)
    if limit is not None:
        _mark_limit(figure, max(chances, key=chances.__getitem__), limit)
    axis = {"title": "probability of this tree", "tickformat": ".3~p", "range": [0, 1.45 * longest], "nticks": 5}
    axis["showticklabels"] = longest >= SMALLEST_TICK
    figure.update_layout(xaxis=axis)
    return figure


def _chances(result: AuditResult) -> dict[str, float]:
    assert result.worst_pair is not None
    return dict(zip((WITHOUT, WITH), result.worst_pair.probabilities, strict=True))


def allowed_chance(result: AuditResult) -> float | None:
    """The most that the claim allows for the likelier data set, exp(ε) times the other probability; None for no limit."""
    limit = times(result.claimed) * min(_chances(result).values()) if math.isfinite(result.claimed) else 1.0
    return limit if limit < 1 else None


def _mark_limit(figure: Figure, bar: str, limit: float) -> None:
    """A line across the bar of this name."""
    place = {"x": [limit], "y": [bar], "mode": "markers", "showlegend": False}
    look = {"symbol": "line-ns", "size": 46, "line": {"width": 3, "color": _ALLOWED}}
    words = f"most that the claim allows here: {chance_text(limit)}<extra></extra>"
    figure.add_scatter(**place, marker=look, hovertemplate=words, name="limit", cliponaxis=False)


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


def probability_rows(result: AuditResult) -> list[dict[str, str]]:
    """The first chart as a table."""
    return [{"data set": name, "probability of this tree": chance_text(chance)} for name, chance in _chances(result).items()]


def ratio_figure(result: AuditResult) -> Figure:
    """Three bars on the scale of ε: what was found, what is claimed, what the steps compose to; each with its exp(ε)."""
    values = dict(zip(_BARS, (found_epsilon(result), result.claimed, result.composed), strict=True))
    longest = max((value for value in values.values() if math.isfinite(value)), default=0.0) or 1.0
    figure = _empty(height=210)
    for name, epsilon in values.items():
        look = _ratio_look(name, epsilon, is_beyond(result))
        length = 1.25 * longest if math.isinf(epsilon) else epsilon
        figure.add_bar(**_bar(name, length, ratio_words(name, epsilon), look))
    figure.update_layout(xaxis={"title": f"ε ({NEIGHBOURS})", "range": [0, 2.2 * longest], "nticks": 6})
    return figure


def _ratio_look(name: str, epsilon: float, beyond: bool) -> dict[str, Any]:
    colour = {"found": _TOO_MUCH if beyond else _FOUND, "claimed": _ALLOWED, "composed": _COMPOSED}[name]
    if math.isinf(epsilon):
        return _open(colour)
    return _filled(colour, "/" if name == "found" and beyond else "")


def ratio_words(name: str, epsilon: float) -> str:
    """What stands at the end of a bar: "1.25: 3.5 times"; infinite ones say what that means."""
    if math.isinf(epsilon):
        endless = {"found": "possible here,<br>impossible there", "claimed": "nothing is claimed", "composed": "no bound"}
        return f"∞: {endless[name]}"
    return f"{number_text(epsilon)}: {times_text(epsilon)}"


def ratio_sentence(result: AuditResult) -> str:
    """The second chart in words."""
    values = zip(_BARS, (found_epsilon(result), result.claimed, result.composed), strict=True)
    numbers = ", ".join(f"{name} {ratio_words(name, value)}" for name, value in values).replace("<br>", " ")
    return f"ε ({NEIGHBOURS}) and its exp(ε): {numbers}. {pair_sentence(result)}"


def ratio_rows(result: AuditResult) -> list[dict[str, str]]:
    """The second chart as a table."""
    meaning = {
        "found": "largest log ratio between neighbouring data sets",
        "claimed": "what the paper promises",
        "composed": "what the steps add up to, at most",
    }
    values = zip(_BARS, (found_epsilon(result), result.claimed, result.composed), strict=True)
    rows = ((name, number_text(value), times_text(value)) for name, value in values)
    return [{"": name, f"ε ({NEIGHBOURS})": value, "exp(ε)": ratio, "meaning": meaning[name]} for name, value, ratio in rows]


def _empty(*, height: int) -> Figure:
    from plotly.graph_objects import Figure

    figure = Figure()
    margin = {"l": 8, "r": 8, "t": 8, "b": 8}
    figure.update_layout(height=height, margin=margin, bargap=0.35, showlegend=False, yaxis={"autorange": "reversed"})
    return figure


def _bar(name: str, length: float, words: str, look: dict[str, Any]) -> dict[str, Any]:
    ends = {"x": [length], "y": [name], "orientation": "h", "marker": look}
    text = {"text": [f" {words} "], "textposition": "outside", "textangle": 0, "cliponaxis": False}
    return ends | text | {"hovertemplate": f"{name}: {words}<extra></extra>"}


def _filled(colour: str, hatch: str) -> dict[str, Any]:
    pattern = {"shape": hatch, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.5)", "size": 7, "solidity": 0.25}
    return {"color": colour, "pattern": pattern}


def _open(colour: str) -> dict[str, Any]:
    """Only lines: a bar without an end."""
    pattern = {"shape": "/", "fillmode": "replace", "fgcolor": colour, "bgcolor": "rgba(0,0,0,0)", "size": 9, "solidity": 0.15}
    return {"color": colour, "pattern": pattern, "line": {"color": colour, "width": 2}}
