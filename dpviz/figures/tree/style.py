"""The style sheet inside every tree drawing.

Each colour is written twice: first as the light theme's plain value, for viewers that know no custom properties, then as a
property that follows the dashboard or, in a file of its own, the reader's light or dark preference.
"""

from functools import cache
from pathlib import Path

from dpviz.figures.theme import DARK, DIFFERENCES, FONT, LIGHT, N_COLOURS, css_variables, step_variables, text_on

_LAYOUT = Path(__file__).with_suffix(".css").read_text(encoding="utf-8").replace("FONT", FONT)


@cache
def tree_css(*, numbers: bool = False, pair: bool = False) -> str:
    """The style sheet as text. Names start with `dp-` or are inside `.dp-tree`, so it can live in a page.

    `numbers` adds what leaves with numbers need, `pair` the colours of what differs between two trees.
    """
    colours = _themed(css_variables(LIGHT), css_variables(DARK))
    lines = [colours, _LAYOUT.strip(), *_roles(), *_classes()]
    if numbers:
        lines += [_themed(step_variables(LIGHT), step_variables(DARK)), *_steps()]
    if pair:
        lines += _differences()
    return "\n".join(lines) + "\n"


def _themed(light: str, dark: str) -> str:
    return (
        f".dp-tree{{{light}}}\n"
        f"@media (prefers-color-scheme:dark){{.dp-tree:not([data-theme=light]){{{dark}}}}}\n"
        f".dp-tree[data-theme=dark]{{{dark}}}"
    )


def _roles() -> list[str]:
    return [
        _painted(".dp-ground", "fill", "ground"),
        _painted(".name,.dp-tree .rule", "fill", "ink"),
        _painted(".side,.dp-tree .mark,.dp-tree .faint .name,.dp-tree .faint .rule", "fill", "muted"),
        _painted(".edge", "stroke", "edge"),
        _painted(".edge.on", "stroke", "accent"),
        _painted(".box", "fill", "raised"),
        _painted(".track", "fill", "line"),
        _painted(".spent", "fill", "edge"),
        _painted(".block", "stroke", "edge"),
        _painted(".box", "stroke", "line"),
        _painted(".branch:hover .box", "stroke", "accent"),
        _painted('.node[aria-selected="true"] .box', "stroke", "accent"),
        _painted(".node:focus-visible .ring", "stroke", "ink"),
    ]


def _classes() -> list[str]:
    rules = []
    for index in range(N_COLOURS):
        colour = LIGHT.class_colour(index)
        variable = f"var(--dp-class-{index})"
        rules.append(f".dp-tree .c{index} .box{{fill:{colour};fill:{variable}}}")
        rules.append(f'.dp-tree .c{index}:not([aria-selected="true"]) .box{{stroke:{colour};stroke:{variable}}}')
        marks = ",".join(f".dp-tree .c{index} .{mark}" for mark in ("swatch", "share", "band"))
        rules.append(f"{marks}{{fill:{colour};fill:{variable}}}")
        rules.append(f".dp-tree .c{index} .letter{{fill:{text_on(colour)};fill:var(--dp-on-class-{index})}}")
    return rules


def _steps() -> list[str]:
    """A leaf's gauge: an outline, filled from below as far as its number lies between the lowest and the highest leaf."""
    rules = [".dp-tree .gauge{fill:none;stroke-width:1.25px}"]
    for index, colour in enumerate(LIGHT.steps):
        variable = f"var(--dp-step-{index})"
        rules.append(f".dp-tree .s{index} .box,.dp-tree .s{index} .level{{fill:{colour};fill:{variable}}}")
        rules.append(f".dp-tree .s{index} .gauge{{stroke:{colour};stroke:{variable}}}")
        rules.append(f'.dp-tree .s{index}:not([aria-selected="true"]) .box{{stroke:{colour};stroke:{variable}}}')
    return rules


def _differences() -> list[str]:
    light, dark = (";".join(f"--dp-{kind}:{pair[ground]}" for kind, pair in DIFFERENCES.items()) for ground in (0, 1))
    rules = [_themed(light, dark)]
    for kind, (colour, _) in DIFFERENCES.items():
        variable = f"var(--dp-{kind})"
        rules.append(f".dp-tree .{kind} .box{{stroke-width:2.5px}}")
        rules.append(f'.dp-tree .{kind}:not([aria-selected="true"]) .box{{stroke:{colour};stroke:{variable}}}')
        rules.append(f".dp-tree .{kind} .mark{{fill:{colour};fill:{variable};font-weight:600}}")
    return rules


def _painted(selector: str, what: str, role: str) -> str:
    return f".dp-tree {selector}{{{what}:{getattr(LIGHT, role)};{what}:var(--dp-{role})}}"
