"""Compare in pictures and words: curves side by side, what single draws may give, who beats whom on the same splits.

Each learner has the same colour and marker in every figure, whatever else is chosen. Colour is never the only cue: no two
markers are alike, and a claim that does not hold is dashed, open and said in words. Over epsilon a learner without privacy is a
grey level, with the next of `LEVEL_DASHES`. A band stands on `MIN_FITS` fits at every
point. It reaches from the 5% to the 95% outcome over draws and folds, its line is the median: what one tree may turn out to be,
not how well its mean is known (Hofman, Goldstein and Hullman, CHI 2020: ranges of means are read as ranges of outcomes).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import cycle
from types import MappingProxyType
from typing import Literal

import numpy as np

from dpviz.charts.chart import LEGEND_ABOVE, NAMES, Chart, Figure, Rows, Style, band, chart, level_line, line, marker
from dpviz.charts.theme import CLEAR, NEUTRAL, SERIES, translucent
from dpviz.charts.wording import capital, count_text, minus, r2_text
from dpviz.evaluation.comparison import ERRORS, METRICS, Curve, Difference, Point, at_equal_risk
from dpviz.learners import get_learner, learner_names
from dpviz.learners.variants import parse_variant, place_of, variant_title
from dpviz.models.tree import format_value
from dpviz.results.verdict import ROW, Unit
from dpviz.results.wording import number_text, rounded_up
from dpviz.training.estimate.number_report import MIN_R2

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "pentagon", "hexagon", "cross")
_WORDS = {"holds": "", "none": "", "unproven": ", claim unproven", "violated": ", claim violated"}


@dataclass(frozen=True, slots=True)
class LineStyle:
    """Colour (`#rrggbb`), marker symbol, dash of the line; `name` is the title with words about the claim."""

    name: str
    title: str
    colour: str
    symbol: str
    dash: str


def line_styles(verdicts: Mapping[str, str], before: Mapping[str, LineStyle] = MappingProxyType({})) -> dict[str, LineStyle]:
    """The style of each learner of one figure, by the verdict on its claim. No two share a colour while there are enough.

    A learner keeps the colour and marker that it has in `before`; else it has the colour of its place among all learners unless
    another one in the figure has it. A variant takes colour and marker that are free. Learners to compare with are grey.
    """
    every = [name for name in learner_names() if not get_learner(name).is_baseline]
    earlier = {name: (before[name].colour, before[name].symbol.removesuffix("-open")) for name in verdicts if name in before}
    used = {part for look in earlier.values() for part in look}
    styles = {}
    for name in sorted(verdicts, key=lambda name: (parse_variant(name)[0] != name, place_of(name))):
        learner, colour = parse_variant(name)[0], NEUTRAL
        title, symbol = variant_title(name), SYMBOLS[learner_names().index(learner) % len(SYMBOLS)]
        if name in earlier:
            colour, symbol = earlier[name]
        else:
            if learner in every:
                colour = _free(SERIES, every.index(learner), used)
            if name != learner:
                symbol = _free(SYMBOLS, SYMBOLS.index(symbol), used)
        used |= {colour, symbol}
        words = _WORDS[verdicts[name]]
        look = (f"{symbol}-open", "dash") if words else (symbol, "solid")
        styles[name] = LineStyle(title + words, title, colour, *look)
    return styles


def _free(options: Sequence[str], place: int, used: set[str]) -> str:
    """The first from `place` on that is not taken, of all in a circle; the one at `place` where all are."""
    place %= len(options)
    return next((option for option in (*options[place:], *options[:place]) if option not in used), options[place])


def broken(name: str) -> str:
    """A name on two lines where it has a remark: beside an axis it takes half the room, on the page and in a saved picture."""
    return name.replace(", ", ",<br>", 1) if ", " in name else name.replace(" (", "<br>(", 1)


_PERCENT = ("accuracy", "balanced_accuracy")
_IN_UNITS = ("rmse", "mae")
#: What predicts without a model; `majority`, a private learner, is another line.
_CONSTANTS = {"accuracy": "Always the largest class", "r2": "Always the mean", "rmse": "Always the mean"}
#: A draw of an R² below this is drawn at the edge: how much worse than the mean does not matter.
R2_FLOOR = -0.5


def measure_text(value: float, metric: str) -> str:
    """One value, as in "81.3%", "0.362", "412.7"."""
    if metric in _IN_UNITS:
        return format_value(value)
    if metric == "r2":
        return r2_text(value)
    return f"{value:.1%}" if metric in _PERCENT else f"{round(value, 3) + 0.0:.3f}"  # no "-0.000"


def interval_text(between: tuple[float, float], metric: str) -> str:
    """Both ends, as in "80.1% to 82.5%"."""
    low, high = between
    least = f"below {measure_text(MIN_R2, metric)}" if metric == "r2" and low < MIN_R2 else measure_text(low, metric)
    return f"{least} to {measure_text(high, metric)}"


def gap_unit(metric: str) -> str:
    """What a difference is counted in."""
    return "units of the target" if metric in _IN_UNITS else "points" if metric in _PERCENT else "hundredths"


def gap_text(value: float, metric: str) -> str:
    """A difference with its sign: "+1.4", "−0.2"; in the target's units "+12.3"."""
    if metric in _IN_UNITS:
        return minus(f"{'+' if value >= 0 else ''}{format_value(value)}")
    return minus(f"{round(100.0 * value, 1) + 0.0:+.1f}")  # no "−0.0"


