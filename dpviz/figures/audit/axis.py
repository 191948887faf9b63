"""Every learner on one axis, of epsilon or of right guesses, as HTML: what it claims, what was found, what its steps allow.

A complete, escaped fragment. One line per learner, grouped by verdict; its other settings unfold below it. On a line, a tick is
the claim, a bar ends at the composed bound, and dots are lower bounds. A sign beyond the end of the axis becomes an arrow with
its number.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from dpviz.figures.audit.text import ATTACKED, BADGES, SEARCHED, AuditLine, at_least_text
from dpviz.figures.wording import counted
from dpviz.results.wording import number_text, rounded_up

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
#: Signs that may lie beyond the end of an axis, in the order in which they stand there.
FAR = ("composed", "searched", "attacked")
#: An axis of epsilon ends at this multiple of it.
END = 3
Values = dict[str, float]


@dataclass(frozen=True)
class Axis:
    """What the lines are drawn over."""

    title: str
    start: float
    marks: tuple[float, ...]  #: The last one is its end
    signs: dict[str, str]  #: Sign -> what it is, in the order of the legend
    values: Callable[[AuditLine], Values]  #: Sign -> where it stands, of what is known
    in_words: dict[str, str]  #: Sign -> a template for those who cannot see it
    at_most: Callable[[float], str] = number_text  #: What stands in the template

    def share(self, value: float) -> float:
        """A place, as a share of the axis."""
        return (value - self.start) / (self.marks[-1] - self.start)

    def is_beyond(self, value: float) -> bool:
        """True where the axis has ended."""
        return value > self.marks[-1]


def epsilon_axis(epsilon: float) -> Axis:
    """From 0 to a multiple of epsilon."""
    signs = {
        "claimed": "claimed",
        "searched": "searched: ε is at least this",
        "attacked": "attacked: ε is at least this, with 95% confidence",
        "composed": "steps add up to this at most",
    }
    return Axis(
        "ε",
        0.0,
        tuple(n * epsilon for n in range(END + 1)),
        signs,
        _epsilons,
        {"claimed": "claims {}", "composed": "steps add up to {}"},
    )


def _epsilons(line: AuditLine) -> Values:
    return _known(
        claimed=line.claimed,
        searched=None if line.found is None else max(0.0, line.found.log_ratio),
        attacked=None if line.attacked is None else line.attacked.bound,
        composed=line.composed,
    )


def _guesses(line: AuditLine) -> Values:
    attacked = None if line.attacked is None else line.attacked.right_guesses
    return _known(claimed=line.claimed_guesses, attacked=attacked, composed=line.guesses)


def _known(**values: float | None) -> Values:
    return {sign: value for sign, value in values.items() if value is not None}


#: Right guesses of 100 whether one row was used. What a search found is about one output, so it has no place here.
GUESSES = Axis(
    "right guesses of 100",
    50.0,
    tuple(range(50, 101, 10)),
    {
        "claimed": "any algorithm with the ε that is claimed: at most",
        "attacked": "attacked: at least, with 95% confidence",
        "composed": "what this algorithm does: at most",
    },
    _guesses,
    {"claimed": "its ε allows any algorithm at most {} right guesses of 100", "composed": "what it does allows at most {}"},
    lambda hundredths: rounded_up(hundredths, 1),
)


def audit_axis(lines: Iterable[AuditLine], axis: Axis, *, selected: str, caption: str) -> str:
    """All learners on one axis, one button per line; `selected` is the key of the pressed one."""
    by_learner = [list(group) for _, group in groupby(lines, key=lambda line: line.title)]
    groups = "".join(_group(name, by_learner, axis, selected) for name in GROUPS)
    return f'<p class="dpa-caption">{escape(caption)}</p><figure>{_legend(axis)}{_scale(axis)}{groups}</figure>'


def _legend(axis: Axis) -> str:
    signs = (f'<li><i class="dpa-sign dpa-{sign}" aria-hidden="true"></i>{words}</li>' for sign, words in axis.signs.items())
    return f'<ul class="dpa-legend">{"".join(signs)}</ul>'


def _scale(axis: Axis) -> str:
    marks = "".join(f'<span style="left:{100 * axis.share(mark):.4g}%">{number_text(mark)}</span>' for mark in axis.marks)
    return f'<div class="dpa-scale" aria-hidden="true"><b>{axis.title}</b><div>{marks}</div></div>'


def _group(name: str, by_learner: Sequence[Sequence[AuditLine]], axis: Axis, selected: str) -> str:
    members = [group for group in by_learner if group[0].verdict == name]
    if not members:
        return ""
    badge = BADGES[name]
    sign = f'<span class="dpa-{badge.tone}" aria-hidden="true">{badge.icon}</span>'
    head = f'{sign} {GROUPS[name]} <span class="dpa-count">({len(members)})</span>'
    body = "".join(_learner(group, axis, selected) for group in members)
    if name not in FOLDED:
        return f"<section><h3>{head}</h3>{body}</section>"
    opened = " open" if selected in {line.key for group in members for line in group} else ""
    return f'<details class="dpa-folded"{opened} data-name="{name} group"><summary>{head}</summary>{body}</details>'


def _learner(lines: Sequence[AuditLine], axis: Axis, selected: str) -> str:
    """The learner as it comes, and its other settings folded away beside it."""
    first, *others = lines
    if not others:
        return _line(first, axis, selected)
    opened = " open" if selected in {line.key for line in others} else ""
    inner = "".join(_line(line, axis, selected, BADGES[line.verdict].icon) for line in others)
    words = f"{counted(len(others), 'other setting')} of {escape(first.title)}{_differing(first, others)}"
    summary = f'<summary aria-label="{words}" title="{words}">+{len(others)}</summary>'
    details = f'<details{opened} data-name="{escape(first.title)}">{summary}{inner}</details>'
    return f'<div class="dpa-learner">{_line(first, axis, selected)}{details}</div>'


def _differing(first: AuditLine, others: Sequence[AuditLine]) -> str:
    """The verdicts on other settings that are not the default's, as in ": 1 holds"."""
    words = [BADGES[line.verdict].word for line in others if line.verdict != first.verdict]
    return "".join(f", {words.count(word)} {word}" for word in dict.fromkeys(words))


