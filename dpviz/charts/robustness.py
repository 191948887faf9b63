"""Robustness in pictures and words: guaranteed accuracy against poisoned rows, measured attacks beside it.

Proved is a heavy line, the estimate thin, Corollary 2 thin and dotted; refused curves are struck through. One hue per epsilon,
one dash per learner. Bounds come from `evaluation.poisoning`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Literal

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.charts.chart import LEGEND_BELOW, SILENT, Chart, Figure, Rows, Style, chart, level_line, limits, line, marker
from dpviz.charts.theme import NEUTRAL, SERIES, VOTES, WHITE, translucent
from dpviz.charts.wording import count_text
from dpviz.evaluation.attacks import ATTACKS
from dpviz.evaluation.poisoning import PoisoningTable, VoteCertificate, curve_rows, most_rows
from dpviz.learners import DEFAULT, get_learner
from dpviz.results.verdict import ROW, Unit, bare_text
from dpviz.results.wording import number_text

if TYPE_CHECKING:
    import pandas as pd

#: Proved by privacy; certified by a vote; published but refused; nothing published and nothing proved.
Kind = Literal["proved", "votes", "refused", "no_guarantee"]


@dataclass(frozen=True)
class CertifiedCurve:
    """One learner at one epsilon (None where it spends none) with its curves."""

    epsilon: float | None
    table: PoisoningTable

    @property
    def kind(self) -> Kind:
        """How it must be drawn."""
        if isinstance(self.table.bounds[0], VoteCertificate):
            return "votes"
        if not self.table.reason:
            return "proved"
        return "no_guarantee" if math.isnan(self.table.published(0)) else "refused"

    @property
    def title(self) -> str:
        """The learner's title."""
        return get_learner(self.table.learner).title

    @property
    def name(self) -> str:
        """Title and epsilon."""
        return self.title if self.epsilon is None else f"{self.title}, ε = {number_text(self.epsilon)}"

    def level(self, threshold: float | None) -> float:
        """The accuracy to stay above: `threshold`, or that of the majority class."""
        return self.table.majority if threshold is None else threshold

    def published_rows(self, threshold: float | None) -> int | None:
        """The most rows with which the published bound stays above this level; None when none does."""
        published, level = self.table.published, self.level(threshold)
        return most_rows(published, level, self.table.n_train) if published(0) > level else None

    def share(self, rows: int) -> float:
        """Rows as a share of the training rows."""
        return rows / max(1, self.table.n_train)


#: What is proved, and the estimate from the same draws.
HEAVY, THIN = 3.5, 1.2
#: Learners at one epsilon share its hue and differ in these.
DASHES = ("solid", "dash", "dashdot", "longdash")
#: Room below the majority class that is still drawn, in accuracy.
BELOW = 0.25
#: Up to so many rows every number of them is named below the axis.
FEW = 8
#: Letters for which the legend has room on a telephone.
MAX_LEGEND_LENGTH = 60
_ATTACK_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def end_of_axis(curves: Sequence[CertifiedCurve], up_to: float, threshold: float | None = None) -> float:
    """`up_to`, or further where a ring stands there, but at most twice as far: shares of the training rows."""
    rings = (item.share(rows) for item in curves if (rows := item.table.protected_rows(threshold)) is not None)
    return max((up_to, *(share for share in rings if share <= 2 * up_to)))


