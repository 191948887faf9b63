"""The table of the attack surface counts what pytest and Hypothesis run."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import getsource
from math import prod
from types import FunctionType

import pytest
from hypothesis import settings

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "project" / "threat-model.md"
ATTACKS = re.findall(r"^\| (.+?) \| ([\d,× +a-z]+) \| (`tests/.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def cases(test: FunctionType) -> int:
    """Parametrized cases times drawn examples."""
    given = (len(list(mark.args[1])) for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize")
    return prod(given) * (drawn(test) if hasattr(test, "is_hypothesis_test") else 1)


def drawn(test: FunctionType) -> int:
    """Examples in `make test`, whatever the profile of this run: a test without settings of its own follows the profile."""
    own: settings = test._hypothesis_internal_use_settings  # type: ignore[attr-defined]
    return int((settings.get_profile("dpviz") if own is settings.default else own).max_examples)


@pytest.mark.parametrize(("attack", "said", "held"), ATTACKS, ids=[attack for attack, _, _ in ATTACKS])
def test_every_attack_names_its_tests_and_counts_their_cases(attack, said, held):
    names = re.findall(r"`(tests/[\w/]+)\.py::(\w+)`", held)
    parts = said.replace(",", "").split(" + ")
    for (file, name), part in zip(names, parts, strict=True):
        test = getattr(import_module(file.replace("/", ".")), name)
        if looped := re.fullmatch(r"(\d+) in a loop", part):
            times, inside = cases(test), looped[1]
        else:
            times, _, inside = part.partition(" × ")
        assert int(times) == cases(test), (name, cases(test))
        assert not inside or re.search(rf"\b{inside}\b", getsource(test).replace("_", "")), (name, inside)


def test_no_attack_is_left_out():
    assert len(ATTACKS) == PAGE.read_text(encoding="utf-8").count("| `tests/") > 30
