"""Charts and words about a model: a row's way through boosted trees, effects of features, what comes back in reruns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.charts.chart import NAMES, Chart, Rows, chart, line, panels
from dpviz.charts.theme import BLUE, GREEN, ORANGE, translucent
from dpviz.charts.tree.labels import between_in_words, is_anywhere, visible
from dpviz.evaluation.resampling import FeatureUse, Resamples
from dpviz.models.boosted import BoostedTrees
from dpviz.models.effects import Effect
from dpviz.models.tree import Branch, Tree, declared_precision, format_number, format_value
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema

# --- one row and boosted trees


@dataclass(frozen=True)
class Steps:
    """One score of one row: what each tree adds to it, and the number of that tree from 1.

    `unit` says what the score is ("rent", "log-odds of yes", "score of red"), `start` what it is before the first tree.
    """

    unit: str
    start: float
    trees: tuple[int, ...]
    added: tuple[float, ...]

    @property
    def totals(self) -> tuple[float, ...]:
        """The score after each tree."""
        return tuple((self.start + np.cumsum(self.added)).tolist())

    @property
    def end(self) -> float:
        """The score after the last tree."""
        return self.totals[-1] if self.added else self.start


def steps_of(model: BoostedTrees, row: EncodedDataset, score: int = 0) -> Steps:
    """The steps of the first row of `row` towards this score (a class code where there is one score per class)."""
    added = model.contributions(row)[0, score :: model.n_scores]
    numbers = range(score + 1, model.splits.n_trees + 1, model.n_scores)
    return Steps(score_name(model.schema, score), model.initial, tuple(numbers), tuple(added.tolist()))


def score_name(schema: Schema, score: int = 0) -> str:
    """What a score is a score of."""
    if isinstance(schema.target, NumericTarget):
        return schema.target.name
    classes = schema.classes
    return f"log-odds of {classes[1]}" if len(classes) == 2 else f"score of {classes[score]}"


def steps_chart(steps: Steps) -> Chart:
    """Above the total after each tree, below what each tree adds; one axis of trees."""
    figure = panels(2, 380, spacing=0.07, row_heights=[0.55, 0.45], layout={"showlegend": False})
    total = {"mode": "lines", "line": line(GREEN) | {"shape": "hv"}}
    total["hovertemplate"] = "after tree %{x}: %{y:,.4~g}<extra></extra>"
    figure.add_scatter(x=[0, *steps.trees], y=[steps.start, *steps.totals], **total, row=1, col=1)
    style = {"color": [BLUE if value >= 0 else ORANGE for value in steps.added]}
    hover = "tree %{x} adds %{y:+,.4~g}<extra></extra>"
    figure.add_bar(x=steps.trees, y=steps.added, marker=style, hovertemplate=hover, row=2, col=1)
    figure.update_yaxes(title=steps.unit, row=1, col=1, zeroline=False)
    figure.update_yaxes(title="added", row=2, col=1)
    figure.update_xaxes(title="tree", row=2, col=1)
    ups, downs = [a for a in steps.added if a > 0], [a for a in steps.added if a < 0]
    moved = [f"{len(ups):,} of {len(steps.added):,} trees add {format_value(sum(ups))} in all"] if ups else []
    moved += [f"{len(downs):,} take {format_value(-sum(downs))} away"] if downs else []
    path = f"It starts at {format_value(steps.start)}; {', '.join(moved) or 'no tree changes it'}: {format_value(steps.end)}."
    rows = [
        {"tree": f"{n:,}", "adds": f"{'+' * (a > 0)}{format_value(a)}", f"{steps.unit} after it": format_value(total)}
        for n, a, total in zip(steps.trees, steps.added, steps.totals, strict=True)
    ]
    return Chart(figure, f"{steps.unit} after each tree. {path}", rows)


def scores_in_words(model: BoostedTrees, scores: Sequence[float]) -> Iterator[str]:
    """Each score with its name, as in "log-odds of yes 1.32"."""
    return (f"{score_name(model.schema, place)} {format_value(value)}" for place, value in enumerate(scores))


# --- effects of features


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


# --- reruns


MOST_FEATURES = 16
_LONGEST = 34
_SHADES = [[0, translucent(BLUE, 0.05)], [1, translucent(BLUE, 0.6)]]


def survival_sentence(schema: Schema, drawn: Resamples) -> str:
    """What comes back first, as in "26 of 30 reruns begin with late_payments, between 1 and 3."."""
    found = drawn.first_feature()
    if found is None:
        return f"None of {drawn.n_done} reruns asks anything."
    feature, times, between = found
    said = f"{times} of {drawn.n_done} reruns begin with {visible(schema.features[feature].name)}"
    if between is None or is_anywhere(schema.features[feature], between):
        return f"{said}."
    low, high = (format_number(declared_precision(schema.features[feature], threshold)) for threshold in between)
    return f"{said}, at {low}." if low == high else f"{said}, between {low} and {high}."


def came_back_sentence(drawn: Resamples, shown: Tree, path: str) -> str:
    """In how many of the draws this node comes back."""
    node = shown.node(path)
    times = f"in {drawn.coming_back(shown)[path]} of {drawn.n_done} reruns"
    if not isinstance(node, Branch):
        return f"This leaf comes back {times}."
    feature, near = shown.schema.features[node.rule.feature], drawn.between(shown).get(path)
    is_place = near is not None and not is_anywhere(feature, near)
    at = f", mostly at {between_in_words(shown.schema, node.rule, near)}" if near is not None and is_place else ""
    return f"{visible(feature.name)} comes back here, below the same features, {times}{at}."


def agreement_sentence(agreeing: np.ndarray, n_draws: int) -> str:
    """How many draws agree with the tree on screen about a row taken at random; `agreeing`: their share, row by row."""
    return f"For a row taken at random, {n_draws * agreeing.mean():.0f} of {n_draws} draws predict what this tree predicts."


def feature_chart(schema: Schema, uses: Sequence[FeatureUse], n_draws: int) -> Chart:
    """Draws that ask about a feature, by depth: a shaded cell with its number."""
    shown = uses[:MOST_FEATURES]
    places = list(range(len(shown)))
    names = [_short(schema.features[use.feature].name) for use in shown]
    down = NAMES | {"tickvals": places, "ticktext": names, "showgrid": False}
    figure = chart(70 + 34 * len(shown), right=8, yaxis=down, xaxis={"side": "top", "showgrid": False})
    columns = [*(_depth_name(level) for level in range(len(shown[0].at_level) if shown else 0)), "anywhere"]
    counts = [[*use.at_level, use.anywhere] for use in shown]
    shades = {"zmin": 0, "zmax": n_draws, "colorscale": _SHADES, "showscale": False, "xgap": 3, "ygap": 3}
    hover = f"%{{x}}: %{{z}} of {n_draws} draws<extra></extra>"
    figure.add_heatmap(z=counts, x=columns, y=places, hovertemplate=hover, **shades)
    # a trace of its own: a heat map would choose the colour of its numbers without knowing the ground
    numbers = {"text": [count for row in counts for count in row], "mode": "text", "textfont": {"size": 13}}
    down_again = [place for place in places for _ in columns]
    figure.add_scatter(x=columns * len(shown), y=down_again, hoverinfo="skip", showlegend=False, **numbers)
    rows = [
        {"feature": schema.features[use.feature].name, "anywhere": f"{use.anywhere}"}
        | {_depth_name(level): f"{count}" for level, count in enumerate(use.at_level)}
        for use in uses
    ]
    return Chart(figure, feature_sentence(schema, uses, n_draws), rows)


def _depth_name(level: int) -> str:
    return f"depth {level}" if level else "root"


def feature_sentence(schema: Schema, uses: Sequence[FeatureUse], n_draws: int) -> str:
    """Which features the draws ask about."""
    if not uses:
        return "No rerun splits on any feature."
    first, always = uses[0], sum(use.anywhere == n_draws for use in uses)
    head = f"“{schema.features[first.feature].name}” is asked about most: in {first.anywhere} of {n_draws} draws."
    return f"{head} {always} of {len(uses)} features that appear are in every rerun."


def _short(text: str) -> str:
    """For an axis: not too long, and taken literally (plotly reads tags)."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 1]}…"
    return visible(text).replace("&", "&amp;").replace("<", "&lt;")
