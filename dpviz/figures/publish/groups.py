"""Who pays for the noise: error and found share per group, by the private test, in words, as a table and as a chart."""

from dpviz.figures.charts import LEGEND_ABOVE, NAMES, Chart, Rows, chart, limits, marker
from dpviz.figures.publish.test_result import percent_with_interval
from dpviz.figures.theme import BLUE, ORANGE
from dpviz.figures.tree.labels import visible
from dpviz.results.result import TestReport
from dpviz.training.estimate.report import ClassReport

#: Of more classes the error alone is told.
_MOST_CLASSES = 3
WIDE = "From the same noisy counts, divided at no further epsilon: intervals are wide where a group has few rows."


def group_rows(report: TestReport | None) -> Rows:
    """One line per group: how often the model is wrong there, and of each class how much it finds; none without groups."""
    if not isinstance(report, ClassReport):
        return []
    names = report.schema.classes if len(report.schema.classes) <= _MOST_CLASSES else ()
    measures = ["wrong", *(f"finds {name!r}" for name in names)]
    return [
        {report.groups: entry.name}
        | {words: percent_with_interval(share) for words, share in zip(measures, (entry.error, *entry.found), strict=False)}
        for entry in report.by_group
    ]


def group_sentences(report: TestReport | None) -> list[str]:
    """The same, a sentence each."""
    said = []
    for row in group_rows(report):
        (name, group), *known = row.items()
        said.append(f"Where {name} is {group!r}: {', '.join(' '.join(words) for words in known)}.")
    return said


def group_chart(report: ClassReport) -> Chart:
    """Per group its error and the found share of the least frequent class, each with its 95% interval."""
    rarest = int(report.counts.sum(axis=0).argmin())
    kinds = (("wrong", ORANGE, "x"), (f"finds {visible(report.schema.classes[rarest])!r}", BLUE, "circle"))
    axis = {"range": [-0.02, 1.02], "tickformat": ".0%", "zeroline": False}
    figure = chart(90 + 44 * len(report.by_group), top=40, legend=LEGEND_ABOVE, xaxis=axis, yaxis=NAMES, scattermode="group")
    for place, (words, colour, symbol) in enumerate(kinds):
        shares = [(entry.error, entry.found[rarest])[place] for entry in report.by_group]
        bars = limits([share.high - share.value for share in shares], [share.value - share.low for share in shares], colour)
        figure.add_scatter(
            x=[share.value for share in shares],
            y=[visible(entry.name) for entry in report.by_group],
            name=words,
            mode="markers",
            orientation="h",
            marker=marker(colour, symbol, 10),
            error_x=bars,
            hovertemplate="%{y}: %{x:.1%}",
        )
    return Chart(figure, "Error and found share per group, each with its 95% interval.", group_rows(report))
