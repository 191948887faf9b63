"""Audit in pictures and words: every learner on one axis, the worst pair, the tree that separates it.

Pure functions of what was searched and attacked. A verdict is always an icon, a word and a colour together; a number is rounded
for eyes only.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dpviz.charts.chart import LEGEND_ABOVE, NAMES, SILENT, Chart, Style, bars, chart, hatched_bar, line
from dpviz.charts.theme import BLUE, GREEN, NEUTRAL, UNSOUND, translucent
from dpviz.charts.tree.text import rule_list
from dpviz.charts.wording import PERSONS
from dpviz.errors import DocumentError
from dpviz.evaluation.audit.attack import LowerBound
from dpviz.evaluation.audit.evidence import SLACK, AuditResult, WorstPair, column_names, exceeds
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, UNIVERSES, SearchSpace
from dpviz.models.document import FORMAT, model_from
from dpviz.models.tree import Tree
from dpviz.results.wording import number_text, rounded_up
from dpviz.table.schema import CategoricalFeature

#: Beyond this exp() leaves the floats; no search gets near it.
_MAX_EXPONENT = 700.0
#: From this share of what is proved on, an attack is said to come near it.
WEAK = 0.8
WITHOUT, WITH = "without the person", "with the person"


@dataclass(frozen=True, slots=True)
class Badge:
    """How a verdict looks: a character, a word, and a tone (the name of a theme colour)."""

    icon: str
    word: str
    tone: str


#: *Proved*: the verdict on a plan; "" where the stored run has none.
BADGES = {
    "holds": Badge("✓", "holds", "green"),
    "unproven": Badge("?", "unproven", "orange"),
    "violated": Badge("✕", "violated", "red"),
    "none": Badge("–", "nothing claimed", "gray"),
    "": Badge("○", "not stored", "gray"),
}


def _lower_bound_badges(icon: str, absent: str) -> dict[str, Badge]:
    """By what was found against what is claimed: a lower bound never proves, so "within" has no colour."""
    return {
        "within": Badge(icon, "within", "gray"),
        "beyond": Badge(icon, "beyond", "red"),
        "bug": Badge("‼", "beyond what its steps cost", "red"),
        "nothing": Badge(icon, "nothing claimed", "gray"),
        "not": Badge("○", absent, "gray"),
    }


SEARCH_BADGES, ATTACK_BADGES = _lower_bound_badges("⌕", "not listed"), _lower_bound_badges("◎", "not attacked")


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the table of learners: a plan, and the three facts about it. A click on the line reports `key`.

    `setting` are the settings that are not its default, in words. *Proved*: `verdict`, a key of `BADGES`; `claimed` and
    `composed` are the epsilons of the paper and of the steps, `guesses` the right guesses of 100 about one person that the steps
    allow at most; None where nothing is stored. *Searched*: `searched`, the worst; None where outputs could not be listed.
    *Attacked*: `attacked`. `note` says when the search is not from the stored run: "searched now".
    """

    key: str
    title: str
    setting: str
    verdict: str = ""
    claimed: float | None = None
    composed: float | None = None
    guesses: float | None = None
    searched: AuditResult | None = None
    attacked: LowerBound | None = None
    note: str = ""

    @property
    def search(self) -> str:
        """A key of `SEARCH_BADGES`."""
        return against_claim(self.searched.log_ratio, self.searched) if self.searched is not None else "not"

    @property
    def attack(self) -> str:
        """A key of `ATTACK_BADGES`."""
        return against_claim(self.attacked.unconditional, self.attacked) if self.attacked is not None else "not"


def against_claim(bound: float, result: AuditResult | LowerBound) -> str:
    """A lower bound of epsilon against what is claimed and against the ledger: "within", "beyond", "bug" or "nothing" claimed.

    `bound` supposes nothing of the noise; what refutes a ledger of Gaussian noise is in the verdict of `result`.
    """
    if result.verdict == "ledger violated" or exceeds(bound, result.composed):
        return "bug"
    if math.isinf(result.claimed):
        return "nothing"
    return "beyond" if exceeds(bound, result.claimed) else "within"


def attack_badge(attack: LowerBound) -> Badge:
    """How an attack is marked."""
    return ATTACK_BADGES[against_claim(attack.unconditional, attack)]


