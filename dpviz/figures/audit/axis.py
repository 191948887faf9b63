"""Every learner on one axis of epsilon, as HTML: what it claims, what was found, what its steps add up to.

A complete, escaped fragment. One line per learner, grouped by verdict; its other settings unfold below it. On a line, a tick is
the claim, a bar ends at the composed bound, and dots are lower bounds. A sign beyond the end of the axis becomes an arrow with
its number.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from dpviz.figures.audit.text import ATTACKED, BADGES, SEARCHED, AuditLine, at_least_text
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.wording import counted

#: Verdict on a learner's defaults -> heading of its group, in the order of the page.
GROUPS = {
    "holds": "Holds: there is a proof",
    "violated": "Violated: a counterexample is known",
    "unproven": "No counterexample, no proof",
    "none": "Nothing is claimed",
    "": "Not stored",
}
#: Groups that are about the chosen line only when it is in them.
FOLDED = ("none", "")
#: The axis ends at this multiple of epsilon.
END = 3
#: Signs that may lie beyond its end, in the order in which they stand there.
FAR = ("composed", "searched", "attacked")
#: Sign -> what it is, in the order of the legend.
SIGNS = {
    "claimed": "claimed",
    "searched": "searched: ε is at least this",
    "attacked": "attacked: ε is at least this, with 95% confidence",
    "composed": "steps add up to this at most",
}


def audit_axis(lines: Iterable[AuditLine], *, epsilon: float, selected: str, caption: str) -> str:
    """All learners at one epsilon, one button per line; `selected` is the key of the pressed one."""
    by_learner = [list(group) for _, group in groupby(lines, key=lambda line: line.title)]
    groups = "".join(_group(name, by_learner, epsilon, selected) for name in GROUPS)
    return f'<p class="dpa-caption">{escape(caption)}</p>{_legend()}{_scale(epsilon)}{groups}'


def _legend() -> str:
    signs = "".join(f'<li><i class="dpa-sign dpa-{sign}" aria-hidden="true"></i>{words}</li>' for sign, words in SIGNS.items())
    return f'<ul class="dpa-legend">{signs}</ul>'


def _scale(epsilon: float) -> str:
    marks = "".join(f'<span style="left:{100 * n / END:.4g}%">{number_text(n * epsilon)}</span>' for n in range(END + 1))
    return f'<div class="dpa-scale" aria-hidden="true"><b>ε</b><div>{marks}</div></div>'


def _group(name: str, by_learner: Sequence[Sequence[AuditLine]], epsilon: float, selected: str) -> str:
    members = [group for group in by_learner if group[0].verdict == name]
    if not members:
        return ""
    badge = BADGES[name]
    sign = f'<span class="dpa-{badge.tone}" aria-hidden="true">{badge.icon}</span>'
    head = f'{sign} {GROUPS[name]} <span class="dpa-count">({len(members)})</span>'
    body = "".join(_learner(group, epsilon, selected) for group in members)
    if name not in FOLDED:
        return f"<section><h3>{head}</h3>{body}</section>"
    opened = " open" if selected in {line.key for group in members for line in group} else ""
    return f'<details class="dpa-folded"{opened} data-name="{name} group"><summary>{head}</summary>{body}</details>'


def _learner(lines: Sequence[AuditLine], epsilon: float, selected: str) -> str:
    """The learner as it comes, and its other settings folded away beside it."""
    first, *others = lines
    if not others:
        return _line(first, epsilon, selected)
    opened = " open" if selected in {line.key for line in others} else ""
    inner = "".join(_line(line, epsilon, selected, BADGES[line.verdict].icon) for line in others)
    words = f"{counted(len(others), 'other setting')} of {escape(first.title)}{_differing(first, others)}"
    summary = f'<summary aria-label="{words}" title="{words}">+{len(others)}</summary>'
    details = f'<details{opened} data-name="{escape(first.title)}">{summary}{inner}</details>'
    return f'<div class="dpa-learner">{_line(first, epsilon, selected)}{details}</div>'


def _differing(first: AuditLine, others: Sequence[AuditLine]) -> str:
    """The verdicts on other settings that are not the default's, as in ": 1 holds"."""
    words = [BADGES[line.verdict].word for line in others if line.verdict != first.verdict]
    return "".join(f", {words.count(word)} {word}" for word in dict.fromkeys(words))


def _line(line: AuditLine, epsilon: float, selected: str, icon: str = "") -> str:
    pressed = line.key == selected
    sign = f'<span class="dpa-{BADGES[line.verdict].tone}" aria-hidden="true">{icon}</span> ' if icon else ""
    under = f'<span class="dpa-under">{escape(line.note)}</span>' if line.note else ""
    key, name = escape(line.key), escape(line.setting or line.title)
    words = escape(line_in_words(line))
    return (
        f'<div class="dpa-line{" dpa-on" if pressed else ""}" data-key="{key}">'
        f'<button type="button" data-key="{key}" aria-pressed="{str(pressed).lower()}">{sign}{name}</button>{under}'
        f'<div class="dpa-strip" role="img" aria-label="{words}" title="{words}">{"".join(_signs(line, epsilon))}</div></div>'
    )


def _signs(line: AuditLine, epsilon: float) -> Iterator[str]:
    """The composed bound below, the claim over it, then the dots; one arrow for all that lies beyond the end."""
    values = _values(line)
    far = {name: values[name] for name in FAR if values.get(name, 0) > END * epsilon}
    if "composed" in values:
        share = min(1.0, values["composed"] / (END * epsilon))
        yield f'<i class="dpa-composed{" dpa-endless" if "composed" in far else ""}" style="width:{100 * share:.4g}%"></i>'
    tones = {"claimed": "", "searched": line.search, "attacked": line.attack}
    dots = {sign: f"dpa-sign dpa-{sign}{' dpa-beyond' * (tone in ('beyond', 'bug'))}" for sign, tone in tones.items()}
    for sign, dot in dots.items():
        if sign in values and sign not in far and math.isfinite(values[sign]):
            yield f'<i class="{dot}" style="left:{100 * values[sign] / (END * epsilon):.4g}%"></i>'
    if far:  # each with its number: an arrow for the bar, the sign itself for a dot
        heads = {"composed": "→"} | {sign: f'<i class="{dot}"></i>' for sign, dot in dots.items()}
        said = "".join(f"<span>{heads[sign]}{number_text(value)}</span>" for sign, value in far.items())
        yield f'<span class="dpa-far">{said}</span>'


def _values(line: AuditLine) -> dict[str, float]:
    """Sign -> epsilon, of what is known."""
    known = {
        "claimed": line.claimed,
        "searched": None if line.found is None else max(0.0, line.found.log_ratio),
        "attacked": None if line.attacked is None else line.attacked.bound,
        "composed": line.composed,
    }
    return {sign: value for sign, value in known.items() if value is not None}


def line_in_words(line: AuditLine) -> str:
    """A line for those who cannot see it."""
    bounds = ((SEARCHED[line.search], "searched"), (ATTACKED[line.attack], "attacked"))
    values = _values(line)
    words = [f"{BADGES[line.verdict].word}"]
    words += [f"claims {number_text(values['claimed'])}"] if "claimed" in values and math.isfinite(values["claimed"]) else []
    words += [f"{sign}: {at_least_text(values[sign])}, {badge.word}" if sign in values else badge.word for badge, sign in bounds]
    words += [f"steps add up to {number_text(values['composed'])}"] if "composed" in values else []
    return "; ".join(words)