def _line(line: AuditLine, axis: Axis, selected: str, icon: str = "") -> str:
    pressed = line.key == selected
    sign = f'<span class="dpa-{BADGES[line.verdict].tone}" aria-hidden="true">{icon}</span> ' if icon else ""
    under = f'<span class="dpa-under">{escape(line.note)}</span>' if line.note else ""
    key, name = escape(line.key), escape(line.setting or line.title)
    words = escape(line_in_words(line, axis))
    return (
        f'<div class="dpa-line{" dpa-on" if pressed else ""}" data-key="{key}">'
        f'<button type="button" data-key="{key}" aria-pressed="{str(pressed).lower()}">{sign}{name}</button>{under}'
        f'<div class="dpa-strip" role="img" aria-label="{words}" title="{words}">{"".join(_signs(line, axis))}</div></div>'
    )


def _signs(line: AuditLine, axis: Axis) -> Iterator[str]:
    """The upper bound below, the claim over it, then the dots; one arrow for all that lies beyond the end."""
    values = axis.values(line)
    far = {name: values[name] for name in FAR if name in values and axis.is_beyond(values[name])}
    if "composed" in values:
        share = min(1.0, axis.share(values["composed"]))
        yield f'<i class="dpa-composed{" dpa-endless" if "composed" in far else ""}" style="width:{100 * share:.4g}%"></i>'
    tones = {"claimed": "", "searched": line.search, "attacked": line.attack}
    dots = {sign: f"dpa-sign dpa-{sign}{' dpa-beyond' * (tone in ('beyond', 'bug'))}" for sign, tone in tones.items()}
    for sign, dot in dots.items():
        if sign in values and sign not in far and math.isfinite(values[sign]):
            yield f'<i class="{dot}" style="left:{100 * axis.share(values[sign]):.4g}%"></i>'
    if far:  # each with its number: an arrow for the bar, the sign itself for a dot
        heads = {"composed": "→"} | {sign: f'<i class="{dot}"></i>' for sign, dot in dots.items()}
        said = "".join(f"<span>{heads[sign]}{number_text(value)}</span>" for sign, value in far.items())
        yield f'<span class="dpa-far">{said}</span>'


def line_in_words(line: AuditLine, axis: Axis) -> str:
    """A line for those who cannot see it."""
    bounds = ((SEARCHED[line.search], "searched"), (ATTACKED[line.attack], "attacked"))
    values = axis.values(line)
    words = [f"{BADGES[line.verdict].word}"]
    words += (
        [axis.in_words["claimed"].format(axis.at_most(values["claimed"]))]
        if math.isfinite(values.get("claimed", math.inf))
        else []
    )
    words += [f"{sign}: {at_least_text(values[sign])}, {badge.word}" if sign in values else badge.word for badge, sign in bounds]
    words += [axis.in_words["composed"].format(axis.at_most(values["composed"]))] if "composed" in values else []
    return "; ".join(words)