def lead_sentence(lines: Iterable[AuditLine]) -> str:
    """How many private learners are proved, refuted or neither; default settings only."""
    claims = [line for line in lines if not line.setting and line.verdict not in ("none", "")]
    if not claims:
        return "Nothing is stored yet."
    counts = Counter(line.verdict for line in claims)
    other_verdicts = ", ".join(f"{counts[name]} {name}" for name in ("unproven", "violated") if counts[name])
    is_bug = any("bug" in (line.search, line.attack) for line in claims)
    bug = " What the steps cost is wrong: that is a bug in dpviz." if is_bug else ""
    more = f": {other_verdicts}" if other_verdicts else ""
    return f"{counts['holds']} of {len(claims)} private algorithms provably keep the ε they claim{more}.{bug}"


def attack_sentence(attack: LowerBound) -> str:
    """What an attack showed, with its confidence, and of what is proved; or that no attack is known that comes near it."""
    delta = f", δ = {number_text(attack.delta)}" if attack.delta else ""
    condition = "" if attack.right is None else ", if the noise is Gaussian,"
    lower_bound = f"ε {at_least_text(attack.bound)}{delta} ({PERSONS}){condition} with {attack.confidence:.0%} confidence"
    if strength_text(attack):
        reference = "what a perfect attack shows with as many tries" if attack.delta else "what is proved"
        return f"{lower_bound}: {strength_text(attack)} of {reference}."
    if not attack.perfect and attack.verdict == "holds":
        return f"{lower_bound}. A perfect attack would show nothing with as many tries."
    return f"{lower_bound}." + (" No attack is known that comes near what is proved." if attack.verdict == "holds" else "")


def strength_text(attack: LowerBound) -> str:
    """The share of the proved loss that an attack found, rounded down; empty where no attack is known that comes near it."""
    share = attack.strength if attack.verdict == "holds" else 0.0
    return f"{math.floor(100 * share * (1 + SLACK))}%" if share >= WEAK else ""


def attack_source(attack: LowerBound) -> str:
    """What an attack could have shown, and on how many draws."""
    tries = f"{attack.hits[1]:,} of {sum(attack.hits):,} guesses right, {attack.n_done:,} draws"
    tries += f", {attack.rows:,} equal rows in or out together" if attack.rows > 1 else ""
    any_noise = "" if attack.any_noise is None else f" Whatever the noise: ε {at_least_text(attack.any_noise)}."
    return f"{number_text(attack.claimed)} is claimed and {_rounded_down(attack.perfect)} could be shown ({tries}).{any_noise}"


def at_least_text(bound: float) -> str:
    """A lower bound, rounded down: "≥ 0.999"; infinite: "∞"."""
    return f"≥ {_rounded_down(bound)}" if 0 <= bound < math.inf else number_text(bound)


def _rounded_down(bound: float) -> str:
    if math.isinf(bound) or bound <= 0:
        return number_text(bound)
    unit = 10.0 ** (math.floor(math.log10(bound)) - 2)
    return number_text(math.floor(bound / unit * (1 + SLACK)) * unit)


def ratio_text(epsilon: float) -> str:
    """How many times as likely an output may become: "3.5 times"; infinite: "without limit"."""
    return f"{number_text(math.exp(epsilon))} times" if epsilon < _MAX_EXPONENT else "without limit"


def chance_text(chance: float) -> str:
    """A probability for people: "9.47%", "1 in 2,100", "impossible", "certain"."""
    if chance <= 0:
        return "impossible"
    if chance >= 1:
        return "certain"
    if chance >= 0.01:
        return f"{number_text(100 * chance)}%"
    size = 10.0 ** (math.floor(-math.log10(chance)) - 2)
    return f"1 in {max(1.0, size) * round(1 / chance / max(1.0, size)):,.0f}"


def search_sentence(result: AuditResult) -> str:
    """What a search found, and what is claimed."""
    if result.worst_pair is None or result.log_ratio <= 0:
        return pair_sentence(result)
    claim = "nothing is claimed" if math.isinf(result.claimed) else f"{number_text(result.claimed)} is claimed"
    bound = "No finite ε holds" if math.isinf(result.log_ratio) else f"ε {at_least_text(result.log_ratio)}"
    return f"{bound}; {claim}."


