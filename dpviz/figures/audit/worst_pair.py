"""The worst pair as a chart: how likely each data set makes the output, and the most that ε allows.

Too much is hatched as well as coloured.
"""

import math

from dpviz.evaluation.audit.findings import AuditResult
from dpviz.figures.audit.text import WITH, WITHOUT, chance_text, is_beyond, times
from dpviz.figures.charts import NAMES, Figure, Rows, bar, chart, filled
from dpviz.figures.theme import BLUE, SOUND, UNSOUND

#: Below this, ticks would be rows of zeros; the bars carry their numbers anyway.
SMALLEST_TICK = 1e-3


def probability_figure(result: AuditResult) -> Figure:
    """Two bars: how likely the output is on each data set, and a mark at what the claim allows for the likelier one."""
    chances, beyond = _chances(result), is_beyond(result)
    likelier = max(chances, key=chances.__getitem__)
    top = chances[likelier]
    axis = {"title": "probability of this tree", "tickformat": ".3~p", "range": [0, 1.45 * top], "nticks": 5}
    axis |= {"showticklabels": top >= SMALLEST_TICK}
    figure = chart(170, bargap=0.35, showlegend=False, xaxis=axis, yaxis=NAMES)
    for name, chance in chances.items():
        style = filled(UNSOUND, "/") if beyond and chance == top else filled(BLUE)
        words = chance_text(chance)
        figure.add_bar(**bar(name, chance, f" {words} ", style), hovertemplate=f"{name}: {words}<extra></extra>")
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
    """The chart in words."""
    words = ", ".join(f"{name}: {chance_text(chance)}" for name, chance in _chances(result).items())
    limit = allowed_chance(result)
    allowed = "" if limit is None else f" The claim allows at most {_limit_text(limit)} on the likelier side."
    return f"Probability of this tree. {words[0].upper()}{words[1:]}.{allowed}"


def limit_note(result: AuditResult) -> str:
    """What the mark in the chart means; empty where there is none."""
    limit = allowed_chance(result)
    return "" if limit is None else f"Upright line: the most that the claim allows on the likelier side, {_limit_text(limit)}."


def _limit_text(limit: float) -> str:
    return chance_text(limit) if limit else "0%"


def probability_rows(result: AuditResult) -> Rows:
    """The chart as a table."""
    return [{"data set": name, "probability of this tree": chance_text(chance)} for name, chance in _chances(result).items()]
