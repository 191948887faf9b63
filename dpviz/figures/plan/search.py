"""The planner's answers: in a headline, in words, and a figure of what the search tried, with its table.

Everything here is about simulations of a plan, never a statement about released rows.
"""

import math
from collections.abc import Sequence
from statistics import median_high

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.evaluation.plan.planner import Along, Goal, Setup
from dpviz.evaluation.plan.search import STAGES, Answer, Rung
from dpviz.figures.charts import LEGEND_ABOVE, Figure, Rows, Style, chart, limits, line, marker
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.theme import GREEN, NEUTRAL, ORANGE
from dpviz.figures.wording import capital, percent

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


def mark_of(rung: Rung) -> str:
    """Its verdict, or "look": seen once, as every place is, and left there, because others decide the question."""
    return "look" if rung.verdict == "open" and rung.n_draws <= STAGES[0] else rung.verdict


def place_text(along: Along, place: float) -> str:
    """As in "ε = 0.3", "20,000 rows", "depth 3"."""
    match along:
        case "epsilon":
            return f"ε = {number_text(place)}"
        case "n_rows":
            return f"{place:,.0f} rows"
        case _:
            return f"depth {place:.0f}"


def _place_in_full(along: Along, place: float) -> str:
    """The same where it stands alone: an epsilon with what counts as neighbouring."""
    return f"{place_text(along, place)} ({NEIGHBOURS})" if along == "epsilon" else place_text(along, place)


def goal_text(goal: Goal) -> str:
    """The goal in words."""
    return f"in {percent(goal.reliability)} of the trees, {MEASURES[goal.measure]} is at least {percent(goal.target)}"


def answer_headline(answer: Answer, along: Along) -> str:
    """The answer in one line."""
    reached, last = answer.reached, answer.ladder[-1]
    if reached is not None:
        least = {"epsilon": "is enough", "n_rows": "are enough", "max_depth": "still works"}[along]
        return f"{capital(_place_in_full(along, reached.place))} {least}"
    if answer.is_refuted:
        return f"Not reachable, not even with {_place_in_full(along, last)}"
    if not answer.is_complete:
        return "Stopped before there was an answer"
    return f"Not shown to be reachable: the draws do not decide at {_place_in_full(along, last)}"


def so_far_headline(answer: Answer, along: Along) -> str:
    """What is known while the search goes on: it holds like the answer itself, which will only say more."""
    if answer.reached is not None:
        return f"Enough: {_place_in_full(along, answer.reached.place)}. Now looking at the values beside it"
    if answer.missed is not None:
        return f"Not enough: {_place_in_full(along, answer.missed.place)}. Now looking further"
    return "Every value has had a first look. Now looking more closely"


def answer_sentence(answer: Answer, along: Along, goal: Goal) -> str:
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
        said.append(f"Nothing looked at was shown not to be enough, down to {place_text(along, answer.rungs[0].place)}.")
    between = answer.rungs[answer.rungs.index(missed) + 1 if missed else 0 : answer.rungs.index(reached) if reached else 0]
    if between:
        said.append(f"Undecided: {', '.join(place_text(along, rung.place) for rung in between)}.")
    said.append(f"All of this holds together with {percent(answer.confidence)} confidence.")
    return " ".join(said)


def _count(rung: Rung) -> str:
    return f"{rung.successes} of {rung.n_draws}"


def check_sentence(found: Rung, along: Along, goal: Goal) -> str:
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


def search_figure(answer: Answer, along: Along) -> Figure:
    """Share of trees that reached the target at every place that was tried, with the limits the search used."""
    shares = {"title": "trees that reached it, %", "range": [-4, 106], "zeroline": False}
    places = {"title": AXES[along], **ladder_axis(along, answer.ladder)}
    figure = chart(340, top=16, legend=LEGEND_ABOVE, xaxis=places, yaxis=shares)
    for mark in dict.fromkeys(map(mark_of, answer.rungs)):
        rungs = [rung for rung in answer.rungs if mark_of(rung) == mark]
        colour, symbol = _MARKS[mark]
        up = [100 * (rung.high - rung.share) for rung in rungs]
        down = [100 * (rung.share - rung.low) for rung in rungs]
        spread = None if mark == "look" else limits(up, down, colour)
        look: Style = {"mode": "markers", "error_y": spread, "marker": marker(colour, symbol), "showlegend": True}
        said = [f"{place_text(along, rung.place)}: {_count(rung)} reached it" for rung in rungs]
        look |= {"name": VERDICTS[mark], "customdata": said, "hovertemplate": f"%{{customdata}}, {VERDICTS[mark]}<extra></extra>"}
        figure.add_scatter(x=[rung.place for rung in rungs], y=[100 * rung.share for rung in rungs], **look)
    if answer.reached is not None:
        place = answer.reached.place
        figure.add_vline(place, line=line(GREEN, 2))
        where = {"x": place if along == "max_depth" else math.log10(place), "y": 0, "xanchor": "left", "showarrow": False}
        figure.add_annotation(text=f" <b>{place_text(along, place)}</b>", **where)
    asked = {"annotation_text": f"asked: {percent(answer.reliability)}", "annotation_position": "top left"}
    figure.add_hline(100 * answer.reliability, line={"color": NEUTRAL, "dash": "dot"}, **asked)
    return figure


def ladder_axis(along: Along, ladder: Sequence[float]) -> Style:
    """The horizontal axis of a ladder: logarithmic, round numbers written out; levels one by one."""
    if along == "max_depth":
        return {"dtick": 1, "zeroline": False, "range": [min(ladder) - 0.5, max(ladder) + 0.5]}
    low, high = min(ladder), max(ladder)
    ticks = [place for place in ladder if f"{place:e}".startswith(("1.0", "3.0" if along == "epsilon" else "1.0"))]
    ends = [math.log10(low) - 0.1, math.log10(high) + 0.1]
    return {"type": "log", "range": ends, "tickvals": ticks, "ticktext": [number_text(tick) for tick in ticks]}


def search_rows(answer: Answer, along: Along) -> Rows:
    """Every place that was tried, as a table."""
    return [
        {
            AXES[along]: number_text(rung.place),
            "trees that reached it": _count(rung),
            "share": percent(round(rung.share, 3)),
            "at least": percent(round(rung.low, 3)),
            "at most": percent(round(rung.high, 3)),
            "verdict": VERDICTS[mark_of(rung)],
        }
        for rung in answer.rungs
    ]


def setup_text(setup: Setup, along: Along | None, title: str) -> str:
    """What is held fixed, for the line above an answer."""
    depth = setup.settings["depth"]
    fixed = {
        "epsilon": f"ε = {number_text(setup.settings['epsilon'])} ({NEIGHBOURS})",
        "max_depth": f"depth {depth}" if depth != "auto" else f"automatic depth, at most {setup.settings['max_depth']}",
        "n_rows": "" if setup.n_rows is None else f"{setup.n_rows:,} rows",
    }
    return ", ".join([title, *(words for name, words in fixed.items() if words and name != along)])