def _axis(metric: str) -> Style:
    """An axis of the measure."""
    form = ",~r" if metric in _IN_UNITS else ".0%" if metric in _PERCENT else ".2f"
    return {"title": f"{METRICS[metric]} on held-out rows", "tickformat": form, "zeroline": False}


#: Along -> title of the axis.
AXES = {"epsilon": "ε asked for", "max_depth": "most levels of rules", "n_rows": "training rows"}
#: Fits at each point below which a range of nine in ten outcomes says little.
MIN_FITS = 20
#: Stands in a table where a range would be.
TOO_FEW_FITS = "too few fits"
#: Lines of learners without privacy, in their order: all grey, so that each needs a dash of its own.
LEVEL_DASHES = ("dashdot", "longdash", "longdashdot", "12px,3px,2px,3px,2px,3px")
#: Where a point of a curve over epsilon stands: by what was asked, or by what it lets others guess.
Axis = Literal["asked", "guesses"]
#: Ticks of right guesses of 100.
_GUESSES = (50.1, 50.3, 51, 53, 60, 75, 100)


def _visible_points(curve: Curve, *, axis: Axis) -> tuple[tuple[float, Point], ...]:
    """(x, point) of what can be drawn, by x; right guesses are counted from the 50 of a coin.

    A point whose place nothing bounds stands where the claim would put it.
    """

    def place(point: Point) -> float:
        guesses = point.guesses if math.isfinite(point.guesses) else point.claimed_guesses
        return guesses - 50 if axis == "guesses" else point.x

    places = ((place(point), point) for point in curve.points)
    return tuple(sorted((point for point in places if math.isfinite(point[0])), key=lambda point: point[0]))


def unbounded(curves: Iterable[Curve], axis: Axis) -> tuple[str, ...]:
    """Private learners with points that stand where their claim puts them: nothing bounds them on this axis."""
    if axis == "asked":
        return ()
    return tuple(it.learner for it in curves if it.is_private and not all(math.isfinite(p.guesses) for p in it.points))


def bandable(curves: Iterable[Curve]) -> tuple[str, ...]:
    """Learners with several points, each of which has enough fits for a band."""
    return tuple(c.learner for c in curves if len(c.points) > 1 and min(point.n_fits for point in c.points) >= MIN_FITS)