def pair_sentence(result: AuditResult) -> str:
    """How far apart the pair is, and how far apart it may be."""
    pair, claim = result.worst_pair, number_text(result.claimed)
    if pair is None or result.log_ratio <= 0:
        return "No difference between neighbouring data sets could be certified here."
    adds = pair.probabilities[1] > pair.probabilities[0]
    if math.isinf(result.log_ratio):
        possible, impossible = ("with", "without") if adds else ("without", "with")
        allowed = f"No finite ε allows that; ε = {claim} is claimed ({PERSONS})."
        if math.isinf(result.claimed):
            allowed = "Nothing was promised."
        return f"This tree is possible {possible} the marked person and impossible {impossible} it. {allowed}"
    allowed = f"ε = {claim} ({PERSONS}) allows {ratio_text(result.claimed)}"
    if math.isinf(result.claimed):
        allowed = "nothing is claimed, so nothing is ruled out"
    change = "Adding the marked person" if adds else "Taking the marked person away"
    return f"{change} makes this tree {ratio_text(result.log_ratio)} as likely; {allowed}."


def is_beyond(result: AuditResult) -> bool:
    """True when what was found is more than what is claimed."""
    return exceeds(result.log_ratio, result.claimed)


# --- all learners on one axis

#: Verdict on a learner's defaults -> heading of its group, in the order of the chart.
GROUPS = {
    "holds": "Holds: there is a proof",
    "violated": "Violated: a counterexample is known",
    "unproven": "No counterexample, no proof",
    "none": "Nothing is claimed",
    "": "Not stored",
}
#: Groups that the chart shows only where the chosen line is in them.
OPTIONAL_GROUPS = ("none", "")
#: An axis of epsilon ends at this multiple of it.
END = 3
#: Name of a trace -> what it marks.
SIGNS = {
    "composed": "steps add up to this at most",
    "claimed": "claimed",
    "searched": "searched: ε is at least this",
    "attacked": "attacked, 95%: ε is at least this (with δ: if Gaussian)",
}
#: Symbol, its size and the width of its line, and how it is written beyond the end of the axis.
_SYMBOLS = {
    "claimed": ("line-ns-open", 18, 3, ""),
    "searched": ("circle", 11, 2, "●"),
    "attacked": ("diamond-open", 11, 2, "◇"),
    "composed": ("", 0, 1, "→"),
}
_LINE_HEIGHT = 30


def audit_chart(lines: Sequence[AuditLine], *, epsilon: float, selected: str) -> Chart:
    """The learners as they come, below the selected one its other settings.

    A bar ends at what the steps add up to, an upright line is the claim, a dot and a diamond are lower bounds. What lies beyond
    the end of the axis is an arrow with its number. `customdata` of every mark is the key of its line.
    """
    end = END * epsilon
    at, groups, height = _places(lines, selected)
    legend = LEGEND_ABOVE | {"itemclick": False, "itemdoubleclick": False}
    layout: Style = {"barmode": "overlay", "bargap": 0.35, "hovermode": "closest", "clickmode": "event+select"}
    figure = chart(_LINE_HEIGHT * height + 90, top=60, right=80, legend=legend, **layout)
    values = {item.key: _epsilons(item) for item, _ in at}
    for sign, words in SIGNS.items():
        points = [(item, y, values[item.key][sign]) for item, y in at if sign in values[item.key]]
        inside = [(item, y, min(value, end)) for item, y, value in points if value <= end or sign == "composed"]
        about = {
            "y": [y for _, y, _ in inside],
            "customdata": [item.key for item, *_ in inside],
            "hovertext": [f"{words}: {_value_text(sign, values[item.key][sign])}" for item, *_ in inside],
            "hoverinfo": "text",
            "name": words,
            "unselected": {"marker": {"opacity": 1}},
        }
        x = [value for *_, value in inside]
        symbol, size, width, _ = _SYMBOLS[sign]
        if sign == "composed":
            grey = {"color": translucent(NEUTRAL, 0.35), "line": {"color": NEUTRAL, "width": width}}
            figure.add_bar(x=x, orientation="h", marker=grey, **about)
        else:
            hues = [_hue(item, sign) for item, *_ in inside]
            marks = {"symbol": symbol, "size": size, "color": hues, "line": {"width": width, "color": hues}}
            figure.add_scatter(x=x, mode="markers", marker=marks, cliponaxis=False, **about)
    beyond = []
    for item, y in at:
        far = {
            sign: values[item.key][sign] for sign in ("composed", "searched", "attacked") if values[item.key].get(sign, 0.0) > end
        }
        if far:
            beyond.append((y, " ".join(f"{_SYMBOLS[sign][3]}{_value_text(sign, value)}" for sign, value in far.items())))
    texts = {"text": [text for _, text in beyond], "textposition": "middle right", "cliponaxis": False}
    figure.add_scatter(x=[end] * len(beyond), y=[y for y, _ in beyond], mode="text", **SILENT, **texts)
    for name, y, count in groups:
        head = {"xref": "paper", "x": 0, "xanchor": "left", "showarrow": False}
        figure.add_annotation(y=y, text=f"<b>{BADGES[name].icon} {GROUPS[name]}</b> ({count})", **head)
    ticks = []
    for item, y in at:
        name = f"{BADGES[item.verdict].icon} {item.setting}" if item.setting else item.title
        name = name if len(name) < 20 else name.replace(" (", "<br>(").replace(": ", ":<br>")
        ticks.append(f"<b>{name}</b>" if item.key == selected else name)
        if item.key == selected:
            box = {"fillcolor": translucent(BLUE, 0.14), "line": {"width": 0}, "layer": "below"}
            figure.add_shape(type="rect", xref="paper", x0=0, x1=1, y0=y - 0.5, y1=y + 0.5, **box)
    names = {"tickvals": [y for _, y in at], "ticktext": ticks}
    figure.update_yaxes(range=[height - 0.5, -0.5], showgrid=False, zeroline=False, fixedrange=True, **names)
    figure.update_xaxes(range=[0, end], title=f"ε ({PERSONS})", fixedrange=True, zeroline=False, nticks=6)
    counts = ", ".join(f"{GROUPS[name].split(':')[0].lower()} {count}" for name, _, count in groups)
    return Chart(figure, f"Every algorithm with what it claims and what was found: {counts}.", list(map(_audit_row, lines)))


