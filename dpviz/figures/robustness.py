"""Robustness in pictures and words: guaranteed accuracy against poisoned rows, measured attacks beside it.

Proved is a heavy line, the estimate thin, Corollary 2 thin and dotted; refused curves are struck through. One hue per epsilon,
one dash per learner. Bounds come from `evaluation.robustness.poisoning`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.accounting.risk import Risk
from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.evaluation.robustness.certificates import Certificate, VoteCertificate
from dpviz.evaluation.robustness.poisoning import PoisoningTable, curve_rows
from dpviz.figures.charts import LEGEND_BELOW, SILENT, Chart, Figure, Rows, Style, chart, limits, line, marker
from dpviz.figures.theme import NEUTRAL, SERIES, VOTES, WHITE, translucent
from dpviz.figures.wording import counted
from dpviz.learners import DEFAULT, get_learner
from dpviz.results.wording import number_text

if TYPE_CHECKING:
    import pandas as pd

#: Proved by privacy; certified by a vote; published but refused; nothing published and nothing proved.
Kind = Literal["proved", "votes", "refused", "silent"]


@dataclass(frozen=True)
class Certified:
    """One learner at one epsilon (None where it spends none) with its curves, and the verdict on its privacy claim."""

    epsilon: float | None
    verdict: str
    table: PoisoningTable
    risk: Risk | None = None  #: Of one row, by what a fit does; None where no epsilon is spent

    @property
    def kind(self) -> Kind:
        """How it must be drawn."""
        if isinstance(self.table.bounds[0], VoteCertificate):
            return "votes"
        if not self.table.reason:
            return "proved"
        return "silent" if math.isnan(self.table.published(0)) else "refused"

    @property
    def title(self) -> str:
        """The learner's title."""
        return get_learner(self.table.learner).title

    @property
    def name(self) -> str:
        """Title and epsilon."""
        return self.title if self.epsilon is None else f"{self.title}, ε = {number_text(self.epsilon)}"

    def published_rows(self, above: float) -> int | None:
        """The most rows with which the published bound stays above an accuracy; None when none does."""
        published, every = self.table.published, range(1, self.table.n_train + 1)
        if not published(0) > above:
            return None
        return bisect_left(every, True, key=lambda rows: not published(rows) > above)  # the bound only falls

    def share(self, rows: int) -> float:
        """Rows as a share of the training rows."""
        return rows / max(1, self.table.n_train)


def epsilon_colours(epsilons: Iterable[float | None]) -> dict[float | None, str]:
    """One hue per epsilon, in their order; None stands first."""
    places = sorted(set(epsilons), key=lambda epsilon: epsilon or 0.0)
    return {epsilon: SERIES[place % len(SERIES)] for place, epsilon in enumerate(places)}


def is_noisy(item: Certified) -> bool:
    """True where the guarantee comes from draws, and so has a band."""
    return isinstance(item.table.bounds[0], Certificate)


Unit = Literal["rows", "share"]

