"""An entry for the public Differential Privacy Deployments Registry: filled from facts and answers, validated, never sent.

Its texts stand in `registry_entry.json`. The structure is that of the registry's own schema (OpenDP, MIT; the licence stands in
the file beside this one).
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.errors import DocumentError
from dpviz.figures.publish.paper_facts import Answers, Facts, filled, words_of
from dpviz.figures.wording import counted
from dpviz.table.schema import ClassTarget

SCHEMA = Path(__file__).with_name("dp-deployments-registry.schema.json")
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
}


def registry_entry(facts: Facts, answers: Answers) -> dict[str, Any]:
    """The entry, valid against the schema. Raises DpvizError naming the answers that are missing."""
    target, of_unit = facts.schema.target, facts.unit.loss_of(facts.loss)
    slug = f"{answers.name} {answers.curators} {facts.published[:4]}".lower()
    words = words_of(facts, answers) | {
        "slug": re.sub(r"[^a-z0-9]+", "-", slug).strip("-"),
        "curators": _names(answers.curators),
        "target": repr(target.name),
        "kind": f"one of {len(target.classes)} classes" if isinstance(target, ClassTarget) else "a number",
        "columns": counted(facts.schema.n_features, "column"),
        "published": facts.published,
        "sector": answers.sector or None,
        "variant": "Approximate DP" if facts.loss.delta else "Pure DP",
        "names": ", ".join(column.name for column in (*facts.schema.features, target)),
        "whose": "enforced by the software" if facts.unit.is_bounded else "as declared by the curator",
        "neighbours": NEIGHBOURS,
        "epsilon": of_unit.epsilon,
        "delta": of_unit.delta if facts.loss.delta else None,
        "release_type": "Many releases" if facts.n_releases > 1 else "One release",
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(facts.versions.items())),
        "sources": answers.sources if answers.sources.strip() else None,
        "sha256": facts.sha256,
        "head": facts.head,
        "authors": _names(answers.authors),
    }
    entry = filled(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")), words)
    problems = list(faults(entry, schema()))
    if problems:
        raise DocumentError(problems[0], remedy="Correct the answer.")
    return entry


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(";") if name.strip()]


# --- the schema


@cache
def schema() -> dict[str, Any]:
    """The registry's schema."""
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def faults(value: Any, rule: dict[str, Any], where: str = "") -> Iterator[str]:
    """What contradicts the schema, with its place; knows the words the registry's schema uses."""
    kinds = rule.get("type", [])
    allowed = [_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    if allowed and (isinstance(value, bool) or not any(isinstance(value, kind) for kind in allowed)):
        yield f"{where}: this must be of type {kinds}."
        return
    if "enum" in rule and value not in rule["enum"]:
        yield f"{where}: this must be one of {', '.join(map(str, rule['enum']))}."
    if rule.get("format") == "date" and not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        yield f"{where}: this must be a date, as in 2026-01-31."
    if isinstance(value, list):
        yield from _faults_of_list(value, rule, where)
    elif isinstance(value, dict):
        yield from _faults_of_object(value, rule, where)


def _faults_of_list(value: list[Any], rule: dict[str, Any], where: str) -> Iterator[str]:
    if len(value) < rule.get("minItems", 0):
        yield f"{where}: there must be at least {rule['minItems']}."
    for place, item in enumerate(value):
        yield from faults(item, rule.get("items", {}), f"{where}[{place}]")


def _faults_of_object(value: dict[str, Any], rule: dict[str, Any], where: str) -> Iterator[str]:
    known = rule.get("properties", {})
    yield from (f"{where}.{name}: this is missing." for name in rule.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in known:
            yield from faults(item, known[name], f"{where}.{name}".lstrip("."))
        elif rule.get("additionalProperties") is False:
            yield f"{where}.{name}: this is not allowed."