def _places(lines: Sequence[AuditLine], selected: str) -> tuple[list[tuple[AuditLine, int]], list[tuple[str, int, int]], int]:
    """(each line shown with its place from the top; per group its name, place and number of learners; all places)."""
    selected_title = next((item.title for item in lines if item.key == selected), "")
    by_title: dict[str, list[AuditLine]] = {}
    for item in lines:
        by_title.setdefault(item.title, []).append(item)
    at, groups, y = list[tuple[AuditLine, int]](), list[tuple[str, int, int]](), 0
    for name in GROUPS:
        members = [settings for settings in by_title.values() if settings[0].verdict == name]
        if not members or (name in OPTIONAL_GROUPS and all(settings[0].title != selected_title for settings in members)):
            continue
        groups.append((name, y, len(members)))
        visible = [item for settings in members for item in (settings if settings[0].title == selected_title else settings[:1])]
        at += zip(visible, range(y + 1, y + 1 + len(visible)), strict=True)
        y += 1 + len(visible)
    return at, groups, y


def _hue(item: AuditLine, sign: str) -> str:
    status = {"searched": item.search, "attacked": item.attack}.get(sign, "")
    return UNSOUND if status in ("beyond", "bug") else GREEN if sign == "claimed" else BLUE


def _epsilons(item: AuditLine) -> dict[str, float]:
    searched = None if item.searched is None else max(0.0, item.searched.log_ratio)
    attacked = None if item.attacked is None else item.attacked.bound
    composed = item.composed
    if composed is not None and item.searched is not None:  # of all tables that the line speaks of
        composed = max(composed, item.searched.composed)
    values = {"claimed": item.claimed, "searched": searched, "attacked": attacked, "composed": composed}
    return {sign: value for sign, value in values.items() if value is not None}


def _value_text(sign: str, epsilon: float) -> str:
    """As in the table: what was found at least is rounded down."""
    return _rounded_down(epsilon) if sign in ("searched", "attacked") else number_text(epsilon)


def _audit_row(item: AuditLine) -> dict[str, str]:
    epsilons, search, attack = _epsilons(item), SEARCH_BADGES[item.search].word, ATTACK_BADGES[item.attack].word
    return {
        "algorithm": item.title,
        "setting": item.setting,
        "proved": BADGES[item.verdict].word,
        f"claims ε ({PERSONS})": number_text(epsilons["claimed"]) if "claimed" in epsilons else "",
        "searched": f"{at_least_text(epsilons['searched'])}, {search}" if item.searched else "not listed",
        "attacked": f"{at_least_text(epsilons['attacked'])}, {attack}" if item.attacked else "not attacked",
        "steps add up to": number_text(epsilons["composed"]) if "composed" in epsilons else "",
        "right guesses of 100, at most": "" if item.guesses is None else rounded_up(item.guesses, 1),
        "": item.note,
    }