#: What is proved, and the estimate from the same draws.
HEAVY, THIN = 3.5, 1.2
#: Learners at one epsilon share its hue and differ in these.
DASHES = ("solid", "dash", "dashdot", "longdash")
#: Room below the majority class that is still drawn, in accuracy.
BELOW = 0.25
#: Up to so many rows every number of them is named below the axis.
FEW = 8
#: Pixels across the plot on the narrowest screen.
TELEPHONE = 200.0
AXES = {"rows": "poisoned rows (a changed row counts as two)", "share": "poisoned rows, share of the training rows"}
_ATTACK_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def guarantee_chart(
    found: Sequence[Certified], *, up_to: float, unit: Unit, wanted: float | None = None, attacks: pd.DataFrame | None = None
) -> Chart:
    """Guaranteed accuracy from 0 to `up_to` (a share of the training rows) poisoned rows, counted as `unit` says.

    `wanted` is the accuracy to stay above, None for that of the majority class; `attacks` come from `attack_curve`, one or more.
    """
    bottom, top = _range(found, wanted, attacks)
    up = {"title": "mean accuracy, at least", "tickformat": ".0%", "range": [bottom, top], "zeroline": False}
    across, lines = _across(found, up_to, unit), _lines(found)
    figure = chart(600 + 22 * len(found), legend=LEGEND_BELOW, hovermode="closest", xaxis=across, yaxis=up)
    for item, style in zip(found, lines, strict=True):
        _add(figure, item, up_to, unit, style)
    for item, style in zip(found, lines, strict=True):
        if attacks is not None:
            _add_attacks(figure, item, attacks, unit, style["color"])
    _add_level(figure, found, wanted, bottom)
    _add_crossings(figure, [(item, style["color"]) for item, style in zip(found, lines, strict=True)], wanted, up_to, unit)
    each = ". ".join(f"{full_name(item)}: {verdict_text(item, wanted).split('. ')[0]}" for item in found)
    said = f"Guaranteed mean accuracy against poisoned rows. {each}."
    return Chart(figure, said, partial(guarantee_rows, found, up_to))


def _lines(found: Sequence[Certified]) -> list[Style]:
    """The line of each curve: its hue by epsilon, its dash by learner; what is refused is grey."""
    hues = epsilon_colours(item.epsilon for item in found if item.kind == "proved")
    learners = list(dict.fromkeys(item.table.learner for item in found if item.kind == "proved"))
    dashes = {name: DASHES[place % len(DASHES)] for place, name in enumerate(learners)}
    return [line(_hue(item, hues), HEAVY, dashes.get(item.table.learner, "solid")) for item in found]


def _hue(item: Certified, hues: dict[float | None, str]) -> str:
    return VOTES if item.kind == "votes" else hues[item.epsilon] if item.kind == "proved" else NEUTRAL


def _add(figure: Figure, item: Certified, up_to: float, unit: Unit, style: Style) -> None:
    table, name, rows = item.table, item.name, np.array(curve_rows(item.table.n_train, up_to))
    shares = rows / max(1, table.n_train)
    low, tight, published = (np.array([bound(int(k)) for k in rows]) for bound in (table.low, table.tight, table.published))
    head = f"<b>{name}</b><br>%{{customdata[0]:,}} poisoned rows (%{{customdata[1]:.2%}})<br>"
    about = {
        "x": shares if unit == "share" else rows,
        "legendgroup": name,
        "mode": "lines",
        "customdata": np.column_stack((rows, shares, low, tight, published)),
        "hovertemplate": f"{head}{_hover(item)}<extra></extra>",
    }
    match item.kind:
        case "proved":
            figure.add_scatter(**about, y=low, name=f"{name}: proved", line=style)
            thin = {"line": style | {"width": THIN}, "showlegend": False}
            figure.add_scatter(**about, y=tight, name=f"{name}: estimate", **thin)
            if not np.isnan(published).any():
                dots = {"line": style | {"width": THIN, "dash": "dot"}, "showlegend": False}
                figure.add_scatter(**about, y=published, name=f"{name}: Corollary 2", **dots)
        case "votes":
            figure.add_scatter(**about, y=low, name=f"{item.title}: certified", line=style | {"shape": "hv"})
        case "refused":  # struck through: grey, dotted, crossed out, and said so
            crosses = {"symbol": "x-thin", "size": 7, "maxdisplayed": 12, "line": {"color": NEUTRAL, "width": 1.5}}
            struck = about | {"mode": "lines+markers", "marker": crosses, "line": line(NEUTRAL, 1.5, "dot")}
            figure.add_scatter(**struck, y=published, name=f"<s>{name}</s>: published, refused")
        case "silent":  # nothing is claimed or proved: its accuracy without poison
            hover = f"<b>{name}</b><br>without poison %{{y:.1%}}, no guarantee<extra></extra>"
            point = {"mode": "markers", "marker": marker(NEUTRAL, "circle-open", 11), "hovertemplate": hover}
            figure.add_scatter(x=[0], y=[table.accuracy], name=f"{item.title}: no guarantee", **point)


