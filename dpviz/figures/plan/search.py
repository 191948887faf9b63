"""The planner's answers: in a headline, in words, and a figure of what the search tried, with its table.

Everything here is about simulations of a plan, never a statement about released rows.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median_high

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.evaluation.plan.planner import Along, Goal
from dpviz.evaluation.plan.search import STAGES, GridPoint, SearchAnswer
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, Style, chart, limits, line, marker
from dpviz.figures.theme import GREEN, NEUTRAL, ORANGE
from dpviz.figures.wording import capital, percent
from dpviz.learners import FitRequest
from dpviz.results.verdict import ROW, Unit, at_most_text, loss_text, short_text
from dpviz.results.wording import number_text, rounded_up

AXES = {"epsilon": f"ε ({NEIGHBOURS})", "n_rows": "training rows", "max_depth": "levels of rules"}
MEASURES = {
    "accuracy": "test accuracy (held-out rows)",
    "labels": "the share of leaves whose label is the true majority",
}
VERDICTS = {"yes": "enough", "no": "not enough", "open": "undecided", "look": "first look"}
_MARKS = {
    "yes": (GREEN, "triangle-up"),
    "no": (ORANGE, "triangle-down"),
    "open": (NEUTRAL, "diamond"),
    "look": (NEUTRAL, "circle-open"),
}


def mark_of(point: GridPoint) -> str:
    """Its verdict, or "look": seen once, as every place is, and left there, because others decide the question."""
    return "look" if point.verdict == "open" and point.n_draws <= STAGES[0] else point.verdict


def place_text(along: Along, place: float, unit: Unit = ROW) -> str:
    """As in "ε = 0.3", "20,000 rows", "depth 3"; the epsilon of one unit first: "ε = 0.9 (one row: ε = 0.3)"."""
    match along:
        case "epsilon":
            return short_text(PrivacyLoss(place), unit)
        case "n_rows":
            return f"{place:,.0f} rows"
        case _:
            return f"depth {place:.0f}"


@dataclass(frozen=True)
class AtRisk:
    """What an epsilon lets others guess about one unit: in this a goal is paid for, and the epsilon is its name."""

    guesses: Callable[[float], float]  #: By epsilon: the most right guesses of 100; infinite where nothing bounds them
    unit: Unit = ROW

    def at(self, epsilon: float) -> str:
        """As in "at most 61 of 100 guesses about one row may be right"."""
        hundredths = self.guesses(epsilon)
        if math.isinf(hundredths):
            return f"nothing limits what can be learned about {self.unit.words}"
        return f"{at_most_text(hundredths)} of 100 guesses about {self.unit.words} may be right"


def of_unit(along: Along, place: float, unit: Unit) -> float:
    """Where a place stands on the axis: an epsilon is that of one unit."""
    return unit.loss_of(PrivacyLoss(place)).epsilon if along == "epsilon" else place


def axis_title(along: Along, unit: Unit) -> str:
    """What the axis counts."""
    return f"ε ({unit.neighbours})" if along == "epsilon" else AXES[along]


def _place_in_full(along: Along, place: float, risk: AtRisk | None, *, with_guesses: bool = True) -> str:
    """The same where it stands alone: an epsilon with what counts as neighbouring, and with what it lets others guess."""
    if along != "epsilon":
        return place_text(along, place)
    said = loss_text(PrivacyLoss(place), risk.unit if risk else ROW)
    return f"{said}, where {risk.at(place)}" if risk and with_guesses else said


def goal_text(goal: Goal) -> str:
    """The goal in words."""
    return f"in {percent(goal.reliability)} of the trees, {MEASURES[goal.measure]} is at least {percent(goal.target)}"


def answer_headline(answer: SearchAnswer, along: Along, risk: AtRisk | None = None) -> str:
    """The answer in one line; for an epsilon by what it lets others guess."""
    reached, last = answer.reached, answer.grid[-1]
    if reached is not None:
        least = {"epsilon": "is enough", "n_rows": "are enough", "max_depth": "still works"}[along]
        enough = f"{_place_in_full(along, reached.place, risk, with_guesses=False)} {least}"
        return capital(f"{risk.at(reached.place)}: {enough}" if risk and along == "epsilon" else enough)
    if answer.is_refuted:
        return f"Not reachable, not even with {_place_in_full(along, last, risk)}"
    if not answer.is_complete:
        return "Stopped before there was an answer"
    return f"Not shown to be reachable: the draws do not decide at {_place_in_full(along, last, risk)}"


def so_far_headline(answer: SearchAnswer, along: Along, risk: AtRisk | None = None) -> str:
    """What is known while the search goes on: it holds like the answer itself, which will only say more."""
    if answer.reached is not None:
        return f"Enough: {_place_in_full(along, answer.reached.place, risk)}. Now trying the values next to it"
    if answer.missed is not None:
        return f"Not enough: {_place_in_full(along, answer.missed.place, risk)}. Now looking further"
    return "Every value has had a first look. Now looking more closely"


def answer_sentence(answer: SearchAnswer, along: Along, goal: Goal, unit: Unit = ROW) -> str:
    """What was found at the ends of the bracket, and what the confidence covers."""
    said = [f"Wanted: {goal_text(goal)}."]
    reached, missed = answer.reached, answer.missed
    if reached is not None:
        said.append(f"With {place_text(along, reached.place, unit)}, {_count(reached)} trees reached it.")
    if missed is not None:
        said.append(f"With {place_text(along, missed.place, unit)}, {_count(missed)} did: shown not to be enough.")
        if reached is None:
            said.append(f"The middle tree there had {percent(median_high(missed.outcomes))}.")
    elif reached is not None:
        said.append(f"Nothing looked at was shown not to be enough, down to {place_text(along, answer.points[0].place, unit)}.")
    between = answer.points[answer.points.index(missed) + 1 if missed else 0 : answer.points.index(reached) if reached else 0]
    if between:
        said.append(f"Undecided: {', '.join(place_text(along, point.place, unit) for point in between)}.")
    said.append(f"All of this holds together with {percent(answer.confidence)} confidence.")
    return " ".join(said)


def _count(point: GridPoint) -> str:
    return f"{point.successes} of {point.n_draws}"


def check_sentence(found: GridPoint, along: Along, goal: Goal, unit: Unit = ROW) -> str:
    """What fresh simulations said about an answer."""
    verdict = {
        "yes": "The answer held, by more than chance explains.",
        "open": "In line with the answer.",
        "no": "The answer did not hold here.",
    }[found.verdict]
    limits = f"between {percent(round(found.low, 3))} and {percent(round(found.high, 3))} with 95% confidence"
    return (
        f"Checked on {found.n_draws} fresh simulations with {place_text(along, found.place, unit)}: {found.successes} trees "
        f"reached {percent(goal.target)}, {percent(round(found.share, 3))} ({limits}); {percent(goal.reliability)} was asked. "
        f"{verdict}"
    )


def search_figure(answer: SearchAnswer, along: Along, unit: Unit = ROW) -> Figure:
    """Share of trees that reached the target at every place that was tried, with the limits the search used."""
    shares = {"title": "trees that reached it, %", "range": [-4, 106], "zeroline": False}
    places = {"title": axis_title(along, unit), **grid_axis(along, [of_unit(along, place, unit) for place in answer.grid])}
    figure = chart(340, top=16, legend=LEGEND_ABOVE, xaxis=places, yaxis=shares)
    for mark in dict.fromkeys(map(mark_of, answer.points)):
        points = [point for point in answer.points if mark_of(point) == mark]
        colour, symbol = _MARKS[mark]
        up = [100 * (point.high - point.share) for point in points]
        down = [100 * (point.share - point.low) for point in points]
        spread = None if mark == "look" else limits(up, down, colour)
        look: Style = {"mode": "markers", "error_y": spread, "marker": marker(colour, symbol), "showlegend": True}
        said = [f"{place_text(along, point.place, unit)}: {_count(point)} reached it" for point in points]
        look |= {"name": VERDICTS[mark], "customdata": said, "hovertemplate": f"%{{customdata}}, {VERDICTS[mark]}<extra></extra>"}
        x = [of_unit(along, point.place, unit) for point in points]
        figure.add_scatter(x=x, y=[100 * point.share for point in points], **look)
    if answer.reached is not None:
        place = of_unit(along, answer.reached.place, unit)
        figure.add_vline(place, line=line(GREEN, 2))
        where = {"x": place if along == "max_depth" else math.log10(place), "y": 0, "xanchor": "left", "showarrow": False}
        figure.add_annotation(text=f" <b>{place_text(along, place)}</b>", **where)
    asked = {"annotation_text": f"asked: {percent(answer.reliability)}", "annotation_position": "top left"}
    figure.add_hline(100 * answer.reliability, line={"color": NEUTRAL, "dash": "dot"}, **asked)
    return figure


def grid_axis(along: Along, grid: Sequence[float]) -> Style:
    """The horizontal axis of a grid: logarithmic, round numbers written out; levels one by one."""
    if along == "max_depth":
        return {"dtick": 1, "zeroline": False, "range": [min(grid) - 0.5, max(grid) + 0.5]}
    low, high = min(grid), max(grid)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = (float(f"{digit}e{power}") for power in decades for digit in ((1, 3) if along == "epsilon" else (1,)))
    ticks = [place for place in every if low <= place <= high]
    ends = [math.log10(low) - 0.1, math.log10(high) + 0.1]
    return {"type": "log", "range": ends, "tickvals": ticks, "ticktext": [number_text(tick) for tick in ticks]}


def search_rows(answer: SearchAnswer, along: Along, risk: AtRisk | None = None) -> Rows:
    """Every place that was tried, as a table."""
    guessed, unit = risk if along == "epsilon" else None, risk.unit if risk else ROW
    return [
        {
            **places(along, point.place, unit),
            **({} if guessed is None else {f"right guesses of 100, {guessed.unit.words}": _guesses_cell(guessed, point.place)}),
            "trees that reached it": _count(point),
            "share": percent(round(point.share, 3)),
            "at least": percent(round(point.low, 3)),
            "at most": percent(round(point.high, 3)),
            "verdict": VERDICTS[mark_of(point)],
        }
        for point in answer.points
    ]


def places(along: Along, place: float, unit: Unit) -> dict[str, str]:
    """Cells of a table: of an epsilon that of one unit first, then that of a row."""
    return {axis_title(along, unit): number_text(of_unit(along, place, unit)), AXES[along]: number_text(place)}


def _guesses_cell(risk: AtRisk, place: float) -> str:
    hundredths = risk.guesses(place)
    return "no bound" if math.isinf(hundredths) else rounded_up(hundredths, 1)


def held_fixed_text(request: FitRequest, along: Along | None, unit: Unit = ROW) -> str:
    """What is held fixed, for the line above an answer."""
    settings = request.settings
    fixed = {
        "epsilon": loss_text(PrivacyLoss(settings.epsilon), unit),
        "max_depth": f"automatic depth, at most {settings.max_depth}" if settings.depth == "auto" else f"depth {settings.depth}",
    }
    return ", ".join([request.spec.title, *(words for name, words in fixed.items() if name != along)])