# --- the worst pair


def pair_rows(pair: WorstPair) -> list[dict[str, str]]:
    """Both data sets as one table: each distinct row with how often it is in either, the extra row last and marked.

    Identical columns (equal but for the number in their name) stand once.
    """
    columns: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for place, name in enumerate(pair.columns):
        values = tuple(_short_value(name, row[place]) for row in pair.second)
        columns.setdefault((re.sub(r"\d+$", "", name), values), []).append(place)
    heads = {
        places[0]: pair.columns[places[0]] + (f" to {pair.columns[places[-1]]} (identical)" if len(places) > 1 else "")
        for places in columns.values()
    }
    without, with_row = Counter(pair.first), Counter(pair.second)
    (extra,) = (with_row - without).elements()
    return [
        {head: _short_value(pair.columns[place], row[place]) for place, head in heads.items()}
        | {f"rows {WITHOUT}": f"{without[row]}", f"rows {WITH}": f"{with_row[row]}{' (1 added)' if row == extra else ''}"}
        for row in sorted(with_row, key=lambda row: row == extra)
    ]


def chance_chart(result: AuditResult) -> Chart:
    """Two bars: how likely the output is on each data set, and a line at what the claim allows for the likelier one."""
    assert result.worst_pair is not None
    chances = dict(zip((WITHOUT, WITH), result.worst_pair.probabilities, strict=True))
    low, top = sorted(chances.values())
    limit = math.exp(result.claimed) * low if result.claimed < _MAX_EXPONENT else math.inf
    texts = list(map(chance_text, chances.values()))
    is_beyond_claim = [is_beyond(result) and value == top for value in chances.values()]
    style = hatched_bar(
        [UNSOUND if is_refuted else BLUE for is_refuted in is_beyond_claim],
        ["/" if is_refuted else "" for is_refuted in is_beyond_claim],
    )
    across = {"visible": False, "range": [0, 1.3 * max(top, limit if limit < 1 else 0.0)], "fixedrange": True}
    figure = chart(120, showlegend=False, xaxis=across, yaxis=NAMES | {"fixedrange": True})
    figure.add_bar(**bars(list(chances), list(chances.values()), texts, style), hoverinfo="skip")
    allowed = ""
    if limit < 1:
        limit_text = chance_text(limit) if limit else "0%"
        allowed = f" Upright line: the most that the claim allows on the likelier side, {limit_text}."
        y = list(chances.values()).index(top)
        figure.add_shape(type="line", x0=limit, x1=limit, y0=y - 0.48, y1=y + 0.48, line=line(NEUTRAL, 4))
    return Chart(figure, f"Probability of this tree: {', '.join(map(' '.join, zip(chances, texts, strict=True)))}.{allowed}")


# --- the output that separates a pair


def _short_value(column: str, value: str) -> str:
    """A value without the name of its column: "a=1" of column "a" is "1"."""
    return value.removeprefix(f"{column}=")


def output_tree(result: AuditResult) -> Tree | None:
    """The output as a tree over the columns of the pair; None where there is no pair, or the output is not one tree.

    Its schema is that of the first place of search that has these columns and declares what it asks.
    """
    root, pair = result.output.get("root", result.output), result.worst_pair
    places: tuple[SearchSpace, ...] = (*UNIVERSES, *COUNTEREXAMPLES)
    for place in sorted(places, key=lambda place: place.title != result.searched):
        schema = place.schema
        if pair is None or column_names(schema) != pair.columns:
            continue
        try:
            tree = model_from({"format": FORMAT, "kind": "tree", "root": root, "schema": schema.to_dict()})
        except DocumentError:
            continue
        assert isinstance(tree, Tree)
        features = (
            replace(feature, categories=tuple(_short_value(feature.name, name) for name in feature.categories))
            if isinstance(feature, CategoricalFeature)
            else feature
            for feature in schema.features
        )
        return Tree(replace(schema, features=tuple(features)), tree.root)
    return None


def output_in_words(result: AuditResult) -> str:
    """The output as rules: "a is 0 → x; a is 1 → y"; what is no tree as it is; empty where there is none."""
    tree = output_tree(result)
    if tree is not None:
        return "; ".join(line.text for line in rule_list(tree))
    return ", ".join(f"{name}: {value}" for name, value in result.output.items())