def guarantee_chart(
    curves: Sequence[CertifiedCurve], *, up_to: float, threshold: float | None = None, attacks: pd.DataFrame | None = None
) -> Chart:
    """Guaranteed accuracy from 0 to `up_to` (a share of the training rows) poisoned rows.

    `threshold` is the accuracy to stay above, None for that of the majority class; `attacks` come from `attack_curve`, one or
    more.
    """
    unit = curves[0].table.unit
    frames = [] if attacks is None else [_attack_rows(item, attacks) for item in curves]
    lows = [curves[0].table.majority - BELOW, *(low - 0.03 for frame in frames for low in frame.low)]
    highs = [*(item.table.accuracy for item in curves), *(high for frame in frames for high in frame.high)]
    if threshold is not None:
        lows.append(threshold - 0.05)
        highs.append(threshold)
    bottom, top = max(0.0, min(lows)), min(1.0, max(highs) + 0.03)
    up = {"title": "mean accuracy, at least", "tickformat": ".0%", "range": [bottom, top], "zeroline": False}
    end = max(item.table.n_train for item in curves) * up_to
    ticks: Style = {"tickformat": ",d", "title": f"poisoned {unit}s (a changed {unit} counts as two)"}
    ticks |= {"dtick": 1} if end < FEW else {}
    across = {"zeroline": False, "range": [-0.015 * end, max(1e-9, 1.015 * end)]} | ticks
    figure = chart(600 + 22 * len(curves), legend=LEGEND_BELOW, hovermode="closest", xaxis=across, yaxis=up)
    styles = _lines(curves)
    for item, style in zip(curves, styles, strict=True):
        _add(figure, item, up_to, style, threshold)
    for item, style, frame in zip(curves, styles, frames, strict=False):
        _add_attacks(figure, item, frame, style["color"])
    majority = curves[0].table.majority
    area = {"line": {"width": 0}, "fillcolor": translucent(NEUTRAL, 0.16), "layer": "below"}
    figure.add_hrect(bottom, majority, **area)  # what is worth nothing
    level, words = (majority, "majority class") if threshold is None else (threshold, "stay above")
    level_line(figure, y=level, name=f"{words} {level:.1%}", showlegend=True)  # beside the line it would cross curves
    verdicts = ". ".join(f"{full_name(item)}: {verdict_text(item, threshold).split('. ')[0]}" for item in curves)
    summary = f"Guaranteed mean accuracy against poisoned {unit}s. {verdicts}."
    return Chart(figure, summary, partial(guarantee_rows, curves, up_to))


def _lines(curves: Sequence[CertifiedCurve]) -> list[Style]:
    """The line of each curve: its hue by epsilon, its dash by learner; what is refused is grey."""
    proved = [item for item in curves if item.kind == "proved"]
    hues = dict(zip(sorted({item.epsilon or 0.0 for item in proved}), cycle(SERIES), strict=False))
    dashes = dict(zip(dict.fromkeys(item.table.learner for item in proved), cycle(DASHES), strict=False))
    return [
        line(hues[item.epsilon or 0.0], HEAVY, dashes[item.table.learner])
        if item.kind == "proved"
        else line(VOTES if item.kind == "votes" else NEUTRAL, HEAVY)
        for item in curves
    ]


def _add(figure: Figure, item: CertifiedCurve, up_to: float, style: Style, threshold: float | None) -> None:
    """A curve, and a ring where what is proved falls to the line to stay above; the legend says with how many rows."""
    table, name = item.table, item.name
    if item.kind == "no_guarantee":  # nothing is claimed or proved: its accuracy without poison
        alone = f"<b>{name}</b><br>without poison %{{y:.1%}}, no guarantee<extra></extra>"
        point = {"mode": "markers", "marker": marker(NEUTRAL, "circle-open", 11), "hovertemplate": alone}
        figure.add_scatter(x=[0], y=[table.accuracy], name=f"{item.title}: no guarantee", **point)
        return
    rows = np.array(curve_rows(table.n_train, up_to))
    low, tight, published = (np.array([bound(int(k)) for k in rows]) for bound in (table.low, table.tight, table.published))
    has_published = not np.isnan(published).any()
    numbers = np.column_stack((rows, rows / max(1, table.n_train), low, tight, published))
    head = f"<b>{name}</b><br>%{{customdata[0]:,}} poisoned {table.unit}s (%{{customdata[1]:.2%}})<br>"
    about = {"x": rows, "legendgroup": name, "mode": "lines", "customdata": numbers}
    withstood = table.protected_rows(threshold)
    has_ring = withstood is not None and item.share(withstood) <= up_to
    place = "" if has_ring else " (further right)"
    up_to_rows = "" if withstood is None else f", up to {count_text(withstood, table.unit)}{place}"
    match item.kind:
        case "proved":
            sure = f"proved with {1 - table.beta:.0%} confidence: %{{customdata[2]:.1%}}, estimate %{{customdata[3]:.1%}}"
            sure += "<br>published: %{customdata[4]:.1%}" if has_published else ""
            about["hovertemplate"] = f"{head}{sure}<extra></extra>"
            figure.add_scatter(**about, y=low, name=_legend_words(name, f"proved{up_to_rows}"), line=style)
            thin = {"line": style | {"width": THIN}, "showlegend": False}
            figure.add_scatter(**about, y=tight, name=f"{name}: estimate", **thin)
            if has_published:
                dots = {"line": style | {"width": THIN, "dash": "dot"}, "showlegend": False}
                figure.add_scatter(**about, y=published, name=f"{name}: Corollary 2", **dots)
        case "votes":
            about["hovertemplate"] = f"{head}certified: %{{customdata[2]:.1%}}<extra></extra>"
            words = _legend_words(item.title, f"certified{up_to_rows}")
            figure.add_scatter(**about, y=low, name=words, line=style | {"shape": "hv"})
        case "refused":  # struck through: grey, dotted, crossed out, and said so
            about["hovertemplate"] = f"{head}published, but refused: %{{customdata[4]:.1%}}<extra></extra>"
            crosses = {"symbol": "x-thin", "size": 7, "maxdisplayed": 12, "line": {"color": NEUTRAL, "width": 1.5}}
            struck = about | {"mode": "lines+markers", "marker": crosses, "line": line(NEUTRAL, 1.5, "dot")}
            figure.add_scatter(**struck, y=published, name=f"<s>{name}</s>: published, refused")
    if has_ring:
        ring = {"mode": "markers", "marker": marker(style["color"], "circle-open", 11, 3), "cliponaxis": False}
        figure.add_scatter(x=[withstood], y=[item.level(threshold)], name="crossing", legendgroup=name, **ring, **SILENT)


