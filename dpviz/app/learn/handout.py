"""The lessons as one HTML file to hand out: guess, answer, then move the control. It asks nobody for anything."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamlit.logger import set_log_level

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.learn import adding, choosing, groups, growing, noise, odds, poisoning
from dpviz.app.learn.classroom.sheet import html_of
from dpviz.app.learn.course import LESSONS, Lesson
from dpviz.app.learn.desk import RIGHT, WRONG, options_of
from dpviz.app.prose import prose
from dpviz.evaluation.learn.lessons import noisy_choice, noisy_counts
from dpviz.figures.charts import Figure, script_of_plotly
from dpviz.figures.learn import groups as by_group
from dpviz.figures.learn import mechanisms, trees
from dpviz.figures.theme import CLEAR, DARK, LIGHT
from dpviz.results.wording import number_text

_EPSILON = f"ε ({NEIGHBOURS})"
_PART = Path(__file__)


@dataclass(frozen=True)
class Control:
    """What a reader may move: its name, its values, the one shown first, and the picture of a value with its sentence."""

    label: str
    values: Sequence[float]
    shown: float
    picture: Callable[[float], tuple[Figure, str]]


def _counts(epsilon: float) -> tuple[Figure, str]:
    counts, missing = (len(noise.LATE), len(set(noise.LATE) - set(noise.MISSING))), len(noise.MISSING)
    noisy = noisy_counts(counts, missing, epsilon)
    return mechanisms.counts_figure(noisy), mechanisms.counts_sentence(noisy, counts)


def _choice(epsilon: float) -> tuple[Figure, str]:
    noisy = noisy_choice(tuple(choosing.OPTIONS.values()), epsilon)
    return mechanisms.choice_figure(list(choosing.OPTIONS), noisy), mechanisms.choice_sentence(noisy, epsilon)


def _features(count: float) -> tuple[Figure, str]:
    found, own = adding.search_both(int(count))
    return trees.adding_figure(found), trees.adding_sentence(found, own, int(count))


def _first_split(epsilon: float) -> tuple[Figure, str]:
    (root,) = growing.tree_after(epsilon, 1, 0).waiting
    return trees.options_figure(root), trees.options_sentence(root)


def _poisoned(epsilon: float) -> tuple[Figure, str]:
    found = poisoning.stump(epsilon)
    return trees.poison_figure(found, poisoning.ROWS), trees.poison_sentence(found)


def _groups(rows: float) -> tuple[Figure, str]:
    found = groups.curves(int(rows))
    return by_group.groups_figure(found), by_group.groups_sentence(found)


def _guesses(epsilon: float) -> tuple[Figure, str]:
    return mechanisms.guesses_figure(epsilon), mechanisms.guesses_sentence(epsilon)


#: Name of a lesson's texts -> its control.
CONTROLS = {
    "odds": Control(_EPSILON, odds.EPSILONS, odds.SHOWN, _guesses),
    "noise": Control(_EPSILON, noise.EPSILONS, noise.SHOWN, _counts),
    "choosing": Control(_EPSILON, choosing.EPSILONS, choosing.SHOWN, _choice),
    "adding": Control("Features", range(1, adding.MOST_FEATURES + 1), adding.SHOWN, _features),
    "growing": Control(_EPSILON, growing.EPSILONS, growing.SHOWN, _first_split),
    "poisoning": Control(_EPSILON, poisoning.EPSILONS, poisoning.SHOWN, _poisoned),
    "groups": Control(groups.LABEL, groups.SIZES, groups.SHOWN, _groups),
}


def handout() -> str:
    """The file: the lessons in their order, with every picture and the script that draws them."""
    set_log_level("ERROR")  # that there is no server is meant
    style, script = (_PART.with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".css", ".js"))
    for name, colours in (("LIGHT", LIGHT), ("DARK", DARK)):
        roles = {"ground": colours.ground, "raised": colours.raised, "ink": colours.ink, "line": colours.line}
        roles["accent"] = colours.accent
        style = style.replace(name, ";".join(f"--{role}:{colour}" for role, colour in roles.items()))
    pictures = json.dumps({lesson.text: _frames(CONTROLS[lesson.text]) for lesson in LESSONS}).replace("</", "<\\/")
    data = f'<script type="application/json" id="pictures">{pictures}</script>'
    body = "".join(_section(number, lesson) for number, lesson in enumerate(LESSONS, start=1))
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{viewport}<title>Lessons on differential privacy</title><style>{style}</style>'
    page = f"<main><h1>Lessons on differential privacy</h1>{body}</main>"
    scripts = f"{data}<script>{script_of_plotly()}</script><script>{script}</script>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{page}{scripts}</body></html>'


def _frames(control: Control) -> list[dict[str, Any]]:
    frames = []
    for value in control.values:
        figure, words = control.picture(value)
        figure.update_layout(template="none", paper_bgcolor=CLEAR, plot_bgcolor=CLEAR)
        frames.append({"value": number_text(value), "words": words, **json.loads(figure.to_json())})
    return frames


def _section(number: int, lesson: Lesson) -> str:
    numbers, name = lesson.question(), lesson.text
    control = CONTROLS[name]

    def said(section: str) -> str:
        return f"<p>{html_of(prose(f'learn/{name}', section, **numbers))}</p>"

    options = "".join(
        f'<label><input type="radio" name="{name}" value="{option}"> {html_of(words)}</label>'
        for option, words in options_of(name, numbers).items()
    )
    found = f'<span class="right" hidden>{RIGHT}</span><span class="wrong" hidden>{WRONG}</span>'
    answers = f'<div class="answer" hidden>{said("answer").replace("<p>", f"<p>{found} ", 1)}{said("try")}</div>'
    at, last = list(control.values).index(control.shown), len(control.values) - 1
    asked = list(control.values).index(next(iter(lesson.asked.values()), control.shown))
    moved = f'<input type="range" min="0" max="{last}" value="{at}" data-asked="{asked}" disabled>'
    return (
        f'<section id="{name}"><h2>{number}. {html_of(prose(f"learn/{name}", "title"))}</h2><div class="words">{said("claim")}'
        f"<fieldset><legend><strong>Guess first.</strong> {html_of(prose(f'learn/{name}', 'question', **numbers))}</legend>"
        f'{options}</fieldset>{answers}</div><div class="picture"><label>{control.label}: <output></output>{moved}</label>'
        f'<div class="chart" role="img"></div><p class="sentence"></p></div></section>'
    )
