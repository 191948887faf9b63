"""Charts and words about a model: effects of features, what comes back in reruns."""

from collections.abc import Sequence

from dpviz.charts.chart import Chart, Rows, chart, line
from dpviz.charts.theme import GREEN
from dpviz.charts.tree.text import between_in_words, is_anywhere, visible
from dpviz.evaluation.resampling import Resamples
from dpviz.models.effects import Effect
from dpviz.models.tree import Branch, Tree, declared_precision, format_number, format_value
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema


def score_name(schema: Schema, score: int) -> str:
    """What a score is a score of."""
    if isinstance(schema.target, NumericTarget):
        return schema.target.name
    classes = schema.classes
    return f"log-odds of {classes[1]}" if len(classes) == 2 else f"score of {classes[score]}"


# --- effects of features


def by_size(effects: Sequence[Effect], answer: int) -> list[Effect]:
    """The largest effect on this answer first."""
    return sorted(effects, key=lambda effect: -effect.size(answer))


def _answer_name(schema: Schema, answer: int) -> str:
    """What moves: the number, or the probability of a class."""
    return schema.target.name if isinstance(schema.target, NumericTarget) else f"probability of {schema.classes[answer]}"


def effect_rows(schema: Schema, effects: Sequence[Effect], answer: int) -> Rows:
    """One line per feature, the largest effect first: how far it moves the answer, and between which of its values."""
    rows = []
    for effect in by_size(effects, answer):
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
    figure.update_yaxes(title=f"mean {visible(_answer_name(schema, answer))}", **wide)
    name = visible(feature.name)
    words = f"{_answer_name(schema, answer)} over {name}: it moves by {amount(schema, effect.size(answer))}."
    return Chart(figure, words)


# --- reruns


def survival_sentence(schema: Schema, resamples: Resamples) -> str:
    """What comes back first, as in "26 of 30 reruns begin with late_payments, between 1 and 3."."""
    first = resamples.first_feature()
    if first is None:
        return f"None of {resamples.n_done} reruns asks anything."
    feature, times, between = first
    sentence = f"{times} of {resamples.n_done} reruns begin with {visible(schema.features[feature].name)}"
    if between is None or is_anywhere(schema.features[feature], between):
        return f"{sentence}."
    low, high = (format_number(declared_precision(schema.features[feature], threshold)) for threshold in between)
    return f"{sentence}, at {low}." if low == high else f"{sentence}, between {low} and {high}."


def recurrence_sentence(resamples: Resamples, tree: Tree, path: str) -> str:
    """In how many of the draws this node comes back."""
    node = tree.node(path)
    times = f"in {resamples.split_recurrence(tree)[path]} of {resamples.n_done} reruns"
    if not isinstance(node, Branch):
        return f"This leaf comes back {times}."
    feature, near = tree.schema.features[node.rule.feature], resamples.threshold_range(tree).get(path)
    is_place = near is not None and not is_anywhere(feature, near)
    at = f", mostly at {between_in_words(tree.schema, node.rule, near)}" if near is not None and is_place else ""
    return f"{visible(feature.name)} comes back here, below the same features, {times}{at}."
