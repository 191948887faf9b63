"""The planner's answers: in a headline, in words, and a figure of what the search tried, with its table.

Everything here is about simulations of a plan, never a statement about released rows.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median_high

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.plan.planner import Along, Goal
from dpviz.evaluation.plan.search import STAGES, GridPoint, SearchAnswer
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, Style, chart, limits, line, marker
from dpviz.figures.theme import GREEN, NEUTRAL, ORANGE
from dpviz.figures.wording import capital, percent
from dpviz.learners import FitRequest
from dpviz.results.verdict import ROW, Unit, at_most_text
from dpviz.results.wording import number_text

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


def place_text(along: Along, place: float) -> str:
    """As in "ε = 0.3", "20,000 rows", "depth 3"."""
    match along:
        case "epsilon":
            return f"ε = {number_text(place)}"
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
        """As in "at most about 61 of 100 guesses about one row may be right"."""
        hundredths = self.guesses(epsilon)
        if math.isinf(hundredths):
            return f"nothing limits what can be learned about {self.unit.words}"
        return f"{at_most_text(hundredths)} of 100 guesses about {self.unit.words} may be right"


def _place_in_full(along: Along, place: float, risk: AtRisk | None = None) -> str:
    """The same where it stands alone: an epsilon with what counts as neighbouring, and with what it lets others guess."""
    if along != "epsilon":
        return place_text(along, place)
    return f"{place_text(along, place)} ({NEIGHBOURS})" + (f", where {risk.at(place)}" if risk else "")


def goal_text(goal: Goal) -> str:
    """The goal in words."""
    return f"in {percent(goal.reliability)} of the trees, {MEASURES[goal.measure]} is at least {percent(goal.target)}"


def answer_headline(answer: SearchAnswer, along: Along, risk: AtRisk | None = None) -> str:
    """The answer in one line; for an epsilon by what it lets others guess."""
    reached, last = answer.reached, answer.grid[-1]
    if reached is not None:
        least = {"epsilon": "is enough", "n_rows": "are enough", "max_depth": "still works"}[along]
        enough = f"{_place_in_full(along, reached.place)} {least}"
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


def answer_sentence(answer: SearchAnswer, along: Along, goal: Goal) -> str:
    """What was found at the ends of the bracket, and what the confidence covers."""
    said = [f"Wanted: {goal_text(goal)}."]
    reached, missed = answer.reached, answer.missed
    if reached is not None:
        said.append(f"With {place_text(along, reached.place)}, {_count(reached)} trees reached it.")
    if missed is not None:
        said.append(f"With {place_text(along, missed.place)}, {_count(missed)} did: shown not to be enough.")
        if reached is None:
            said.append(f"The middle tree there had {percent(median_high(missed.outcomes))}.")
    elif reached is not None:
        said.append(f"Nothing looked at was shown not to be enough, down to {place_text(along, answer.points[0].place)}.")
    between = answer.points[answer.points.index(missed) + 1 if missed else 0 : answer.points.index(reached) if reached else 0]
    if between:
        said.append(f"Undecided: {', '.join(place_text(along, point.place) for point in between)}.")
    said.append(f"All of this holds together with {percent(answer.confidence)} confidence.")
    return " ".join(said)


def _count(point: GridPoint) -> str:
    return f"{point.successes} of {point.n_draws}"


def check_sentence(found: GridPoint, along: Along, goal: Goal) -> str:
    """What fresh simulations said about an answer."""
    verdict = {
        "yes": "The answer held, by more than chance explains.",
        "open": "In line with the answer.",
        "no": "The answer did not hold here.",
    }[found.verdict]
    limits = f"between {percent(round(found.low, 3))} and {percent(round(found.high, 3))} with 95% confidence"
    return (
        f"Checked on {found.n_draws} fresh simulations with {place_text(along, found.place)}: {found.successes} trees reached "
        f"{percent(goal.target)}, {percent(round(found.share, 3))} ({limits}); {percent(goal.reliability)} was asked. {verdict}"
    )


def search_figure(answer: SearchAnswer, along: Along) -> Figure:
    """Share of trees that reached the target at every place that was tried, with the limits the search used."""
    shares = {"title": "trees that reached it, %", "range": [-4, 106], "zeroline": False}
    places = {"title": AXES[along], **grid_axis(along, answer.grid)}
    figure = chart(340, top=16, legend=LEGEND_ABOVE, xaxis=places, yaxis=shares)
    for mark in dict.fromkeys(map(mark_of, answer.points)):
        points = [point for point in answer.points if mark_of(point) == mark]
        colour, symbol = _MARKS[mark]
        up = [100 * (point.high - point.share) for point in points]
        down = [100 * (point.share - point.low) for point in points]
        spread = None if mark == "look" else limits(up, down, colour)
        look: Style = {"mode": "markers", "error_y": spread, "marker": marker(colour, symbol), "showlegend": True}
        said = [f"{place_text(along, point.place)}: {_count(point)} reached it" for point in points]
        look |= {"name": VERDICTS[mark], "customdata": said, "hovertemplate": f"%{{customdata}}, {VERDICTS[mark]}<extra></extra>"}
        figure.add_scatter(x=[point.place for point in points], y=[100 * point.share for point in points], **look)
    if answer.reached is not None:
        place = answer.reached.place
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
    ticks = [place for place in grid if f"{place:e}".startswith(("1.0", "3.0" if along == "epsilon" else "1.0"))]
    ends = [math.log10(low) - 0.1, math.log10(high) + 0.1]
    return {"type": "log", "range": ends, "tickvals": ticks, "ticktext": [number_text(tick) for tick in ticks]}


def search_rows(answer: SearchAnswer, along: Along, risk: AtRisk | None = None) -> Rows:
    """Every place that was tried, as a table."""
    guessed = risk if along == "epsilon" else None
    return [
        {
            AXES[along]: number_text(point.place),
            **({} if guessed is None else {f"right guesses of 100, {guessed.unit.words}": _guesses_cell(guessed, point.place)}),
            "trees that reached it": _count(point),
            "share": percent(round(point.share, 3)),
            "at least": percent(round(point.low, 3)),
            "at most": percent(round(point.high, 3)),
            "verdict": VERDICTS[mark_of(point)],
        }
        for point in answer.points
    ]


def _guesses_cell(risk: AtRisk, place: float) -> str:
    hundredths = risk.guesses(place)
    return "no bound" if math.isinf(hundredths) else f"{hundredths:.1f}"


def held_fixed_text(request: FitRequest, along: Along | None) -> str:
    """What is held fixed, for the line above an answer."""
    settings = request.settings
    fixed = {
        "epsilon": f"ε = {number_text(settings.epsilon)} ({NEIGHBOURS})",
        "max_depth": f"automatic depth, at most {settings.max_depth}" if settings.depth == "auto" else f"depth {settings.depth}",
    }
    return ", ".join([request.spec.title, *(words for name, words in fixed.items() if name != along)])
