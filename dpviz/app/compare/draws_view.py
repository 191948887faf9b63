"""Dots with a mark that goes from draw to draw: one step, or play and pause. Its behaviour is in `draws_view.js`."""

from pathlib import Path

from dpviz.app.component import STEPPER, component
from dpviz.evaluation.compare.comparison import SharedDraws
from dpviz.figures.compare.dots import NARROW, STYLE, WIDE, DotRow, dots_svg, scale_of
from dpviz.figures.compare.measure_text import measure_text


def draws_view(rows: list[DotRow], drawn: SharedDraws, *, metric: str, key: str) -> str:
    """Show dots, with the draws in `drawn` to step through; returns the wide drawing as SVG.

    Paused at first; nothing here runs the page anew.
    """
    values = [value for row in rows for value in row.dots] + [value for draw in drawn.outcomes for value in draw]
    drawings = {}
    for name, width in (("wide", WIDE), ("narrow", NARROW)):
        scale = scale_of(values, width)
        places = [[round(scale.x(value), 1) for value in draw] for draw in drawn.outcomes]
        drawings[name] = {"svg": dots_svg(rows, scale, metric=metric), "x": places}
    said = [draw_words(number, drawn, rows, metric) for number in range(len(drawn.outcomes))]
    component("dpviz_draws", STEPPER, Path(__file__), css=STYLE)(key=key, data={**drawings, "said": said})
    return str(drawings["wide"]["svg"])


def draw_words(number: int, drawn: SharedDraws, rows: list[DotRow], metric: str) -> str:
    """One draw in words: every learner's outcome on the split it was made on."""
    outcomes = zip(rows, drawn.outcomes[number], strict=True)
    values = (f"{row.style.title} {measure_text(value, metric)}" for row, value in outcomes)
    return f"Draw {number + 1} of {len(drawn.outcomes)}, split {drawn.folds[number] + 1}: {', '.join(values)}"