def compare_chart(
    curves: Sequence[Curve],
    *,
    summary: str,
    along: str,
    metric: str,
    level: float | None,
    axis: Axis = "asked",
    chosen: float | None = None,
    banded: str | None = None,
    styles: Mapping[str, LineStyle] | None = None,
    unit: Unit = ROW,
) -> Chart:
    """Lines `along` epsilon, max_depth or n_rows, and the band of the learner `banded`.

    `summary` says what it shows. `level` is what guessing reaches, a dotted line; `chosen` marks a place. `axis`: where points
    over epsilon stand. `styles` by learner, where they were chosen before. `unit`: whose every epsilon is.
    """
    styles, dashes, unproven = styles or _styles(curves), cycle(LEVEL_DASHES), unbounded(curves, axis)
    places = [x for curve in curves for x, _ in _visible_points(curve, axis=axis)]
    ends = (min(places), max(places)) if places else (math.inf, -math.inf)
    figure = chart(670, hovermode="closest", legend=LEGEND_ABOVE, xaxis=_across(along, axis, ends, unit), yaxis=_axis(metric))

    def add_level(name: str, height: float, dash: str) -> None:
        hover = f"{name}: {measure_text(height, metric)}<extra></extra>"
        look: Style = {"mode": "lines", "line": line(NEUTRAL, 2, dash), "hovertemplate": hover}
        figure.add_scatter(x=list(ends), y=[height] * 2, name=name, **look)

    for curve in curves:
        style, points = styles[curve.learner], _visible_points(curve, axis=axis)
        if along == "epsilon" and len(curve.points) == 1 and math.isinf(curve.points[0].x):  # without privacy
            if places:
                add_level(style.name, curve.points[0].median, next(dashes))
        elif points:
            dash = "dash" if curve.learner in unproven else style.dash
            _add_line(figure, points, curve, replace(style, dash=dash), along, metric, unit, has_band=curve.learner == banded)
    if level is not None and places:
        add_level(_CONSTANTS.get(metric, "Guessing"), level, "dot")
    if chosen is not None:
        level_line(figure, x=chosen - 50 if axis == "guesses" else chosen)
    if is_cut(curves, metric, banded):
        figure.update_yaxes(range=[R2_FLOOR, 1.02])
    description = f"{METRICS[metric]} of {count_text(len(curves), 'algorithm')}. {summary}"
    return Chart(figure, description, partial(curve_rows, curves, along=along, metric=metric, unit=unit))


def is_cut(curves: Sequence[Curve], metric: str, banded: str | None = None) -> bool:
    """True when the figure does not show how bad the worst R² is, of all lines and of the band of the learner `banded`."""
    drawn = ((point.low if curve.learner == banded else point.median) for curve in curves for point in curve.points)
    return metric == "r2" and any(value < R2_FLOOR for value in drawn)


def _styles(curves: Sequence[Curve]) -> dict[str, LineStyle]:
    return line_styles({curve.learner: curve.verdict for curve in curves})


def _add_line(
    figure: Figure,
    places: Sequence[tuple[float, Point]],
    curve: Curve,
    style: LineStyle,
    along: str,
    metric: str,
    unit: Unit,
    *,
    has_band: bool,
) -> None:
    x, points = zip(*places, strict=True)
    if has_band:
        area = band(x, [point.low for point in points], [point.high for point in points], style.colour, 0.16)
        figure.add_scatter(**area, legendgroup=curve.learner)
    hover_texts = []
    for point in points:
        low, median, high = (measure_text(value, metric) for value in (point.low, point.median, point.high))
        between = f", 5% to 95%: {low} to {high}" if point.n_fits >= MIN_FITS else ""
        words = [_place_words(along, point.x, unit), f"median {median}{between}", f"{point.n_fits:,} fits"]
        if math.isfinite(point.claimed_guesses):
            words.insert(1, f"right guesses of 100, at most: {_bound(point.guesses)}")
        hover_texts.append("<br>".join(map(escape, [*words, f"composed ε {number_text(point.composed)} ({unit.neighbours})"])))
    look: Style = {"line": line(style.colour, dash=style.dash), "marker": marker(style.colour, style.symbol, 8, 1.5)}
    look |= {
        "name": style.name,
        "legendgroup": curve.learner,
        "mode": "lines+markers" if len(x) > 2 else "markers",
    }  # two points make no curve
    hover = f"<b>{style.name}</b><br>%{{customdata}}<extra></extra>"
    figure.add_scatter(x=x, y=[point.median for point in points], customdata=hover_texts, hovertemplate=hover, **look)


def _bound(guesses: float) -> str:
    return rounded_up(guesses, 1) if math.isfinite(guesses) else "no bound"


