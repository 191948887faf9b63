"""What each feature does to a model's answer, as a chart of one feature and as lines of a table; which trees ask about it."""

from collections.abc import Sequence

from dpviz.figures.charts import Chart, Rows, chart, line
from dpviz.figures.theme import GREEN
from dpviz.figures.tree.labels import visible
from dpviz.models.effects import Effect
from dpviz.models.tree import Branch, Tree, format_value
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema


def by_size(found: Sequence[Effect], answer: int) -> list[Effect]:
    """The largest effect on this answer first."""
    return sorted(found, key=lambda effect: -effect.size(answer))


def answer_name(schema: Schema, answer: int) -> str:
    """What moves: the number, or the probability of a class."""
    return schema.target.name if isinstance(schema.target, NumericTarget) else f"probability of {schema.classes[answer]}"


def effect_rows(schema: Schema, found: Sequence[Effect], answer: int) -> Rows:
    """One line per feature, the largest effect first: how far it moves the answer, and between which of its values."""
    rows = []
    for effect in by_size(found, answer):
        feature, heights = schema.features[effect.feature], effect.answers[:, answer]
        between = []
        for place in (int(heights.argmin()), int(heights.argmax())):
            height, value = float(heights[place]), effect.values[place]
            answered = format_value(height) if isinstance(schema.target, NumericTarget) else f"{height:.1%}"
            at = format_value(float(value))
            if isinstance(feature, CategoricalFeature):
                at = visible(feature.categories[int(value)])
            between.append(f"{answered} at {at}")
        moved = ", ".join(between) if heights.argmin() != heights.argmax() else ""
        rows.append({"feature": visible(feature.name), "moves it by": amount(schema, effect.size(answer)), "from … to": moved})
    return rows


def amount(schema: Schema, size: float) -> str:
    """A difference of answers."""
    return format_value(size) if isinstance(schema.target, NumericTarget) else f"{100 * size:.1f} points"


def effect_chart(schema: Schema, effect: Effect, answer: int) -> Chart:
    """The mean answer over the declared range of one feature, or for each of its categories."""
    feature, heights = schema.features[effect.feature], effect.answers[:, answer]
    is_share = not isinstance(schema.target, NumericTarget)
    figure = chart(300, showlegend=False)
    if isinstance(feature, NumericFeature):
        figure.add_scatter(x=effect.values, y=heights, mode="lines", line=line(GREEN), hovertemplate="%{x}: %{y}<extra></extra>")
        figure.update_xaxes(title=visible(f"{feature.name}, {feature.unit}" if feature.unit else feature.name))
    else:
        names = [visible(feature.categories[int(code)]) for code in effect.values]
        figure.add_bar(x=names, y=heights, marker={"color": GREEN}, hovertemplate="%{x}: %{y}<extra></extra>")
        figure.update_xaxes(title=visible(feature.name), type="category")
    wide = {"rangemode": "tozero", "tickformat": ".0%"} if is_share else {}
    figure.update_yaxes(title=f"mean {visible(answer_name(schema, answer))}", **wide)
    name = visible(feature.name)
    words = f"{answer_name(schema, answer)} over {name}: it moves by {amount(schema, effect.size(answer))}."
    return Chart(figure, words)


def asked_by(trees: Sequence[Tree]) -> dict[int, tuple[int, ...]]:
    """Feature -> numbers, from 1, of the trees that ask about it once equal sides are merged; the most frequent first."""
    found: dict[int, list[int]] = {}
    for number, tree in enumerate(trees, start=1):
        nodes = (placed.node for placed in tree.merged().nodes())
        for feature in sorted({node.rule.feature for node in nodes if isinstance(node, Branch)}):
            found.setdefault(feature, []).append(number)
    return {feature: tuple(found[feature]) for feature in sorted(found, key=lambda one: (-len(found[one]), one))}


def asked_in_words(schema: Schema, feature: int, n_asking: int, n_trees: int) -> str:
    """As in "area: asked about in 87 of 200 trees"."""
    return f"{visible(schema.feature_names[feature])}: asked about in {n_asking:,} of {n_trees:,} trees"
