"""What is known about every learner's claim: the stored run, replaced in this session by what was searched now.

A *subject* is a learner with those of its parameters that differ from the default; its key is one canonical JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import streamlit as st

from dpviz.app.work.session import all_values, begin
from dpviz.app.work.tasks import Task, in_one
from dpviz.evaluation.audit.by_attack import AuditedBound
from dpviz.evaluation.audit.findings import SEVERITY, AuditResult, worst_of
from dpviz.evaluation.audit.verdicts import StoredRun, stored_run
from dpviz.evaluation.audit.verify import NAMED_PAIRS, UNIVERSES, verify_each
from dpviz.figures.audit.text import BADGES, AuditLine, setting_text
from dpviz.figures.guarantee_text import number_text
from dpviz.learners import get_learner, registry
from dpviz.training.params import controls_of

#: Everywhere a learner is searched, quickest first; universes, then named pairs.
PLACES = (*UNIVERSES, *NAMED_PAIRS)
SLOT = "audit"
_ASKED = "_audit_asked"
NOT_STORED = "Not in the stored run: search it below."
Results = tuple[AuditResult, ...]


@dataclass(frozen=True)
class Search:
    """One question: a learner and its parameters, at one epsilon, in one place or (None) everywhere."""

    learner: str
    params: dict[str, Any]
    epsilon: float
    place: int | None

    @property
    def key(self) -> str:
        """Equal for equal questions."""
        return json.dumps([self.subject, self.epsilon, self.place])

    @property
    def subject(self) -> str:
        """Key of the line that this search fills."""
        return subject_key(self.learner, self.params)


@dataclass(frozen=True)
class Known:
    """All that can be shown: the stored run (None: there is none to read), and what this session searched, by subject."""

    stored: StoredRun | None
    now: Mapping[str, Results]

    @cached_property
    def _stored_results(self) -> dict[str, Results]:
        found: dict[str, Results] = {}
        for result in self.stored.results if self.stored else ():
            key = subject_key(result.learner, result.params)
            found[key] = (*found.get(key, ()), result)
        return found

    def results(self, subject: str) -> Results:
        """What is shown of a subject: this session's search, else the stored run's."""
        return self.now.get(subject) or self._stored_results.get(subject, ())

    def worst(self, subject: str, *, ever: bool = False) -> AuditResult | None:
        """The most severe result shown of a subject, or (`ever`) known at all; None when it was not searched."""
        found = self.results(subject) + (self._stored_results.get(subject, ()) if ever else ())
        return worst_of(list(found)) if found else None

    def audit(self, subject: str, epsilon: float | None = None) -> AuditedBound | None:
        """The largest bound by attack, at one epsilon or at any."""
        found = [
            audit
            for audit in (self.stored.audits if self.stored else ())
            if subject_key(audit.learner, audit.params) == subject and epsilon in (None, audit.epsilon)
        ]
        return max(found, key=lambda audit: audit.bound, default=None)

    def refusal(self, subject: str) -> str:
        """Why the stored run could not search a subject; empty where it could, or never tried."""
        refusals = self.stored.refusals if self.stored else ()
        return next((refusal.reason for refusal in refusals if subject_key(refusal.learner, refusal.params) == subject), "")

    @property
    def subjects(self) -> list[str]:
        """Every registered learner, and every other setting that was searched or refused, in the order of the registry."""
        order = {name: place for place, name in enumerate(registry())}
        refused = [subject_key(item.learner, item.params) for item in (self.stored.refusals if self.stored else ())]
        keys = [*(subject_key(name, {}) for name in order), *self._stored_results, *refused, *self.now]
        keys = [key for key in dict.fromkeys(keys) if subject_of(key)[0] in order]
        return sorted(keys, key=lambda key: order[subject_of(key)[0]])


def subject_key(learner: str, params: Mapping[str, Any]) -> str:
    """One text per learner and parameters."""
    return json.dumps([learner, dict(params)], sort_keys=True)


def subject_of(key: str) -> tuple[str, dict[str, Any]]:
    """(learner, parameters) of a key."""
    learner, params = json.loads(key)
    return learner, params


def title_of(key: str) -> tuple[str, str]:
    """(the learner's title, its other settings in words) of a subject."""
    learner, params = subject_of(key)
    spec = get_learner(learner)
    return spec.title, setting_text(params, {name: about.label for name, about in controls_of(spec.Params).items()})


def known(*, with_stored: bool = True) -> Known:
    """What can be shown. Raises DpvizError when the stored run is missing or cannot be read."""
    return Known(stored_run() if with_stored else None, dict(all_values(SLOT)))


def audit_lines(what: Known, *, ever: bool = False) -> list[AuditLine]:
    """One line per subject; `ever` takes the most severe result known, even where this session searched anew."""
    return [_line(what, key, ever) for key in what.subjects]


def _line(what: Known, key: str, ever: bool) -> AuditLine:
    result = what.worst(key, ever=ever)
    if result is None:
        return _line_without_search(what, key)
    audit = what.audit(key, result.epsilon)
    numbers = (result.claimed, result.composed, result.log_ratio, audit.bound if audit else None)
    return AuditLine(key, *title_of(key), *numbers, result.verdict, result.because, _note(what, key, result))


def _note(what: Known, key: str, result: AuditResult) -> str:
    """Where a result comes from, when it is not the stored run; and that the stored run knows worse, when it does."""
    if key not in what.now:
        return ""
    worst = what.worst(key, ever=True)
    worse = worst is not None and SEVERITY[worst.verdict] > SEVERITY[result.verdict]
    also = f"; {BADGES[worst.verdict].word} at ε = {number_text(worst.epsilon)}" if worst is not None and worse else ""
    return f"searched now, ε = {number_text(result.epsilon)}{also}"


def _line_without_search(what: Known, key: str) -> AuditLine:
    """From the attack alone, which never shows that a claim holds; or only why nothing was searched."""
    audit, reason = what.audit(key), what.refusal(key) or NOT_STORED
    nothing = "not searched" if get_learner(subject_of(key)[0]).spends_epsilon else "none"
    if audit is None:
        return AuditLine(key, *title_of(key), None, None, None, None, nothing, reason)
    verdict = audit.verdict if audit.verdict not in ("holds", "unproven") else nothing
    why = reason if verdict == "not searched" else audit.because
    return AuditLine(key, *title_of(key), audit.claimed, audit.composed, None, audit.bound, verdict, why)


def search_task(search: Search) -> Task:
    """The search; its value is (subject, results)."""
    return in_one(SLOT, search.key, partial(_search, search))


def _search(search: Search, **how: Any) -> tuple[str, Results]:
    places = None if search.place is None else (PLACES[search.place],)
    return search.subject, tuple(verify_each(search.learner, epsilon=search.epsilon, universes=places, **how, **search.params))


def start(search: Search) -> None:
    """Search in the background; a search under way is stopped."""
    st.session_state[_ASKED] = search
    begin(search_task(search), again=True)


def last_search() -> Task | None:
    """The search begun last in this session; None when there was none."""
    asked = st.session_state.get(_ASKED)
    return None if asked is None else search_task(asked)
