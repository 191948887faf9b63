"""One learner against the others on the same splits: the spread of the difference, and who beats whom."""

from collections.abc import Mapping, Sequence

from dpviz.evaluation.compare.comparison import METRICS, Difference
from dpviz.figures.charts import NAMES, Figure, Rows, chart, line, marker
from dpviz.figures.compare.bands import ENOUGH, NOT_ENOUGH
from dpviz.figures.compare.measure_text import gap_scale, gap_text, gap_unit
from dpviz.figures.compare.style import LineStyle, broken
from dpviz.figures.theme import NEUTRAL
from dpviz.learners.variants import variant_title

#: What the probability means; shown with it.
MEANING = (
    "Take one of the splits at random and let each algorithm draw its noise once, independently: the probability that the "
    "first does better on the rows held out there. A tie counts half. The 95% range covers the number of "
    "draws; the splits are taken as given, so it does not cover what other rows would show."
)


def difference_figure(found: Sequence[Difference], styles: Mapping[str, LineStyle], metric: str = "accuracy") -> Figure:
    """A line per other learner from the 5% to the 95% difference, in points or units, with the median marked and 0 drawn."""
    across = {"title": f"← behind · {gap_unit(metric)} · ahead →", "zeroline": False}
    figure = chart(116 + 48 * len(found), top=34, right=16, showlegend=False, xaxis=across, yaxis=NAMES)
    for item in found:
        style = styles[item.other]
        low, median, high = (gap_scale(metric) * value for value in (item.low, item.median, item.high))
        spread = {"mode": "lines", "line": line(style.colour, 4, style.dash), "hoverinfo": "skip"}
        if has_spread(item):
            figure.add_scatter(x=[low, high], y=[broken(style.title)] * 2, **spread)
        point = {"mode": "markers", "marker": marker(style.colour, style.symbol)}
        figure.add_scatter(x=[median], y=[broken(style.title)], hovertemplate=f"{sentence(item, metric)}<extra></extra>", **point)
    figure.add_vline(0, line=line(NEUTRAL, 1.5))
    return figure


def sentence(item: Difference, metric: str = "accuracy") -> str:
    """Who beats whom, and by how much."""
    ours, theirs = map(variant_title, (item.learner, item.other))
    low, median, high = (gap_text(value, metric) for value in (item.low, item.median, item.high))
    between = f" (5% to 95%: {low} to {high})" if has_spread(item) else ""
    return f"{ours} beats {theirs} with probability {probability_text(item)}; difference {median} {gap_unit(metric)}{between}"


def has_spread(item: Difference) -> bool:
    """True where enough draws, or none at all, stand behind a range of nine in ten differences."""
    return item.n_draws == 0 or item.n_draws >= ENOUGH


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


def difference_rows(found: Sequence[Difference], metric: str) -> Rows:
    """The comparison as a table: one line per other learner."""
    return [
        {
            "against": variant_title(item.other),
            "probability that it is beaten": probability_text(item),
            f"median difference in {METRICS[metric]}, {gap_unit(metric)}": gap_text(item.median, metric),
            "5%": gap_text(item.low, metric) if has_spread(item) else NOT_ENOUGH,
            "95%": gap_text(item.high, metric) if has_spread(item) else NOT_ENOUGH,
            "splits": f"{item.n_folds}",
            "independent pairs of draws": f"{item.n_draws:,}",
        }
        for item in found
    ]
