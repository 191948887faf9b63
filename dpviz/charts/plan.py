"""Plan in pictures and words: what the search tried and its answer, three consequences of one epsilon, what to expect.

Everything here is about simulations of a plan, never a statement about released rows.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median_high

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.charts.chart import (
    LEGEND_ABOVE,
    NAMES,
    Chart,
    Rows,
    Style,
    band,
    chart,
    hatched_bar,
    level_line,
    limits,
    line,
    marker,
    panels,
)
from dpviz.charts.theme import BLUE, GREEN, NEUTRAL, ORANGE, PINK, TEAL
from dpviz.charts.tree.text import fit_text, visible
from dpviz.charts.wording import capital, count_text, percent
from dpviz.evaluation.plan import STAGES, TAIL, Along, Consequence, Consequences, Goal, GridPoint, SearchAnswer
from dpviz.evaluation.simulate import RARELY, USUALLY, ExpectedScores
from dpviz.learners import FitRequest
from dpviz.results.verdict import ROW, Unit, at_most_text, bare_text, loss_text, right_guesses
from dpviz.results.wording import number_text, rounded_up

AXES = {"epsilon": f"ε ({NEIGHBOURS})", "n_rows": "training rows", "max_depth": "levels of rules"}
MEASURES = {
    "accuracy": "test accuracy (held-out rows)",
    "labels": "the share of leaves whose label is the true majority",
}
#: By verdict its word, colour and symbol; "look": seen once, as every place is, and left there, because others decide.
_MARKS = {
    "yes": ("enough", GREEN, "triangle-up"),
    "no": ("not enough", ORANGE, "triangle-down"),
    "open": ("undecided", NEUTRAL, "diamond"),
    "look": ("first look", NEUTRAL, "circle-open"),
}


def _mark_of(point: GridPoint) -> str:
    return "look" if point.verdict == "open" and point.n_draws <= STAGES[0] else point.verdict


def _place_text(along: Along, place: float) -> str:
    """As in "ε = 0.3", "20,000 rows", "depth 3"."""
    match along:
        case "epsilon":
            return bare_text(PrivacyLoss(place))
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


def _axis_title(along: Along, unit: Unit) -> str:
    """What the axis counts."""
    return f"ε ({unit.neighbours})" if along == "epsilon" else AXES[along]


def _place_in_full(along: Along, place: float, risk: AtRisk | None, *, with_guesses: bool = True) -> str:
    """The same where it stands alone: an epsilon with what counts as neighbouring, and with what it lets others guess."""
    if along != "epsilon":
        return _place_text(along, place)
    loss = loss_text(PrivacyLoss(place), risk.unit if risk else ROW)
    return f"{loss}, where {risk.at(place)}" if risk and with_guesses else loss


def answer_headline(answer: SearchAnswer, along: Along, risk: AtRisk | None = None) -> str:
    """The answer in one line; for an epsilon by what it lets others guess."""
    reached, last = answer.first_success, answer.grid[-1]
    if reached is not None:
        least = {"epsilon": "is enough", "n_rows": "are enough", "max_depth": "still works"}[along]
        enough = f"{_place_in_full(along, reached.place, risk, with_guesses=False)} {least}"
        return capital(f"{risk.at(reached.place)}: {enough}" if risk and along == "epsilon" else enough)
    if answer.is_refuted:
        return f"Not reachable, not even with {_place_in_full(along, last, risk)}"
    if not answer.is_complete:
        return "Stopped before there was an answer"
    return f"Not shown to be reachable: the draws do not decide at {_place_in_full(along, last, risk)}"


def answer_sentence(answer: SearchAnswer, along: Along, goal: Goal) -> str:
    """What was found at the ends of the bracket, and what the confidence covers."""
    share = f"{MEASURES[goal.measure]} is at least {percent(goal.target)}"
    sentences = [f"Wanted: in {percent(goal.reliability)} of the trees, {share}."]
    reached, missed = answer.first_success, answer.last_failure
    if reached is not None:
        sentences.append(f"With {_place_text(along, reached.place)}, {_count(reached)} trees reached it.")
    if missed is not None:
        sentences.append(f"With {_place_text(along, missed.place)}, {_count(missed)} did: shown not to be enough.")
        if reached is None:
            sentences.append(f"The middle tree there had {percent(median_high(missed.outcomes))}.")
    elif reached is not None:
        sentences.append(f"Nothing looked at was shown not to be enough, down to {_place_text(along, answer.points[0].place)}.")
    between = answer.points[answer.points.index(missed) + 1 if missed else 0 : answer.points.index(reached) if reached else 0]
    if between:
        sentences.append(f"Undecided: {', '.join(_place_text(along, point.place) for point in between)}.")
    sentences.append(f"All of this holds together with {percent(answer.confidence)} confidence.")
    return " ".join(sentences)


def _count(point: GridPoint) -> str:
    return f"{point.successes} of {point.n_draws}"


def search_chart(answer: SearchAnswer, along: Along, summary: str, risk: AtRisk) -> Chart:
    """Share of trees that reached the target at every place that was tried, with the limits the search used."""
    unit = risk.unit
    shares = {"title": "trees that reached it, %", "range": [-4, 106], "zeroline": False}
    places = {"title": escape(_axis_title(along, unit)), **_grid_axis(along, answer.grid)}
    figure = chart(340, top=16, legend=LEGEND_ABOVE, xaxis=places, yaxis=shares)
    for mark in dict.fromkeys(map(_mark_of, answer.points)):
        points = [point for point in answer.points if _mark_of(point) == mark]
        word, colour, symbol = _MARKS[mark]
        up = [100 * (point.high - point.share) for point in points]
        down = [100 * (point.share - point.low) for point in points]
        look: Style = {"mode": "markers", "marker": marker(colour, symbol), "name": word, "showlegend": True}
        look["error_y"] = None if mark == "look" else limits(up, down, colour)
        look["customdata"] = [f"{_place_text(along, point.place)}: {_count(point)} reached it" for point in points]
        look["hovertemplate"] = f"%{{customdata}}, {word}<extra></extra>"
        x = [point.place for point in points]
        figure.add_scatter(x=x, y=[100 * point.share for point in points], **look)
    if answer.first_success is not None:
        place = answer.first_success.place
        enough = f" <b>{_place_text(along, place)}</b>"
        level_line(figure, x=place, words=enough, look=line(GREEN, 2), annotation_position="bottom right")
    goal_text = f"asked: {percent(answer.reliability)}"
    level_line(figure, y=100 * answer.reliability, words=goal_text, annotation_position="top left")

    def rows() -> Rows:
        return [
            {
                _axis_title(along, unit): number_text(point.place),
                **(_guesses_cell(risk, point.place) if along == "epsilon" else {}),
                "trees that reached it": _count(point),
                "share": percent(round(point.share, 3)),
                "at least": percent(round(point.low, 3)),
                "at most": percent(round(point.high, 3)),
                "verdict": _MARKS[_mark_of(point)][0],
            }
            for point in answer.points
        ]

    return Chart(figure, summary, rows)


def _grid_axis(along: Along, grid: Sequence[float]) -> Style:
    """The horizontal axis of a grid: logarithmic, round numbers written out; levels one by one."""
    if along == "max_depth":
        return {"dtick": 1, "zeroline": False, "range": [min(grid) - 0.5, max(grid) + 0.5]}
    low, high = min(grid), max(grid)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = (float(f"{digit}e{power}") for power in decades for digit in ((1, 3) if along == "epsilon" else (1,)))
    ticks = [place for place in every if low <= place <= high]
    ends = [math.log10(low) - 0.1, math.log10(high) + 0.1]
    return {"type": "log", "range": ends, "tickvals": ticks, "ticktext": [number_text(tick) for tick in ticks]}


def _guesses_cell(risk: AtRisk, place: float) -> dict[str, str]:
    hundredths = risk.guesses(place)
    return {f"right guesses of 100, {risk.unit.words}": "no bound" if math.isinf(hundredths) else rounded_up(hundredths, 1)}


def held_fixed_text(request: FitRequest, along: Along | None, unit: Unit) -> str:
    """What is held fixed, for the line above an answer."""
    settings = request.settings
    fixed = {
        "epsilon": loss_text(PrivacyLoss(settings.epsilon), unit),
        "max_depth": f"automatic depth, at most {settings.max_depth}" if settings.depth == "auto" else f"depth {settings.depth}",
    }
    return ", ".join([request.spec.title, *(words for name, words in fixed.items() if name != along)])


def consequences_chart(consequences: Consequences, *, cursor: float, unit: Unit = ROW) -> Chart:
    """Accuracy, guesses right and poisoned rows over one epsilon axis, with one cursor through all three."""
    items, poisoned = consequences.items, f"{consequences.items[0].certificate.unit}s"
    titles = (
        "Test accuracy (held-out rows), %",
        f"Right guesses of 100, {escape(unit.words)} used or not",
        f"Poisoned {poisoned} it withstands",
    )
    figure = panels(3, 620, top=32, spacing=0.09, subplot_titles=titles, layout={"hovermode": "closest", "showlegend": False})
    x = [item.epsilon for item in items]
    low, middle, high = ([100 * item.accuracy(q) for item in items] for q in (TAIL, 0.5, 1 - TAIL))
    figure.add_scatter(**band(x, low, high, BLUE), row=1, col=1)
    guesses = [100 * item.right_guesses for item in items]
    withstands = [item.certificate.protected_rows() for item in items]
    for row, y, colour, words in (
        (1, middle, BLUE, "median %{y:.1f}%"),
        (2, guesses, PINK, "%{y:.3g} of 100"),
        (3, withstands, GREEN, f"%{{y}} {poisoned}"),
    ):
        style = {"mode": "lines+markers", "line": line(colour), "marker": {"size": 6, "color": colour}}
        figure.add_scatter(x=x, y=y, **style | {"hovertemplate": f"ε = %{{x:.3g}}: {words}<extra></extra>"}, row=row, col=1)
    for row, level in ((1, 100 * consequences.majority), (2, 50)):
        level_line(figure, y=level, row=row, col=1)
    level_line(figure, x=cursor, look=line(ORANGE))
    figure.update_xaxes(**_grid_axis("epsilon", x)).update_xaxes(title=escape(_axis_title("epsilon", unit)), row=3, col=1)
    figure.update_yaxes(zeroline=False).update_yaxes(rangemode="tozero", row=3, col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 14}, selector={"yanchor": "bottom"})

    def rows() -> Rows:
        return [
            {
                _axis_title("epsilon", unit): number_text(item.epsilon),
                "accuracy, 5%": f"{item.accuracy(TAIL):.1%}",
                "median": f"{item.accuracy(0.5):.1%}",
                "95%": f"{item.accuracy(1 - TAIL):.1%}",
                **{f"right guesses of 100{by}": text for by, text in _guess_cells(item, unit)},
                f"poisoned {poisoned} withstood": "none shown" if withstood is None else f"{withstood:,}",
            }
            for item, withstood in zip(items, withstands, strict=True)
        ]

    return Chart(figure, " ".join(consequence_sentences(consequences, cursor, unit)), rows)


def consequence_sentences(consequences: Consequences, epsilon: float, unit: Unit = ROW) -> tuple[str, str, str]:
    """Accuracy, risk and protection at the nearest epsilon, a sentence each."""
    item = consequences.at(epsilon)
    low, middle, high = (percent(round(item.accuracy(q), 3)) for q in (TAIL, 0.5, 1 - TAIL))
    right = f"The middle tree is right on {middle} of the held-out rows, nine of ten on {low} to {high}."
    guess = f" Always guessing the most frequent class: {percent(round(consequences.majority, 3))}."
    return right + guess, _risk_sentence(item, unit), _poison_sentence(item)


def _risk_sentence(item: Consequence, unit: Unit) -> str:
    if not item.is_proved:
        return f"No ε is proved for this algorithm, so nothing limits what may be learned about {unit.words}."
    right = rounded_up(100 * item.right_guesses, 1)
    return (
        f"Of 100 guesses whether {unit.words} was used, what this algorithm does allows at most {right} to be right; without "
        "the tree, 50."
    )


def _poison_sentence(item: Consequence) -> str:
    table = item.certificate
    if table.reason:
        return f"No protection is proved. {table.reason}"
    rows, level = table.protected_rows(), percent(round(table.majority, 3))
    if rows is None:
        return f"No protection is shown: even without poison its mean accuracy is not shown to exceed {level}."
    share = rows / max(1, table.n_train)
    return (
        f"{count_text(rows, f'poisoned {table.unit}')} ({share:.2%} of {table.n_train:,}) cannot bring its mean accuracy down "
        f"to {level}. Added or removed {table.unit}s count one, changed {table.unit}s two."
    )


def _guess_cells(item: Consequence, unit: Unit) -> Iterator[tuple[str, str]]:
    """(by what, how many): what the algorithm does, then what any algorithm with this epsilon allows."""
    yield f", {unit.words}" if unit.rows > 1 else "", rounded_up(100 * item.right_guesses, 1)
    if item.is_proved:
        yield ", any algorithm", rounded_up(right_guesses(item.risk.plain, unit), 1)


#: A bar that has room for its number.
LONG = 0.25


def expected_headline(outcomes: Sequence[ExpectedScores], common: str) -> str:
    """From which strength of the signal on a tree is usually better than always saying one class."""
    always = f"always {common!r} ({outcomes[0].always:.0%} right)"
    worse = [outcome.strength for outcome in outcomes if outcome.better < USUALLY]
    if not worse:
        return f"Better than {always}, even if features say little."
    if len(worse) == len(outcomes):
        return f"Not reliably better than {always}, even if features say much."
    return f"If features say {' or '.join(worse)}, not reliably better than {always}."


def expected_chart(outcomes: Sequence[ExpectedScores], common: str, rare: str) -> Chart:
    """Two bars per strength: rows that are right and rows of the rarer class that are found; dashed: always the other class."""
    axis = {"range": [0, 1.12], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1], "fixedrange": True}
    figure = chart(230, top=36, legend=LEGEND_ABOVE, barmode="group", bargap=0.3, xaxis=axis, yaxis=NAMES | {"fixedrange": True})
    names = [f"features say {outcome.strength}" for outcome in outcomes]
    always, rare_class = (escape(fit_text(visible(name), 150, 12)) for name in (common, rare))  # in a legend, on a telephone
    right = (f"rows that are right; dashed: always {always}", [outcome.accuracy for outcome in outcomes], hatched_bar(BLUE))
    caught = (f"{rare_class} that are found", [outcome.found for outcome in outcomes], hatched_bar(TEAL, "/"))
    for name, shares, style in (right, caught):
        words = {
            "text": [f"{share:.0%}" for share in shares],
            "insidetextanchor": "start",
            "textangle": 0,
            "constraintext": "none",
        }
        sides = ["inside" if share > LONG else "outside" for share in shares]  # where the dashed line never is
        figure.add_bar(x=shares, y=names, name=name, orientation="h", marker=style, textposition=sides, **words)
    level_line(figure, x=outcomes[0].always, look=line(NEUTRAL, 1.5, "dash"))
    return Chart(figure, " ".join(expected_sentence(outcome, common, rare) for outcome in outcomes))


def expected_sentence(outcome: ExpectedScores, common: str, rare: str) -> str:
    """As in "If features say little, no better than always 'repaid' (76% right)."."""
    always = f"always {common!r}"
    if outcome.better <= RARELY:
        return f"If features say {outcome.strength}, no better than {always} ({outcome.always:.0%} right)."
    unsure = "" if outcome.better >= USUALLY else f" Only {outcome.better:.0%} of the trees do better than {always}."
    right = f"right for {outcome.accuracy:.0%} of the rows, {always} for {outcome.always:.0%}"
    return f"If features say {outcome.strength}, {right}; it finds {100 * outcome.found:.0f} of 100 {rare!r}.{unsure}"


def is_worth_it(outcomes: Sequence[ExpectedScores]) -> bool:
    """Whether a tree usually beats always saying one class where features say something."""
    return outcomes[1].better >= USUALLY
