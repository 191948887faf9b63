"""Fresh draws in pictures: which rule is at the root, which features are used at which depth, where the draws agree."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpviz.evaluation.compare.agreement import FeatureUse, Region
from dpviz.evaluation.compare.redraws import Redraws
from dpviz.figures.charts import NAMES, Figure, Rows, chart
from dpviz.figures.theme import BLUE, translucent
from dpviz.figures.tree.labels import visible
from dpviz.figures.tree.text import path_in_words
from dpviz.figures.wording import counted
from dpviz.models.tree import Tree, rule_in_words
from dpviz.table.schema import Schema

MOST_BARS = 8
_LONGEST = 34
_SHADES = [[0, translucent(BLUE, 0.05)], [1, translucent(BLUE, 0.6)]]
#: A region with fewer of the rows is not named as the weakest while there is another.
_WORTH_NAMING = 0.02


def root_rows(schema: Schema, drawn: Redraws) -> list[tuple[str, int]]:
    """(rule in words, draws) at the root, most frequent first, and last the draws without any rule."""
    counted = [(rule_in_words(schema, rule), count) for rule, count in drawn.root_rules()]
    without = drawn.n_done - sum(count for _, count in counted)
    return [*counted, *([("no rule: one label for everybody", without)] if without else [])]


def root_sentence(schema: Schema, drawn: Redraws) -> str:
    """How often the most frequent root rule came, and how many different ones there were."""
    rows = root_rows(schema, drawn)
    words, count = rows[0]
    different = "the only one" if len(rows) == 1 else f"one of {len(rows)} different beginnings"
    return f"At the root, “{words}” appears in {count} of {drawn.n_done} fresh draws, {different}."


def root_figure(schema: Schema, drawn: Redraws) -> Figure:
    """A bar per root rule with its number of draws; many rare ones share the last bar."""
    rows = root_rows(schema, drawn)
    shown, rest = rows[:MOST_BARS], rows[MOST_BARS:]
    if rest:
        shown = [*shown, (f"{len(rest)} other rules", sum(count for _, count in rest))]
    return _bars([(_short(words), count) for words, count in shown], f"of {drawn.n_done} fresh draws", drawn.n_done)


def feature_figure(schema: Schema, uses: Sequence[FeatureUse], n_draws: int) -> Figure:
    """Draws that ask about a feature, by depth: a shaded cell with its number."""
    shown = uses[: 2 * MOST_BARS]
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
    return figure


def _depth_name(level: int) -> str:
    return f"depth {level}" if level else "root"


def feature_sentence(schema: Schema, uses: Sequence[FeatureUse], n_draws: int) -> str:
    """Which features the draws ask about."""
    if not uses:
        return "No draw asks about any feature."
    always = [use for use in uses if use.anywhere == n_draws]
    first = uses[0]
    head = f"“{schema.features[first.feature].name}” is asked about most: in {first.anywhere} of {n_draws} draws."
    return f"{head} {len(always)} of {len(uses)} features that appear are in every draw."


def feature_rows(schema: Schema, uses: Sequence[FeatureUse]) -> list[dict[str, str | int]]:
    """The same as a table."""
    return [
        {
            "feature": schema.features[use.feature].name,
            "anywhere": use.anywhere,
            **{_depth_name(level): count for level, count in enumerate(use.at_level)},
        }
        for use in uses
    ]


def region_figure(tree: Tree, found: Sequence[Region]) -> Figure:
    """A bar per leaf of the tree on screen: how many of 100 draws predict the same there, on average over its rows."""
    kept = sorted((region for region in found if math.isfinite(region.agreement)), key=lambda region: -region.rows)[:16]
    names = [f"{_short(_where(tree, region), keep_end=True)} → {_short(tree.schema.classes[region.label])}" for region in kept]
    rows = [(name, 100 * region.agreement) for name, region in zip(names, kept, strict=True)]
    return _bars(rows, "agreeing draws of 100", 100)


def region_sentence(found: Sequence[Region]) -> str:
    """Agreement over all rows, and the weakest region."""
    kept = [region for region in found if math.isfinite(region.agreement)]
    overall = sum(region.rows * region.agreement for region in kept)
    weakest = min(kept, key=lambda region: (region.rows < _WORTH_NAMING, region.agreement))
    return (
        f"For a row taken at random {100 * overall:.0f} of 100 draws predict what this tree predicts; in the weakest region "
        f"of some size, with {weakest.rows:.1%} of the rows, {100 * weakest.agreement:.0f} do."
    )


def region_rows(tree: Tree, found: Sequence[Region]) -> Rows:
    """The same as a table, one line per leaf."""
    return [
        {
            "region": _where(tree, region),
            "label": tree.schema.classes[region.label],
            "rows": f"{region.rows:.1%}",
            "draws of 100 that agree": "no rows" if math.isnan(region.agreement) else f"{100 * region.agreement:.0f}",
        }
        for region in found
    ]


def draw_words(schema: Schema, drawn: Redraws, number: int) -> str:
    """One draw in words: its root, and how often that root came."""
    model = drawn.models[number]
    head = f"Draw {number + 1} of {drawn.n_done}"
    if not isinstance(model, Tree) or not hasattr(model.root, "rule"):
        return f"{head}: one label for everybody"
    rule, times = rule_in_words(schema, model.root.rule), dict(drawn.root_rules())[model.root.rule]
    return f"{head}: {counted(model.n_leaves, 'leaf', 'leaves')}; begins with “{rule}”, as {times} of {drawn.n_done} do"


def _where(tree: Tree, region: Region) -> str:
    return path_in_words(tree, region.path) if region.path else "everybody"


def _short(text: str, *, keep_end: bool = False) -> str:
    """For an axis: not too long, and taken literally (plotly reads tags)."""
    if len(text) > _LONGEST:
        text = f"…{text[1 - _LONGEST :]}" if keep_end else f"{text[: _LONGEST - 1]}…"
    return visible(text).replace("&", "&amp;").replace("<", "&lt;")


def _bars(rows: Sequence[tuple[str, float]], title: str, most: float) -> Figure:
    """Horizontal bars with their number behind them. Equal words stay apart."""
    places, names = list(range(len(rows))), [words for words, _ in rows]
    across = {"title": title, "range": [0, 1.08 * most], "zeroline": False}
    down = NAMES | {"tickvals": places, "ticktext": names}
    figure = chart(76 + 34 * len(rows), right=24, bargap=0.35, xaxis=across, yaxis=down)
    return figure.add_bar(
        x=[value for _, value in rows],
        y=places,
        orientation="h",
        marker={"color": BLUE},
        text=[f" {value:.0f}" for _, value in rows],
        textposition="outside",
        cliponaxis=False,
        hovertext=names,
        hovertemplate="%{hovertext}: %{x:.0f}<extra></extra>",
    )