def _place_words(along: str, x: float, unit: Unit) -> str:
    if along == "epsilon":
        return "at no ε" if math.isinf(x) else f"at ε = {number_text(x)} ({unit.neighbours})"
    return f"with at most {x:.0f} levels" if along == "max_depth" else f"with {x:,.0f} training rows"


def _across(along: str, axis: Axis, ends: tuple[float, float], unit: Unit) -> Style:
    title = escape(_title(along, unit)) if axis == "asked" else "right guesses of 100, at most (a coin: 50)"
    if axis == "asked" and along == "max_depth":
        return {"title": title, "zeroline": False, "dtick": 1}
    ticks: list[float] = []
    shift = 50 if axis == "guesses" else 0
    if math.isfinite(ends[0]):
        powers = range(math.floor(math.log10(ends[0])) - 1, math.ceil(math.log10(ends[1])) + 1)
        round_numbers = [digit * 10.0**power for power in powers for digit in ((1, 2, 5) if along == "n_rows" else (1, 3))]
        values = [value - shift for value in _GUESSES] if shift else round_numbers
        ticks = [value for value in values if ends[0] * 0.7 <= value <= ends[1] * 1.4]
    texts = [number_text(tick + shift) for tick in ticks]
    return {"title": title, "zeroline": False, "type": "log", "tickvals": ticks, "ticktext": texts}


def _title(along: str, unit: Unit) -> str:
    return f"{AXES[along]} ({unit.neighbours})" if along == "epsilon" else AXES[along]


def headline(
    curves: Sequence[Curve],
    *,
    along: str,
    x: float,
    metric: str,
    level: float | None,
    about: str | None = None,
    epsilon: float | None = None,
    unit: Unit = ROW,
) -> str:
    """The best private learner whose claim holds at a place, the others' best, and what guessing reaches.

    With `about` ("one row") the place is that where at most `x` of 100 guesses about it may be right. `epsilon`: that of all
    curves over depth or rows.
    """
    most, styles = number_text(x), _styles(curves)
    by_risk = {} if about is None else at_equal_risk(curves, x)
    points = {curve.learner: by_risk.get(curve.learner) if about is not None else curve.at(x) for curve in curves}
    curve_points = [(curve, point) for curve in curves if (point := points[curve.learner]) is not None]
    sound = [pair for pair in curve_points if pair[0].is_sound]
    if not sound:
        place_words = "here" if about is None else f"with at most {most} right guesses of 100"
        return f"No algorithm whose claim holds was fitted {place_words}."
    best, point = (min if metric in ERRORS else max)(sound, key=lambda pair: pair[1].median)
    place, name = capital(_place_words(along, x, unit)), styles[best.learner].title
    if epsilon is not None:
        place += f" {_place_words('epsilon', epsilon, unit)}"
    if about is not None:
        place = f"Where at most {most} of 100 guesses about {about} may be right"
        name += f" (ε = {number_text(point.x)}, {unit.neighbours})"
    low, median, high = (measure_text(value, metric) for value in (point.low, point.median, point.high))
    spread = f" (nine of ten draws: {low} to {high})" if point.n_fits >= MIN_FITS else ""
    references = [f"{styles[c.learner].title} {measure_text(p.median, metric)}" for c, p in curve_points if not c.is_private]
    if level is not None:
        references.append(f"{'the mean' if metric in ('r2', 'rmse') else 'guessing'} {measure_text(level, metric)}")
    sentence = f"{place}, {name} reaches {METRICS[metric]} {median}{spread}"
    return f"{sentence}; {', '.join(references)}." if references else f"{sentence}."


def curve_rows(curves: Sequence[Curve], *, along: str, metric: str, unit: Unit = ROW) -> Rows:
    """The figure as a table: one line per learner and place."""
    styles = _styles(curves)
    return [
        {
            "algorithm": styles[curve.learner].title,
            "claim": "none made" if curve.verdict == "none" else curve.verdict,
            _title(along, unit): number_text(point.x) if along == "epsilon" else f"{point.x:,.0f}",
            f"ε the steps compose to ({unit.neighbours})": number_text(point.composed),
            **({"right guesses of 100, at most": _bound(point.guesses)} if math.isfinite(point.claimed_guesses) else {}),
            f"median {METRICS[metric]}": measure_text(point.median, metric),
            "5%": measure_text(point.low, metric) if point.n_fits >= MIN_FITS else TOO_FEW_FITS,
            "95%": measure_text(point.high, metric) if point.n_fits >= MIN_FITS else TOO_FEW_FITS,
            "fits": f"{point.n_fits:,}",
        }
        for curve in curves
        for point in curve.points
    ]


