"""Two more figures about poisoning: what one epsilon means for privacy, accuracy and robustness, and a backdoor's success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.evaluation.robustness.bounds import Certificate
from dpviz.figures.compare.style import COLOURS, NEUTRAL, SYMBOLS, Look, looks_of
from dpviz.figures.guarantee_text import number_text
from dpviz.figures.robustness.certified import Certified, majority_of
from dpviz.figures.robustness.curves import WIDTHS
from dpviz.learners import get_learner

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

PANELS = ("guesses right about one row, of 100", "mean accuracy", "poisoned rows withstood")
_SIZES = {"height": 560, "margin": {"l": 8, "r": 12, "t": 30, "b": 8}, "showlegend": False, "hovermode": "x"}


def guesses_of(item: Certified) -> float | None:
    """Of 100 fair guesses about one row, how many can be right at most; None where nothing is proved."""
    bound = item.table.bounds[0]
    if item.table.reason or not isinstance(bound, Certificate):
        return None
    return 100 * PrivacyLoss(bound.epsilon, bound.delta).guesses_right


def three_numbers(item: Certified, wanted: float | None) -> tuple[str, str, str]:
    """The panels at one epsilon, in words."""
    guesses, rows = guesses_of(item), item.table.protected_rows(wanted)
    return (
        "no limit" if guesses is None else f"{guesses:.1f} of 100",
        f"{item.table.accuracy:.1%}",
        "none" if rows is None else f"{rows:,}",
    )


def tradeoff_figure(found: Sequence[Certified], *, chosen: float, wanted: float | None) -> Figure:
    """Three panels over one epsilon axis, with a cursor at the chosen epsilon."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.09, subplot_titles=PANELS)
    x = [item.epsilon for item in found]
    values = ([guesses_of(i) for i in found], [i.table.accuracy for i in found], [i.table.protected_rows(wanted) for i in found])
    looks = zip(values, COLOURS, ("%{y:.1f} of 100", "%{y:.1%}", "%{y:,} rows"), strict=False)
    for row, (heights, colour, shown) in enumerate(looks, start=1):
        line = {"color": colour, "width": 2.5}
        marker = {"size": 8, "symbol": SYMBOLS[row - 1], "color": colour}
        hover = f"{shown}<extra></extra>"
        figure.add_scatter(x=x, y=heights, mode="lines+markers", line=line, marker=marker, hovertemplate=hover, row=row, col=1)
    level = majority_of(found) if wanted is None else wanted
    figure.add_hline(level, line={"color": NEUTRAL, "width": 1.5, "dash": "dot"}, row=2, col=1)
    figure.add_vline(chosen, line={"color": NEUTRAL, "width": 2}, row="all", col=1)
    figure.update_layout(**_SIZES, **_tradeoff_axes(x))
    return figure


def _tradeoff_axes(x: Sequence[float | None]) -> dict[str, Any]:
    ticks = {"type": "log", "tickvals": list(x), "ticktext": [number_text(e or 0) for e in x], "zeroline": False}
    last = {**ticks, "title": f"ε ({NEIGHBOURS})"}
    heights = {"yaxis": {"range": [48, 102]}, "yaxis2": {"tickformat": ".0%"}, "yaxis3": {"rangemode": "tozero"}}
    return {"xaxis": ticks, "xaxis2": ticks, "xaxis3": last, **heights}


def tradeoff_rows(found: Sequence[Certified], wanted: float | None) -> list[dict[str, str]]:
    """The three panels as a table."""
    return [
        {f"ε ({NEIGHBOURS})": number_text(item.epsilon or 0)} | dict(zip(PANELS, three_numbers(item, wanted), strict=True))
        for item in found
    ]


def tradeoff_sentence(item: Certified, wanted: float | None) -> str:
    """The cursor in words."""
    guesses, accuracy, rows = three_numbers(item, wanted)
    return (
        f"{item.title} at ε = {number_text(item.epsilon or 0)} ({NEIGHBOURS}): {guesses} guesses about one row can be right "
        f"(a coin: 50), mean accuracy {accuracy}, poisoned rows withstood: {rows}."
    )