def _legend_words(name: str, words: str) -> str:
    """On two lines where a telephone would cut off one."""
    return f"{name}:{' ' if len(name) + len(words) <= MAX_LEGEND_LENGTH else '<br>'}{words}"


def _add_attacks(figure: Figure, item: CertifiedCurve, attacks: pd.DataFrame, colour: str) -> None:
    symbols = dict(zip(ATTACKS, _ATTACK_SYMBOLS, strict=False))
    for attack, frame in attacks.groupby("attack", sort=False):
        title, unit, points = ATTACKS[str(attack)].title, item.table.unit, zip(frame.poisoned_rows, frame.accuracy, strict=True)
        hover_texts = [f"{rows:,} poisoned {unit}s<br>measured {accuracy:.1%}" for rows, accuracy in points]
        dots = {"symbol": symbols[str(attack)], "size": 9, "color": colour, "line": {"color": WHITE, "width": 1}}
        spread = limits(frame.high - frame.accuracy, frame.accuracy - frame.low, colour, thickness=1.2, width=4)
        look = {"error_y": spread, "name": _legend_words(item.name, title.lower()), "mode": "markers", "marker": dots}
        hover = f"<b>{item.name}</b><br>{title}<br>%{{customdata}}<extra></extra>"
        figure.add_scatter(x=frame.poisoned_rows, y=frame.accuracy, customdata=hover_texts, hovertemplate=hover, **look)