_QUARTERS = {"lowest": 0.0, "25%": 0.25, "median": 0.5, "75%": 0.75, "highest": 1.0}


def box_chart(outcomes: Mapping[str, np.ndarray], styles: Mapping[str, LineStyle], metric: str = "accuracy") -> Chart:
    """A box with all points per learner; `outcomes` by learner, in the unit of `metric`. Open where a claim does not hold.

    Quarters of the table are counted as plotly counts them (Hazen).
    """
    figure = chart(106 + 84 * len(outcomes), top=34, right=16, showlegend=False, xaxis=_axis(metric), yaxis=NAMES)
    for learner, values in outcomes.items():
        style = styles[learner]
        hover_texts = [f"{style.name}: {measure_text(float(value), metric)}" for value in values]
        figure.add_box(
            x=values,
            name=broken(style.name),
            orientation="h",
            boxpoints="all",
            pointpos=0,
            jitter=0.6,
            fillcolor=CLEAR if style.symbol.endswith("-open") else translucent(style.colour, 0.16),
            line={"color": style.colour, "width": 2},
            marker={"symbol": style.symbol, "size": 6, "color": style.colour, "opacity": 0.6},
            hoveron="points",
            text=hover_texts,
            hovertemplate="%{text}<extra></extra>",
        )
    rows = [
        {"algorithm": styles[learner].name}
        | {name: measure_text(float(np.quantile(values, at, method="hazen")), metric) for name, at in _QUARTERS.items()}
        | {"fits": f"{len(values):,}"}
        for learner, values in outcomes.items()
    ]
    words = "{algorithm}: half of {fits} fits from {25%} to {75%}, median {median}"
    summary = "; ".join(words.format_map(row) for row in rows)
    return Chart(figure, f"{summary}.", rows)


def difference_rows(
    differences: Sequence[Difference],
    metric: str = "accuracy",
    epsilons: Mapping[str, float] = MappingProxyType({}),
    unit: Unit = ROW,
) -> Rows:
    """A line per other learner: how sure it is that it is beaten, and by how much, in points or units.

    Without a spread of any of them there is no column of it. `epsilons` by learner, where they are compared at several.
    """
    unknown = dict.fromkeys(("5%", "95%"), TOO_FEW_FITS) if any(map(_has_spread, differences)) else {}
    return [
        {
            "against": variant_title(item.other),
            **({f"its ε ({unit.neighbours})": number_text(epsilons[item.other])} if epsilons else {}),
            "probability that it is beaten": probability_text(item),
            f"median difference in {METRICS[metric]}, {gap_unit(metric)}": gap_text(item.median, metric),
            **({"5%": gap_text(item.low, metric), "95%": gap_text(item.high, metric)} if _has_spread(item) else unknown),
            "splits": f"{item.n_folds}",
            "independent pairs of draws": f"{item.n_draws:,}",
        }
        for item in differences
    ]


def _has_spread(item: Difference) -> bool:
    """True where enough draws, or none at all, stand behind a range of nine in ten differences."""
    return item.n_draws == 0 or item.n_draws >= MIN_FITS


def probability_text(item: Difference) -> str:
    """As in "93% (88% to 96%)"; where one was always ahead, what that shows: "at least 72% (always ahead)"."""
    if not item.n_draws:
        return f"{item.probability:.0%} (neither draws noise)"
    if item.probability == 1:
        return f"at least {item.probability_low:.0%} (always ahead)"
    if item.probability == 0:
        return f"at most {item.probability_high:.0%} (never ahead)"
    digits = 0 if 0.005 <= item.probability <= 0.995 else 2
    return f"{item.probability:.{digits}%} ({item.probability_low:.0%} to {item.probability_high:.0%})"
