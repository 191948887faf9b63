"""The files around the package agree with each other and with the code."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from importlib.metadata import Distribution, distribution, version
from importlib.util import find_spec
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import dpviz
from tests.support.installing import needed_by
from tests.support.paths import ROOT, tracked_files

LARGEST_FILE = 1_500_000

#: What eyes without one kind of cone make of linear RGB, at full strength. Source: Machado, Oliveira & Fernandes 2009, Table 1.
SIGHT = {
    "usual": np.eye(3),
    "no red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue cones": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
#: Linear RGB to cone responses, and their cube roots to Oklab. Source: Ottosson 2020, "A perceptual color space".
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OKLAB = np.array(
    [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
    ]
)


def read_toml(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


# --- packaging


def test_requirements_are_the_library_the_dashboard_and_pytest() -> None:
    lines = (ROOT / "requirements.txt").read_text().split()
    project = read_toml("pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    pytest_range = [line for line in extras["test"] if re.match(r"pytest[<>=]", line)]
    assert sorted(lines) == sorted({*project["dependencies"], *extras["app"], *extras["tables"], *pytest_range})


def test_every_requirement_has_a_lower_and_an_upper_bound() -> None:
    project = read_toml("pyproject.toml")["project"]
    every = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    assert [line for line in every if not re.fullmatch(r"[a-z-]+>=[\d.]+,<[\d.]+|dpviz\[.*\]", line)] == []


def test_the_nightly_workflow_tries_the_oldest_and_the_newest_of_what_is_promised() -> None:
    project = read_toml("pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    frames = [line for line in extras["test"] if line.startswith("polars")]
    lines = (*project["dependencies"], *extras["app"], *extras["tables"], *frames)
    promised = {re.match(r"[a-z-]+", line)[0]: line for line in lines}
    pins = dict(line.split("==") for line in (ROOT / ".ci" / "oldest.txt").read_text().splitlines() if "==" in line)
    assert pins.keys() == promised.keys()
    for name, pin in pins.items():
        oldest = re.search(r">=([\d.]+)", promised[name])[1]
        assert re.fullmatch(rf"{re.escape(oldest)}(\.0)*", pin), name
    workflow = (ROOT / ".github" / "workflows" / "verify.yml").read_text()
    python = project["requires-python"].removeprefix(">=")
    assert f'{{ python: "{python}", constraints: .ci/oldest.txt }}' in workflow
    assert re.search(r'python: "3\.\d+", constraints: "" \}', workflow)


def test_the_tests_bring_every_extra_but_spark_and_what_builds_the_wheel() -> None:
    """Spark is half a gigabyte: .ci/programs brings it where there is Java."""
    project = read_toml("pyproject.toml")
    extras = project["project"]["optional-dependencies"]
    assert f"dpviz[{','.join(name for name in extras if name not in ('test', 'spark'))}]" in extras["test"]
    assert set(project["build-system"]["requires"]) <= set(extras["test"])


def test_the_version_is_the_same_everywhere() -> None:
    declared = read_toml("pyproject.toml")["project"]["version"]
    assert dpviz.__version__ == declared
    newest = next(re.finditer(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE))[1]
    assert newest in ("Unreleased", declared)


#: Under these anybody may use, change and pass on what dpviz needs, whatever is built with it.
LICENCES = re.compile(
    r"(MIT(-CMU|-0)?|(Apache|BSD|PSF|MPL|Mozilla Public|3-Clause BSD|0BSD|ISC|Zlib|CC0|OFL)\b.*)( License)?", re.IGNORECASE
)


def licences(of: Distribution) -> list[str]:
    """What a package says about itself: an SPDX expression, else its classifiers, else a line of text."""
    about = of.metadata
    if expression := about.get("License-Expression"):
        return re.split(" AND | OR ", expression)
    classifiers = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier", ()) if line.startswith("License ::")]
    return [name for name in classifiers if name != "OSI Approved"] or [about.get("License", "nothing").strip().split("\n")[0]]


def test_everything_dpviz_needs_has_a_permissive_licence() -> None:
    extras = set(read_toml("pyproject.toml")["project"]["optional-dependencies"]) - {"test", "docs"}  # these two only build
    extras -= set() if find_spec("pyspark") else {"spark"}  # .ci/programs brings it where there is Java
    needed = needed_by(distribution("dpviz"), extras)
    assert len(list(needed)) > 40
    wrong = {of.name: said for of in needed for said in licences(of) if not LICENCES.fullmatch(said)}
    assert wrong == {}
    assert not any(map(LICENCES.fullmatch, ("GPL-3.0-only", "GNU Affero General Public License v3", "LGPL-2.1", "nothing")))


# --- repository


def test_no_tracked_file_is_large() -> None:
    assert {file.name: file.stat().st_size for file in tracked_files() if file.stat().st_size > LARGEST_FILE} == {}


def test_every_test_is_in_one_lane() -> None:
    """`.ci/run` calls `make test`, the nightly workflow `make verify`; together they leave nothing out."""
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make --no-print-directory test" in script.read_text()
    assert "- run: make verify" in (ROOT / ".github" / "workflows" / "verify.yml").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for lane, chosen in {"test": '-m "not verify"', "verify": "-m verify"}.items():
        recipe = re.search(rf"^{lane}:.*\n((?:\t.*\n)+)", makefile, re.M)
        assert recipe is not None
        assert f"$(PYTEST) {chosen} $(ARGS)" in recipe[1]
    assert not re.search(r"^PYTEST =.* (-m (?!pytest)|-k|--ignore)", makefile, re.M)


def test_shell_scripts_parse() -> None:
    for script in (".ci/run", ".ci/browser", ".ci/programs"):
        assert (ROOT / script).read_text().startswith("#!/usr/bin/env bash\n")
        assert subprocess.run(["bash", "-n", script], cwd=ROOT, capture_output=True, text=True, check=True).stderr == ""


# --- the app's configuration


def test_the_app_keeps_to_this_computer_and_to_itself() -> None:
    config = read_toml(".streamlit/config.toml")
    assert config["server"]["address"] == "localhost"
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert config["client"]["showErrorLinks"] is False
    assert config["client"]["disableDataExport"] is True


def test_streamlit_knows_every_option_of_the_configuration() -> None:
    from streamlit import config as streamlit_config

    def options(table: dict[str, Any], prefix: str = "") -> list[str]:
        names = []
        for key, value in table.items():
            names += options(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}"]
        return names

    known = set(streamlit_config.get_config_options())
    assert [name for name in options(read_toml(".streamlit/config.toml")) if name not in known] == [], version("streamlit")


def test_no_font_or_picture_is_fetched() -> None:
    assert "//" not in (ROOT / ".streamlit" / "config.toml").read_text()


# --- the theme


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Source: WCAG 2.2, "contrast ratio"."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def oklab(colour: str, sight: np.ndarray) -> np.ndarray:
    return OKLAB @ np.cbrt(CONES @ np.clip(sight @ linear(colour), 0, 1))


@pytest.mark.parametrize("theme", ["light", "dark"])
class TestTheme:
    def test_text_reaches_aa_on_both_backgrounds(self, theme: str) -> None:
        colours = read_toml(".streamlit/config.toml")["theme"][theme]
        words = ["text", "primary", "link", "red", "orange", "yellow", "green", "blue", "violet", "gray"]
        for background in ("backgroundColor", "secondaryBackgroundColor"):
            for word in words:
                assert contrast(colours[f"{word}Color"], colours[background]) >= 4.5, (word, background)

    def test_white_ticks_show_on_the_accent(self, theme: str) -> None:
        assert contrast(read_toml(".streamlit/config.toml")["theme"][theme]["primaryColor"], "#ffffff") >= 3

    def test_chart_colours_show_on_both_backgrounds(self, theme: str) -> None:
        colours = read_toml(".streamlit/config.toml")["theme"][theme]
        for colour in colours["chartCategoricalColors"]:
            assert contrast(colour, colours["backgroundColor"]) >= 3, colour
            assert contrast(colour, colours["secondaryBackgroundColor"]) >= 3, colour

    @pytest.mark.parametrize("sight", SIGHT)
    def test_chart_colours_stay_apart(self, theme: str, sight: str) -> None:
        palette = read_toml(".streamlit/config.toml")["theme"][theme]["chartCategoricalColors"]
        for one, other in combinations(palette, 2):
            assert np.linalg.norm(oklab(one, SIGHT[sight]) - oklab(other, SIGHT[sight])) >= 0.09, (one, other)


def test_two_colours_that_look_alike_without_red_cones_would_be_noticed() -> None:
    assert np.linalg.norm(oklab("#0072b2", SIGHT["usual"]) - oklab("#785ef0", SIGHT["usual"])) > 0.09
    assert np.linalg.norm(oklab("#4fa6e3", SIGHT["no red cones"]) - oklab("#b39ae6", SIGHT["no red cones"])) < 0.09
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize(
    "name", ["docs/explanation/one-row.md", "docs/how-to/several-holders.md", "SECURITY.md", "docs/project/threat-model.md"]
)
def test_every_file_and_folder_that_a_page_names_is_there(name: str) -> None:
    page = ROOT / name
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert (page.parent / link).resolve().is_file(), link
    for place in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / place).exists(), place
