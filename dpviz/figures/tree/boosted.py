"""How a boosted model comes to its prediction for one row: what each tree adds, and the total after each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.figures.charts import Chart, line, panels
from dpviz.figures.theme import BLUE, GREEN, ORANGE
from dpviz.models.boosted import BoostedTrees
from dpviz.models.tree import format_value
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema


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