def _hover(item: Certified) -> str:
    """What is said of a point of a curve; numbers are columns of its data."""
    if item.kind == "votes":
        return "certified: %{customdata[2]:.1%}"
    if item.kind == "refused":
        return "published, but refused: %{customdata[4]:.1%}"
    proved = f"proved with {1 - item.table.beta:.0%} confidence: %{{customdata[2]:.1%}}, estimate %{{customdata[3]:.1%}}"
    return proved if math.isnan(item.table.published(0)) else f"{proved}<br>published: %{{customdata[4]:.1%}}"


def _add_attacks(figure: Figure, item: Certified, attacks: pd.DataFrame, unit: Unit, colour: str) -> None:
    symbols = dict(zip(ATTACKS, _ATTACK_SYMBOLS, strict=False))
    for attack, frame in attack_rows(item, attacks).groupby("attack", sort=False):
        title = ATTACKS[str(attack)].title
        said = [f"{k:,} poisoned rows<br>measured {m:.1%}" for k, m in zip(frame.poisoned_rows, frame.accuracy, strict=True)]
        dots = {"symbol": symbols[str(attack)], "size": 9, "color": colour, "line": {"color": WHITE, "width": 1}}
        spread = limits(frame.high - frame.accuracy, frame.accuracy - frame.low, colour, thickness=1.2, width=4)
        look = {"error_y": spread, "name": f"{item.name}: {title.lower()}", "mode": "markers", "marker": dots}
        hover = f"<b>{item.name}</b><br>{title}<br>%{{customdata}}<extra></extra>"
        x = frame.poisoned_share if unit == "share" else frame.poisoned_rows
        figure.add_scatter(x=x, y=frame.accuracy, customdata=said, hovertemplate=hover, **look)


def attack_rows(certified: Certified, attacks: pd.DataFrame) -> pd.DataFrame:
    """The lines of measured attacks that are about this learner at this epsilon."""
    same = attacks.learner == certified.table.learner
    return attacks[same if certified.epsilon is None else same & (attacks.epsilon == certified.epsilon)]


def _range(found: Sequence[Certified], wanted: float | None, attacks: pd.DataFrame | None) -> tuple[float, float]:
    levels = [item.table.accuracy for item in found] + ([wanted] if wanted is not None else [])
    lows = [found[0].table.majority - BELOW] + ([wanted - 0.05] if wanted is not None else [])
    if attacks is not None:
        for item in found:
            about = attack_rows(item, attacks)
            lows += list(about.low - 0.03)
            levels += list(about.high)
    return max(0.0, min(lows)), min(1.0, max(levels) + 0.03)


