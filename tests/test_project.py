"""The files around the package agree with each other and with the code."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from importlib.metadata import Distribution, distribution, version
from importlib.util import find_spec
from itertools import chain
from typing import Any

import dpviz
from tests.support.installing import needed_by
from tests.support.paths import ROOT, tracked_files

MAX_FILE_BYTES = 1_500_000


def read_toml(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


# --- packaging


def test_requirements_are_the_library_the_dashboard_and_pytest_each_between_two_bounds() -> None:
    lines = (ROOT / "requirements.txt").read_text().split()
    project = read_toml("pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    pytest_range = [line for line in extras["test"] if re.match(r"pytest[<>=]", line)]
    assert sorted(lines) == sorted({*project["dependencies"], *extras["app"], *extras["tables"], *pytest_range})
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
    assert {file.name: file.stat().st_size for file in tracked_files() if file.stat().st_size > MAX_FILE_BYTES} == {}


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


def test_the_app_keeps_to_this_computer_and_to_itself_by_options_that_streamlit_knows() -> None:
    config = read_toml(".streamlit/config.toml")
    assert config["server"]["address"] == "localhost"
    assert config["server"]["fileWatcherType"] == "none", "sessions hold objects of the code that the server began with"
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert config["client"]["showErrorLinks"] is False
    assert config["client"]["disableDataExport"] is True
    assert "//" not in (ROOT / ".streamlit" / "config.toml").read_text()
    from streamlit import config as streamlit_config

    def options(table: dict[str, Any], prefix: str = "") -> list[str]:
        names = []
        for key, value in table.items():
            names += options(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}"]
        return names

    known = set(streamlit_config.get_config_options())
    assert [name for name in options(read_toml(".streamlit/config.toml")) if name not in known] == [], version("streamlit")
