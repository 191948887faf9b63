"""What to expect before epsilon is spent: one sentence, a picture, and the picture in words."""

from collections.abc import Sequence

from dpviz.evaluation.plan.expected import RARELY, USUALLY, Expected
from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Figure, chart, hatched_bar, line
from dpviz.figures.theme import BLUE, NEUTRAL, TEAL

#: A bar that has room for its number.
LONG = 0.25


def expected_headline(found: Sequence[Expected], common: str) -> str:
    """From which strength of the signal on a tree is usually better than always saying one class."""
    always = f"always {common!r} ({found[0].always:.0%} right)"
    worse = [one.strength for one in found if one.better < USUALLY]
    if not worse:
        return f"Better than {always}, even if features say little."
    if len(worse) == len(found):
        return f"Not reliably better than {always}, even if features say much."
    return f"If features say {' or '.join(worse)}, not reliably better than {always}."


def expected_figure(found: Sequence[Expected], common: str, rare: str) -> Figure:
    """Two bars per strength: rows that are right and rows of the rarer class that are found; dashed: always the other class."""
    axis = {"range": [0, 1.12], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1], "fixedrange": True}
    figure = chart(230, top=36, legend=LEGEND_ABOVE, barmode="group", bargap=0.3, xaxis=axis, yaxis=NAMES | {"fixedrange": True})
    names = [f"features say {one.strength}" for one in found]
    right = (f"rows that are right; dashed: always {common}", [one.accuracy for one in found], hatched_bar(BLUE))
    caught = (f"{rare} that are found", [one.found for one in found], hatched_bar(TEAL, "/"))
    for name, shares, style in (right, caught):
        words = {
            "text": [f"{share:.0%}" for share in shares],
            "insidetextanchor": "start",
            "textangle": 0,
            "constraintext": "none",
        }
        sides = ["inside" if share > LONG else "outside" for share in shares]  # where the dashed line never is
        figure.add_bar(x=shares, y=names, name=name, orientation="h", marker=style, textposition=sides, **words)
    return figure.add_vline(found[0].always, line=line(NEUTRAL, 1.5, "dash"))


def expected_sentence(found: Expected, common: str, rare: str) -> str:
    """As in "If features say little, no better than always 'repaid' (76% right)."."""
    always = f"always {common!r}"
    if found.better <= RARELY:
        return f"If features say {found.strength}, no better than {always} ({found.always:.0%} right)."
    unsure = "" if found.better >= USUALLY else f" Only {found.better:.0%} of the trees do better than {always}."
    right = f"right for {found.accuracy:.0%} of the rows, {always} for {found.always:.0%}"
    return f"If features say {found.strength}, {right}; it finds {100 * found.found:.0f} of 100 {rare!r}.{unsure}"


def is_worth_it(found: Sequence[Expected]) -> bool:
    """Whether a tree usually beats always saying one class where features say something."""
    return found[1].better >= USUALLY


def strengths_text(found: Sequence[Expected], rare: str) -> str:
    """What the strengths mean."""
    best = ", ".join(f"{item.strength} {100 * item.best:.0f}" for item in found)
    return f"Of 100 {rare!r}, two questions find at best, where features say {best}. Simulated; no row is read."