def _attack_rows(certified: CertifiedCurve, attacks: pd.DataFrame) -> pd.DataFrame:
    """The lines of measured attacks that are about this learner at this epsilon, counted as its table does."""
    is_learner = attacks.learner == certified.table.learner
    curves = attacks[is_learner if certified.epsilon is None else is_learner & (attacks.epsilon == certified.epsilon)]
    return curves.assign(poisoned_rows=-(-curves.poisoned_rows // certified.table.rows_per_person))


def full_name(item: CertifiedCurve) -> str:
    """Title and epsilon with the neighbouring relation."""
    return item.title if item.epsilon is None else f"{item.title} at ε = {number_text(item.epsilon)} ({_relation(item)})"


def _relation(item: CertifiedCurve) -> str:
    return f"add/remove one {item.table.unit}"


def _level_text(curves: Sequence[CertifiedCurve], threshold: float | None) -> str:
    """What accuracy is to stay above."""
    return f"the majority class, {curves[0].table.majority:.1%}" if threshold is None else f"the {threshold:.1%} you asked for"


def headline(curves: Sequence[CertifiedCurve], threshold: float | None) -> str:
    """The most poisoned rows that a private learner is proved to withstand, else the most by vote, in one sentence."""
    ranked = [
        (item.kind == "proved", rows, item) for item in curves if (rows := item.table.protected_rows(threshold)) is not None
    ]
    if not ranked:
        return f"No curve here is proved to stay above {_level_text(curves, threshold)}, even without poison."
    *_, best = max(ranked, key=lambda entry: entry[:2])
    sentence = (
        f"{full_name(best)} {_protects_text(best, threshold)}: its mean accuracy stays above {_level_text(curves, threshold)}"
    )
    sure = f", with {1 - best.table.beta:.0%} confidence" if best.kind == "proved" else ""
    return f"{sentence}{sure}."


def _protects_text(item: CertifiedCurve, threshold: float | None) -> str:
    """As in "withstands up to 12 poisoned rows of 16,000 (0.07%)"."""
    rows = item.table.protected_rows(threshold) or 0
    most = count_text(rows, f"poisoned {item.table.unit}")
    return f"withstands up to {most} of {item.table.n_train:,} ({100 * item.share(rows):.2g}%)"


def verdict_text(item: CertifiedCurve, threshold: float | None) -> str:
    """What is proved about one curve, next to what was published; without the name."""
    table = item.table
    if table.reason:
        return f"no guarantee. {table.reason}"
    if table.protected_rows(threshold) is None:
        level = item.level(threshold)
        return f"no protection shown: without poison {table.low(0):.1%} is certain, which is not above {level:.1%}"
    published = ""
    if item.kind == "proved":
        rows = item.published_rows(threshold)
        published = "; by the published bound none" if rows is None else f"; by the published bound {rows:,}"
    return f"{_protects_text(item, threshold)}{published}"


def struck_text(item: CertifiedCurve, threshold: float | None) -> str:
    """What a refused publication would have promised; empty where nothing was."""
    if item.kind != "refused":
        return ""
    rows = item.published_rows(threshold)
    return "" if rows is None else f"published: up to {rows:,} poisoned {item.table.unit}s"


#: Lines per curve.
MAX_ROWS = 11


def guarantee_rows(curves: Sequence[CertifiedCurve], up_to: float) -> Rows:
    """The figure as a table, at most eleven lines per curve."""
    rows = []
    for item in curves:
        table, every = item.table, curve_rows(item.table.n_train, up_to)
        for place in np.linspace(0, len(every) - 1, min(len(every), MAX_ROWS)).round().astype(int):
            k = every[place]
            published = "none" if item.kind in ("votes", "no_guarantee") else f"{table.published(k):.1%}"
            rows.append(
                {
                    "algorithm": item.title,
                    f"ε ({_relation(item)})": "none" if item.epsilon is None else number_text(item.epsilon),
                    f"poisoned {table.unit}s": f"{k:,}",
                    "share": f"{item.share(k):.2%}",
                    "published": f"{published} (refused)" if item.kind == "refused" else published,
                    "proved": "nothing" if table.reason else f"{table.low(k):.1%}",
                    "estimate": "none" if table.reason else f"{table.tight(k):.1%}",
                }
            )
    return rows


def attack_table(curves: Sequence[CertifiedCurve], attacks: pd.DataFrame) -> Rows:
    """The dots as a table."""
    return [
        {
            "attack": ATTACKS[line.attack].title,
            "algorithm": item.name,
            f"poisoned {item.table.unit}s": f"{line.poisoned_rows:,}",
            "mean accuracy": f"{line.accuracy:.1%}",
            "95% limits": f"{line.low:.1%} to {line.high:.1%}",
            "proved": "nothing" if item.table.reason else f"{item.table.low(int(line.poisoned_rows)):.1%}",
        }
        for item in curves
        for line in _attack_rows(item, attacks).itertuples()
    ]


#: A smaller difference of means is not worth a sentence.
MIN_DIFFERENCE = 0.02


def attacked_sentence(attacks: pd.DataFrame, unit: Unit = ROW) -> str:
    """Where the default learner loses more accuracy to a measured attack than another private one; empty where nowhere.

    `attacks` has the columns attack, learner, epsilon, poisoned_rows, n_draws, accuracy, and its limits low and high.
    """
    private = attacks[[get_learner(str(name)).spends_epsilon for name in attacks.learner]]
    ours, rivals = private[private.learner == DEFAULT], private[private.learner != DEFAULT]
    pairs = ours.merge(rivals, on=["attack", "epsilon", "poisoned_rows"], suffixes=("", "_other"))
    behind = pairs.accuracy_other - pairs.accuracy
    if not len(pairs) or behind.max() < MIN_DIFFERENCE:
        return ""
    worst = pairs.loc[behind.idxmax()]
    are_apart = worst.high < worst.low_other
    draws = int(min(worst.n_draws, worst.n_draws_other))
    sure = "the 95% limits do not overlap" if are_apart else f"from {draws} draws each, and the 95% limits overlap"
    rival = get_learner(str(worst.learner_other)).title
    at = f"{bare_text(PrivacyLoss(float(worst.epsilon)))} ({unit.neighbours})"
    return (
        f"{get_learner(DEFAULT).title} is the weaker one here. At {at} with "
        f'{count_text(int(worst.poisoned_rows), "poisoned row")} under the attack "{ATTACKS[str(worst.attack)].title}" it keeps '
        f"{worst.accuracy:.1%} accuracy, {rival} {worst.accuracy_other:.1%}; {sure}."
    )
