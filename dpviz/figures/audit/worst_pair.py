"""The worst pair as two bars in HTML: how likely each data set makes the output, and the most that ε allows.

Too much is hatched as well as coloured. The page needs no library of charts for two bars.
"""

import math
from html import escape

from dpviz.evaluation.audit.findings import AuditResult
from dpviz.figures.audit.text import WITH, WITHOUT, chance_text, is_beyond, times


def chance_bars(result: AuditResult) -> str:
    """Two bars: how likely the output is on each data set, and a mark at what the claim allows for the likelier one."""
    chances, limit = _chances(result), allowed_chance(result)
    top = max(chances.values())
    end = max(top, limit or 0.0)
    bars = []
    for name, chance in chances.items():
        beyond = " dpa-beyond" if is_beyond(result) and chance == top else ""
        mark = "" if limit is None or chance < top else f'<i class="dpa-limit" style="left:{100 * limit / end:.4g}%"></i>'
        bar = f'<i class="dpa-bar{beyond}" style="width:{100 * chance / end:.4g}%"></i>'
        bars.append(f"<span>{name}</span><div>{bar}{mark}</div><b>{chance_text(chance)}</b>")
    return f'<div class="dpa-chances" role="img" aria-label="{escape(probability_sentence(result))}">{"".join(bars)}</div>'


def _chances(result: AuditResult) -> dict[str, float]:
    assert result.worst_pair is not None
    return dict(zip((WITHOUT, WITH), result.worst_pair.probabilities, strict=True))


def allowed_chance(result: AuditResult) -> float | None:
    """The most that the claim allows for the likelier data set, exp(ε) times the other probability; None for no limit."""
    limit = times(result.claimed) * min(_chances(result).values()) if math.isfinite(result.claimed) else 1.0
    return limit if limit < 1 else None


def probability_sentence(result: AuditResult) -> str:
    """The bars in words."""
    words = ", ".join(f"{name}: {chance_text(chance)}" for name, chance in _chances(result).items())
    limit = allowed_chance(result)
    allowed = "" if limit is None else f" The claim allows at most {_limit_text(limit)} on the likelier side."
    return f"Probability of this tree. {words[0].upper()}{words[1:]}.{allowed}"


def limit_note(result: AuditResult) -> str:
    """What the mark beside the bars means; empty where there is none."""
    limit = allowed_chance(result)
    return "" if limit is None else f"Upright line: the most that the claim allows on the likelier side, {_limit_text(limit)}."


def _limit_text(limit: float) -> str:
    return chance_text(limit) if limit else "0%"
