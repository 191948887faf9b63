"""What the Audit page knows of every learner's claim: the stored run, replaced in this session by what was searched now.

A *subject* is a learner with those of its parameters that differ from the default; its key is one canonical JSON text.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import streamlit as st

from dpviz.app import background
from dpviz.charts.audit import AuditLine
from dpviz.evaluation.audit.evidence import AuditResult, worst_of
from dpviz.evaluation.audit.verdicts import LearnerEvidence, SearchedPlace, StoredRun, stored_run
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, UNIVERSES, verify_each
from dpviz.learners import get_learner, registry
from dpviz.results.wording import number_text
from dpviz.training.params import controls_of

#: Everywhere a learner is searched, quickest first; universes, then candidate counterexamples.
PLACES = (*UNIVERSES, *COUNTEREXAMPLES)
SLOT = "audit"
_LAST = "_audit_last"
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
class AuditFacts:
    """All that can be shown: the stored run (None: there is none to read), and what this session searched, by subject."""

    stored: StoredRun | None
    now: Mapping[str, Results]

    @cached_property
    def _by_subject(self) -> dict[str, list[LearnerEvidence]]:
        by_subject: dict[str, list[LearnerEvidence]] = {}
        for facts in self.stored.facts if self.stored else ():
            by_subject.setdefault(subject_key(facts.learner, facts.params), []).append(facts)
        return by_subject

    def facts(self, subject: str, epsilon: float) -> LearnerEvidence | None:
        """The stored entry of a subject at the epsilon nearest to this one."""
        return min(self._by_subject.get(subject, ()), key=lambda facts: abs(math.log(facts.epsilon / epsilon)), default=None)

    def worst(self, subject: str, epsilon: float) -> AuditResult | None:
        """The worst that this session's search of a subject found, else the stored one near an epsilon; None without a search."""
        if self.now.get(subject):
            return worst_of(list(self.now[subject]))
        facts = self.facts(subject, epsilon)
        return facts.searched if facts is not None else None

    def places(self, subject: str, epsilon: float) -> list[SearchedPlace]:
        """Everywhere that search looked."""
        if self.now.get(subject):
            return [SearchedPlace(item.searched, item.n_sets, item.n_pairs, item.log_ratio) for item in self.now[subject]]
        facts = self.facts(subject, epsilon)
        return list(facts.places) if facts is not None else []

    @property
    def subjects(self) -> list[str]:
        """Every registered learner, and every other setting that is stored or was searched, in the order of the registry."""
        order = {name: place for place, name in enumerate(registry())}
        keys = dict.fromkeys((*(subject_key(name, {}) for name in order), *self._by_subject, *self.now))
        return sorted((key for key in keys if subject_of(key)[0] in order), key=lambda key: order[subject_of(key)[0]])


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
    labels = {name: about.label.lower() for name, about in controls_of(spec.Params).items()}
    return spec.title, ", ".join(
        labels.get(name, name) + ("" if value is True else f": {value}") for name, value in params.items()
    )


def all_findings(*, with_stored: bool = True) -> AuditFacts:
    """What can be shown. Raises DpvizError when the stored run is missing or cannot be read."""
    return AuditFacts(_bundled_run(stored_run) if with_stored else None, dict(background.all_values(SLOT)))


@lru_cache(maxsize=1)
def _bundled_run(read: Callable[[], StoredRun]) -> StoredRun:
    """The run that comes with dpviz, read once for all sessions."""
    return read()


def audit_lines(known: AuditFacts, epsilon: float) -> list[AuditLine]:
    """One line per subject: the three facts at the stored epsilon nearest to this one, and what this session searched."""
    lines = []
    for key in known.subjects:
        facts, now = known.facts(key, epsilon), known.worst(key, epsilon) if known.now.get(key) else None
        note = f"searched now, ε = {number_text(now.epsilon)}" if now is not None else ""
        entry: dict[str, Any] = {"searched": now}
        if facts is not None:
            claim = {"verdict": facts.claim.verdict, "claimed": facts.claim.epsilon, "composed": facts.composed.epsilon}
            searched = now if now is not None and now.epsilon == facts.epsilon else facts.searched
            entry = {**claim, "guesses": facts.guesses, "searched": searched, "attacked": facts.attacked}
        lines.append(AuditLine(key, *title_of(key), **entry, note=note))
    return lines


def _search_task(search: Search) -> background.Task:
    """The search; its value is (subject, results)."""
    return background.in_one(SLOT, search.key, partial(_search, search))


def _search(search: Search, **how: Any) -> tuple[str, Results]:
    places = None if search.place is None else (PLACES[search.place],)
    return search.subject, tuple(verify_each(search.learner, epsilon=search.epsilon, universes=places, **how, **search.params))


def start(search: Search) -> None:
    """Search in the background; a search under way is stopped."""
    st.session_state[_LAST] = search
    background.start(_search_task(search), again=True)


def last_search() -> background.Task | None:
    """The search begun last in this session; None when there was none."""
    search = st.session_state.get(_LAST)
    return None if search is None else _search_task(search)
