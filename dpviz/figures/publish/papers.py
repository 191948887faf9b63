"""Papers about one release as files: the registry entry and the self-assessment, as YAML, JSON or a page that prints."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from dpviz.figures.publish.account import table_html
from dpviz.figures.publish.paper_facts import Answers, Facts
from dpviz.figures.publish.registry_entry import registry_entry
from dpviz.figures.publish.report_parts import page_html, text
from dpviz.figures.publish.self_assessment import WHAT_IT_IS, assessment_document, self_assessment

ENTRY, ASSESSMENT = "entry", "assessment"
TITLES = {ENTRY: "Entry for the DP Deployments Registry", ASSESSMENT: "Self-assessment along NIST SP 800-226"}
_MAKE: dict[str, Callable[[Facts, Answers], dict[str, Any]]] = {ENTRY: registry_entry, ASSESSMENT: assessment_document}
#: What JSON may hold as it is and YAML not, or not as one line.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
#: Ending -> media type.
FORMS = {".yaml": "application/yaml", ".json": "application/json", ".html": "text/html"}


def paper(kind: str, form: str, facts: Facts, answers: Answers) -> str:
    """The paper `kind` in this form, an ending of FORMS. Raises DpvizError naming the answers that are missing."""
    if form == ".html":
        return _entry_html(facts, answers) if kind == ENTRY else _assessment_html(facts, answers)
    document = _MAKE[kind](facts, answers)
    if form == ".json":
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return "\n".join(_yaml(document)) + "\n"


def _yaml(value: Any, depth: int = 0) -> Iterator[str]:
    """Block YAML 1.2 with scalars as JSON, which is YAML too."""
    pad = "  " * depth
    pairs = value.items() if isinstance(value, dict) else (("-", item) for item in value)
    for name, item in pairs:
        head = f"{pad}-" if name == "-" and isinstance(value, list) else f"{pad}{name}:"
        if isinstance(item, (dict, list)) and item:
            yield head
            yield from _yaml(item, depth + 1)
        else:
            yield f"{head} {_UNPRINTABLE.sub(_escaped, json.dumps(item, ensure_ascii=False))}"


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _entry_html(facts: Facts, answers: Answers) -> str:
    entry = registry_entry(facts, answers)
    lead = "A draft for the public Differential Privacy Deployments Registry. Nothing was sent; the publisher sends it."
    parts = [f"<h1>{text(answers.name)}</h1><p class=lead>{text(lead)}</p>"]
    for name, fields in entry["deployment"].items():
        rows = [{"field": field.replace("_", " "), "value": _said(value)} for field, value in fields.items()]
        parts.append(f"<h2>{text(_title(name))}</h2>{table_html(rows, '', 'fields')}")
    return page_html(f"{TITLES[ENTRY]}: {answers.name}", "\n".join(parts))


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return f"DP{words[2:]}" if words.startswith("dp ") else words.capitalize()


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {item}" for name, item in value.items())
    return "; ".join(value) if isinstance(value, list) else str(value)


def _assessment_html(facts: Facts, answers: Answers) -> str:
    parts = [
        f"<h1>{TITLES[ASSESSMENT]}</h1><p class=lead>{text(answers.name)}, release number {facts.number}, {facts.published}</p>"
    ]
    parts.append(f'<div class="verdict open"><p>{text(WHAT_IT_IS)}</p></div>')
    for topic, items in groupby(self_assessment(facts, answers), key=attrgetter("topic")):
        rows = [{"standing": str(item.standing), "statement": item.statement, "evidence": item.evidence} for item in items]
        parts.append(f"<h2>{text(topic)}</h2>{table_html(rows, '', 'statements')}")
    parts.append(f"<footer>Filled in by {text(answers.authors)}. File: SHA-256 <code>{text(facts.sha256)}</code></footer>")
    return page_html(f"{TITLES[ASSESSMENT]}: {answers.name}", "\n".join(parts))
