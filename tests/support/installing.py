"""Environments with the built wheel, made without a network: packages come from where the tests run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.paths import ROOT


def build_wheel(folder: Path) -> Path:
    """The wheel of this clone, as pip builds it."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-index"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("dpviz-*.whl")
    return wheel


def install(wheel: Path, folder: Path, extras: Iterable[str] = ()) -> Path:
    """An environment with what `pip install dpviz[extras]` would bring, and nothing else: the folder of its programs."""
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--no-compile", str(wheel)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (own,) = Distribution.discover(name="dpviz", path=[str(packages)])
    for needed in needed_by(own, set(extras)):
        for name in _top_level(needed):
            if not (packages / name).exists():
                (packages / name).symlink_to(Path(str(needed.locate_file(name))).resolve())
    return programs


def clean_environment() -> dict[str, str]:
    """The variables of this process without those that would show Python the clone."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def needed_by(own: Distribution, extras: set[str]) -> Iterable[Distribution]:
    """What `own` requires, directly or not."""
    found: dict[str, Distribution] = {}
    waiting = [(own, extras)]
    while waiting:
        given, wanted = waiting.pop()
        for line in given.requires or ():
            requirement = Requirement(line)
            asked = requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *wanted))
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            if asked and name not in found:
                found[name] = distribution(name)
                waiting.append((found[name], set(requirement.extras)))
    return found.values()


def _top_level(given: Distribution) -> set[str]:
    """Files and folders of a package in site-packages."""
    return {file.parts[0] for file in given.files or ()} - {"..", "__pycache__"}