def backdoor_figure(curves: pd.DataFrame) -> Figure:
    """How often the trigger works against the poisoned share: measured dots with limits; what is proved, as a dotted ceiling."""
    from plotly.graph_objects import Figure

    figure, looks = Figure(), looks_of(dict.fromkeys(map(str, curves.learner), "none"))
    for (learner, epsilon), frame in curves.groupby(["learner", "epsilon"], sort=False):
        _add_success(figure, looks[str(learner)], float(epsilon), frame, _width(curves, float(epsilon)))
    figure.update_layout(
        height=440,
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        xaxis={"title": "rows with the trigger, share of the training rows", "tickformat": ".1%", "zeroline": False},
        yaxis={"title": "trigger works", "tickformat": ".0%", "range": [-0.03, 1.05], "zeroline": False},
        legend={"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0},
        hovermode="closest",
    )
    return figure


def _width(curves: pd.DataFrame, epsilon: float) -> float:
    return WIDTHS[min(sorted(set(curves.epsilon)).index(epsilon), len(WIDTHS) - 1)]


def _series(title: str, epsilon: float, frame: pd.DataFrame) -> str:
    """Title, and epsilon where one is spent."""
    return f"{title}, ε = {number_text(epsilon)}" if _spends(frame) else title


def _spends(frame: pd.DataFrame) -> bool:
    return bool(frame.published.notna().any())


def _add_success(figure: Figure, look: Look, epsilon: float, frame: pd.DataFrame, width: float) -> None:
    name = _series(look.title, epsilon, frame)
    limits = {"array": frame.success_high - frame.success, "arrayminus": frame.success - frame.success_low}
    figure.add_scatter(
        x=frame.poisoned_share,
        y=frame.success,
        error_y={"type": "data", **limits, "color": look.colour, "thickness": 1, "width": 4},
        name=f"{name}: measured",
        mode="lines+markers",
        line={"color": look.colour, "width": width},
        marker={"symbol": look.symbol, "size": 9, "color": look.colour},
        customdata=frame.poisoned_rows,
        hovertemplate=f"<b>{name}</b><br>%{{customdata:,}} rows: works on %{{y:.1%}}<extra></extra>",
    )
    if frame.tight_high.notna().any():
        line = {"color": look.colour, "width": width, "dash": "dot"}
        hover = f"<b>{name}</b><br>proved: at most %{{y:.1%}}<extra></extra>"
        at_most = {"name": f"{name}: at most, proved", "mode": "lines", "line": line, "hovertemplate": hover}
        figure.add_scatter(x=frame.poisoned_share, y=frame.tight_high, **at_most)


def backdoor_rows(curves: pd.DataFrame) -> list[dict[str, str]]:
    """The figure as a table."""
    return [
        {
            "learner": get_learner(line.learner).title,
            f"ε ({NEIGHBOURS})": number_text(line.epsilon) if line.published == line.published else "none",
            "rows with the trigger": f"{line.poisoned_rows:,}",
            "trigger works": f"{line.success:.1%}",
            "95 % limits": f"{line.success_low:.1%} to {line.success_high:.1%}",
            "at most, proved": f"{line.tight_high:.1%}" if line.tight_high == line.tight_high else "nothing",
            "accuracy without trigger": f"{line.accuracy:.1%}",
        }
        for line in curves.itertuples()
    ]


def backdoor_sentence(curves: pd.DataFrame) -> str:
    """The figure in words: every curve at its most poisoned place."""
    said = []
    for (learner, epsilon), frame in curves.groupby(["learner", "epsilon"], sort=False):
        last = frame.iloc[-1]
        name = _series(get_learner(str(learner)).title, float(epsilon), frame)
        said.append(f"{name}: with {int(last.poisoned_rows)} rows the trigger works on {last.success:.0%}")
    return ". ".join(said) + "."
