from __future__ import annotations

import itertools
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dpviz.charts.theme import (
    BLUE,
    DARK,
    DIFFERENCES,
    GREEN,
    LIGHT,
    MARKS,
    N_COLOURS,
    ORANGE,
    SERIES,
    UNSOUND,
    VOTES,
    Theme,
    class_letter,
    contrast,
    css_variables,
    step_variables,
    text_on,
)
from tests.support.paths import ROOT

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"

# Machado, Oliveira and Fernandes (2009), severity 1.0; rows act on linear RGB.
DEFICIENCIES = {
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}

USUAL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def linear(colour: str) -> tuple[float, ...]:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)


def lab(rgb: tuple[float, ...]) -> tuple[float, float, float]:
    matrix = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
    white = (0.95047, 1.0, 1.08883)
    xyz = (sum(a * max(0.0, b) for a, b in zip(row, rgb, strict=True)) / w for row, w in zip(matrix, white, strict=True))
    x, y, z = (value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116 for value in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(first: str, second: str, deficiency: str) -> float:
    seen = (
        lab(tuple(sum(a * b for a, b in zip(row, linear(colour), strict=True)) for row in DEFICIENCIES.get(deficiency, USUAL)))
        for colour in (first, second)
    )
    return sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_classes_steps_and_texts_stand_out_from_every_ground_and_from_each_other_for_every_reader(theme: Theme) -> None:
    assert min(contrast(colour, ground) for colour in theme.classes for ground in (theme.ground, theme.raised)) >= 3
    assert min(contrast(ink, ground) for ink in (theme.ink, theme.muted) for ground in (theme.ground, theme.raised)) >= 4.5
    assert min(contrast(colour, text_on(colour)) for colour in theme.classes) >= 4.5
    assert min(contrast(colour, ground) for colour in theme.steps for ground in (theme.ground, theme.raised)) >= 3
    apart = [contrast(colour, theme.ground) for colour in theme.steps]
    assert apart == sorted(apart)
    assert min(high / low for low, high in itertools.pairwise(apart)) > 1.15
    for deficiency in ("none", *DEFICIENCIES):
        every = itertools.combinations(theme.classes, 2)
        assert min(distance(first, second, deficiency) for first, second in every) > 8
        near = [*itertools.combinations(theme.classes[:4], 2), *itertools.pairwise(theme.steps)]
        assert min(distance(first, second, deficiency) for first, second in near) > 10
    css = css_variables(theme)  # every role becomes a variable with a fallback
    assert f"--dp-muted:{theme.muted}" in css
    assert f"--dp-class-7:{theme.classes[7]}" in css
    assert f"--dp-step-4:{theme.steps[4]}" in step_variables(theme)
    assert f"--dp-ground:var(--st-background-color,{theme.ground})" in css


def test_the_dashboard_uses_the_same_colours() -> None:
    themes = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"]
    for theme, name in ((LIGHT, "light"), (DARK, "dark")):
        configured = themes[name]
        assert tuple(configured["chartCategoricalColors"]) == theme.classes
        assert (configured["backgroundColor"], configured["textColor"], configured["primaryColor"]) == (
            theme.ground,
            theme.ink,
            theme.accent,
        )
        assert configured["secondaryBackgroundColor"] == theme.raised
        assert contrast(theme.accent, "#ffffff") >= 3  # white ticks
        for word in ("text", "primary", "link", "red", "orange", "yellow", "green", "blue", "violet", "gray"):
            assert min(contrast(configured[f"{word}Color"], ground) for ground in (theme.ground, theme.raised)) >= 4.5, word


def test_lines_marks_and_differences_stand_out_from_every_ground_and_differ_for_colour_blind_readers() -> None:
    for deficiency in DEFICIENCIES:
        pairs = [(GREEN, UNSOUND), (GREEN, ORANGE), (BLUE, GREEN), (BLUE, VOTES)]
        assert min(distance(first, second, deficiency) for first, second in pairs) > 8
        assert min(distance(first, second, deficiency) for first, second in itertools.combinations(SERIES, 2)) > 15
    assert min(contrast(colour, theme.ground) for colour in MARKS for theme in (LIGHT, DARK)) >= 3
    for colours in DIFFERENCES.values():
        both = zip(colours, (LIGHT, DARK), strict=True)
        assert min(contrast(colour, ground) for colour, theme in both for ground in (theme.ground, theme.raised)) >= 4.5


def test_contrast_is_that_of_wcag_and_letters_never_start_again() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert LIGHT.class_colour(N_COLOURS) == LIGHT.class_colour(0)
    letters = [class_letter(index) for index in range(100)]
    assert len(set(letters)) == 100
    assert (letters[0], letters[25], letters[26], letters[27]) == ("A", "Z", "AA", "AB")


# --- drawings and texts do without plotly: the library and its command line are installed without it.


CODE = """
import importlib, pkgutil, sys
sys.modules["plotly"] = sys.modules["streamlit"] = None  # importing either fails
import dpviz.charts
for module in pkgutil.walk_packages(dpviz.charts.__path__, "dpviz.charts."):
    importlib.import_module(module.name)
from dpviz.charts.tree.text import rule_list
from dpviz.results.exports import export
from dpviz.models.document import model_from_json
text = open("tests/golden/pf-tree.json", encoding="utf-8").read()
for name in ("svg", "report"):
    assert export(name, text)
assert rule_list(model_from_json(text))
"""


@pytest.mark.slow
def test_trees_reports_and_texts_are_drawn_without_plotly() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