def _add_level(figure: Figure, found: Sequence[Certified], wanted: float | None, bottom: float) -> None:
    """The line to stay above, and below it what is worth nothing."""
    majority = found[0].table.majority
    level, words = (majority, "majority class") if wanted is None else (wanted, "stay above")
    area = {"line": {"width": 0}, "fillcolor": translucent(NEUTRAL, 0.16), "layer": "below"}
    figure.add_shape(type="rect", xref="paper", x0=0, x1=1, y0=bottom, y1=majority, **area)
    figure.add_hline(level, line=line(NEUTRAL, 1.5, "dot"))
    place = {"xref": "paper", "x": 0.995, "y": level, "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(text=f"{words} {level:.1%}", **place)


def _add_crossings(
    figure: Figure, coloured: Sequence[tuple[Certified, str]], wanted: float | None, up_to: float, unit: Unit
) -> None:
    """Where what is proved falls to the line to stay above: a ring, and below it the number of rows, once for equal ones."""
    kinds = ("proved", "votes")
    known = [(item, hue, item.table.protected_rows(wanted) if item.kind in kinds else None) for item, hue in coloured]
    rings = [(rows, item, hue) for item, hue, rows in known if rows is not None and item.share(rows) <= up_to]
    texts = ring_texts({rows: item.share(rows) / up_to for rows, item, _ in rings})
    for rows, item, hue in rings:
        level = item.table.majority if wanted is None else wanted
        words, place = texts.pop(rows, ("", "bottom center"))
        text = {"text": [words], "textposition": place, "textfont": {"size": 14}}
        dot = {"mode": "markers+text", "marker": marker(hue, "circle-open", 11, 3), "cliponaxis": False}
        figure.add_scatter(x=[item.share(rows) if unit == "share" else rows], y=[level], name="crossing", **text, **dot, **SILENT)


def ring_texts(places: Mapping[int, float]) -> dict[int, tuple[str, str]]:
    """By number of rows, at places from 0 to 1: its text and where it stands.

    A number that would meet another on a telephone stands a line lower; on a wider chart they only move apart.
    """
    ends: list[float] = []  # of the numbers in each line
    found = {}
    for rows, place in sorted(places.items()):
        x, width = place * TELEPHONE, 9.0 * len(f"{rows:,}")
        side, start = ("right", x) if x < width else ("left", x - width) if x > TELEPHONE - width else ("center", x - width / 2)
        line = next((line for line, end in enumerate(ends) if end <= start), len(ends))
        ends[line : line + 1] = [start + width]
        found[rows] = "&nbsp;<br>" * line + f"<b>{rows:,}</b>", f"bottom {side}"
    return found


def _across(found: Sequence[Certified], up_to: float, unit: Unit) -> Style:
    end = up_to if unit == "share" else max(item.table.n_train for item in found) * up_to
    ticks = {"tickformat": ".2~%"} if unit == "share" else {"tickformat": ",d"} | ({"dtick": 1} if end < FEW else {})
    return {"title": AXES[unit], "zeroline": False, "range": [-0.015 * end, max(1e-9, 1.015 * end)]} | ticks


SOUND = ("proved", "votes")


def full_name(item: Certified) -> str:
    """Title and epsilon with the neighbouring relation."""
    return item.title if item.epsilon is None else f"{item.title} at ε = {number_text(item.epsilon)} ({NEIGHBOURS})"


def level_text(found: Sequence[Certified], wanted: float | None) -> str:
    """What accuracy is to stay above."""
    return f"the majority class, {found[0].table.majority:.1%}" if wanted is None else f"the {wanted:.1%} you asked for"


def best_of(found: Sequence[Certified], wanted: float | None) -> Certified | None:
    """The private learner proved to withstand the most poisoned rows, else the best by vote; None when none withstands any."""
    ranked = [(rows, item.kind == "proved", item) for item in found if (rows := item.table.protected_rows(wanted)) is not None]
    private = [entry for entry in ranked if entry[1]]
    return max(private or ranked, key=lambda entry: entry[0])[2] if ranked else None


def headline(found: Sequence[Certified], wanted: float | None) -> str:
    """The answer in one sentence."""
    best = best_of(found, wanted)
    if best is None:
        return f"No curve here is proved to stay above {level_text(found, wanted)}, even without poison."
    said = f"{full_name(best)} {protects_text(best, wanted)}: its mean accuracy stays above {level_text(found, wanted)}"
    sure = f", with {1 - best.table.beta:.0%} confidence" if is_noisy(best) else ""
    return f"{said}{sure}."


def protects_text(item: Certified, wanted: float | None) -> str:
    """As in "withstands up to 12 poisoned rows of 16,000 (0.07%)"."""
    rows = item.table.protected_rows(wanted) or 0
    return f"withstands up to {counted(rows, 'poisoned row')} of {item.table.n_train:,} ({100 * item.share(rows):.2g}%)"


def verdict_text(item: Certified, wanted: float | None) -> str:
    """What is proved about one curve, next to what was published; without the name."""
    table = item.table
    if table.reason:
        return f"no guarantee. {table.reason}"
    if table.protected_rows(wanted) is None:
        shown = f"{table.low(0):.1%}" if is_noisy(item) else f"{table.accuracy:.1%}"
        above = table.majority if wanted is None else wanted
        return f"no protection shown: without poison {shown} is certain, which is not above {above:.1%}"
    published = ""
    if is_noisy(item):
        rows = item.published_rows(table.majority if wanted is None else wanted)
        published = "; by the published bound none" if rows is None else f"; by the published bound {rows:,}"
    return f"{protects_text(item, wanted)}{published}"


def struck_text(item: Certified, wanted: float | None) -> str:
    """What a refused publication would have promised; empty where nothing was."""
    if item.kind != "refused":
        return ""
    rows = item.published_rows(item.table.majority if wanted is None else wanted)
    return "" if rows is None else f"published: up to {rows:,} poisoned rows"


def marks_text(found: Sequence[Certified], wanted: float | None, *, are_attacked: bool) -> str:
    """What each mark in the figure means, of those that are there."""
    kinds = {item.kind for item in found}
    sure = f"{1 - found[0].table.beta:.0%}"
    words = {
        "proved": f"Heavy line: proved with {sure} confidence. Thin line: an estimate that proves nothing. "
        "Dotted in colour: PrivaTree's Corollary 2, from the same draws.",
        "votes": "Steps: certified by vote, which needs no confidence level.",
        "refused": "Dotted grey with crosses: published, but refused.",
        "silent": "Open grey circle: accuracy without poison, nothing is guaranteed.",
    }
    said = [text for kind, text in words.items() if kind in kinds]
    has_ring = any(item.kind in SOUND and item.table.protected_rows(wanted) is not None for item in found)
    crossed = ["Ring with a number: with that many poisoned rows it is still above the grey dotted line."]
    grey = ["Grey area: no better than always answering the largest class."]
    dots = ["Dots: measured attacks with 95% limits."] if are_attacked else []
    return " ".join(said + (crossed if has_ring else []) + dots + grey)


#: Lines per curve.
MOST_ROWS = 11


def guarantee_frame(found: Sequence[Certified], up_to: float) -> pd.DataFrame:
    """Every point of the curves: learner, epsilon, claim and reason before the columns of `PoisoningTable.frame`."""
    import pandas as pd

    frames = []
    for item in found:
        frame = replace(item.table, rows=curve_rows(item.table.n_train, up_to)).frame()
        about = {"learner": item.table.learner, "epsilon": item.epsilon, "claim": item.verdict, "reason": item.table.reason}
        frames.append(pd.DataFrame(about, index=frame.index).join(frame))
    return pd.concat(frames, ignore_index=True)


def guarantee_rows(found: Sequence[Certified], up_to: float) -> Rows:
    """The figure as a table, at most eleven lines per curve."""
    rows = []
    for item in found:
        every = curve_rows(item.table.n_train, up_to)
        places = np.linspace(0, len(every) - 1, min(len(every), MOST_ROWS)).round().astype(int)
        rows += [_row(item, every[place]) for place in places]
    return rows


def _row(item: Certified, rows: int) -> dict[str, str]:
    table = item.table
    published = "none" if item.kind in ("votes", "silent") else f"{table.published(rows):.1%}"
    return {
        "algorithm": item.title,
        f"ε ({NEIGHBOURS})": "none" if item.epsilon is None else number_text(item.epsilon),
        "poisoned rows": f"{rows:,}",
        "share": f"{item.share(rows):.2%}",
        "published": f"{published} (refused)" if item.kind == "refused" else published,
        "proved": "nothing" if table.reason else f"{table.low(rows):.1%}",
        "estimate": "none" if table.reason else f"{table.tight(rows):.1%}",
    }


def attack_table(found: Sequence[Certified], attacks: pd.DataFrame) -> Rows:
    """The dots as a table."""
    return [
        {
            "attack": ATTACKS[line.attack].title,
            "algorithm": item.name,
            "poisoned rows": f"{line.poisoned_rows:,}",
            "mean accuracy": f"{line.accuracy:.1%}",
            "95% limits": f"{line.low:.1%} to {line.high:.1%}",
            "proved": "nothing" if item.table.reason else f"{item.table.low(int(line.poisoned_rows)):.1%}",
        }
        for item in found
        for line in attack_rows(item, attacks).itertuples()
    ]


#: A smaller difference of means is not worth a sentence.
LEAST = 0.02
#: So many standard errors of a difference are no chance.
SURE = 3.0


@dataclass(frozen=True)
class Gap:
    """The default learner and a better one, at one epsilon and one number of poisoned rows."""

    epsilon: float
    rows: int
    other: str
    ours_value: float
    other_value: float
    are_apart: bool
    is_proved: bool
    n_draws: int
    errors: float | None  #: How many standard errors of the difference it is; None where they are not known


def widest_gap(frame: pd.DataFrame, column: str) -> Gap | None:
    """The place where the default learner's `column` (more is worse) exceeds another private learner's most; None below `LEAST`.

    `frame` has the columns learner, epsilon, poisoned_rows, n_draws, `column`, and its limits `column`_low and `column`_high; it
    may have standard errors, `column`_error.
    """
    private = frame[[get_learner(str(name)).spends_epsilon for name in frame.learner]]
    places = ["epsilon", "poisoned_rows"]
    both = private[private.learner == DEFAULT].merge(private[private.learner != DEFAULT], on=places, suffixes=("", "_other"))
    both = both.assign(size=both[column] - both[f"{column}_other"])
    if not len(both) or both["size"].max() < LEAST:
        return None
    worst = both.loc[both["size"].idxmax()]
    return Gap(
        float(worst.epsilon),
        int(worst.poisoned_rows),
        str(worst.learner_other),
        float(worst[column]),
        float(worst[f"{column}_other"]),
        bool(worst[f"{column}_low"] > worst[f"{column}_high_other"]),
        "tight_high_other" not in worst or bool(worst.tight_high_other == worst.tight_high_other),
        int(min(worst.n_draws, worst.n_draws_other)),
        _errors_apart(worst, column),
    )


def _errors_apart(worst: pd.Series[Any], column: str) -> float | None:
    names = (f"{column}_error", f"{column}_error_other")
    error = math.hypot(*(float(worst.get(name, 0.0)) for name in names))
    return float(worst["size"]) / error if error > 0 else None


def attacked_sentence(attacks: pd.DataFrame) -> str:
    """Where the default learner loses more accuracy to a measured attack than another private one; empty where nowhere."""
    frame = attacks.assign(loss=1 - attacks.accuracy, loss_low=1 - attacks.high, loss_high=1 - attacks.low)
    gaps = {str(name): widest_gap(part, "loss") for name, part in frame.groupby("attack")}
    known = {name: gap for name, gap in gaps.items() if gap is not None}
    if not known:
        return ""
    name, gap = max(known.items(), key=lambda entry: entry[1].ours_value - entry[1].other_value)
    kept = f"keeps {1 - gap.ours_value:.1%} accuracy, {{other}} {1 - gap.other_value:.1%}"
    return _sentence(gap, f'under the attack "{ATTACKS[name].title}" ', kept)


def _sentence(gap: Gap, under: str, compared: str) -> str:
    ours, other = get_learner(DEFAULT).title, get_learner(gap.other).title
    place = f"At ε = {number_text(gap.epsilon)} ({NEIGHBOURS}) with {counted(gap.rows, 'poisoned row')}"
    sure = "the 95% limits do not overlap" if gap.are_apart else f"from {gap.n_draws} draws each, {_how_sure(gap)}"
    unproved = "" if gap.is_proved else f" Nothing is proved about {other}."
    return f"{ours} is the weaker one here. {place} {under}it {compared.format(other=other)}; {sure}.{unproved}"


def _how_sure(gap: Gap) -> str:
    """Limits that hold whatever the distribution may overlap where means are far apart."""
    if gap.errors is None or gap.errors < SURE:
        return "and the 95% limits overlap"
    return f"{gap.errors:.1f} standard errors apart"
