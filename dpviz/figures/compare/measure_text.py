"""Measures in words and digits: shares as percent, errors of numbers in the target's units, the others to three digits."""

from dpviz.figures.wording import explained
from dpviz.models.tree import format_value
from dpviz.training.estimate.number_report import LEAST_R2 as WORST

_PERCENT = ("accuracy", "balanced_accuracy")
_IN_UNITS = ("rmse", "mae")
_LOSSES = ("log_loss", "brier")
#: What the line that needs no model is called.
LEVELS = {"accuracy": "Majority class", "r2": "Mean", "rmse": "Mean"}
#: A draw of an R² below this is drawn at the edge: how much worse than the mean does not matter.
LEAST_R2 = -0.5


def measure_text(value: float, metric: str) -> str:
    """One value, as in "81.3%", "0.362", "412.7"."""
    if metric in _IN_UNITS:
        return format_value(value)
    if metric == "r2":
        return explained(value)
    return f"{value:.1%}" if metric in _PERCENT else f"{round(value, 3) + 0.0:.3f}"  # no "-0.000"


def interval_text(between: tuple[float, float], metric: str) -> str:
    """Both ends, as in "80.1% to 82.5%"."""
    low, high = between
    least = f"below {measure_text(WORST, metric)}" if metric == "r2" and low < WORST else measure_text(low, metric)
    return f"{least} to {measure_text(high, metric)}"


def tick_format(metric: str) -> str:
    """For an axis of the measure (d3's notation)."""
    return ",~r" if metric in _IN_UNITS else ".0%" if metric in _PERCENT else ".2f"


def level_name(metric: str) -> str:
    """The line that needs no model."""
    return LEVELS.get(metric, "Guessing")


def gap_scale(metric: str) -> float:
    """From a difference to what is shown: points are hundredths; an error stays in the target's units."""
    return 1.0 if metric in _IN_UNITS else 100.0


def gap_unit(metric: str) -> str:
    """What a difference is counted in."""
    return "units of the target" if metric in _IN_UNITS else "hundredths" if metric in _LOSSES else "points"


def gap_text(value: float, metric: str) -> str:
    """A difference with its sign: "+1.4", "-0.2"; in the target's units "+12.3"."""
    shown = value * gap_scale(metric)
    return f"{'+' if shown >= 0 else ''}{format_value(shown)}" if metric in _IN_UNITS else f"{shown:+.1f}"
