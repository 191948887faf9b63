"""Why a claim fails: a text looked up by the claim's source and by what was found, filled with the numbers on screen."""

import math

import streamlit as st

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.app.audit.results import PLACES
from dpviz.app.parts import plain
from dpviz.app.prose import prose, sections
from dpviz.evaluation.audit.findings import AuditResult
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.figures.audit import chance_text, times_text
from dpviz.results.wording import number_text

TEXTS = "audit"


def why(result: AuditResult) -> None:
    """Why the claim fails, in two sentences with the numbers of the pair on screen."""
    section = _section_of(result)
    if section is None:
        return
    title = "Why this claim fails" if result.verdict == "violated" else "Why this claim is unproven"
    with st.expander(title, icon=":material/lightbulb:"):
        st.markdown(prose(TEXTS, section, **_numbers(result)))
        st.caption(f"About: {plain(_source_of(result))}.")


def has_own_text(result: AuditResult) -> bool:
    """True when there is a text about this very claim."""
    return _section_of(result) not in (None, _kind_of(result))


def _section_of(result: AuditResult) -> str | None:
    """The text for this claim and this finding: one about the claim's source first, else one for any claim."""
    if result.verdict not in ("violated", "unproven"):
        return None
    kind = _kind_of(result)
    return next((name for name in (f"{kind}: {_source_of(result)}", kind) if name in sections(TEXTS)), None)


def _kind_of(result: AuditResult) -> str:
    if result.verdict != "violated":
        return result.verdict
    return "violated, impossible" if math.isinf(result.log_ratio) else "violated, adds up"


def _source_of(result: AuditResult) -> str:
    """What the claim was read from, as the learner says."""
    place = next((place for place in PLACES if place.title == result.searched), PLACES[0])
    planned = PlannedLearner.of(result.learner, place.schema, epsilon=result.epsilon, depth=place.depth, **result.params)
    return planned.claim.source


def _numbers(result: AuditResult) -> dict[str, str]:
    low, high = sorted(result.worst_pair.probabilities) if result.worst_pair else (0.0, 0.0)
    adds = result.worst_pair is not None and result.worst_pair.probabilities[1] >= result.worst_pair.probabilities[0]
    return {
        "claimed": f"{number_text(result.claimed)} ({NEIGHBOURS})",
        "composed": number_text(result.composed),
        "times": times_text(result.log_ratio),
        "allowed": times_text(result.claimed),
        "low": chance_text(low),
        "high": chance_text(high),
        "direction": "adding the marked row" if adds else "taking the marked row away",
        "because": plain(result.because),
    }
