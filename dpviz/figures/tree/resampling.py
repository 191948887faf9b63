"""Fresh draws in words and a picture: which rule is at the root, how many draws agree, which features are used at which depth."""

from collections.abc import Sequence

import numpy as np

from dpviz.evaluation.resampling import FeatureUse, Resamples
from dpviz.figures.charts import NAMES, Chart, chart
from dpviz.figures.theme import BLUE, translucent
from dpviz.figures.tree.labels import between_in_words, is_anywhere, visible
from dpviz.models.tree import Branch, Tree, declared_precision, format_number, rule_in_words
from dpviz.table.schema import Schema

MOST_FEATURES = 16
_LONGEST = 34
_SHADES = [[0, translucent(BLUE, 0.05)], [1, translucent(BLUE, 0.6)]]


def root_sentence(schema: Schema, drawn: Resamples) -> str:
    """How often the most frequent root rule came, and how many different beginnings there were."""
    roots = [(rule_in_words(schema, rule), times) for rule, times in drawn.root_rules()]
    without = drawn.n_done - sum(times for _, times in roots)
    beginnings = [*roots, *([("one label for everybody", without)] if without else [])]
    words, times = beginnings[0]
    different = "the only one" if len(beginnings) == 1 else f"one of {len(beginnings)} different beginnings"
    return f"At the root, exactly “{words}” appears in {times} of {drawn.n_done} reruns, {different}."


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
