"""An entry for the public Differential Privacy Deployments Registry: filled from facts and answers, validated, never sent.

The structure is that of the registry's own schema (OpenDP, MIT; the licence stands in the file beside this one).
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.errors import DocumentError
from dpviz.figures.guarantee_text import epsilon_text
from dpviz.figures.publish.paper_facts import Answers, Facts, require_answered
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
    require_answered(answers)
    notes = f"Released file: SHA-256 {facts.sha256}. Entry of the curator's release register: {facts.head}."
    sources = {"sources": answers.sources} if answers.sources.strip() else {}
    entry = {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", f"{answers.name} {answers.curators} {facts.published[:4]}".lower()).strip("-"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(facts, answers),
            "dp_variant": _variant(facts),
            "privacy_loss": _loss(facts),
            "deployment_model": _model(facts, answers),
            "accounting": _accounting(facts),
            "implementation": _implementation(facts, answers),
            "administrative": {**sources, "notes": notes, "registry_authors": _names(answers.authors)},
        },
    }
    problems = list(faults(entry, schema()))
    if problems:
        raise DocumentError(problems[0], remedy="Correct the answer.")
    return entry


def _basic(facts: Facts, answers: Answers) -> dict[str, Any]:
    target = facts.schema.target
    kind = f"one of {len(target.classes)} classes" if isinstance(target, ClassTarget) else "a number"
    basic = {
        "name": answers.name,
        "data_curators": _names(answers.curators),
        "intended_use": answers.intended_use,
        "data_product_type": "Machine learning model",
        "data_product_region": answers.region,
        "description": f"A model that predicts {target.name!r} ({kind}) from {counted(facts.schema.n_features, 'column')}, "
        f"trained by {facts.title} with differential privacy.",
        "publication_date": facts.published,
    }
    return basic | ({"data_product_sector": answers.sector} if answers.sector else {})


def _variant(facts: Facts) -> dict[str, Any]:
    names = ", ".join(column.name for column in (*facts.schema.features, facts.schema.target))
    return {
        "variant_name": "Approximate DP" if facts.loss.delta else "Pure DP",
        "data_domain": f"Tables with the declared columns {names}. Ranges, categories and classes were declared in advance.",
        "unprotected_quantities": "None was computed from the rows. Public by declaration: the schema, and the rounded row count "
        "where one is declared.",
    }


def _loss(facts: Facts) -> dict[str, Any]:
    rows = counted(facts.rows_per_unit, "row")
    whose = "enforced by the software" if facts.rows_are_bounded else "as declared by the curator"
    return {
        "privacy_unit": facts.unit,
        "privacy_unit_details": f"Adjacent tables differ by the rows of {facts.unit}, added or removed: at most {rows}, {whose}. "
        f"The mechanisms are analysed for {NEIGHBOURS}; group privacy gives the loss of the unit.",
        "privacy_parameters": {"epsilon": facts.of_unit.epsilon} | ({"delta": facts.of_unit.delta} if facts.loss.delta else {}),
        "privacy_parameters_details": f"This release: {epsilon_text(facts.loss)}. All {counted(facts.n_releases, 'release')} of "
        f"these rows so far: {epsilon_text(facts.together)}, under a cap of {epsilon_text(facts.cap)}.",
    }


def _model(facts: Facts, answers: Answers) -> dict[str, Any]:
    many = facts.n_releases > 1
    return {
        "model_name": "Central",
        "actors": "The curator reads the rows and is trusted with them. Whoever holds the released file is assumed to be an "
        "adversary who may know every other row.",
        "release_type": "Many releases" if many else "One release",
        "release_type_details": f"Releases of these rows add up under a cap of {epsilon_text(facts.cap)}, kept in a register.",
        "data_source_type": answers.data_source,
        "access_type": "Non-interactive",
    }


def _accounting(facts: Facts) -> dict[str, Any]:
    return {
        "post_processing": "Merging of equal leaves, rounding for display, predictions and drawings use released values only.",
        "composition": "Steps on disjoint rows in parallel, steps on the same rows in sequence, exactly; all releases "
        f"of the data set in sequence. {facts.claim.because}",
    }


def _implementation(facts: Facts, answers: Answers) -> dict[str, Any]:
    steps = ", ".join(facts.mechanisms) or "none"
    versions = ", ".join(f"{name} {version}" for name, version in sorted(facts.versions.items()))
    return {
        "preprocessing_and_hyperparameter_tuning": f"Rows are encoded one by one, by a declared schema. {answers.tuning}",
        "mechanisms": f"Mechanisms: {steps}. Noise is drawn by exact samplers with randomness of the operating system, so no "
        f"error of floating point enters it. Timing and memory are not hidden. Access: {answers.access} Versions: {versions}.",
        "justification": answers.justification,
    }


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
