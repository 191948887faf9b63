"""The style sheet inside every tree drawing: `style.css`, where `$ink` is a colour of the theme, and a rule per class and step.

Each colour is written twice: first as the light theme's plain value, for viewers that know no custom properties, then as a
property that follows the dashboard or, in a file of its own, the reader's light or dark preference.
"""

import re
from functools import cache
from pathlib import Path

from dpviz.charts.theme import DARK, DIFFERENCES, FONT, LIGHT, css_variables, step_variables, text_on

_SHEET = Path(__file__).with_suffix(".css").read_text(encoding="utf-8").replace("FONT", FONT).strip()
_CLASS = """.dp-tree .c{n} .box,.dp-tree .c{n} .swatch,.dp-tree .c{n} .share,.dp-tree .c{n} .band{{fill:$class-{n}}}
.dp-tree .c{n}:not([aria-selected="true"]) .box{{stroke:$class-{n}}}
.dp-tree .c{n} .letter{{fill:$on-class-{n}}}"""
#: A leaf's gauge: an outline, filled from below as far as its number lies between the lowest and the highest leaf.
_STEP = """.dp-tree .s{n} .box,.dp-tree .s{n} .level,.dp-tree .s{n} .share,.dp-tree .s{n} .band{{fill:$step-{n}}}
.dp-tree .s{n} .gauge{{fill:none;stroke-width:1.25px;stroke:$step-{n}}}
.dp-tree .s{n}:not([aria-selected="true"]) .box{{stroke:$step-{n}}}"""
_DIFFERENCE = """.dp-tree .{n} .box{{stroke-width:2.5px}}
.dp-tree .{n}:not([aria-selected="true"]) .box{{stroke:${n}}}
.dp-tree .{n} .mark{{fill:${n};font-weight:600}}"""


@cache
def tree_css(*, numbers: bool = False, pair: bool = False) -> str:
    """The style sheet as text. Names start with `dp-` or are inside `.dp-tree`, so it can live in a page.

    `numbers` adds what leaves with numbers need, `pair` the colours of what differs between two trees.
    """
    plain = {role: getattr(LIGHT, role) for role in ("ground", "raised", "ink", "muted", "line", "edge", "accent")}
    plain |= {f"class-{n}": colour for n, colour in enumerate(LIGHT.classes)}
    plain |= {f"on-class-{n}": text_on(colour) for n, colour in enumerate(LIGHT.classes)}
    plain |= {f"step-{n}": colour for n, colour in enumerate(LIGHT.steps)} | {kind: DIFFERENCES[kind][0] for kind in DIFFERENCES}
    lines = [_themed(css_variables(LIGHT), css_variables(DARK)), _SHEET, *(_CLASS.format(n=n) for n in range(len(LIGHT.classes)))]
    if numbers:
        lines += [_themed(step_variables(LIGHT), step_variables(DARK)), *(_STEP.format(n=n) for n in range(len(LIGHT.steps)))]
    if pair:
        grounds = (";".join(f"--dp-{kind}:{both[ground]}" for kind, both in DIFFERENCES.items()) for ground in (0, 1))
        lines += [_themed(*grounds), *(_DIFFERENCE.format(n=kind) for kind in DIFFERENCES)]
    twice = r"([a-z]+):\$([a-z0-9-]+)"
    return re.sub(twice, lambda found: f"{found[1]}:{plain[found[2]]};{found[1]}:var(--dp-{found[2]})", "\n".join(lines)) + "\n"


def _themed(light: str, dark: str) -> str:
    return (
        f".dp-tree{{{light}}}\n"
        f"@media (prefers-color-scheme:dark){{.dp-tree:not([data-theme=light]){{{dark}}}}}\n"
        f".dp-tree[data-theme=dark]{{{dark}}}"
    )
